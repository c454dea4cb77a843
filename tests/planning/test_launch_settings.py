"""Are a launch's settings written to JSON and read back unchanged, by one module?"""

import re

from crossover.design.settings import canonical, read_settings
from crossover.paths import PACKAGE


def test_settings_come_back_and_their_order_does_not_change_the_text():
    settings = {"rounds": {"at_most": 30, "at_least": 3}, "arms": ["Köln", "null"], "budget_seconds": 0.5}
    assert read_settings(canonical(settings)) == settings
    assert canonical(dict(reversed(settings.items()))) == canonical(settings)


def test_a_launch_without_settings_has_none():
    assert read_settings(None) == read_settings("") == {}


def test_no_other_module_reads_them():
    pattern = re.compile(r"json\.loads\([^()]*settings")
    assert [path.name for path in PACKAGE.rglob("*.py") if pattern.search(path.read_text())] == []
