"""The result of an experiment in one sentence: its plainest curve, and the arm that differs most from the reference."""

from collections.abc import Sequence

from crossover.report.base import numbers, questions
from crossover.report.base.tables import Panel, at
from crossover.report.sentences import findings
from crossover.report.sentences.winners import Pair, pairs


def sentence(panels: Sequence[Panel]) -> str:
    """The result of the first of these panels in which arms were compared; empty if there is none."""
    found = next((own for panel in panels if (own := pairs([panel]))), [])
    _, short = questions.shortened(panel.title for panel in panels)
    return f"**{short[found[0].panel.title]}:** {result(found[0])}" if found else ""


def result(pair: Pair) -> str:
    """Where an arm is better, worse, alike or open, its largest difference, and the crossover."""
    panel, arm = pair.panel, pair.arm
    if not pair.is_replicated:
        return f"one launch cannot show whether `{arm}` differs from `{panel.reference}`: it has no interval."
    if pair.strength == 1:
        return f"`{arm}` or `{panel.reference}`: {findings.parts(panel, arm)}."
    largest = findings.largest_sure(panel, arm)
    parts = [f"`{arm}` is {findings.parts(panel, arm)}", f"at {at(largest)} it is {findings.factor(panel, largest)}"]
    row = panel.crossover_of(arm)
    if row and row["verdict"] == "one":
        parts.append(f"the crossover is at **{numbers.position(row['x'], row['low'], row['high'], row['axis_unit'])}**")
    return f"{'; '.join(parts)}."
