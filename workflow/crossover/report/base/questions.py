"""Short names of panels in the user's words, such as `ZeroMQ stream, tcp`, instead of whole protocols."""

from collections.abc import Iterable, Sequence

from crossover.records.protocol import KEYS, label
from crossover.report.base.tables import Panel

TITLES = {
    "zmq_throughput": "ZeroMQ stream",
    "zmq_latency": "ZeroMQ round trip",
    "zmq_bursts": "ZeroMQ bursts",
    "zmq_message_size": "libzmq struct",
    "mpi_pingpong": "mpi4py arrays",
    "task_latency": "Task farm, empty tasks",
    "task_throughput": "Task farm, tasks with data",
    "task_map": "Task farm, longer tasks",
    "task_scaling": "Task farm, more engines",
}
"""The subject of each experiment; of any other, its name in words."""

Name = tuple[str, str, str]
"""Experiment, protocol and placement of a panel."""


def names(panels: Iterable[Panel]) -> dict[Name, str]:
    """The name of each panel: its experiment's title, and the fewest keys that tell it from the experiment's others."""
    found: dict[Name, str] = {}
    of_experiment: dict[str, list[Panel]] = {}
    for panel in panels:
        of_experiment.setdefault(panel.experiment, []).append(panel)
    for experiment, own in of_experiment.items():
        title = TITLES.get(experiment, experiment.replace("_", " "))
        facts = {name(panel): {**panel.keys, "placement": panel.placement} for panel in own}
        apart = telling(list(facts.values()))
        usual = {key: value for key in apart if (value := _usual([each.get(key) for each in facts.values()]))}
        for which, known in facts.items():
            words = [_words(key, known[key]) for key in apart if key in known and known[key] != usual.get(key)]
            found[which] = ", ".join([title, *filter(None, words)])
    return found


def name(panel: Panel) -> Name:
    """The columns that name a panel, whatever its metric."""
    return panel.experiment, panel.protocol, panel.placement


def telling(known: Sequence[dict[str, object]]) -> list[str]:
    """A smallest set of keys that tells all panels apart; earlier ones of KEYS are preferred."""
    keys = [key for key in (*KEYS, "placement") if len({each.get(key) for each in known}) > 1]
    different = len({tuple(each.get(key) for key in keys) for each in known})
    for key in reversed(keys):
        rest = [other for other in keys if other != key]
        if len({tuple(each.get(other) for other in rest) for each in known}) == different:
            keys = rest
    return keys


def _usual(values: Sequence[object]) -> object:
    """The value that more than half of the panels have, and that needs no words; None without one."""
    most = max(values, key=values.count)
    return most if values.count(most) > len(values) / 2 else None


def _words(key: str, value: object) -> str:
    if key == "placement":
        return {"node": "", "nodes": "across hosts"}.get(str(value), str(value))
    return label({key: value}) or ("" if value is False else str(value))
