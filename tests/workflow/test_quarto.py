"""Does a run with a real Quarto end with Quarto's page, and is it the preview's but for the looks?"""

import re
import shutil
import sys
import zipfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from copies import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("quarto"), reason="no quarto on the PATH; see https://quarto.org")

HIDDEN = {"script", "style", "nav", "select", "svg", "header", "noscript"}
PARTIAL = ("snakemake", "--profile", "profiles/local", "--config", "partial=true")


class Words(HTMLParser):
    """The words of a page's main part."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        main = page.partition("<main")[2].partition(">")[2].rpartition("</main>")[0]
        self.feed(main.replace("Skip to the content", ""))

    def handle_starttag(self, tag, attributes):
        self.open += [tag] * (tag in HIDDEN)

    def handle_endtag(self, tag):
        del self.open[len(self.open) - (tag in HIDDEN) :]

    def handle_data(self, data):
        # Quarto writes "Figure 1:", the preview "Figure 1."
        self.found += [] if self.open else re.sub(r"(\d):", r"\1.", data).split()


def test_a_run_ends_with_quartos_page_which_has_the_words_of_the_preview(project):
    with zipfile.ZipFile(ROOT / "docs/example.zip") as packed:
        packed.extractall(project.folder)
    project.configure(**dict.fromkeys(path.name for path in (project.folder / "results/launches/quick").iterdir()))
    page = project.folder / "results/report/index.html"
    project.succeed(*PARTIAL)
    by_quarto = page.read_text(encoding="utf-8")
    assert 'content="quarto-' in by_quarto
    # Nothing looks for the style sheets that were left out.
    assert "quarto-color-scheme-extra" not in by_quarto
    (project.folder / "bin").mkdir()
    fails = project.folder / "bin/quarto"
    fails.write_text("#!/bin/sh\necho 'ERROR: no kernel' >&2; exit 1\n", encoding="utf-8")
    fails.chmod(0o755)
    said = project.succeed(
        "env", f"PATH={fails.parent}:{Path(sys.executable).parent}:/usr/bin:/bin", *PARTIAL, "-R", "report"
    )
    assert said.count("report: Quarto failed (code 1): ERROR: no kernel; the built-in preview renders the page\n") == 1
    by_preview = page.read_text(encoding="utf-8")
    assert 'content="quarto-' not in by_preview
    assert Counter(Words(by_quarto).found) == Counter(Words(by_preview).found)
    assert len(by_quarto.encode()) < len(by_preview.encode()) + 1_500_000
