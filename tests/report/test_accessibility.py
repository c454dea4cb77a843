"""Is the page accessible according to axe-core, in both colour schemes, narrow and wide?"""

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser
OTHERS = ((1280, "dark"), (360, "light"))


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1280, "light"), (360, "dark"), *(pytest.param(*each, marks=pytest.mark.long) for each in OTHERS)],
)
def test_axe_finds_nothing(open_page, width, scheme):
    page = open_page(width, scheme)
    # Draw everything and show all panels, so that axe judges hidden ones too.
    page.evaluate("document.querySelectorAll('details').forEach((block) => (block.open = true))")
    page.evaluate("document.querySelectorAll('[hidden]').forEach((element) => (element.hidden = false))")
    page.evaluate("dispatchEvent(new Event('beforeprint')), dispatchEvent(new Event('afterprint'))")
    page.wait_for_selector(".crossover-chart[data-drawn]")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in found] == []
