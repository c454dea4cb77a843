"""Does the page work in a browser that has no network: every chart drawn, nothing asked for, no width too much?"""

import csv
import io
from xml.etree import ElementTree

import comparisons
import pytest
from checkouts import git

from crossover.__main__ import main
from crossover.report.pages import changes, history
from crossover.report.render import renderer

pytestmark = pytest.mark.browser

DRAWN = "() => [...document.querySelectorAll('.crossover-chart')].every((chart) => chart.dataset.drawn === 'yes')"

MARKS = """(chart) => [...chart.querySelectorAll("svg .mark-line path, svg .mark-symbol path, svg .mark-area path")]
    .filter((path) => path.getBoundingClientRect().width > 0).length"""

# An arm of two points is a line and two symbols; a chart that failed has none of them.
FEWEST_MARKS = 3

# Where each block of the page stands, and the outline of each mark: what two browsers' pages must share to look alike.
LAID_OUT = """() => [...document.querySelectorAll("body *:not(svg *)")]
    .map((box) => [box.tagName, box.offsetTop, box.offsetLeft, box.offsetWidth, box.offsetHeight])"""
PATHS = """(number) => [...[...document.querySelectorAll(".crossover-chart")]
    .filter((chart) => chart.offsetWidth > 0)[number].querySelectorAll("svg path")]
    .map((path) => [path.getAttribute("d"), getComputedStyle(path).stroke, getComputedStyle(path).fill])"""

