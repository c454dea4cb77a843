"""Sentences computed from the tables, in Markdown. No number in them is typed."""

import math
from collections.abc import Iterable, Mapping

from crossover.planning.plan import read_settings
from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row, Tables, at, grouped
from crossover.report.sentences import holes

UNDECIDED = "undecided"


def findings(panel: Panel) -> str:
    """One paragraph: each arm at both ends of the axis, its crossover, and the noise."""
    if not panel.compared:
        arms = [f"`{arm}`" for arm in panel.arms if arm != panel.null] or ["the null arm"]
        seen = f"only {numbers.listed(arms)} {'has' if len(arms) == 1 else 'have'} data"
        return f"**{panel.title}.** No arm could be compared with another: {seen}."
    sentences = [sentence for arm in panel.compared for sentence in (_ends(panel, arm), crossing(panel, arm))]
    return " ".join([f"**{panel.title}.**", *sentences, noise(panel)])


def _ends(panel: Panel, arm: str) -> str:
    """The ratio at the small and at the large end of the axis."""
    cells = panel.ratios_of(arm)
    first, last = cells[0], cells[-1]
    standing = _standing(panel, first, f"`{panel.reference}`")
    near = f"At {at(first)} `{arm}` {standing}, with {_times(first)} its {panel.metric}"
    far = f"; at {at(last)} it {_standing(panel, last)}, with {_times(last)}" if len(cells) > 1 else ""
    return f"{near}{far}."


def _times(cell: Row) -> str:
    return f"{numbers.ratio(cell['ratio'], cell['low'], cell['high'])} times"


def _standing(panel: Panel, cell: Row, reference: str = "") -> str:
    """The comparison of a cell's arm with its reference; they differ only if the interval excludes 1."""
    than = f" than {reference}" if reference else ""
    if cell["low"] is None or cell["high"] is None:
        return f"looks {_word(panel, cell)}{than} (not replicated)"
    if cell["low"] <= 1 <= cell["high"]:
        return f"does not differ significantly{f' from {reference}' if reference else ''}"
    return f"is {_word(panel, cell)}{than}"


def _word(panel: Panel, cell: Row) -> str:
    """The comparative for the arm, such as `faster`, from its ratio without the interval."""
    better, worse = numbers.comparatives(panel.unit)
    return better if (cell["ratio"] > 1) == (cell["better"] == "higher") else worse


def crossing(panel: Panel, arm: str) -> str:
    """The verdict on the crossover of `arm` and the reference, as one sentence."""
    row, reference = panel.crossover_of(arm), panel.reference
    if row is None:
        return f"A crossover of `{arm}` and `{reference}` was not examined."
    if row["launches"] < 2:
        return "With one launch this is not replicated: there is no interval and no verdict."
    where = possible_range(panel, arm)
    possible = f" If there is a crossover, it lies {where}." if where else ""
    match row["verdict"]:
        case "one":
            where = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
            between = ""
            if row["bracket_low"] is not None and row["bracket_high"] is not None:
                low, high = (numbers.quantity(row[end], row["axis_unit"]) for end in ("bracket_low", "bracket_high"))
                between = f", between the measured points {low} and {high}"
            beyond = _beyond(panel, arm)
            return f"It becomes {beyond} than `{reference}` above **{where}**{between}{_exceptions(panel, arm)}."
        case "always":
            return f"It is {_mostly(panel, arm)} than `{reference}` at every measured point, so there is no crossover."
        case "none":
            return f"No crossover is shown: it is {parts(panel, arm)}.{possible}"
        case "several":
            return f"It crosses `{reference}` several times along the axis, so no single crossover is given."
        case _:
            return f"Undecided: {_undetected(panel, arm)}.{possible}"


def possible_range(panel: Panel, arm: str) -> str:
    """The possible range of a single undetected crossover; empty if it could be anywhere."""
    row, cells = panel.crossover_of(arm), panel.ratios_of(arm)
    if row is None or row["x"] is not None or row["low"] is None or row["high"] is None:
        return ""
    low, high = (numbers.quantity(row[end], row["axis_unit"], 2) for end in ("low", "high"))
    # If an end of the axis is not rejected, the crossover may be beyond it.
    above, below = row["low"] > cells[0]["x"], row["high"] < cells[-1]["x"]
    if above and below:
        return f"between {low} and {high}"
    return f"at {low} or above" if above else f"at {high} or below" if below else ""


