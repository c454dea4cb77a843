"""Does the page work in a browser without a network: every chart drawn, no request, nothing too wide?"""

import csv
import io
import json
import shutil
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe

from crossover.records import record
from crossover.report.pages import renderer

pytestmark = pytest.mark.browser

DRAWN = "() => [...document.querySelectorAll('.crossover-chart')].every((chart) => chart.dataset.drawn === 'yes')"

MARKS = """(chart) => ["line", "symbol", "area", "rect"]
    .flatMap((kind) => [...chart.querySelectorAll(`svg .mark-${kind} path`)])
    .filter((path) => path.getBoundingClientRect().width > 0).length"""

# The charts of arms, which the map of the run precedes.
CURVES = ".crossover-pair"

# An arm with two points has a line and two symbols; a failed chart has none of them.
FEWEST_MARKS = 3


# Elements inside a scrolling box may be wider than the page.
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".table-scroll, pre, svg, math"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.outerHTML.slice(0, 120))"""


# The colours of the charts' lines that a reader sees.
STROKES = """() => [...document.querySelectorAll('.crossover-chart .mark-line path')]
    .map((path) => getComputedStyle(path).stroke)"""


UNFOLDED = "() => document.querySelectorAll('main details').forEach((block) => { block.open = true; })"
UNHIDDEN = f"""() => {{
    ({UNFOLDED})();
    document.querySelectorAll("main [hidden]").forEach((block) => {{ block.hidden = false; }});
    dispatchEvent(new Event("beforeprint"));
    dispatchEvent(new Event("afterprint"));
}}"""


def first(page, selector):
    return page.locator(selector).first


def drawn(page, within=""):
    """The first chart that a reader sees, after it was drawn."""
    chart = first(page, f"{within} .crossover-chart >> visible=true")
    chart.scroll_into_view_if_needed()
    page.wait_for_function("(chart) => chart.dataset.drawn === 'yes'", arg=chart.element_handle())
    return chart


def test_every_chart_is_drawn_with_its_marks_when_it_is_shown(open_page, page_file):
    page = open_page()
    count = page_file.read_text().count('<div class="crossover-chart"')
    assert count > 0
    assert page.locator("[data-drawn]").count() < count, "charts that are far below or hidden must wait"
    assert not page.locator("details .crossover-chart[data-drawn]").count()
    page.evaluate(UNFOLDED)
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
                # A row of the map can have a single cell.
                fewest = FEWEST_MARKS if chart.evaluate("(chart) => !!chart.closest('.crossover-pair')") else 1
                assert chart.evaluate(MARKS) >= fewest, chart.inner_html()[:300]
    assert page.evaluate(DRAWN)


HOSTILE = """ <img src=x onerror="window.ran = 1"> `<img src=x onerror="window.ran = 1">`{=html}
<script>window.ran = 1</script>

``````{=html}
<script>window.ran = 1</script><img src="https://example.org/x" onerror="window.ran = 1">
``````

``````{=html}
<meta http-equiv="refresh" content="0; url=https://example.org/gone">
``````

---
bibliography: https://example.org/x.bib
---

