"""Does the help of every command start with its purpose and an example?"""

import re
import shlex

import pytest

from crossover.__main__ import _parser, main
from crossover.cli.command import TYPED


def helped(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_example_of_every_command_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    names = re.findall(r"^    ([a-z-]+)", helped(capsys), re.MULTILINE)
    assert {"launch", "tables", "report", "compare", "bundle", "document"} <= set(names)
    for name in names:
        _, purpose, example, *_ = helped(capsys, name).split("\n\n")
        assert purpose.endswith("."), name
        typed, _, rest = example.strip().partition(TYPED)
        assert typed == ""
        assert _parser().parse_args(shlex.split(rest)).command == name
