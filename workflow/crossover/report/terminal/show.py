"""A run's answer in at most LINES lines of a terminal: settings, winners, claims, open questions, holes, page."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from crossover.planning.command import Command
from crossover.records.outcome import ALIKE, BETTER, OPEN
from crossover.report.base import numbers, questions
from crossover.report.base.tables import Row, Tables, load
from crossover.report.sentences import decisions, holes, hosts, more, noise
from crossover.report.sentences.winners import Pair, outcome, pairs

LINES = 25
"""The most lines of an answer, unless all are wanted."""

SETTINGS, WINNERS = 6, 3
"""The most settings among them, and how many pairs are kept before settings go."""

WIDTH = 100
"""The columns without a terminal, and the most with one."""

GAP = 2
"""The columns between two of a grid."""


def show(results: Path, leads: Mapping[str, str], everything: bool = False, command: Command | None = None) -> None:
    """Print the answer of the run in `results`; `leads` has the leading metric of each experiment.

    `command` is the run's command, if known. Raises record.RecordError if there are no joined tables.
    """
    terminal = Console(highlight=False)
    screen = Console(highlight=False, width=min(terminal.width, WIDTH) if terminal.is_terminal else WIDTH)
    tables = load(results)
    every = _in_turn(pairs(tables.all_leading(leads)))
    for settings, most in [(None, len(every))] if everything else _sizes(len(every)):
        parts = answer(tables, leads, results, every, settings, most, command, screen.width)
        with screen.capture() as captured:
            _print(screen, parts)
        if captured.get().count("\n") <= LINES:
            break
    _print(screen, parts)


def _in_turn(every: Sequence[Pair]) -> list[Pair]:
    """The strongest pair of each experiment, then all others; `every` has the strongest first."""
    firsts = {pair.panel.experiment: pair for pair in reversed(every)}.values()
    return sorted(every, key=lambda pair: not any(pair is first for first in firsts))


def _sizes(count: int) -> list[tuple[int, int]]:
    """The numbers of settings and of pairs, of `count`, that an answer may have, the largest answer first."""
    kept = min(WINNERS, count)
    fewer_pairs = [(SETTINGS, most) for most in range(count, kept, -1)]
    return [
        *fewer_pairs,
        *((settings, kept) for settings in range(SETTINGS, 0, -1)),
        *((1, n) for n in range(kept, -1, -1)),
    ]


def _print(screen: Console, parts: Sequence[RenderableType]) -> None:
    # rich joins texts before it prints them, and forgets which of them must stay whole.
    for part in parts:
        screen.print(part, soft_wrap=isinstance(part, Text) and part.overflow == "ignore")


def strongest(folder: Path, leads: Mapping[str, str]) -> str:
    """The strongest result of an experiment, from its folder of tables, in one line; empty if nothing was compared."""
    every = pairs(load(folder).all_leading(leads))
    if not every:
        return ""
    named = questions.names(pair.panel for pair in every)
    return f"{named[questions.name(every[0].panel)]}, {every[0].arm} or {every[0].panel.reference}: {outcome(every[0])}"


def answer(
    tables: Tables,
    leads: Mapping[str, str],
    results: Path,
    every: Sequence[Pair],
    settings: int | None,
    most: int,
    command: Command | None = None,
    width: int = WIDTH,
) -> list[RenderableType]:
    """The parts of the answer, from top to bottom, with at most `settings` settings and `most` pairs; `width` is that
    of the screen in columns."""
    named = questions.names(pair.panel for pair in every)
    recommended = [row for row in tables.recommendations if row["recommended"]]
    recommended.sort(key=lambda row: -(row["gain"] or 0))
    # The tables of a single experiment have no recommendations.
    set_to = [
        Text(),
        Text("What to set", style="bold"),
        _settings(recommended[:settings], named),
        *_rest(len(recommended[settings or len(recommended) :])),
    ]
    ends = [
        *_holes(tables, command),
        _hosts(tables),
        _shared(tables),
        _claims(tables),
        _open(tables, every),
        _page(results),
    ]
    return [
        _head(tables),
        *(Text(said) for said in _noise(tables, leads, every) if said),
        *(set_to if tables.recommendations else []),
        *_behind(tables),
        Text(),
        Text("Who wins where", style="bold"),
        _winners(every[:most], named, width),
        *_rest(len(every) - most),
        Text(),
        *(end for end in ends if end),
    ]


def _noise(tables: Tables, leads: Mapping[str, str], every: Sequence[Pair]) -> list[str]:
    smoke = "A smoke run tests the workflow; its numbers mean little." if noise.is_smoke(tables.launches) else ""
    return [smoke, noise.busy(tables.launches, tables.ranks), noise.sentence(tables, leads), noise.known(every)]


def _rest(count: int) -> list[Text]:
    return [Text(f"  and {count} more: crossover show --all", style="dim")] if count else []


def _behind(tables: Tables) -> list[Text]:
    if not tables.behind:
        return []
    names = numbers.listed(list(tables.behind))
    return [Text(f"\nSettings and claims do not know the new launches of {names} yet: repeat the run's command.")]


def _head(tables: Tables) -> Text:
    measured = [row for row in tables.launches if row["outcome"] == "measured"]
    hosts = {row["host"]: row["logical_cpus"] for row in tables.ranks}
    where = "".join(f" on {host} ({cores} cores)" for host, cores in hosts.items()) if len(hosts) == 1 else ""
    where = where or (f" on {len(hosts)} hosts" if hosts else "")
    took = numbers.duration(sum(row["wall_seconds"] or 0 for row in measured))
    return Text(f"Measured {numbers.counted(len(measured), 'launch')} ({took}){where}.")


def _settings(rows: Sequence[Row], named: Mapping[questions.Name, str]) -> RenderableType:
    if not rows:
        return Text("  nothing: no setting has a gain beyond chance and possible bias")
    grid = _grid(3)
    for row in rows:
        label = named.get((row["experiment"], row["protocol"], row["placement"]), row["library"])
        grid.add_row(f"  {label}", Text(_value(row), style="green"), _gain(row))
    return grid


def _value(row: Row) -> str:
    """The value to set, in the words of the library."""
    value = json.loads(row["value"])
    if row["default"] is None:
        # A level is a quantity, from which the lines to paste compute the setting.
        return f"{row['setting']}: {numbers.quantity(row['x'], row['axis_unit'], 2)} {_interval(row)} ({row['arm']})"
    if decisions.is_assigned(row):
        return f"{row['setting']} = {value} {_interval(row)}".rstrip()
    everywhere = row["points"] and [name for name, points in json.loads(row["points"]).items() if points] == [BETTER]
    if everywhere or row["x"] is None:
        return f"{row['arm']} instead of {row['default']}{' everywhere' if everywhere else ''}"
    begins = f"{numbers.quantity(row['x'], row['axis_unit'], 2)} {_interval(row)}".rstrip()
    return f"{row['arm']} instead of {row['default']} from {begins} on"


def _interval(row: Row) -> str:
    if row["x"] is None or row["low"] is None:
        return ""
    return numbers.interval(row["x"], row["low"], row["high"], row["axis_unit"], 2)


def _gain(row: Row) -> str:
    if row["gain"] is None:
        return f"for {numbers.listed(json.loads(row['aims']))}"
    return f"{numbers.ratio(row['gain'], row['gain_low'], row['gain_high'])} times better"


def _winners(every: Sequence[Pair], named: Mapping[questions.Name, str], width: int) -> RenderableType:
    if not every:
        return Text("  nothing: no arm could be compared with another")
    grid = _grid(2)
    labels = [f"  {_label(pair, named[questions.name(pair.panel)])}" for pair in every]
    left = width - max(map(len, labels)) - GAP
    for pair, label in zip(every, labels, strict=True):
        words = outcome(pair)
        # A line that wraps costs another line of the answer.
        shown = next((whole for values in _values(pair) if len(whole := f"{words} ({values})") <= left), words)
        grid.add_row(label, Text(shown, style="" if pair.strength > 1 else "dim"))
    return grid


def _label(pair: Pair, name: str) -> str:
    """The name of a pair's panel, with its arms where no arm is named as a winner, or several could be meant."""
    if pair.strength == 1:
        return f"{name}: {pair.arm} or {pair.panel.reference}"
    return f"{name}: {pair.arm}" if len(pair.panel.compared) > 1 else name


