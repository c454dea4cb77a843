"""Does the help list the commands that people type, and that of every command start with its purpose and an example?"""

import re
import shlex

import pytest

from crossover.__main__ import _commands, _parser, main
from crossover.cli.command import GROUPS, TYPED
from crossover.paths import PROJECT


def helped(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


SNAKEMAKES = [
    *("launch", "rank", "build", "libzmq-source", "libzmq", "examine", "pilot"),
    *("tables", "join", "claims", "recommend", "figures", "ladder"),
]


def test_the_help_lists_the_commands_that_people_type_by_group(capsys: pytest.CaptureFixture[str]) -> None:
    said = helped(capsys)
    assert re.findall(r"^([A-Z][a-z ]+):\n  crossover", said, re.MULTILINE) == list(GROUPS)
    listed = re.findall(r"^  crossover ([a-z-]+).*\n {6}[A-Z].+\.$", said, re.MULTILINE)
    assert {"show", "report", "compare", "publish", "bundle", "document"} <= set(listed)
    assert sorted([*listed, *SNAKEMAKES]) == sorted(each.name for each in _commands())


def test_the_rules_call_every_command_that_the_help_does_not_list_but_those_that_others_start() -> None:
    rules = "".join(path.read_text() for path in (PROJECT / "workflow/rules").glob("*.smk"))
    called = set(re.findall(r"python -m crossover ([a-z-]+)", rules))
    assert called - {"report"} == set(SNAKEMAKES) - {"rank", "pilot"}


def test_the_example_of_every_command_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (each.name for each in _commands()):
        _, purpose, example, *_ = helped(capsys, name).split("\n\n")
        assert purpose.endswith("."), name
        typed, _, rest = example.strip().partition(TYPED)
        assert typed == ""
        assert _parser().parse_args(shlex.split(rest)).command == name
