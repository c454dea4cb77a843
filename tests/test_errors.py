"""Is a user's error one line, a bug a traceback, and every class of errors used?"""

import ast
import builtins
import os
import signal
import subprocess
import sys
from importlib import metadata

import pytest

from crossover.__main__ import main
from crossover.analyse.claims.candidates import NotMeasuredError
from crossover.config import reference_page
from crossover.errors import CrossoverError, printable
from crossover.paths import PACKAGE

SIGNALS = {"NotMeasuredError"}
"""Exceptions outside the family. Each is always caught, and becomes a reason in a table: to escape would be a bug."""

NODES = [node for path in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]


def named(tree):
    """The last part of every name in a part of the code."""
    nodes = list(ast.walk(tree)) if tree else []
    return {each.id for each in nodes if isinstance(each, ast.Name)} | {
        each.attr for each in nodes if isinstance(each, ast.Attribute)
    }


BASES = {
    node.name: {name for base in node.bases for name in named(base)} for node in NODES if isinstance(node, ast.ClassDef)
}
CAUGHT = {name for node in NODES if isinstance(node, ast.ExceptHandler) for name in named(node.type)} | {
    name
    for node in NODES
    if isinstance(node, ast.Call) and named(node.func) == {"suppress"}
    for argument in node.args
    for name in named(argument)
}
RAISED = {name for node in NODES if isinstance(node, ast.Raise) for name in named(node.exc)}


def below(*names):
    """Our classes that derive from these, directly or through others."""
    found = {name for name, bases in BASES.items() if bases & set(names)}
    return found | below(*found) if found else found


def broken(error):
    def text():
        raise error

    return text


def test_an_error_of_the_users_is_one_line_and_exit_code_1(monkeypatch, capsys):
    monkeypatch.setattr(reference_page, "text", broken(CrossoverError("a.yaml: is empty; fill it in")))
    assert main(["document"]) == 1
    assert capsys.readouterr().err == "crossover document: a.yaml: is empty; fill it in\n"


def typed(line, **options):
    """A shell's command in a fresh interpreter, through its pipes."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    return subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, **options)


def test_a_reader_that_has_enough_gets_no_message():
    done = typed(f"{sys.executable} -m crossover --help | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout.splitlines()[1:] in (["0"], [str(128 + signal.SIGPIPE)]) and done.stderr == ""


@pytest.mark.parametrize("bug", [KeyError("nobody expected this"), NotMeasuredError("no launch")])
def test_a_bug_keeps_its_traceback_also_where_its_class_is_ours(monkeypatch, capsys, bug):
    monkeypatch.setattr(reference_page, "text", broken(bug))
    with pytest.raises(type(bug)):
        main(["document"])
    assert capsys.readouterr().err == ""


def test_every_error_class_of_ours_belongs_to_the_family_or_is_always_caught():
    outside = below(*(name for name in dir(builtins) if name.endswith(("Exception", "Error", "Exit", "Warning"))))
    assert outside - below("CrossoverError") == {"CrossoverError", *SIGNALS}
    assert SIGNALS <= CAUGHT


def test_every_class_of_the_family_is_raised_and_caught_by_name():
    assert below("CrossoverError") <= RAISED & CAUGHT


def test_the_version_is_that_of_the_project(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code or 0, capsys.readouterr().out) == (0, f"crossover {metadata.version('crossover')}\n")


def test_a_terminal_gets_no_control_characters():
    assert printable("a\x1b[2J\x07b\tc\nd\x9b e\u202e") == "a�[2J�b\tc\nd� e�"
