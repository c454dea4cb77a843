"""Does the page work in a browser that has no network: every chart drawn, nothing asked for, no width too much?"""

import os
import shutil
from pathlib import Path

import pytest
from checkouts import git
from playwright.sync_api import sync_playwright

from crossover.__main__ import main

pytestmark = pytest.mark.browser

DRAWN = """() => [...document.querySelectorAll(".crossover-chart")]
    .filter((chart) => chart.offsetWidth > 0)
    .every((chart) => chart.dataset.drawn === "yes")"""

MARKS = """(chart) => [...chart.querySelectorAll("svg .mark-line path, svg .mark-symbol path, svg .mark-area path")]
    .filter((path) => path.getBoundingClientRect().width > 0).length"""

# Children of what scrolls by itself may be wider than the page.
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".table-scroll, pre, svg, math"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def chromium():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not found:
        missing = "no Chromium on PATH; install one (Debian: apt-get install chromium)"
        # A developer's machine may have none; where the gate runs, leaving these out would hide a failure.
        (pytest.fail if os.environ.get("CROSSOVER_BROWSER") == "required" else pytest.skip)(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page_file(rendered):
    """The synthetic report, or a real one that CROSSOVER_PAGE names."""
    return Path(os.environ.get("CROSSOVER_PAGE") or rendered).resolve()


@pytest.fixture
def open_page(chromium, page_file):
    """Opens the report without a network; afterwards nothing must have failed, nor anything have been asked for."""
    complaints, contexts = [], []

    def open_it(width=1280, scheme="light", file=page_file):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        context.route(lambda url: not url.startswith(("file:", "data:")), lambda route: route.abort())
        page = context.new_page()
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function(DRAWN)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


def test_every_chart_is_drawn_with_its_marks_also_in_the_tabs_that_were_hidden(open_page, page_file):
    page = open_page()
    count = page_file.read_text().count('<div class="crossover-chart"')
    assert count > 0
    for tab in page.query_selector_all("[role=tab]"):
        tab.click()
        page.wait_for_function(DRAWN)
    charts = page.query_selector_all(".crossover-chart")
    assert [chart.get_attribute("data-drawn") for chart in charts] == ["yes"] * count
    for chart in charts:
        if not chart.is_visible():
            page.click(f"#{chart.evaluate('(chart) => chart.closest(`[role=tabpanel]`).id')}-tab")
        assert chart.evaluate(MARKS) > 6, chart.get_attribute("aria-label")


def test_what_was_published_opens_as_the_report_does(open_page, rendered, checkout, tmp_path):
    assert main(["publish", "--yes"]) == 0
    git("clone", "-q", "--branch", "gh-pages", str(tmp_path / "remote.git"), str(tmp_path / "clone"), folder=tmp_path)
    report, published = (open_page(file=file) for file in (rendered, tmp_path / "clone" / "index.html"))
    assert published.inner_text("body") == report.inner_text("body")
    assert published.screenshot() == report.screenshot()
    assert len(published.query_selector_all(".crossover-chart")) > 0


def test_a_tab_shows_its_panel_and_hides_the_others(open_page):
    page = open_page()
    page.click("[role=tab]:has-text('bandwidth')")
    assert [panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]")] == [False, True, False]
    page.keyboard.press("ArrowRight")
    assert [panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]")] == [False, False, True]
    assert page.evaluate("document.activeElement.textContent") == "send rate"


@pytest.mark.parametrize("width", [400, 768, 1280])
def test_nothing_is_wider_than_the_page(open_page, width):
    page = open_page(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []


def test_charts_fit_their_place_after_the_window_was_made_narrow(open_page):
    page = open_page()
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.documentElement.scrollWidth <= 400")
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("document.querySelector('.crossover-chart svg').getBoundingClientRect().width") > 300


def test_in_a_dark_scheme_charts_take_the_ink_of_the_page(open_page):
    page = open_page(scheme="dark")
    ink = page.evaluate("getComputedStyle(document.body).color")
    label = page.evaluate("getComputedStyle(document.querySelector('.crossover-chart .role-axis-label text')).fill")
    assert label == ink
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"


def test_a_hole_is_shown_as_a_hole(open_page):
    page = open_page()
    section = page.inner_text("body")
    assert "task_latency has nothing to show: its 3 launches left only holes" in section
    assert page.is_visible(".callout-warning")
    assert "snakemake --profile profiles/local -R" in page.inner_text("main pre")