[link](javascript:window.ran=1)"""

TEXTS = {
    "launches": ["reason", "host", "commit"],
    "ranks": ["host", "cpu", "kernel", "os", "governor", "mpi", "python", "slurm"],
    "claims": ["says", "quote", "locator", "reason", "method"],
    "recommendations": ["about", "reason", "snippet"],
    "sensitivity": ["placement"],
}


def test_text_and_figures_from_elsewhere_run_nothing_and_load_nothing(chromium, results, tmp_path):
    theirs, page_file = tmp_path / "results", tmp_path / "page.html"
    shutil.copytree(results, theirs)
    for name, columns in TEXTS.items():
        path = theirs / f"{name}.parquet"
        table = record.read(path, getattr(record, name.upper()))
        for column in columns:
            texts = [text and text + HOSTILE for text in table[column].to_pylist()]
            table = table.set_column(table.column_names.index(column), column, pa.array(texts, pa.string()))
        record.write(table, path)
    figure = next(iter(sorted(theirs.glob("figures/*/*.vl.json"))))
    drawing = json.loads(figure.read_text())
    drawing["layer"][0]["data"] = {"url": "https://example.org/x.json"}
    figure.write_text(json.dumps(drawing))
    renderer.render(theirs, page_file, foreign=True)
    assert "window.ran" in page_file.read_text()
    with chromium.new_context() as context:
        asked = []

        def refuse(route):
            asked.append(route.request.url)
            route.abort()

        # Only what the page's policy lets through gets here.
        context.route(lambda url: not url.startswith(("file:", "data:", "blob:")), refuse)
        page = context.new_page()
        page.goto(page_file.as_uri())
        for link in page.query_selector_all("a[href^=javascript]"):
            link.evaluate("(link) => link.click()")
        page.locator(".crossover-chart >> visible=true").first.scroll_into_view_if_needed()
        page.wait_for_function("() => document.querySelectorAll('[data-drawn=yes]').length > 0")
        assert page.evaluate("window.ran") is None
        assert page.url == page_file.as_uri() and page.locator("meta[http-equiv=refresh]").count() == 0
        assert asked == []


def test_a_tab_shows_its_panel_and_hides_the_others(open_page):
    page = open_page()
    page.evaluate(UNFOLDED)
    page.click("[role=tab]:has-text('bandwidth')")
    assert [panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]")] == [True, False]
    page.keyboard.press("ArrowRight")
    assert [panel.is_visible() for panel in page.query_selector_all("[role=tabpanel]")] == [False, True]
    assert page.evaluate("document.activeElement.textContent") == "send rate"


def test_the_choice_shows_one_panel_or_all_and_applies_to_the_other_metrics(open_page):
    page = open_page()
    choice = first(page, ".crossover-choice select")
    titles = [option.get_attribute("value") for option in choice.locator("option").all()]
    assert len(titles) == 3
    group = ".crossover-gallery[data-group=zmq_throughput]:has(.crossover-choice)"
    panels = page.locator(group).first.locator(".crossover-panel").all()
    assert [panel.is_visible() for panel in panels] == [True, False]
    choice.select_option(titles[1])
    page.evaluate(UNFOLDED)
    page.click("[role=tab]:has-text('bandwidth')")
    shown = "[role=tabpanel]:not([hidden]) .crossover-panel:not([hidden])"
    assert [panel.get_attribute("data-panel") for panel in page.query_selector_all(shown)] == [titles[1]]
    page.locator("[role=tabpanel]:not([hidden]) .crossover-choice select").select_option("")
    assert len(page.query_selector_all(shown)) == 2


def test_the_legend_hides_an_arm_in_all_charts_of_the_figure_and_shows_it_again(open_page):
    page = open_page()
    drawn(page, CURVES)
    lines = """() => document.querySelector('.crossover-gallery:has(.crossover-pair)')
        .querySelectorAll('.mark-line path').length"""
    before = page.evaluate(lines)
    button = first(page, ".crossover-legend button[data-arm=no-copy]")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    page.wait_for_function(f"({lines})() === {before - 2}")
    page.keyboard.press("Enter")
    page.wait_for_function(f"({lines})() === {before}")


def test_dragging_pans_the_wheel_with_ctrl_zooms_and_a_double_click_resets(open_page):
    page = open_page()
    box = drawn(page, CURVES).locator(".crossover-canvas").bounding_box()
    # The labels in any order.
    labels = """() => [...document.querySelector(".crossover-pair .crossover-canvas")
        .querySelectorAll(".role-axis-label text")].map((text) => text.textContent).sort().join(" ")"""
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


def test_a_points_tooltip_has_its_interval_and_counts(open_page):
    page = open_page()
    drawn(page, CURVES).locator(".mark-symbol path").nth(3).hover(force=True)
    said = page.locator("#vg-tooltip-element.visible").inner_text()
    assert all(word in said for word in ("arm", "interval", " to ", "launches", "rounds in all"))


def test_a_chart_can_be_saved_as_numbers_and_as_a_drawing(open_page):
    page = open_page()
    with page.expect_download() as download:
        page.locator(f"{CURVES} [data-file$='.csv'] >> visible=true").first.click()
    assert download.value.suggested_filename.endswith(".csv")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert {row["arm"] for row in rows} == {"copy", "no-copy"}
    assert all(float(row["low"]) < float(row["throughput (messages/s)"]) < float(row["high"]) for row in rows)
    with page.expect_download() as download:
        page.locator(f"{CURVES} [data-file$='.svg'] >> visible=true").first.click()
    drawing = download.value.path().read_text()
    assert "var(" not in drawing and "no-copy" in drawing
    assert ElementTree.fromstring(drawing).tag.endswith("svg")


@pytest.mark.parametrize("width", [320, 400, 768, 1280])
def test_nothing_is_wider_than_the_page(open_page, width):
    page = open_page(width)
    page.evaluate(UNHIDDEN)
    page.wait_for_function(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TOO_WIDE) == []


def test_charts_fit_after_the_window_becomes_narrow(open_page):
    page = open_page()
    drawn(page)
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.documentElement.scrollWidth <= 400")
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("document.querySelector('.crossover-chart svg').getBoundingClientRect().width") > 300


def test_charts_use_the_pages_text_colour_and_follow_its_scheme(open_page):
    page = open_page(scheme="dark")
    drawn(page)
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


def test_the_contents_are_folded_on_a_narrow_page_and_link_to_the_sections(open_page):
    page = open_page(360)
    assert not page.is_visible("nav li a")
    page.click("nav summary")
    page.click("nav a[href='#sec-holes']")
    assert not page.is_visible("nav li a")
    page.wait_for_function("document.getElementById('sec-holes').getBoundingClientRect().top < innerHeight")
    assert open_page(1280).is_visible("nav li a")


def test_the_first_tab_key_skips_the_contents(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_print_shows_the_charts_of_the_screen_whole_and_on_white(open_page):
    page = open_page(scheme="dark")
    page.wait_for_selector("body[data-printable]")
    shown = [chart for chart in page.query_selector_all(".crossover-chart") if chart.is_visible()]
    assert page.pdf(format="A4").startswith(b"%PDF-")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert shown
    for chart in shown:
        assert chart.is_visible()
        page.wait_for_function("(chart) => chart.dataset.drawn === 'yes'", arg=chart)
        assert chart.evaluate(MARKS) >= FEWEST_MARKS
        assert chart.evaluate("(chart) => getComputedStyle(chart).breakInside") == "avoid"
        assert chart.bounding_box()["height"] < 900, "it must fit on a page"
    assert not page.is_visible(".scheme") and not page.is_visible(".crossover-files")


def test_a_print_soon_after_loading_has_its_charts_and_few_sheets(chromium, page_file):
    page = chromium.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_timeout(600)
    undrawn = page.evaluate("""() => new Promise((resolve) => {
        dispatchEvent(new Event("beforeprint"));
        const shown = [...document.querySelectorAll(".crossover-chart")].filter((chart) => chart.checkVisibility());
        setTimeout(() => resolve(shown.filter((chart) => chart.dataset.drawn !== "yes").length));
    })""")
    assert undrawn == 0, "the browser prints before these charts are drawn"
    assert 1 < page.pdf(format="A4").count(b"/Type /Page\n") <= 20
    page.close()


def test_print_keeps_folded_blocks_folded(open_page):
    page, folded = open_page(), "() => [...document.querySelectorAll('main details')].map((block) => block.open)"
    before = page.evaluate(folded)
    assert False in before
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(folded) == before
    page.emulate_media(media="print")
    assert not page.locator("main details:not([open])").locator("visible=true").count()


def test_a_row_of_the_map_leads_to_its_own_curve(open_page):
    page = open_page()
    row = page.locator(".strips tr[id*=ipc]").first
    row.locator("th a").first.click()
    panel = page.locator(row.locator("th a").first.get_attribute("href"))
    assert "ipc" in panel.get_attribute("data-panel")
    page.wait_for_function("(panel) => panel.checkVisibility()", arg=panel.element_handle())
    choice = panel.locator("xpath=ancestor::*[contains(@class, 'crossover-gallery')]").locator("select")
    assert choice.input_value() == panel.get_attribute("data-panel")


def test_the_address_names_the_selection_and_reproduces_it(open_page):
    page = open_page()
    gallery = page.locator(".crossover-gallery:has(.crossover-choice)").first
    title = gallery.locator("option").nth(1).get_attribute("value")
    gallery.locator("select").select_option(title)
    gallery.locator("[data-arm=no-copy]").click()
    address = page.evaluate("location.hash")
    assert address.endswith("!no-copy")
    other = open_page()
    other.evaluate("(hash) => { location.hash = hash; }", address)
    again = other.locator(".crossover-gallery:has(.crossover-choice)").first
    other.wait_for_function(
        "(button) => button.getAttribute('aria-pressed') === 'false'",
        arg=again.locator("[data-arm=no-copy]").element_handle(),
    )
    assert again.locator("select").input_value() == title


def test_drawn_charts_keep_their_descriptions_and_have_a_table(open_page):
    page = open_page()
    chart = drawn(page, CURVES)
    canvas = chart.locator(".crossover-canvas")
    assert canvas.get_attribute("role") == "img" and len(canvas.get_attribute("aria-label")) > 100
    chart.locator("[data-file$='.table']").click()
    page.wait_for_function("(chart) => chart.querySelectorAll('table tr').length > 5", arg=chart.element_handle())
    chart.locator("[data-file$='.table']").click()
    page.wait_for_function("(chart) => !chart.querySelector('table')", arg=chart.element_handle())


def test_without_javascript_charts_are_described_in_words_and_tables_are_visible(chromium, page_file):
    context = chromium.new_context(viewport={"width": 360, "height": 900}, java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("noscript p", has_text="Charts are drawn by JavaScript").is_visible()
    for chart in page.locator(".crossover-canvas:not(details *)").all():
        assert chart.is_visible() and chart.bounding_box()["height"] > 30
    # Folded tables can be opened without a script.
    tables = page.query_selector_all("main table:not(details table)")
    assert tables and all(table.is_visible() for table in tables)
    assert not page.locator(".crossover-legend, .crossover-files, .tab-bar").locator("visible=true").count()
    context.close()


def test_an_old_browser_shows_a_charts_description(chromium, page_file):
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


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing(open_page, width, scheme):
    page = open_page(width, scheme)
    # Draw everything and show all panels, so that axe judges hidden ones too.
    page.evaluate(UNHIDDEN)
    page.wait_for_selector(".crossover-chart[data-drawn]")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
