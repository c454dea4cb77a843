"""The heats of an experiment: alternatives that are measured in one launch."""

from functools import reduce
from itertools import product
from operator import or_

from crossover.design.settings import Settings


def heats(settings: Settings) -> list[Settings]:
    """The heats of an experiment, each as the settings that it replaces.

    A heat has the reference and at most `rivals_per_heat` rivals. An entrant that is `alone`, because it disturbs the
    others even while it is idle, has a heat of its own. Each heat has one value of every setting in ONE_EACH.

    >>> heats({"arms": ["a", "b", "c"], "reference": "b", "rivals_per_heat": 1})
    [{'arms': ['b', 'a']}, {'arms': ['b', 'c']}]
    """
    reference, entrants = settings["reference"], settings.get("entrants", {})
    rivals = [name for name in settings["arms"] if name != reference]
    alone = [name for name in rivals if entrants.get(name, {}).get("alone")]
    social = [name for name in rivals if name not in alone]
    size = settings.get("rivals_per_heat", max(1, len(social)))
    shared = [social[start : start + size] for start in range(0, len(social), size)]
    groups = [{"arms": [reference, *group]} for group in [*shared, *([name] for name in alone)]]
    choices = [[{one: value} for value in settings[many]] for many, one in ONE_EACH.items() if settings.get(many)]
    return [reduce(or_, chosen, group) for *chosen, group in product(*choices, groups)]


ONE_EACH = {"thread_levels": "thread_level", "players": "player", "engine_counts": "engines"}
"""Lists of which a launch has one value, with the key of that value. A process has one MPI thread level, and a farm
keeps the engines that it was started with."""
