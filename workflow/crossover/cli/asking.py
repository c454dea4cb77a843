"""The command that answers a question to a finished run."""

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crossover.cli.command import Argument, Command, command, path, value
from crossover.errors import CrossoverError, printable

if TYPE_CHECKING:
    from crossover.query.run import Run


class _Asking(Command):
    """A command that also has an option for every key of curves."""

    def add_to(self, commands: Any) -> None:
        """Add the command to the `commands` of a parser."""
        # Imported when a command line is read, because loading the command line must load no other room.
        from crossover.design.protocol import KEYS

        keys = (_option(name, key.kind) for name, key in KEYS.items())
        Command(**(vars(self) | {"arguments": (*self.arguments, *keys)})).add_to(commands)


def _option(name: str, kind: type) -> Argument:
    shown = {str: "TEXT", bool: "YES|NO"}.get(kind, "NUMBER")
    return value(f"--{name.replace('_', '-')}", "key of the curve", dest=name, default=None, metavar=shown)


def _with_keys(made: Command) -> Command:
    return _Asking(**vars(made))


@_with_keys
@command(
    "zmq_throughput --at 40kB --transport tcp",
    value("experiment", "experiment, such as zmq_throughput (default: list them)", nargs="?", default=None),
    value(
        "--at",
        "point of the axis, such as 40kB, 10ms or 1000 (default: list the options)",
        default=None,
        metavar="POINT",
    ),
    value(
        "--efficiency",
        "instead of a point: from where each arm reaches this share, such as 90%%",
        default=None,
        metavar="SHARE",
    ),
    value("--setting", "instead of a point: the recommendations for a setting, such as copy_threshold", default=None),
    value("--metric", "metric (default: the experiment's leading one)", default=None),
    value("--placement", "placement: process, node or nodes", default=None),
    value("--arm", "arm whose value to print, or to compare with --than (default: print the choice)", default=None),
    value("--than", "arm to compare it with (default: the reference)", default=None, metavar="ARM"),
    path("--results", "folder of results (default: %(default)s)", default=Path("results"), metavar="FOLDER"),
    value("--json", "print the same facts as JSON", action="store_true"),
)
def ask(chosen: Namespace) -> None:
    """Answer which arm to choose at a point of an axis, or what to set.

    Prints the choice, the most that it can cost, its value, and how to settle it where it is open; with --than, the
    ratio of two arms with its interval, and with --arm alone its value. Options named after keys choose the curve;
    `none` stands for a key that a curve does not have. Without --at, it lists the options of the experiment; without an
    experiment, the experiments.
    """
    from crossover.design.protocol import KEYS
    from crossover.query.run import Run

    run = Run(chosen.results)
    given = {name: getattr(chosen, name) for name in ("placement", *KEYS)}
    keys = {name: text for name, text in given.items() if text is not None}
    if chosen.setting is not None:
        _print_settings(run, chosen, keys)
    elif chosen.experiment is None:
        _print_experiments(run, chosen, keys)
    elif chosen.efficiency is not None:
        _print_reached(run, chosen, keys)
    elif chosen.at is None:
        _print_contents(run, chosen, keys)
    else:
        _print_answers(run, chosen, keys)


def _print_experiments(run: "Run", chosen: Namespace, keys: dict[str, str]) -> None:
    from crossover.query import contents

    if keys or chosen.at or chosen.metric or chosen.arm or chosen.than:
        raise CrossoverError(f"no experiment is named; put one before the options: {', '.join(run.experiments())}")
    titles = run.titles()
    _say(_json(titles) if chosen.json else "\n".join(contents.experiments(titles)))


def _print_contents(run: "Run", chosen: Namespace, keys: dict[str, str]) -> None:
    found = run.contents(chosen.experiment, chosen.metric, keys)
    if chosen.arm or chosen.than:
        raise CrossoverError(f"no point is named; add --at POINT: {found.axis}")
    _say(_json(found.row) if chosen.json else "\n".join(found.lines))


def _print_answers(run: "Run", chosen: Namespace, keys: dict[str, str]) -> None:
    if chosen.arm is None and chosen.than is None:
        choice = run.choice(chosen.experiment, chosen.at, chosen.metric, keys)
        if choice is not None:
            remedy = run.settling(choice)
            lines = [*choice.lines, *filter(None, [remedy])]
            _say(_json([choice.row | {"to_settle": remedy}]) if chosen.json else "\n".join(lines))
            return
    if chosen.arm is not None and chosen.than is None:
        told = run.value(chosen.experiment, chosen.at, chosen.arm, chosen.metric, keys)
        _say(_json([told.row]) if chosen.json else "\n".join(told.lines))
        return
    answers = [
        (found, run.remedy(found))
        for found in run.answers(chosen.experiment, chosen.at, chosen.metric, chosen.arm, keys, chosen.than)
    ]
    if chosen.json:
        _say(_json([found.row | {"to_decide": remedy} for found, remedy in answers]))
        return
    for found, remedy in answers:
        _say("\n".join([*found.lines, *filter(None, [remedy])]))


def _print_reached(run: "Run", chosen: Namespace, keys: dict[str, str]) -> None:
    from crossover.query import question

    if chosen.at or chosen.metric or chosen.arm or chosen.than:
        raise CrossoverError("--efficiency asks for a point; leave out --at, --metric, --arm and --than")
    found = run.reached(chosen.experiment, question.share(chosen.efficiency), keys)
    rows = [{name: getattr(row, name) for name in REACHED} for row, _ in found]
    _say(_json(rows) if chosen.json else "\n".join(line for _, line in found))


REACHED = ("arm", "protocol", "placement", "metric", "level", "verdict", "x", "low", "high", "axis_unit", "launches")
"""The facts of a level in JSON."""


def _print_settings(run: "Run", chosen: Namespace, keys: dict[str, str]) -> None:
    from crossover.query import answers

    if chosen.experiment or chosen.at or chosen.metric or chosen.arm or chosen.than:
        raise CrossoverError(
            "--setting asks for a recommendation; leave out the experiment, --at, --metric, --arm and --than"
        )
    found = run.recommended(chosen.setting, keys)
    lines = [line for row, place in found for line in answers.recommendation_lines(row, place)]
    told = [answers.recommendation(row) | {"question": place} for row, place in found]
    _say(_json(told) if chosen.json else "\n".join(lines).rstrip("\n"))


def _say(text: str) -> None:
    print(printable(text))


def _json(found: list[dict[str, Any]] | dict[str, Any]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
