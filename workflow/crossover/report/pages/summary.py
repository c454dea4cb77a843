"""The page in a few sentences: launches, crossovers, claims, noise."""

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Tables, grouped
from crossover.report.sections import claims
from crossover.report.sentences import findings

KINDS = {
    "one": ("has a crossover", "have a crossover"),
    "always": ("does not cross", "do not cross"),
    "none": ("shows no crossover", "show no crossover"),
    "several": ("crosses several times", "cross several times"),
    "undecided": ("is undecided", "are undecided"),
    "not replicated": ("was not replicated", "were not replicated"),
}
"""The verdicts on a crossover as predicates, for one pair of arms and for several."""


def sentences(tables: Tables, leads: dict[str, str], partial: bool = False) -> str:
    """A paragraph, empty if nothing was launched. The page of a `partial` run uses the launches that exist."""
    if not tables.launches:
        return ""
    panels = tables.all_leading(leads)
    judged = claims.counts(tables.claims) if tables.claims else ""
    taken = "This page is partial: @sec-holes lists the launches that it leaves out." if partial else ""
    return " ".join(filter(None, [_coverage(tables), taken, _crossings(panels), judged, _noise(panels)]))


def _coverage(tables: Tables) -> str:
    measured = [row for row in tables.launches if row["outcome"] == "measured"]
    hosts = sorted({row["host"] for row in tables.ranks})
    where = f" on {numbers.listed(hosts)}" if 0 < len(hosts) < 4 else f" on {len(hosts)} hosts" if hosts else ""
    total = numbers.counted(len(tables.launches), "launch")
    count = numbers.counted(len(tables.holes()), "hole")
    gaps = f"; {count} {'is' if len(tables.holes()) == 1 else 'are'} listed in @sec-holes" if tables.holes() else ""
    return f"{len(measured)} of {total} have data{where}{gaps}."


def _crossings(panels: list[Panel]) -> str:
    rows = [row for panel in panels for arm in panel.rivals if (row := panel.crossover_of(arm))]
    if not rows:
        return ""
    kinds = ["not replicated" if row["launches"] < 2 else row["verdict"] for row in rows]
    return f"Of {numbers.counted(len(rows), 'pair')} of arms {numbers.tally(kinds, KINDS)} (@sec-crossovers)."


def _noise(panels: list[Panel]) -> str:
    cells = grouped((cell for panel in panels for cell in panel.ratios_of(panel.null)), "experiment")
    parts = [f"{findings.largest(own)} in `{name}`" for (name,), own in cells.items()]
    if not parts:
        return ""
    return (
        f"At single points, an arm against itself differs by up to {numbers.listed(parts)}; @sec-sure has the smallest "
        "detectable effects."
    )
