"""Is a `.qmd` split into its parts, and syntax that only one renderer knows refused with its line?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.errors import CrossoverError
from crossover.report.pages.preview import Cell, parse

PAGE = """---
title: A page
---

# First {#sec-first}

It says `{python} page.when()` here.

```{python}
#| label: tbl-one
#| tbl-cap: A caption.
page.one()
```

````
```{python}
shown, not run
```
````
"""

words = st.text("abc xyz#*:\n.", max_size=60).filter(lambda text: not text.startswith("---"))
code = st.text("abc =()\n", max_size=40).filter(lambda text: not text.startswith("#|"))


def test_a_page_is_split_into_parts_with_their_lines():
    front, parts = parse(PAGE)
    assert front == {"title": "A page"}
    before, inline, between, cell, _, shown = parts
    assert before == "\n# First {#sec-first}\n\nIt says "
    assert inline == Cell("page.when()", 7, inline=True)
    assert between == " here.\n\n"
    assert cell == Cell("page.one()\n", 9, {"label": "tbl-one", "tbl-cap": "A caption."})
    assert "shown, not run" in shown


def test_a_cell_is_named_by_its_label_or_else_by_its_line():
    assert Cell("", 7, {"label": "summary"}).name == "cell 'summary' (line 7)"
    assert Cell("", 7).name == "cell in line 7"


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
        ("a\nb {{< video x >}}\n", "line 2: shortcodes such as {{< video x >}}"),
    ],
)
def test_syntax_outside_the_subset_is_refused_with_its_line(text, told):
    with pytest.raises(CrossoverError, match=told.replace("{{", r"\{\{").replace("[", r"\[")):
        parse(text)
