"""A run's answer in at most LINES lines of a terminal: choices, settings, claims, what is open, holes, page."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from crossover.design.experiments import declared
from crossover.report.text import certainty, choices, claims, holes, machine, markup, more, numbers, recommendations
from crossover.report.text.choices import Question
from crossover.report.text.tables import Tables, load
from crossover.report.tournament import words as tournaments

LINES = 25
"""The most lines of an answer, unless all are wanted."""

WIDTH = 80
"""The columns without a terminal, and the most with one."""

HEADING, COST = "What to choose", "at most worse"
"""The headings of the questions, and of the column with the most that a choice can cost."""

WORDS_FROM = 34
"""The column from which the words of a choice stand; a longer name has a line of its own."""
INDENT = 4
"""That column where the terminal is narrow."""
FEWEST = 20
"""The fewest columns for which lines are made; a narrower terminal breaks them itself."""
LEAST_ROOM = 14
"""The columns that words need beside a cost; with fewer, the cost has a line of its own."""


def show(results: Path, everything: bool = False) -> None:
    """Print the answer of the run in `results`.

    Raises record.RecordError if there are no joined tables.
    """
    screen = Console(highlight=False)
    width = max(min(screen.width, WIDTH), FEWEST) if screen.is_terminal else WIDTH
    tables = load(results)
    questions = choices.asked(tables)
    for count in [len(questions)] if everything else range(len(questions), -1, -1):
        lines = list(answer(tables, results, questions, count, width, everything))
        if len(lines) <= LINES:
            break
    for line in lines:
        # A command to paste stays one line, however long.
        screen.print(line, soft_wrap=True)


def strongest(folder: Path) -> str:
    """The largest gain of an experiment, or its first choice, from its folder of tables; empty without a comparison."""
    tables = load(folder)
    found = choices.asked(tables)
    said = [markup.capitalized(question.finding()) for question in choices.gaining(tables)]
    said += [f"{question.name}: {question.words} ({question.most})" for question in found]
    said += [own.tally for own in tournaments.every(tables)]
    return choices.plain(said[0]) if said else ""


def answer(
    tables: Tables,
    results: Path,
    questions: Sequence[Question],
    count: int,
    width: int = WIDTH,
    everything: bool = False,
) -> Iterator[Text]:
    """The lines of the answer, from top to bottom, with the first `count` of the questions, of at most `width` columns
    except commands; with `everything`, all settings too."""
    if questions and not certainty.is_smoke(tables.launches):
        yield from _wrapped(f"{choices.headline(tables, most=1)}.", width, style="bold")
    yield from _wrapped(_head(tables), width)
    for said in filter(None, _noise(tables, questions)):
        yield from _wrapped(said, width)
    yield Text()
    if questions:
        gap = width - len(HEADING) - len(COST)
        yield Text(f"{HEADING}{' ' * gap}{COST}" if gap > 0 else HEADING, style="bold")
        for question in questions[:count]:
            yield from _question(question, width)
    elif not tables.pairs:
        yield Text("Nothing to choose: no arms could be compared with an interval.")
    users = [name for name in tables.experiments if name in declared() and declared()[name].of_user]
    for said in (line for name in users for line in holes.impossible(tables.validities, name)):
        yield from _wrapped(said, width)
    if count < len(questions):
        yield Text(f"  and {len(questions) - count} more: crossover show --all", style="dim")
    yield Text()
    for own in tournaments.every(tables):
        slow = "red" if own.slow_hosts or own.slow_links else ""
        yield from (line for said in own.lines for line in _wrapped(said, width, slow))
    yield from _settings(tables, everything, width)
    ends = (*_holes(tables, width), _shared(tables), *_claims(tables, width))
    yield from filter(None, ends)
    yield from _open(tables, questions, width)
    if page := _page(results):
        yield page


def _question(question: Question, width: int) -> Iterator[Text]:
    """One question: its name, the choices along the axis, what they can cost."""
    style = "green" if question.is_settled else ""
    worst = choices.plain(question.cost)
    name = f"  {question.name}"
    start = min(WORDS_FROM, max(INDENT, width - WIDTH + WORDS_FROM))
    beside = width - start - 1 - len(worst)
    room = beside if beside >= LEAST_ROOM else width - start
    gains = [f" as {question.gain.default}", ""] if question.gain else []
    told = (f"{question.words}; {question.gain.factor}{than}" for than in gains if question.gain)
    shown = next((text for text in told if len(text) <= room), question.words)
    # A number stays with its unit.
    words = [choices.plain(line) for line in wrap(shown, room)]
    if len(name) > start - 2:
        yield from _wrapped(name, width, indent="  ")
        name = ""
    for number, line in enumerate(words):
        cost = worst if number == len(words) - 1 and room == beside else ""
        gap = width - start - len(line) - len(cost)
        text = Text(f"{name if number == 0 else '':{start}}")
        text.append(line, style=style).append(f"{' ' * gap}{cost}" if cost else "")
        yield text
    if room != beside:
        yield from _wrapped(f"{COST}: {worst}", width, indent=" " * start)


def _wrapped(text: str, width: int, style: str = "", indent: str = "") -> list[Text]:
    lines = wrap(text.strip(), width, initial_indent=indent, subsequent_indent=indent)
    return [Text(line, style=style) for line in lines]


def _noise(tables: Tables, questions: Sequence[Question]) -> list[str]:
    smoke = "A smoke run tests the workflow; its numbers mean little." if certainty.is_smoke(tables.launches) else ""
    return [
        smoke,
        certainty.busy(tables.launches, tables.ranks),
        certainty.bias(tables),
        choices.settled(questions),
    ]


def _head(tables: Tables) -> str:
    measured = [row for row in tables.launches if row.outcome == "measured"]
    hosts = {row.host: row.logical_cpus for row in tables.ranks}
    where = "".join(f" on {host} ({cores} cores)" for host, cores in hosts.items()) if len(hosts) == 1 else ""
    where = where or (f" on {len(hosts)} hosts" if hosts else "")
    took = numbers.duration(sum(row.wall_seconds or 0 for row in measured))
    return f"Measured {numbers.counted(len(measured), 'launch')} ({took}){where}."


def _settings(tables: Tables, everything: bool, width: int) -> Iterator[Text]:
    """The number of recommended settings and where they are, or all of them. An experiment alone has none."""
    if tables.behind:
        names = numbers.listed(list(tables.behind))
        yield from _wrapped(
            f"Settings and claims do not know the new launches of {names} yet: repeat the run's command.", width
        )
    found = recommendations.of_equal_value(tables)
    if everything and found:
        yield Text("What to set", style="bold")
        for place, rows in found:
            setting = f"{rows[0].library}: {recommendations.value(rows[0])}, for {place}"
            said = f"{setting}: {recommendations.worth(rows)}"
            yield from (Text(line) for line in wrap(said, width, initial_indent="  ", subsequent_indent="    "))
        yield Text()
    elif found:
        # One that another kind of arm beats is no answer for a whole program.
        whole = [row for _, rows in found for row in rows if row.for_program]
        for row in (row for row in whole if row.guarantee == row.guarantee_of_values):
            said = f"{row.library}, for a whole program: {recommendations.value(row)}, {recommendations.cost([row])}"
            yield from _wrapped(said, width)
        count = sum(len(rows) for _, rows in found)
        yield Text(f"Settings to paste: {count}, in recommended.toml and by crossover show --all")


def _claims(tables: Tables, width: int) -> Iterable[Text]:
    counts = Counter(row.verdict for row in tables.claims)
    words = ((verdict, "hold" if verdict == "holds" else verdict) for verdict in claims.VERDICTS)
    parts = [f"{counts[verdict]} {told}" for verdict, told in words if counts[verdict]]
    return map(Text, wrap(f"Published claims: {', '.join(parts)}", width)) if parts else ()


def _open(tables: Tables, questions: Sequence[Question], width: int) -> list[Text]:
    """The open points, and the command that would settle some of them, with its duration."""
    found = more.replication(tables)
    if not found.open:
        return []
    text = f"Open: {found.open} of {numbers.counted(len(tables.choices), 'point')}."
    if found.settled:
        text += f" crossover more (about {numbers.duration(found.seconds)}) would settle {found.settled} or more."
    return _wrapped(text, width)


def _holes(tables: Tables, width: int) -> list[Text]:
    """The launches without data, with the first reason and the command to retry them."""
    found = tables.holes()
    if not found:
        return []
    first, retry = found[0], holes.command(tables, found)
    which = f"{first.experiment} {first.placement} launch {first.launch}"
    said = (
        f"Holes: {numbers.counted(len(found), 'launch')} not measured, the first {which} ({first.hole}: {first.reason})"
    )
    return [
        *_wrapped(said, width, "red"),
        # In one line, however long, so that it can be pasted.
        Text(f"To retry: {retry}" if retry else holes.NO_COMMAND, style="red"),
    ]


def _shared(tables: Tables) -> Text | None:
    words = machine.shared_hosts(tables.launches).replace("`", "")
    return Text(words, style="red") if words else None


def _page(results: Path) -> Text | None:
    page = results / "report" / "index.html"
    return Text(f"Report: {page}") if page.exists() else None
