"""Does the preview render the same sources as Quarto, and refuse others, and any error, with line or cell?"""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.config import sources
from crossover.errors import CrossoverError
from crossover.report.pages import preview, renderer
from crossover.report.pages.preview import Cell, parse

HOME = Path(__file__).parents[2]
FRONT = "---\ntitle: A page\n---\n\n"


words = st.text("abc xyz#*:\n.", max_size=60).filter(lambda text: not text.startswith("---"))
code = st.text("abc =()\n", max_size=40).filter(lambda text: not text.startswith("#|"))


def page_of(tmp_path, body, front=FRONT):
    source, page = tmp_path / "index.qmd", tmp_path / "page.html"
    source.write_text(front + body)
    preview.render(source, page, os.environ | {"PYTHONPATH": str(renderer.WORKFLOW)})
    return page.read_text()


def html(body):
    return preview.html({"title": "A page"}, body).decode()


def cell(code, options=""):
    return f"\n```{{python}}\n{options}{code}\n```\n"


# ---- output of code


def test_cells_share_one_interpreter_and_show_their_markdown_and_expressions_as_text(tmp_path, capfd):
    page = page_of(
        tmp_path,
        cell("from IPython.display import Markdown\nword = 'second'", "#| include: false\n")
        + cell("Markdown(f'the *{word}* cell')")
        + cell("import sys; print('careful', file=sys.stderr)", "#| label: warns\n")
        + "\nIt says `{python} word` here, and `{python} '*a* <b> \\x60c\\x60'` there.\n"
        + "\n````\n```{python}\nshown, not run\n```\n````\n",
    )
    assert "shown, not run" in page
    assert "the <em>second</em> cell" in page
    assert "It says second here, and *a* &lt;b&gt; `c` there." in page
    assert re.search(r"cell 'warns' \(line \d+\): careful", capfd.readouterr().err) and "careful" not in page
    assert "IPython" not in page


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (cell("1 / 0", "#| label: division\n"), r"index\.qmd, cell 'division' \(line 6\): ZeroDivisionError: division"),
        (cell("\nnothing"), r"index\.qmd, cell in line 6: NameError: name 'nothing'"),
        ("a\n\n`{python} 1 + 1`\n", r"index\.qmd, expression in line 7: `1 \+ 1` must give a string"),
        ("`{python} nothing`\n", r"expression in line 5: NameError"),
        (cell("import os; os._exit(3)"), r"kernel of .* ended"),
        (cell("print('a')", "#| label: talk\n"), r"cell 'talk' \(line 6\): shows something that is not Markdown"),
        ("{{< video x >}}\n", r"index\.qmd, line 5: shortcodes"),
        ("See @sec-nowhere.\n", r"@sec-nowhere refers to nothing"),
        ("See [@nobody].\n", "@nobody is not in the bibliography"),
        ("::: {#fig-a}\n```\n1\n```\n:::\n", r"#fig-a does not end in a caption"),
        ("# One {#sec-a}\n\n# Two {#sec-a}\n", r"sec-a is used twice"),
    ],
)
def test_an_error_is_named_with_its_place(tmp_path, body, told):
    with pytest.raises(CrossoverError, match=told):
        page_of(tmp_path, body)


def test_no_kernel_no_folder_and_nothing_in_the_home_is_left(tmp_path, monkeypatch):
    # Longer than the path of a socket.
    temporary, home = tmp_path / ("t" * 100), tmp_path / "home"
    temporary.mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    code = "import os; from IPython.display import Markdown; Markdown(f'pid {os.getpid()}')"
    pid = re.search(r"pid (\d+)", page_of(tmp_path, cell(code)))[1]
    assert not Path(f"/proc/{pid}").exists()
    assert [*temporary.iterdir(), *home.iterdir()] == []


# ---- Markdown


def test_sections_are_numbered_and_referred_to():
    page = html("# One\n\n## Part {#sec-part}\n\n# Two\n\nSee @sec-part.\n")
    assert re.search(r'<h2[^>]*id="two"[^>]*><span\s+class="number">2</span> Two</h2>', page)
    assert re.search(r'<a\s+href="#sec-part">Section\s1\.1</a>', page)
    assert re.search(r'<nav.*href="#sec-part"', page, re.DOTALL)


def test_figures_and_tables_are_numbered_each_by_themselves():
    page = html(
        "@fig-b and @tbl-a.\n\n::: {.panel-tabset}\n\n## a\n\n::: {#fig-a}\nx\n\nFirst.\n:::\n\n:::\n\n"
        "::: {#fig-b}\ny\n\nSecond.\n:::\n\n"
        "::: {#tbl-a}\n\n| a |\n|---|\n| 1 |\n\nThird.\n\n:::\n"
    )
    assert re.search(r'href="#fig-b">Figure\s2</a> and <a\s+href="#tbl-a">Table\s1</a>', page)
    assert re.search(r"<figcaption[^>]*><strong>Figure\s2\.</strong>\sSecond\.</figcaption>", page)
    assert re.search(r'<figure id="tbl-a" class="tbl">', page)


