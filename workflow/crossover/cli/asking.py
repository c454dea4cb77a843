"""The command that answers a question to a finished run."""

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crossover.cli.command import Command, command, path, value
from crossover.errors import CrossoverError, printable

if TYPE_CHECKING:
    from crossover.query.answers import Answer
    from crossover.query.index import Match
    from crossover.query.run import Run
    from crossover.report.tournament.words import Tournament

MOST = 3
"""The most answers that are printed, unless all are wanted."""


class _Asking(Command):
    """A command that also has an option for every key of curves."""

    def add_to(self, commands: Any) -> None:
        """Add the command to the `commands` of a parser."""
        # Imported when a command line is read, because loading the command line must load no other room.
        from crossover.design.protocol import KEYS

        keys = (
            value(f"--{name.replace('_', '-')}", key.meaning, dest=name, default=None, metavar="VALUE")
            for name, key in KEYS.items()
        )
        Command(**(vars(self) | {"arguments": (*self.arguments, *keys)})).add_to(commands)


def _with_keys(made: Command) -> Command:
    return _Asking(**vars(made))


@_with_keys
@command(
    "zmq tcp 40kB",
    value(
        "words", "words of the question: libraries, transports, arms, a size (default: list the questions)", nargs="*"
    ),
    value("--at", "point of the axis, such as 40kB, 10ms or 1000", default=None, metavar="POINT"),
    value("--metric", "metric (default: the one by which users choose)", default=None),
    value("--placement", "placement: process, node or nodes", default=None),
    value("--arm", "arm whose value to print, or to compare with --than (default: print the choice)", default=None),
    value("--than", "arm to compare it with (default: the reference)", default=None, metavar="ARM"),
    path("--results", "folder of results (default: %(default)s)", default=Path("results"), metavar="FOLDER"),
    value("--all", "print every curve, however many", dest="everything", action="store_true"),
    value("--json", "print the same facts as JSON", action="store_true"),
)
def ask(chosen: Namespace) -> None:
    """Answer which arm to choose at a point of an axis, or what to set.

    Type the question in your own words, such as: crossover ask "send or Send" 50kB. Prints the choice, the most that it
    can cost, its value, and how to settle it where it is open; with --than, the ratio of two arms with its interval,
    and with --arm alone its value. Options named after keys choose the curve; `none` stands for a key that a curve
    does not have. Without a point, it prints the choices along the whole axis.
    """
    from crossover.design.protocol import KEYS
    from crossover.query.run import Run

    run = Run(chosen.results)
    given = {name: getattr(chosen, name) for name in ("placement", *KEYS)}
    keys = {name: text for name, text in given.items() if text is not None}
    text = " ".join(chosen.words)
    if not (text or keys or chosen.at or chosen.metric or chosen.arm or chosen.than):
        _print_questions(run, chosen)
        return
    found = run.find(text, chosen.at, chosen.metric, keys)
    if found.lacking and not chosen.json:
        _say(found.lacking)
    compared = chosen.arm is not None or chosen.than is not None
    if found.settings:
        _print_settings(run, chosen, found)
    elif not compared and (tournament := run.tournament(found)):
        _print_tournament(run, chosen, tournament)
    elif found.share:
        _print_reached(run, chosen, found)
    elif found.at is None:
        _print_along(run, chosen, found)
    elif chosen.than is not None:
        _print_ratios(run, chosen, found)
    elif chosen.arm is not None:
        _print_values(run, chosen, found)
    else:
        _print_choice(run, chosen, found)
    for note in found.notes if not chosen.json else ():
        _say(note)


def _print_questions(run: "Run", chosen: Namespace) -> None:
    titles = run.titles()
    if chosen.json:
        _say(_json(titles))
        return
    width = max(map(len, titles), default=0)
    _say("\n".join(f"{name:{width}}  {title}" for name, title in titles.items()))
    _say('Ask with words of a title and a size, such as: crossover ask "send or Send" 50kB')


def _print_along(run: "Run", chosen: Namespace, found: "Match") -> None:
    from crossover.query import answers
    from crossover.report.text.choices import plain

    questions = run.along(found)
    if chosen.arm or chosen.than or not questions:
        facts = found.panels[0].facts
        raise CrossoverError(f"no point is named; add one of {facts.axis}, in {facts.axis_unit}: --at POINT")
    if chosen.json:
        _say(_json([answers.facts(row) for each in questions for row in each.rows]))
        return
    _print_two(run.two_arms(found), chosen)
    _cut([[plain(f"{each.name}: {each.words}, {each.most}")] for each in questions], chosen)


