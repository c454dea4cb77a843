"""Alternative texts of charts, for readers who cannot see them. No number in them is typed."""

from crossover.report.base import markup, numbers
from crossover.report.base.tables import Panel, Row, at, competes, grouped
from crossover.report.sentences import findings, thresholds


def curve(panel: Panel) -> str:
    """The ends of each arm's curve, and the best arm at both ends of the axis, as plain sentences."""
    curves = ([row for row in panel.summary if row["arm"] == arm] for arm in panel.arms if arm != panel.null)
    ends = " ".join(_ends(cells) for cells in curves if cells)
    return _plain(
        f"Chart of {panel.metric} against {panel.facts['axis']}, {panel.title}; {panel.facts['better']} is better. "
        f"{ends} {_best(panel)} {thresholds.sentences(panel)}"
    )


def ratio(panel: Panel) -> str:
    """The findings on the arms' ratios to the reference."""
    return _plain(f"Chart of {panel.metric} relative to {panel.reference}. {findings.findings(panel)}")


def _ends(curve: list[Row]) -> str:
    ends = [curve[0], curve[-1]] if len(curve) > 1 else curve
    values = (f"{numbers.quantity(row['median'], row['unit'])} at {at(row)}" for row in ends)
    return f"{curve[0]['arm']}: {', '.join(values)}."


def _best(panel: Panel) -> str:
    """The arm with the best median at either end of the axis; ceilings do not count."""
    choose = max if panel.facts["better"] == "higher" else min
    places = grouped(sorted(filter(competes, panel.summary), key=lambda row: float(row["x"])), "x")
    named = []
    for place in dict.fromkeys([*places][:1] + [*places][-1:]):
        if len(places[place]) > 1:
            best = choose(places[place], key=lambda row: float(row["median"]))
            named.append(f"{best['arm']} at {at(best)}")
    return f"The best median has {numbers.listed(named)}." if named else ""


def _plain(text: str) -> str:
    return " ".join(markup.plain(text).split())