def test_a_tabset_hides_all_panels_but_the_first_and_its_headings_are_no_sections():
    page = html("# One\n\n::: {.panel-tabset}\n\n## left\n\nL\n\n## right\n\nR\n\n:::\n\n# Two\n")
    assert page.count('role="tab"') == page.count('role="tabpanel"') == 2
    assert page.count('aria-selected="true" tabindex="0"') == 1
    assert len(re.findall(r"<div[^>]*\shidden", page)) == 1
    assert re.search(r'<span\s+class="number">2</span> Two', page)
    assert "left" not in page[page.index("<nav") : page.index("</nav>")]


def test_a_callout_has_its_title_a_table_scrolls_and_mathematics_needs_no_script():
    kinds = ("tip", "important", "caution", "warning")
    titled = "::: {.callout-note}\n## Mind this\n\nText.\n:::\n"
    page = html(
        f"| a |\n|---|\n| 1 |\n\n$x^2$\n\n{titled}"
        + "".join(f"\n::: {{.callout-{kind}}}\nCareful.\n:::\n" for kind in kinds)
    )
    for kind in kinds:
        assert f'class="callout callout-{kind}"' in page
        assert f"<strong>{kind.capitalize()}</strong>" in page
    assert "<strong>Mind this</strong>" in page
    assert "<strong>Note</strong>" not in page
    assert re.search(r'class="table-scroll"[^>]*>\s*<table', page) and "<math" in page


# ---- the report


def test_every_reference_in_the_report_has_a_target(rendered):
    page = rendered.read_text()
    body = page[page.index("<body>") :]
    targets = set(re.findall(r'href="#([^"]+)"', body))
    assert {"sec-holes", "sec-machine", "sec-method"} <= targets
    assert targets <= set(re.findall(r'\sid="([^"]+)"', body))


def test_the_text_of_a_page_contains_no_typed_number():
    source = (HOME / "reports/index.qmd").read_text()
    captions = "\n".join(re.findall(r"^#\| tbl-cap: (.*)", source, flags=re.MULTILINE))
    prose = re.sub(r"```\{python\}.*?```|^---.*?^---|`[^`]*`|\{#[^}]*\}", "", source, flags=re.DOTALL | re.MULTILINE)
    prose += captions + "".join(re.findall(r'^    "(.*)"', source, flags=re.MULTILINE))
    assert re.findall(r"\d+|%|twent\w+|hundred", prose) == []


def test_a_citation_is_resolved_from_the_bibliography_beside_references_to_the_page(tmp_path):
    (tmp_path / "references.bib").write_text(sources.bibliography(sources.read()))
    front = {"title": "A page", "bibliography": "references.bib", "link-citations": True}
    body = "# One {#sec-one}\n\nSee @sec-one and [@pyzmq].\n\n::: {#refs}\n:::\n"
    page = preview.html(front, body, tmp_path).decode()
    assert '<a href="#sec-one">Section\u00a01</a>' in page
    assert '<a href="#ref-pyzmq" role="doc-biblioref">Ragan-Kelley 2024</a>' in page
    assert page.count(sources.read()["pyzmq"].url) > 0


@given(st.lists(st.tuples(words, code), max_size=5), words)
def test_nothing_of_a_page_is_lost_and_nothing_is_added(pairs, last):
    text = "".join(f"{prose}\n```{{python}}\n{body}\n```\n" for prose, body in pairs) + last
    _, parts = parse(text)
    again = "".join(f"```{{python}}\n{part.code}```\n" if isinstance(part, Cell) else part for part in parts)
    assert again == text
    assert [part.code for part in parts if isinstance(part, Cell)] == [f"{body}\n" for _, body in pairs]


@given(words, code)
def test_the_line_of_a_cell_is_that_of_its_fence(prose, body):
    text = f"{prose}\n```{{python}}\n{body}\n```\n"
    _, parts = parse(text)
    cell = next(part for part in parts if isinstance(part, Cell))
    assert "".join(text.splitlines(keepends=True)[cell.line :]).startswith(cell.code)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("---\ntitle: A\n", "line 1: the front matter has no closing"),
        ("---\ntitle: [\n---\n", "line 1: the front matter is not YAML"),
        ("---\n- a\n---\n", "line 1: the front matter must be"),
        ("---\nformat: pdf\n---\n", "line 1: unknown key of the front matter format"),
        ("a\n\n```{python}\n1\n", "line 3: the block that starts here is not closed"),
        ("```{python}\n#| echo: true\n```\n", "line 1: unknown cell option echo; available: label"),
        ("```{python}\n#| output: false\n```\n", "line 1: unknown output: False"),
    ],
)
def test_syntax_outside_the_subset_is_refused_with_its_line(text, told):
    with pytest.raises(CrossoverError, match=told):
        parse(text)