def _values(pair: Pair) -> list[str]:
    """Both arms' values where one is better everywhere, at the point of the largest factor: in words with and without
    the arms. Empty for another pair."""
    (who, _), *others = pair.runs
    if not pair.is_replicated or others or who in (ALIKE, OPEN):
        return []
    widest = max(pair.cells, key=lambda cell: abs(math.log(cell["ratio"])))
    here = {row["arm"]: row["median"] for row in pair.panel.values if row["x"] == widest["x"]}
    lost = pair.arm if who == pair.panel.reference else pair.panel.reference
    if not here.keys() >= {who, lost}:
        return []
    best, other = (numbers.quantity(here[arm], pair.panel.unit, 2) for arm in (who, lost))
    place = numbers.quantity(widest["x"], widest["axis_unit"])
    number, _, unit = best.partition(" ")
    short = number if other.endswith(f" {unit}") else best
    named = [f"{lost} {other}, {who} {best} at {place}"] if "," not in lost + who else []
    return [*named, f"{short} instead of {other} at {place}"]


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, GAP))
    for _ in range(columns):
        grid.add_column(overflow="fold")
    return grid


WORDS = {
    "holds": "hold",
    "refuted": "refuted",
    "open": "open",
    "not measured": "not measured",
    "not judged": "not judged",
}