def verdict(panel: Panel, arm: str) -> str:
    """The verdict in two or three words, for a table."""
    row = panel.crossover_of(arm)
    if row is None:
        return "not examined"
    if row["launches"] < 2:
        return "not replicated"
    match row["verdict"]:
        case "one":
            return f"{_beyond(panel, arm)} above it"
        case "always":
            return f"always {_mostly(panel, arm)}"
        case "none":
            return f"mostly {_mostly(panel, arm)}" if _exceptions(panel, arm) else f"{_mostly(panel, arm)} or undecided"
        case "several":
            return "crosses several times"
        case _:
            return "undecided"


def _beyond(panel: Panel, arm: str) -> str:
    """The comparative for `arm` at the measured point beyond its crossover; farther out it may differ."""
    row = panel.crossover_of(arm)
    settled = row["bracket_high"] if row else None
    cells = panel.ratios_of(arm)
    return _word(panel, next((cell for cell in cells if settled is not None and cell["x"] >= settled), cells[-1]))


def _mostly(panel: Panel, arm: str) -> str:
    """The comparative for `arm` at its most significant point, because a ratio far from 1 may be noise."""
    return _word(panel, _surest(panel.ratios_of(arm)))


def _decided(panel: Panel, arm: str) -> dict[str, list[float]]:
    """The points at which `arm` is faster or slower, each by its own interval, by the word for it, and then the
    undecided ones."""
    cells = panel.ratios_of(arm)
    sure = [cell for cell in cells if not _undecided(cell)]
    points = grouped([{"word": _word(panel, cell), "x": cell["x"]} for cell in sure], "word")
    found = {word: [point["x"] for point in own] for (word,), own in points.items()}
    undecided = [cell["x"] for cell in cells if _undecided(cell)]
    return found | ({UNDECIDED: undecided} if undecided else {})


def parts(panel: Panel, arm: str) -> str:
    """The points at which `arm` is faster, slower and undecided, to follow "is"."""
    points, first = _decided(panel, arm), f" than `{panel.reference}`"
    clauses = []
    for word, own in points.items():
        clauses.append(f"{word}{first if word != UNDECIDED else ''} at {_points(panel, arm, own)}")
        first = ""
    return numbers.listed(clauses)


def _exceptions(panel: Panel, arm: str) -> str:
    """The points that are decided against the verdict on the whole curve, each by its own interval."""
    row = panel.crossover_of(arm)
    crossed = row is not None and row["verdict"] == "one"
    usual = _beyond(panel, arm) if crossed else _mostly(panel, arm)
    parts = []
    for word, own in _decided(panel, arm).items():
        odd = [x for x in own if (word == usual) == (crossed and row is not None and x < row["x"])]
        if odd and word != UNDECIDED:
            parts.append(f", but {word} at {_points(panel, arm, odd)}")
    return "".join(parts)


def _points(panel: Panel, arm: str, own: list[float]) -> str:
    return numbers.runs(own, [cell["x"] for cell in panel.ratios_of(arm)], panel.facts["axis_unit"])


def _undetected(panel: Panel, arm: str) -> str:
    """The verdict `undecided` as a clause; single points may be decided by their own intervals."""
    sure = any(word != UNDECIDED for word in _decided(panel, arm))
    points = f"; each point by itself, `{arm}` is {parts(panel, arm)}" if sure else ""
    return f"with all points tested together, `{arm}` and `{panel.reference}` do not differ significantly{points}"


def _surest(cells: list[Row]) -> Row:
    """The most significant cell, whose ratio is farthest from 1 in widths of its interval."""

    def widths(cell: Row) -> float:
        if cell["low"] is None or cell["high"] is None:
            return 0.0
        width = math.log(cell["high"] / cell["low"])
        return _distance(cell) / width if width else math.inf

    return max(cells, key=widths)


def largest_sure(panel: Panel, arm: str) -> Row:
    """The largest significant difference in the direction of the most significant one."""
    cells = panel.ratios_of(arm)
    surest = _surest(cells)
    sure = [cell for cell in cells if _word(panel, cell) == _word(panel, surest) and not _undecided(cell)]
    return max(sure or [surest], key=_distance)


def _undecided(cell: Row) -> bool:
    """Whether the interval contains 1, or there is none."""
    return cell["low"] is None or cell["high"] is None or cell["low"] <= 1 <= cell["high"]


def _distance(cell: Row) -> float:
    return abs(math.log(cell["ratio"]))