# Children of what scrolls by itself may be wider than the page.
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".table-scroll, pre, svg, math"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.outerHTML.slice(0, 120))"""

PANELS = "() => [...document.querySelectorAll('.crossover-panel')].filter((panel) => panel.offsetWidth > 0).length"

# How much of the first chart's lines is there, in the colours that a reader sees.
STROKES = """() => [...document.querySelectorAll('.crossover-chart .mark-line path')]
    .map((path) => getComputedStyle(path).stroke)"""


def first(page, selector):
    return page.locator(selector).first


def test_every_chart_is_drawn_with_its_marks_when_it_is_shown(open_page, page_file):
    page = open_page()
    count = page_file.read_text().count('<div class="crossover-chart"')
    assert count > 0
    assert page.locator("[data-drawn]").count() < count, "what is far below or hidden waits"
    for choice in page.query_selector_all(".crossover-choice select"):
        if choice.is_visible():
            choice.select_option("")
    for tab in page.query_selector_all("[role=tab]"):
        tab.click()
        for chart in page.query_selector_all(".crossover-chart"):
            if chart.is_visible() and not chart.get_attribute("data-drawn"):
                chart.scroll_into_view_if_needed()
                page.wait_for_function("(chart) => chart.dataset.drawn", arg=chart)
            if chart.is_visible():
                assert chart.evaluate(MARKS) >= FEWEST_MARKS, chart.inner_html()[:300]
    assert page.evaluate(DRAWN)


def test_what_was_published_opens_as_the_report_does(open_page, rendered, checkout, tmp_path):
    assert main(["publish", "--yes"]) == 0
    git("clone", "-q", "--branch", "gh-pages", str(tmp_path / "remote.git"), str(tmp_path / "clone"), folder=tmp_path)
    report, published = (open_page(file=file) for file in (rendered, tmp_path / "clone" / "index.html"))
    assert published.inner_text("body") == report.inner_text("body")
    assert published.evaluate(LAID_OUT) == report.evaluate(LAID_OUT)
    charts = published.locator(".crossover-chart >> visible=true")
    assert charts.count() > 0
    for number in range(charts.count()):
        for page in (report, published):
            chart = page.locator(".crossover-chart >> visible=true").nth(number)
            chart.scroll_into_view_if_needed()
            page.wait_for_function("(chart) => chart.dataset.drawn", arg=chart.element_handle())
        drawn = [page.evaluate(PATHS, number) for page in (report, published)]
        assert len(drawn[0]) > 6
        assert drawn[0] == drawn[1]


def test_a_tab_shows_its_panel_and_hides_the_others(open_page):
    page = open_page()
    page.click("[role=tab]:has-text('bandwidth')")
    assert [panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]")] == [False, True, False]
    page.keyboard.press("ArrowRight")
    assert [panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]")] == [False, False, True]
    assert page.evaluate("document.activeElement.textContent") == "send rate"


def test_the_choice_shows_one_panel_or_all_and_holds_for_the_other_metrics(open_page):
    page = open_page()
    choice = first(page, ".crossover-choice select")
    titles = choice.locator("option").all_inner_texts()
    assert len(titles) == 3
    assert [
        panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]:not([hidden]) .crossover-panel")
    ] == [
        True,
        False,
    ]
    choice.select_option(titles[1])
    page.click("[role=tab]:has-text('bandwidth')")
    shown = "[role=tabpanel]:not([hidden]) .crossover-panel:not([hidden])"
    assert [panel.get_attribute("data-panel") for panel in page.query_selector_all(shown)] == [titles[1]]
    page.locator(".crossover-choice select >> visible=true").first.select_option("")
    assert len(page.query_selector_all(shown)) == 2


def test_the_legend_hides_an_arm_in_all_charts_of_the_figure_and_shows_it_again(open_page):
    page = open_page()
    page.locator(".crossover-chart >> visible=true").first.scroll_into_view_if_needed()
    page.wait_for_selector(".crossover-chart[data-drawn]")
    lines = "() => [...document.querySelectorAll('.crossover-gallery')[0].querySelectorAll('.mark-line path')].length"
    before = page.evaluate(lines)
    button = first(page, ".crossover-legend button[data-arm=no-copy]")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    page.wait_for_function(f"({lines})() === {before - 2}")
    page.keyboard.press("Enter")
    page.wait_for_function(f"({lines})() === {before}")


def test_dragging_moves_the_axes_the_wheel_with_ctrl_stretches_them_and_a_double_click_takes_it_back(open_page):
    page = open_page()
    canvas = page.locator(".crossover-canvas >> visible=true").first
    canvas.scroll_into_view_if_needed()
    page.wait_for_selector(".crossover-chart[data-drawn]")
    box = canvas.bounding_box()
    # In whatever order they stand.
    labels = """() => [...document.querySelector(".crossover-canvas").querySelectorAll(".role-axis-label text")]
        .map((text) => text.textContent).sort().join(" ")"""
    untouched = page.evaluate(labels)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    scrolled = page.evaluate("scrollY")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function(f"({labels})() !== {untouched!r}")
    assert page.evaluate("scrollY") == scrolled
    stretched = page.evaluate(labels)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 40, box["y"] + 120)
    page.mouse.move(box["x"] + box["width"] / 2 + 90, box["y"] + 140)
    page.mouse.up()
    page.wait_for_function(f"({labels})() !== {stretched!r}")
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 100)
    page.wait_for_function(f"({labels})() === {untouched!r}")


def test_a_point_tells_its_interval_and_how_often_it_was_measured(open_page):
    page = open_page()
    page.locator(".crossover-chart >> visible=true").first.scroll_into_view_if_needed()
    page.locator(".crossover-chart[data-drawn] .mark-symbol path").nth(3).hover(force=True)
    said = page.locator("#vg-tooltip-element.visible").inner_text()
    assert all(word in said for word in ("arm", "interval", " to ", "launches", "rounds in all"))


def test_a_chart_gives_its_numbers_and_itself_as_files(open_page):
    page = open_page()
    with page.expect_download() as download:
        page.locator("[data-file$='.csv'] >> visible=true").first.click()
    assert download.value.suggested_filename.endswith(".csv")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert {row["arm"] for row in rows} == {"copy", "no-copy"}
    assert all(float(row["low"]) < float(row["throughput (messages/s)"]) < float(row["high"]) for row in rows)
    with page.expect_download() as download:
        page.locator("[data-file$='.svg'] >> visible=true").first.click()
    drawing = download.value.path().read_text()
    assert "var(" not in drawing and "no-copy" in drawing
    assert ElementTree.fromstring(drawing).tag.endswith("svg")


@pytest.mark.parametrize("width", [320, 400, 768, 1280])
def test_nothing_is_wider_than_the_page(open_page, width):
    page = open_page(width)
    page.evaluate("dispatchEvent(new Event('beforeprint')), dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []


def test_charts_fit_their_place_after_the_window_was_made_narrow(open_page):
    page = open_page()
    page.locator(".crossover-chart >> visible=true").first.scroll_into_view_if_needed()
    page.wait_for_selector(".crossover-chart[data-drawn]")
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.documentElement.scrollWidth <= 400")
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("document.querySelector('.crossover-chart svg').getBoundingClientRect().width") > 300


def test_charts_take_the_ink_of_the_page_and_follow_its_scheme(open_page):
    page = open_page(scheme="dark")
    page.locator(".crossover-chart >> visible=true").first.scroll_into_view_if_needed()
    page.wait_for_selector(".crossover-chart[data-drawn]")
    label = "getComputedStyle(document.querySelector('.crossover-chart .role-axis-label text')).fill"
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert page.evaluate(label) == ink
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    dark = page.evaluate(STROKES)
    button = page.locator("button.scheme")
    assert button.inner_text() == "Theme: automatic"
    button.click()
    assert button.inner_text() == "Theme: light"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(label) != ink
    assert not set(page.evaluate(STROKES)) & set(dark)


def test_the_contents_fold_where_they_do_not_fit_beside_the_text_and_lead_to_the_sections(open_page):
    page = open_page(360)
    assert not page.is_visible("nav li a")
    page.click("nav summary")
    page.click("nav a[href='#sec-holes']")
    assert not page.is_visible("nav li a")
    page.wait_for_function("document.getElementById('sec-holes').getBoundingClientRect().top < innerHeight")
    assert open_page(1280).is_visible("nav li a")


def test_the_first_key_leads_past_the_contents(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_paper_has_every_chart_whole_and_on_white(open_page):
    page = open_page(scheme="dark")
    content = page.pdf(format="A4")
    assert content.startswith(b"%PDF-")
    assert page.evaluate(DRAWN), "printing draws what was not seen yet"
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for chart in page.query_selector_all(".crossover-chart"):
        assert chart.is_visible()
        assert chart.evaluate(MARKS) >= FEWEST_MARKS
        assert chart.evaluate("(chart) => getComputedStyle(chart).breakInside") == "avoid"
        assert chart.bounding_box()["height"] < 900, "it fits on a page"
    assert not page.is_visible(".scheme") and not page.is_visible(".crossover-files")


def test_without_javascript_every_chart_is_told_in_words_and_every_table_is_there(chromium, page_file):
    context = chromium.new_context(viewport={"width": 360, "height": 900}, java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("noscript p", has_text="Charts are drawn by JavaScript").is_visible()
    for chart in page.query_selector_all(".crossover-canvas"):
        assert chart.is_visible() and chart.bounding_box()["height"] > 30
    # What is folded unfolds without a script.
    tables = page.query_selector_all("main table:not(details table)")
    assert tables and all(table.is_visible() for table in tables)
    assert not page.locator(".crossover-legend, .crossover-files, .tab-bar").locator("visible=true").count()
    context.close()


def test_where_a_browser_is_too_old_to_unpack_a_chart_it_is_told_in_words(chromium, page_file):
    context = chromium.new_context(viewport={"width": 360, "height": 900})
    page = context.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(page_file.as_uri())
    chart = page.locator(".crossover-chart:visible").first
    chart.scroll_into_view_if_needed()
    page.wait_for_selector("[data-drawn=no]")
    said = chart.locator(".crossover-canvas").evaluate("(canvas) => getComputedStyle(canvas, '::before').content")
    assert said.startswith('"This browser is too old to draw the chart. ') and len(said) > 100
    assert not chart.locator(".crossover-files").is_visible()
    context.close()


def test_a_hole_is_shown_as_a_hole(open_page):
    page = open_page()
    section = page.inner_text("body")
    assert "task_latency has no result: its 3 launches left only holes" in section
    assert page.is_visible(".callout-warning")
    assert page.locator("main pre", has_text="snakemake --profile profiles/local -R").first.is_visible()


def test_the_pages_on_several_runs_are_drawn_alike(open_page, tmp_path):
    for module, tables, source in (
        (changes, comparisons.comparison(), "changes.qmd"),
        (history, comparisons.history(), "history.qmd"),
    ):
        folder = comparisons.write(tables, tmp_path / source)
        module.draw(folder)
        renderer.render(folder, folder / "index.html", source=source)
        page = open_page(width=360, scheme="dark", file=folder / "index.html")
        for chart in page.query_selector_all(".crossover-chart"):
            chart.scroll_into_view_if_needed()
        page.wait_for_function(DRAWN)
        assert page.locator(".crossover-legend [data-arm=no-copy]").count() == 1
        assert all(chart.evaluate(MARKS) > 0 for chart in page.query_selector_all(".crossover-chart"))
        assert page.evaluate(TOO_WIDE) == []