def _claims(tables: Tables) -> Text | None:
    counts = Counter(row["verdict"] for row in tables.claims)
    parts = [f"{counts[verdict]} {words}" for verdict, words in WORDS.items() if counts[verdict]]
    return Text(f"Published claims: {', '.join(parts)}") if parts else None


def _open(tables: Tables, every: Sequence[Pair]) -> Text | None:
    """The open pairs, and the command that would probably decide some of them, with its duration."""
    found = more.replication(tables, every)
    if not found.open:
        return None
    text = f"Open: {found.open} of {numbers.counted(len(every), 'pair')}."
    if found.decided:
        text += f" crossover more (about {numbers.duration(found.seconds)}) would decide some {found.decided}."
    return Text(text)


def _holes(tables: Tables, command: Command | None) -> list[Text]:
    """The launches without data, with the first reason and the command to retry them."""
    found = tables.holes()
    if not found:
        return []
    first, retry = found[0], holes.command(tables, found, own=command)
    which = f"{first['experiment']} {first['placement']} launch {first['launch']}"
    return [
        Text(
            f"Holes: {numbers.counted(len(found), 'launch')} not measured, the first {which} "
            f"({first['hole']}: {first['reason']})",
            style="red",
            no_wrap=True,
            overflow="ellipsis",
        ),
        # In one line, however long, so that it can be pasted.
        Text(f"To retry: {retry}" if retry else holes.NO_COMMAND, style="red", no_wrap=True, overflow="ignore"),
    ]


def _hosts(tables: Tables) -> Text | None:
    words = hosts.brief(tables)
    return Text(words, style="red", overflow="fold") if words else None


def _shared(tables: Tables) -> Text | None:
    words = hosts.shared(tables.launches).replace("`", "")
    return Text(words, style="red", overflow="fold") if words else None


def _page(results: Path) -> Text | None:
    page = results / "report" / "index.html"
    return Text(f"Report: {page}") if page.exists() else None