def noise(panel: Panel) -> str:
    """The noise in words, from the null arm's ratios."""
    cells = panel.ratios_of(panel.null)
    if not cells:
        return "No null arm was measured, so the noise level is unknown."
    sentence = f"`{panel.reference}` against itself (the null arm) differs by at most {largest(cells)}"
    replicated = [cell for cell in cells if cell["low"] is not None and cell["high"] is not None]
    if not replicated:
        return f"{sentence}."
    count = sum(map(_undecided, replicated))
    share = numbers.percent(count / len(replicated))
    return f"{sentence}; its interval contains 1 at {count} of {numbers.counted(len(replicated), 'point')} ({share})."


def factor(panel: Panel, cell: Row) -> str:
    """How many times faster or slower the arm of a cell is, with the interval, which does not contain 1."""
    ends = [cell["ratio"], cell["low"], cell["high"]]
    if cell["ratio"] < 1:
        ends = [1 / cell["ratio"], 1 / cell["high"], 1 / cell["low"]]
    return f"{numbers.ratio(*ends)} times {_word(panel, cell)}"


def largest(cells: list[Row]) -> str:
    """The largest difference from the reference among these ratios, in either direction, in percent."""
    return numbers.percent(math.expm1(max(map(_distance, cells))))


def second_sweep(panel: Panel, launches: Iterable[Row]) -> str:
    """The launches and points of the second sweep for a panel's curves; empty if there are none."""
    seen: dict[int, list[int]] = {}
    for row in launches:
        here = (row["experiment"], row["placement"]) == (panel.experiment, panel.placement)
        cells = read_settings(row["settings"]).get("cells", {}) if here and row["outcome"] == "measured" else {}
        if points := cells.get(panel.protocol):
            seen[row["launch"]] = points
    if not seen:
        return ""
    launched, places = sorted(seen), sorted(set().union(*seen.values()))
    which = f"{launched[0]} to {launched[-1]}" if len(launched) > 1 else f"{launched[0]}"
    first, last = (numbers.quantity(place, panel.facts["axis_unit"]) for place in (places[0], places[-1]))
    return (
        f"A second sweep of {numbers.counted(len(launched), 'launch')} (number {which}) added "
        f"{numbers.counted(len(places), 'point')} from {first} to {last}, inside the crossovers of the first."
    )


def headlines(tables: Tables, leads: Mapping[str, str]) -> str:
    """A line per experiment, then those that were not run; `leads` gives each experiment's leading metric."""
    order = tables.order(leads)
    lines = [f"- {_headline(tables, name, leads.get(name))}" for name in order if name in tables.experiments]
    absent = holes.absent([name for name in order if name not in tables.experiments])
    return "\n\n".join(filter(None, ["\n".join(lines), absent]))


def _headline(tables: Tables, experiment: str, lead: str | None) -> str:
    """The result of an experiment in its leading metric: a sentence, or one per protocol."""
    shown = tables.leading(experiment, lead)
    results = [
        (panel.title, "; ".join(clauses))
        for panel in shown
        if (clauses := [_clause(panel, arm) for arm in panel.compared])
    ]
    if not results:
        return f"**{experiment}** has no result: {holes.absence(tables, experiment)}."
    if len(results) == 1:
        return f"**{experiment}**, {shown[0].metric}: {results[0][1]} ({results[0][0]})."
    items = (f"    - {title}: {result}." for title, result in results)
    return "\n".join([f"**{experiment}**, {shown[0].metric}:", *items])


def _clause(panel: Panel, arm: str) -> str:
    """The crossover of `arm` and the reference, or their largest difference, as a clause."""
    row, reference = panel.crossover_of(arm), panel.reference
    largest = max(panel.ratios_of(arm), key=_distance)
    times = f"{_times(largest)} its {panel.metric}"
    at_most = f"the largest measured difference is {times} at {at(largest)}"
    sure = largest_sure(panel, arm)
    most = f"with the largest difference at {at(sure)}: {_times(sure)} its {panel.metric}"
    if row is None or row["launches"] < 2:
        return f"`{arm}` against `{reference}` is not replicated; {at_most}"
    match row["verdict"]:
        case "one":
            where = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
            return (
                f"`{arm}` becomes {_beyond(panel, arm)} than `{reference}` above **{where}**{_exceptions(panel, arm)}"
            )
        case "always":
            return f"`{arm}` is always {_mostly(panel, arm)} than `{reference}`, {most}"
        case "none":
            return f"`{arm}` is {parts(panel, arm)}, {most}"
        case "several":
            return f"`{arm}` crosses `{reference}` several times; {at_most}"
        case _:
            return f"{_undetected(panel, arm)}; {at_most}"
