"""Is a user's file checked without running it, are its modules read, and does only a run that names it measure it?"""

import pytest

from crossover.config import schema, user_file
from crossover.design.config import OfUser
from crossover.errors import CrossoverError

GOOD = "def items(count):\n    return list(range(count))\n\n\ndef task(item):\n    return item\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="my_work.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_good_file_has_no_fault_and_is_not_run(write):
    assert not [*user_file.faults(str(write(f"raise SystemExit\n{GOOD}")))]
    # As some editors save UTF-8.
    assert not [*user_file.faults(str(write(f"\ufeff{GOOD}", "marked.py")))]
    assert not [*user_file.faults("")]


@pytest.mark.parametrize(
    ("text", "name", "fault"),
    [
        (GOOD, "my work.py", "cannot be imported by this name; rename it"),
        (GOOD, "random.py", "cannot be imported by this name; rename it"),
        (GOOD, "zmq.py", "cannot be imported by this name; rename it"),
        (GOOD, "class.py", "cannot be imported by this name; rename it"),
        (f"# coding: latin-1\n{GOOD}", "a.py", "it is in iso-8859-1: save it as UTF-8, without a coding line"),
        ("x = 'a\0'", "a.py", "a.py: is no Python file (source code string cannot contain null bytes); correct it"),
        ("(" * 100_000, "a.py", "is no Python file"),
        (GOOD, "my_work.txt", "cannot be imported by this name; rename it"),
        (GOOD.replace("task", "work"), "a.py", "a.py: add task(item), which runs on each"),
        ("def task(item): pass", "a.py", "a.py: add items(count), which returns a list of arguments"),
        ("x = 1", "a.py", "on each; or add message(count), which returns an object to send"),
        ("def items(:", "a.py", "line 1: is no Python file (invalid syntax); correct it"),
        (f"{GOOD}DATA = '{'x' * user_file.MOST_BYTES}'\n", "a.py", "have 1.0 MB; move data out of them"),
    ],
)
def test_a_fault_names_the_file_the_reason_and_the_remedy(write, text, name, fault):
    (line,) = user_file.faults(str(write(text, name)))
    assert line.startswith("own: ") and name in line and fault in line
    with pytest.raises(CrossoverError, match="own: "):
        schema.complete({"own": str(write(text, name))})


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert [*user_file.faults(str(tmp_path / "none.py"))] == [
        f"own: {tmp_path}/none.py is not there; name a Python file"
    ]


def test_the_modules_beside_it_that_it_imports_belong_to_it(write):
    write("import math\nfrom parts.inner import more\n", "near.py")
    write("", "parts/__init__.py")
    write("more = 1\n", "parts/inner.py")
    write("unused = 1\n", "apart.py")
    path = write(f"import json\nfrom near import more\n{GOOD}")
    found = user_file.sources(path)
    assert found.keys() == {"my_work.py", "near.py", "parts/__init__.py", "parts/inner.py"}
    assert found["parts/inner.py"] == "more = 1\n"


def test_only_a_run_that_names_a_file_measures_it(write):
    names = user_file.experiments()
    assert names and not schema.complete({}).experiments.keys() & {*names}
    path = write(GOOD)
    with_object = write(f"{GOOD}\n\ndef message(count):\n    return count\n", "both.py")
    assert schema.complete({"own": str(with_object)}).experiments.keys() >= {*names}
    for stated in ({}, {"experiments": {"mpi_pingpong": {}}}):
        config = schema.complete({"own": str(path), **stated})
        measured = [name for name in names if name in config.experiments]
        assert measured == ["own_task"]
        for name in measured:
            settings = config.experiments[name]
            assert isinstance(settings, OfUser)
            assert (settings.file, dict(settings.sources)) == ("my_work.py", {"my_work.py": GOOD})
            assert type(settings).read(settings.of_launch().stored).sources == settings.sources
