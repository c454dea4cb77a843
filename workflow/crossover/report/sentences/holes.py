"""Sentences about launches and arms without data, and how to retry, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from crossover.records.absence import alike, why
from crossover.report.base import numbers
from crossover.report.base.tables import Row, Tables


def paragraphs(tables: Tables) -> list[str]:
    """One paragraph and one command for all launches of an experiment with the same hole."""
    return [
        f"{_which(rows)} of `{rows[0]['experiment']}` (placement {rows[0]['placement']}), {_cause(rows[0])}. "
        f"To retry:\n\n```\n{_command(tables, rows)}\n```"
        for rows in alike(tables.holes())
    ]


def _cause(row: Row) -> str:
    return f"*{row['hole'] or 'unknown'}*: {_code(row['reason'] or 'no reason was recorded')}"


def _code(reason: str) -> str:
    """A reason as code, because it can be any text, such as a line of a traceback, and must not break the page."""
    line = " ".join(reason.replace("`", "'").split())
    return f"`{line}`"


def _which(rows: list[Row]) -> str:
    return f"Launch{'es' if len(rows) > 1 else ''} {numbers.listed([str(row['launch']) for row in rows])}"


def _command(tables: Tables, rows: list[Row]) -> str:
    """The command that remeasures these launches, with the profile of the other launches."""
    profile = "slurm" if any(rank["slurm"] for rank in tables.ranks) else "profiles/local"
    return f"snakemake --profile {profile} -R " + " \\\n    ".join(row["file"] for row in rows)


def partial(remarks: Sequence[Sequence[str]]) -> str:
    """The launches that a partial run uses and leaves out: each remark, with the command that would include them."""
    return "\n\n".join(
        f"{_code(text)}" + (f"; to report on them:\n\n```\n{command}\n```" if command else "")
        for text, command in remarks
    )


def silent(validities: list[Row]) -> list[str]:
    """One sentence for each arm without any value under some protocols, with the reasons.

    `validities` has one row per experiment, protocol, arm and validity, with the number of `values` of such blocks.
    """
    curves: dict[tuple[str, str, str], list[Row]] = {}
    for row in validities:
        curves.setdefault((row["experiment"], row["arm"], row["protocol"]), []).append(row)
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (experiment, arm, protocol), rows in curves.items():
        if not any(row["values"] for row in rows):
            reasons = "; ".join(dict.fromkeys(_code(row["validity"]) for row in rows))
            alike.setdefault((experiment, arm, reasons), []).append(protocol)
    return [
        f"`{arm}` of `{experiment}` has no value under {numbers.listed(protocols)}: {reasons}."
        for (experiment, arm, reasons), protocols in alike.items()
    ]


def absent(experiments: list[str]) -> str:
    """A sentence about experiments that were not run; empty if there are none."""
    if not experiments:
        return ""
    named = numbers.listed([f"`{name}`" for name in experiments])
    return f"{named} {'has' if len(experiments) == 1 else 'have'} no launch in this run."


def gap(tables: Tables, experiment: str) -> str:
    """The sentence for an experiment without a result, with the reasons."""
    if experiment not in tables.experiments:
        return absent([experiment])
    causes = dict.fromkeys(map(_cause, tables.holes(experiment)))
    reasons = f" ({'; '.join(causes)}). @sec-holes says what to do." if causes else "."
    return f"`{experiment}` has no result: {absence(tables, experiment)}{reasons}"


def absence(tables: Tables, experiment: str) -> str:
    """The same as a clause, without the reasons, for an experiment of the run."""
    if not why(tables.launches, experiment):
        return "no arm could be compared with another"
    return f"its {numbers.counted(len(tables.holes(experiment)), 'launch')} left only holes"
