"""Hosts on which launches are slower than on others, and those shared with other jobs; what to do about them."""

from collections import Counter
from collections.abc import Sequence

from crossover.paths import SITE
from crossover.report.base import numbers
from crossover.report.base.tables import Row, Tables, grouped, place


def slow(rows: Sequence[Row]) -> list[Row]:
    """The row with the largest factor of each worse host, experiment and placement; the largest first."""
    worse = [row for row in rows if row["verdict"] == "worse"]
    own = grouped(sorted(worse, key=lambda row: -row["factor"]), "host", "experiment", "placement").values()
    return [strongest for strongest, *_ in own]


def paragraphs(tables: Tables) -> list[str]:
    """A sentence for each slow host; then one for each experiment whose launches ran on several sets of hosts."""
    named = [_named(row, tables) for row in slow(tables.hosts)]
    places = grouped(tables.hosts, "experiment", "placement").values()
    return [*named, *(_compared(rows) for rows in places if not slow(rows))]


def brief(tables: Tables) -> str:
    """The slow host with the largest factor, in one line; empty if there is none."""
    found = slow(tables.hosts)
    if not found:
        return ""
    row, others = found[0], {each["host"] for each in found[1:]} - {found[0]["host"]}
    rest = f"; also {numbers.listed(sorted(others))}" if others else ""
    return (
        f"Slow host: launches with {row['host']} are {_factor(row)} times worse ({row['experiment']}, {row['metric']} "
        f"{_where(row)}, {row['launches_with']} with it, {row['launches_without']} without){rest}. Leave it out."
    )


def shared(launches: Sequence[Row]) -> str:
    """A warning that other jobs may have run beside launches, with their number and the key; empty if none had."""
    measured = [row for row in launches if row["outcome"] == "measured"]
    # Earlier releases did not record it.
    count = sum(row.get("exclusive") is False for row in measured)
    if not count:
        return ""
    return (
        f"Nodes not exclusive: other jobs may have run beside {count} of {numbers.counted(len(measured), 'launch')}, "
        f"and may have changed their results. If your site allows it, remove `exclusive: false` from `{SITE}`."
    )


def _named(row: Row, tables: Tables) -> str:
    host = row["host"]
    sides = f"{numbers.counted(row['launches_with'], 'launch')} with it, {row['launches_without']} without"
    return (
        f"{place(row)}: launches with the host `{host}` are {_factor(row)} times worse in {row['metric']} "
        f"{_where(row)} ({row['protocol']}) than launches without it ({sides}). "
        "The host or its link is slow. Leave it out: remove it from `node_list`, or choose other nodes by "
        f"`constraint`, in `{SITE}`, or add `--exclude={host}` to `slurm_extra` in your profile; or measure on alike "
        f"hosts. Launches by hosts: {_sets(row, tables)}."
    )


def _compared(rows: Sequence[Row]) -> str:
    names = numbers.listed([f"`{name}`" for name in sorted({row["host"] for row in rows})])
    if all(row["p"] is None for row in rows):
        return f"{place(rows[0])}: the launches ran on {names}, but they are too few to compare these hosts."
    return f"{place(rows[0])}: the launches ran on {names} and were compared; no host is shown to be slower."


def _where(row: Row) -> str:
    low, high = (numbers.quantity(row[end], row["axis_unit"]) for end in ("x_from", "x_to"))
    return f"at {low}" if low == high else f"from {low} to {high}"


def _factor(row: Row) -> str:
    return numbers.ratio(row["factor"], row["low"], row["high"])


def _sets(row: Row, tables: Tables) -> str:
    """The hosts of the launches of a row's experiment and placement, each set with the number of its launches."""
    same = [each for each in tables.launches if (each["experiment"], each["placement"]) == _place(row)]
    counts = Counter(each["hosts"].replace(",", " + ") for each in same if each["hosts"])
    return ", ".join(f"{names}: {count:,}" for names, count in sorted(counts.items()))


def _place(row: Row) -> tuple[str, str]:
    return row["experiment"], row["placement"]
