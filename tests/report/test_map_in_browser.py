"""Can every number of the map be read?"""

import re

import pytest
from campaigns import Campaign, lasting, mpi, run, steps, tasks, zmq
from test_arm_styles import contrast
from test_browser import UNFOLDED

from crossover.report.charts import arm_styles, gallery, overview
from crossover.report.pages import preview
from crossover.report.text import markup

INPROC = "PUSH/PULL over inproc, 64 MB in flight"

pytestmark = pytest.mark.browser

# Of each number of a cell: whether it is drawn, and how far it reaches beyond its cell.
NUMBERS = """() => [...document.querySelectorAll(".strips .cell span")].map((number) => {
    const range = document.createRange();
    range.selectNodeContents(number);
    const [text, cell] = [range.getBoundingClientRect(), number.parentElement.getBoundingClientRect()];
    const drawn = text.width > 0 && text.top < number.getBoundingClientRect().bottom - 0.5;
    return [number.textContent, drawn, Math.max(
        cell.left - text.left, text.right - cell.right, cell.top - text.top, text.bottom - cell.bottom)];
})"""


@pytest.fixture(scope="session")
def map_file(build_once):
    """A page with a map, which has open cells at both ends, long answers and narrow cells."""
    curves = [
        zmq(), mpi(), tasks("round trip"), lasting(),
        steps((0.56, 1.1), (0.7, 1.5), (0.95, 1.1), (1.8, 2.2), (0.6, 2.4), protocol=INPROC),
    ]  # fmt: skip

    def build_in(folder):
        shown = overview.picture(run(Campaign(curves)))
        front = {"title": "What to send", "subtitle": "Two cores, " + "measured on a busy day, " * 8}
        body = f"{markup.raw(shown)}\n\n{gallery.script_element()}"
        (folder / "map.html").write_bytes(preview.html(front, body))

    return build_once("map", build_in) / "map.html"


# At 200 %, a window has half as many pixels; a sheet of paper has about 700.
@pytest.mark.parametrize(
    ("width", "media"), [*((w, "screen") for w in (195, 390, 512, 720, 1024, 1440)), (703, "print")]
)
def test_a_number_of_a_cell_is_whole_or_absent(open_page, map_file, width, media):
    page = open_page(width, file=map_file)
    page.evaluate(UNFOLDED)
    page.emulate_media(media=media)
    numbers = page.evaluate(NUMBERS)
    assert {text for text, drawn, beyond in numbers if drawn and beyond > 0.5} == set()
    assert sum(drawn for _, drawn, _ in numbers) > len(numbers) / 4
    if width != 195:
        bounds = [drawn for text, drawn, _ in numbers if text.startswith("≤")]
        assert len(bounds) > 8 and all(bounds)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_contrast_with_cells_of_every_colour(open_page, map_file, scheme):
    page = open_page(scheme=scheme, file=map_file)
    for colour in arm_styles.ARMS:
        made = f"""(map) => {{
            const cell = map.appendChild(document.createElement("i"));
            cell.className = "cell chosen {colour.name}";
            cell.style.setProperty("--share", "{overview.STRONGEST}%");
            return getComputedStyle(cell).backgroundColor;
        }}"""
        shares = map(float, re.findall(r"[\d.]+", page.locator(".crossover-map").first.evaluate(made)))
        ground = "#" + "".join(f"{round(255 * share):02x}" for share in shares)
        assert contrast(getattr(arm_styles.INK, scheme), ground) >= 4.5, colour


def test_the_cells_of_a_row_and_a_link_to_each_row_are_reached_by_keys(open_page):
    page = open_page()
    cells = page.locator(".strips tr[id]").first.locator("a.cell")
    assert [cell.get_attribute("tabindex") for cell in cells.all()] == ["0", *["-1"] * (cells.count() - 1)]
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    assert cells.nth(1).evaluate("(cell) => cell === document.activeElement")
    assert "launches" in cells.nth(1).get_attribute("title")
    page.evaluate(UNFOLDED)
    rows = page.locator(".crossover-map .strips tr[id]")
    for row in rows.all():
        here = row.locator(".here")
        assert here.get_attribute("href") == f"#{row.get_attribute('id')}"
        assert here.is_visible() and float(here.evaluate("(link) => getComputedStyle(link).opacity")) > 0.5
    rows.first.locator("th a").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == f"#{rows.first.get_attribute('id')}"
