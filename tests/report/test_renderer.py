"""Does Quarto render the page if it is installed, safely, and does the page appear whole or not at all?"""

import io
import os
import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from crossover.__main__ import main
from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.report.pages import renderer

QUARTO = """#!{python}
import os, pathlib, sys
told = pathlib.Path({told!r})
names = "CROSSOVER_RESULTS", "QUARTO_PYTHON", "PYTHONPATH", "PYTHONSAFEPATH"
values = [os.environ.get(name, "unset") for name in names]
told.write_text("\\n".join([" ".join(sys.argv[1:]), os.getcwd(), *values, *sorted(os.listdir("."))]))
{does}
"""
WRITES = 'pathlib.Path("_site").mkdir(); pathlib.Path("_site/index.html").write_text("by quarto")'


@pytest.fixture
def quarto(tmp_path, monkeypatch):
    """Puts a `quarto` on PATH that runs a script; returns the file with its record of the call."""

    def install(does):
        folder, told = tmp_path / "bin", tmp_path / "told"
        folder.mkdir()
        script = folder / "quarto"
        script.write_text(QUARTO.format(python=sys.executable, told=str(told), does=does))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))
        return told

    return install


def test_quarto_gets_a_private_copy_and_the_path_of_the_results(quarto, results, tmp_path, monkeypatch, capsys):
    told = quarto(WRITES)
    monkeypatch.chdir(results.parent)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    page = tmp_path / "report" / "index.html"
    renderer.render(Path(results.name), page)
    words, folder, where, python, packages, safe, *files = told.read_text().splitlines()
    assert page.read_text().startswith("by quarto")
    assert renderer.recorded_origin(page) == renderer.origin(results)
    # Half a folder that a killed step has left, for example on another host.
    part = results / "figures/.map.elsewhere.1.part"
    part.mkdir(parents=True)
    (part / "a.vl.json").write_text("{}")
    assert renderer.recorded_origin(page) == renderer.origin(results)
    shutil.rmtree(part)
    assert words == "render"
    assert Path(folder).resolve() != renderer.REPORTS.resolve() and not Path(folder).exists()
    assert (where, python) == (str(results.resolve()), sys.executable)
    assert (Path(packages) / "crossover" / "report").is_dir()
    assert safe == "unset"
    assert {"_quarto.yml", "index.qmd"} <= set(files)
    assert not (renderer.REPORTS / "_site").exists()
    assert len(capsys.readouterr().err.splitlines()) == 1
    renderer.render(results, tmp_path / "b.html")
    assert told.read_text(encoding="utf-8").splitlines()[1] != folder, "two renderings never share a folder"


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("print('cannot find a kernel'); sys.exit(4)", "(code 4): cannot find a kernel"),
        ("print('all is well')", "(code 0): all is well"),
        ("print('ModuleNotFoundError: log', file=sys.stderr); print('at file.js'); sys.exit(1)", "NotFoundError: log"),
    ],
)
def test_where_quarto_fails_the_preview_renders_and_one_line_says_why(quarto, results, tmp_path, capsys, does, why):
    quarto(does)
    renderer.render(results, tmp_path / "index.html")
    line, rest = capsys.readouterr().out.split("\n")
    assert why in line and line.endswith("; the built-in preview renders the page") and not rest
    assert (tmp_path / "index.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_folder_without_results_is_an_error_that_names_cell_and_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    page = tmp_path / "index.html"
    assert main(["report", str(tmp_path / "nowhere"), "--page", str(page)]) == 1
    said = capsys.readouterr().err
    assert "crossover report: index.qmd, cell 'setup'" in said and "launches.parquet" in said
    assert "Traceback" not in said
    assert not page.exists()


def test_the_pages_permissions_follow_the_users_umask(rendered):
    umask = os.umask(0)
    os.umask(umask)
    assert rendered.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_place_that_cannot_be_written_is_named(quarto, results, tmp_path):
    quarto(WRITES)
    (tmp_path / "file").touch()
    with pytest.raises(CrossoverError, match=r"file/index\.html: cannot be written"):
        renderer.render(results, tmp_path / "file" / "index.html")


def test_the_policy_lets_nothing_in_from_elsewhere(quarto, results, tmp_path):
    sheet = '<link href="data:text/css,%3Aroot%2C%23a%25" class="quarto-color-scheme{}">'
    icons = '<style>@font-face {{ font-family: "bootstrap-icons"; src: url(data:font) }} .bi {{}}</style>'
    quarto(WRITES.replace('"by quarto"', repr(f"<head>{sheet.format('')}{sheet.format('-extra')}{icons}x</head>")))
    page = tmp_path / "index.html"
    renderer.render(results, page)
    kept = '<link href="data:text/css,:root,%23a%25" class="quarto-color-scheme">x</head>'
    assert page.read_text(encoding="utf-8").partition("</head>")[0].endswith(kept.removesuffix("</head>"))
    assert f'<head><meta http-equiv="Content-Security-Policy" content="{renderer.QUARTO_POLICY}">' in page.read_text()
    assert "http" not in renderer.QUARTO_POLICY and "default-src 'none'" in renderer.QUARTO_POLICY


def test_the_example_of_the_docs_is_rendered_from_its_bundle(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["report", "--from", str(PROJECT / "docs/example.zip"), "--page", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "tier quick: 18 launches" in text
    assert text.count('class="crossover-chart"') > 10


EXAMPLE = (PROJECT / "docs/example.zip").read_bytes()


def no_utf_8():
    """An archive with a name that claims to be UTF-8."""
    with ZipFile(made := io.BytesIO(), "w") as packed:
        packed.writestr("é", "")
    return made.getvalue().replace("é".encode(), b"\xff\xfe")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"PK", "cannot be unpacked"),
        (no_utf_8(), "cannot be unpacked ('utf-8' codec can't decode byte 0xff"),
        (EXAMPLE[:200] + bytes(100) + EXAMPLE[300:], "cannot be unpacked"),
        (b"PK\x05\x06" + bytes(18), "holds no results"),
    ],
)
def test_a_file_that_is_no_whole_bundle_is_refused(tmp_path, capsys, content, fault):
    (tmp_path / "x.zip").write_bytes(content)
    assert main(["report", "--from", str(tmp_path / "x.zip"), "--page", str(tmp_path / "page.html")]) == 1
    assert f"x.zip: {fault}" in capsys.readouterr().err