def _print_choice(run: "Run", chosen: Namespace, found: "Match") -> None:
    from crossover.report.text import numbers

    every = run.chosen(found)
    if not every:
        _print_ratios(run, chosen, found)
        return
    if chosen.json:
        _say(_json([one.row | {"to_settle": run.settling(one)} for one in every]))
        return
    _print_two(run.two_arms(found), chosen)
    told = []
    for one in every:
        lines = [one.head, *([f"    {one.support}"] if one is every[0] else [])]
        costs = map(one.cost_of, (arm for arm in found.arms if arm not in one.arms))
        lines += [f"    {cost}" for cost in costs if cost]
        if one.left:
            lines.append(f"    open: {numbers.listed(one.left, 'or')} may be better")
        if one is every[0] and (remedy := run.settling(one)):
            lines.append(f"    {remedy}")
        told.append(lines)
    _cut(told, chosen)
    if len({(one.rows[0].experiment, *one.arms) for one in every}) == 1 and (paste := every[0].paste):
        _say("\n".join(["to paste:", "", *paste]))


def _print_two(told: "list[Answer]", chosen: Namespace) -> None:
    if told:
        _cut([each.lines[:1] for each in told], chosen)


def _print_tournament(run: "Run", chosen: Namespace, own: "Tournament") -> None:
    from crossover.query import answers

    remedy = run.to_decide(own)
    if chosen.json:
        every = [row for rows in own.by_host.values() for row in rows]
        _say(_json([answers.facts(row) | {"to_decide": remedy} for row in [*every, *own.slow_links]]))
        return
    _say("\n".join([*own.lines, *([remedy] if remedy else [])]))


def _print_values(run: "Run", chosen: Namespace, found: "Match") -> None:
    values = run.values(found, chosen.arm)
    if chosen.json:
        _say(_json([each.row for each in values]))
        return
    _cut([each.lines for each in values], chosen)


def _print_ratios(run: "Run", chosen: Namespace, found: "Match") -> None:
    answers = [(each, run.remedy(each)) for each in run.answers(found, chosen.arm, chosen.than)]
    if chosen.json:
        _say(_json([each.row | {"to_decide": remedy} for each, remedy in answers]))
    elif chosen.than is None:
        _cut([each.lines[:1] for each, _ in answers], chosen)
    else:
        _cut([[*each.lines, *filter(None, [remedy])] for each, remedy in answers], chosen)


def _print_reached(run: "Run", chosen: Namespace, found: "Match") -> None:
    from crossover.config import amount

    if found.at or chosen.arm or chosen.than:
        raise CrossoverError("a share asks for a point; leave out the point, --arm and --than")
    reached = run.reached(found, amount.share(found.share))
    rows = [{name: getattr(row, name) for name in REACHED} for row, _ in reached]
    if chosen.json:
        _say(_json(rows))
    else:
        _cut([[line] for _, line in reached], chosen)


REACHED = ("arm", "protocol", "placement", "metric", "level", "verdict", "x", "low", "high", "axis_unit", "launches")
"""The facts of a level in JSON."""


def _print_settings(run: "Run", chosen: Namespace, found: "Match") -> None:
    from crossover.query import answers

    rows = run.recommended(found)
    if chosen.at or chosen.metric or chosen.arm or chosen.than:
        raise CrossoverError(f"{rows[0][0].setting} is a setting; leave out --at, --metric, --arm and --than")
    if chosen.json:
        _say(_json([answers.facts(row) | {"question": place} for row, place in rows]))
    else:
        _cut([answers.recommendation_lines(row, place) for row, place in rows], chosen)


def _cut(told: list[list[str]], chosen: Namespace) -> None:
    """Print the lines of each answer, or of the first of too many."""
    shown = told if chosen.everything else told[:MOST]
    _say("\n".join(line for lines in shown for line in lines).rstrip("\n"))
    if len(shown) < len(told):
        _say(f"and {len(told) - len(shown)} more: add --all, or another word")


def _say(text: str) -> None:
    print(printable(text))


def _json(found: list[dict[str, Any]] | dict[str, Any]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
