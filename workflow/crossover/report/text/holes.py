"""Sentences about missing data, and how to get it: holes, arms without values, measurements of other runs."""

import shlex
from collections.abc import Mapping, Sequence

from crossover.planning.plan import UNSAFE
from crossover.planning.receipt import ANYWHERE
from crossover.records.holes import alike, cause, why
from crossover.records.rows import Launch
from crossover.records.validities import Validity
from crossover.report.text import numbers
from crossover.report.text.tables import Tables, grouped


def paragraphs(tables: Tables) -> list[str]:
    """One paragraph and one command for all launches with the same hole."""
    said = []
    for rows in alike(tables.holes()):
        # A file on each line.
        again = command(tables, rows).replace(".json ", ".json \\\n    ", len(rows) - 1)
        which = f"Launch{'es' if len(rows) > 1 else ''} {numbers.listed([str(row.launch) for row in rows])}"
        said.append(
            f"{which} of `{rows[0].experiment}` (placement {rows[0].placement}), {_cause(rows[0])}. "
            + (f"To retry, with the profile of the run:\n\n```\n{again}\n```" if again else NO_COMMAND)
        )
    return said


LOCAL = "profiles/local"

NO_COMMAND = "To retry, repeat the command of the run."


def command(tables: Tables, rows: Sequence[Launch]) -> str:
    """The command that measures these launches again.

    Empty if no path is that of a receipt: people paste commands, and tables can come from elsewhere.
    """
    found = [each for row in rows if (each := ANYWHERE.fullmatch(row.receipt or ""))]
    if not found:
        return ""
    values = [f"{key}={value}" for key, value in found[0].groupdict().items()]
    words = ["-R", *(each[0] for each in found), "--config", *values]
    return f"snakemake --profile {profile(tables)} {shlex.join(words)}"


def profile(tables: Tables) -> str:
    """The profile that the tables suggest: Slurm's or the local one."""
    # A hole has no ranks, but the number of its job.
    on_slurm = any(rank.slurm for rank in tables.ranks) or any(row.job for row in tables.launches)
    return "slurm" if on_slurm else LOCAL


def _cause(row: Launch) -> str:
    return f"*{row.hole or 'unknown'}*: {_code(row.reason or 'no reason was recorded')}"


def _code(reason: str) -> str:
    """A reason as code, because it can be any text, such as a line of a traceback, and must not break the page."""
    line = " ".join(reason.replace("`", "'").split())
    return f"`{line}`"


def partial(remarks: Sequence[str]) -> str:
    """The launches that a partial run uses and leaves out, one remark each."""
    return "\n\n".join(map(_code, remarks))


def silent(validities: Sequence[Validity]) -> list[str]:
    """One sentence for each arm without any value under some protocols, with the reasons."""
    alike: dict[tuple[str, str, frozenset[str]], list[tuple[str, str]]] = {}
    for (experiment, arm, protocol), rows in grouped(validities, "experiment", "arm", "protocol").items():
        if not any(row.valid for row in rows):
            reasons = {cause(row.validity or "unknown"): row.validity or "unknown" for row in rows}
            said = "; ".join(map(_code, reasons.values()))
            alike.setdefault((experiment, arm, frozenset(reasons)), []).append((protocol, said))
    return [
        f"`{arm}` of `{experiment}` has no value under {numbers.listed([each for each, _ in own])}: {own[0][1]}."
        for (experiment, arm, _), own in alike.items()
    ]


def impossible(validities: Sequence[Validity], experiment: str) -> list[str]:
    """A line for the arms that have no value at some points for the same reason: a choice is not among them."""
    own = [row for row in validities if row.experiment == experiment and not row.is_null_arm]
    arms: dict[tuple[str, str], dict[str, str]] = {}
    for (arm,), rows in sorted(grouped(own, "arm").items()):
        valued = {(row.protocol, row.x) for row in rows if row.valid}
        if reasons := [row.validity for row in rows if (row.protocol, row.x) not in valued]:
            where = "at some points" if valued else ""
            arms.setdefault((where, cause(reasons[0])), {})[arm] = " ".join(reasons[0].split())
    return [
        f"Not possible{' ' * bool(where)}{where}: {', '.join(reasons_of)}: {next(iter(reasons_of.values()))}"
        for (where, _), reasons_of in arms.items()
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
    found = tables.holes(experiment)
    causes = "; ".join(dict.fromkeys(map(_cause, found)))
    reasons = f" ({causes}). @sec-holes says what to do." if found else "."
    said = "no arm could be compared with another"
    if why(tables.launches, experiment):
        said = f"its {numbers.counted(len(found), 'launch')} left only holes"
    return f"`{experiment}` has no result: {said}{reasons}"


def withheld(arms: Mapping[str, Sequence[str]]) -> list[str]:
    """One sentence for each arm that the configuration does not allow, from its experiments."""
    return [
        f"`{arm}` of {numbers.listed([f'`{name}`' for name in experiments])} was not measured: {UNSAFE}."
        for arm, experiments in arms.items()
    ]


def hosts(placements: Mapping[str, int], reason: str = "") -> str:
    """The placements that need more hosts, given as {placement: hosts needed}; empty if there are none.

    `reason` says why a cluster has too few.
    """
    return " ".join(
        f"Launches in placement `{placement}`, on up to {numbers.counted(count, 'host')}, were left out: {reason}."
        if reason
        else f"Placement `{placement}` needs a cluster with {numbers.counted(count, 'host')} "
        "(`snakemake --profile slurm`)."
        for placement, count in placements.items()
    )


def left_out(waiting: Mapping[str, Mapping[str, int]], reason: str) -> str:
    """One sentence on the launches with too many hosts for the cluster, by experiment; empty without a `reason`."""
    experiments = numbers.listed([f"`{name}`" for name in waiting])
    return f"Launches of {experiments} across hosts were left out: {reason}." if waiting and reason else ""
