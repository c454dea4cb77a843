"""The result of a tournament in words: its slow hosts and slow links, and the hosts that are open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from crossover.records.outcome import ALIKE, OPEN, WORSE
from crossover.records.rows import Pair
from crossover.report.text import markup, more, numbers
from crossover.report.text.tables import Tables, grouped, title

NAMED = 3
"""The most slow hosts, and the most slow links, that are named; others are counted."""


@dataclass(frozen=True)
class Tournament:
    """The rows of record.PAIRS of one experiment; there is at least one."""

    rows: Sequence[Pair]

    @property
    def experiment(self) -> str:
        return self.rows[0].experiment

    @property
    def launches(self) -> int:
        return max(row.launches for row in self.rows)

    @cached_property
    def by_host(self) -> dict[str, list[Pair]]:
        """The rows of each host on its own."""
        return {host: rows for (host,), rows in grouped((row for row in self.rows if not row.other), "host").items()}

    @cached_property
    def slow_hosts(self) -> list[Pair]:
        """The row of each slow host whose effect is surely the largest; the largest first."""
        return _strongest(self.by_host.values())

    @cached_property
    def slow_links(self) -> list[Pair]:
        """The same of each slow link."""
        return _strongest(grouped((row for row in self.rows if row.other), "host", "other").values())

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each host: worse if one of its rows says so, alike if all do."""
        return {host: _verdict([row.verdict for row in rows]) for host, rows in self.by_host.items()}

    # ---- in words

    @property
    def tally(self) -> str:
        """The number of hosts by verdict."""
        hosts = numbers.counted(len(self.by_host), "host")
        if self.launches < 2:
            return f"One launch of {hosts} names no slow host: an interval needs more launches."
        verdicts = list(self.verdicts.values())
        most = max((row.high or 1.0 for row in self._alike), default=1.0)
        within = f"at most {numbers.percent(max(most - 1, 0))} worse than the others"
        words = {
            WORSE: ("is slow", "are slow"),
            ALIKE: (f"is {within}", f"are {within}"),
            OPEN: ("is open", "are open"),
        }
        counts = numbers.tally(verdicts, words)
        said = counts if WORSE in verdicts else f"none is shown to be slow: {counts}"
        return f"Of {hosts} in {numbers.counted(self.launches, 'launch')}, {said}."

    @property
    def _alike(self) -> list[Pair]:
        return [row for host, rows in self.by_host.items() if self.verdicts[host] == ALIKE for row in rows]

    @property
    def slow(self) -> list[str]:
        """A sentence for the slow hosts, if there are any, and one for the slow links."""
        hosts = [f"`{row.host}` is {self._effect(row, 'the others')}{self._times(row)}" for row in self.slow_hosts]
        links = [f"`{row.host}`–`{row.other}` is {self._effect(row, 'its hosts explain')}" for row in self.slow_links]
        said = [_named("Slow host", hosts)] if hosts else []
        if links:
            said.append(_named("Slow link", links))
        elif self.launches > 1:
            judged = any(row.other and row.factor is not None for row in self.rows)
            said.append("No link is shown to be slow." if judged else "Links were not judged: not every pair played.")
        return said

    @property
    def sentence(self) -> str:
        """All of it, as Markdown."""
        return " ".join([self.tally, *self.slow])

    @property
    def lines(self) -> list[str]:
        """The same as at most three lines of plain text, of which the first names the experiment."""
        return [markup.plain(line) for line in (f"{self.experiment}: {self.tally}", *self.slow)]

    def remedy(self, tables: Tables) -> str | None:
        """The command that measures more launches, which may decide open hosts; None without an open host."""
        left = [(self.launches, None)] if OPEN in self.verdicts.values() else []
        return more.remedy(tables, self.experiment, left)

    def measured(self, row: Pair) -> str:
        """The metric, the point of the axis and the arm of a row, with what tells it from other rows of that kind."""
        several = len({(each.protocol, each.placement) for each in self.rows}) > 1
        where = f", {title(row.protocol, row.placement)}" if several else ""
        return f"{row.metric} at {numbers.quantity(row.x, row.axis_unit)}, `{row.arm}`{where}"

    def _effect(self, row: Pair, others: str) -> str:
        factor = numbers.ratio(row.factor or 1.0, row.low, row.high)
        return f"{factor} times worse than {others} ({self.measured(row)})"

    def _times(self, row: Pair) -> str:
        """The number of the host's measurements in which it is slow, if there are several."""
        verdicts = [each.verdict for each in self.by_host[row.host]]
        count = verdicts.count(WORSE)
        return f", in {count} of {len(verdicts)} measurements" if count > 1 else ""


def of(tables: Tables, experiment: str) -> Tournament | None:
    """The tournament of an experiment; None if it measured no pairs."""
    rows = [row for row in tables.pairs if row.experiment == experiment]
    return Tournament(rows) if rows else None


def every(tables: Tables) -> list[Tournament]:
    """The tournaments of a run."""
    return [Tournament(rows) for rows in grouped(tables.pairs, "experiment").values()]


def _strongest(groups: Iterable[Sequence[Pair]]) -> list[Pair]:
    worse = ([row for row in rows if row.verdict == WORSE] for rows in groups)
    return sorted((max(rows, key=_surely) for rows in worse if rows), key=_surely, reverse=True)


def _surely(row: Pair) -> float:
    return row.low or row.factor or 0.0


def _verdict(verdicts: Sequence[str]) -> str:
    return WORSE if WORSE in verdicts else ALIKE if {*verdicts} == {ALIKE} else OPEN


def _named(noun: str, items: Sequence[str]) -> str:
    """The first few items behind the word for them, and the number of the others."""
    rest = [f"and {len(items) - NAMED} more"] if len(items) > NAMED else []
    return f"{noun if len(items) == 1 else f'{noun}s'}: {'; '.join([*items[:NAMED], *rest])}."
