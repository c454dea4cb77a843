"""Does `crossover try` measure a user's function, and end with the choice and lines to paste?"""

import json

import pyarrow.parquet as pq
import pytest
from copies import Project

SLEEPS = """\
import time


def items(count):
    return [0.02] * count


def task(seconds):
    time.sleep(seconds)
    return seconds
"""


FLOOD = "held = []\n    while True: held.append(open('/dev/null'))"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def items(count):\n    return [1] * count\n", "my_work.py: add task(item), which runs on each"),
        (SLEEPS.replace("import time", "import no_such_module"), "my_work.py: cannot be imported: ModuleNotFoundError"),
        (SLEEPS.replace("    return seconds", "    __import__('os')._exit(3)"), "it ended with code 3"),
        ("import os\nos.close(2)\n" + SLEEPS.replace("return seconds", "1 / 0"), "ZeroDivisionError: division by zero"),
        (SLEEPS.replace("time.sleep(seconds)", FLOOD), "Too many open files: '/dev/null' (my_work.py, line 10)"),
    ],
)
def test_a_file_that_cannot_be_measured_ends_with_one_line(project: Project, text: str, said: str) -> None:
    (project.folder / "my_work.py").write_text(text)
    code, printed = project.run("crossover", "try", "my_work.py")
    assert code == 1 and said in printed and "Traceback" not in printed
    assert not (project.folder / "results-my_work").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--counts", "a,b"], "--counts: 'a,b' is no list of numbers of items; write for example 1,16,256"),
        (["--arms", "jobli"], "--arms: there is no 'jobli'; did you mean joblib? such as: "),
        (["--minutes", "0"], "--workers and --minutes are numbers above 0"),
        (["--workers", "-3"], "--workers and --minutes are numbers above 0"),
    ],
)
def test_a_wrong_option_ends_with_one_line(project: Project, options: list[str], said: str) -> None:
    (project.folder / "my_work.py").write_text(SLEEPS)
    code, printed = project.run("crossover", "try", "my_work.py", *options)
    assert code == 1 and said in printed and len(printed.splitlines()) == 1, printed


def test_a_function_that_sleeps_is_fastest_with_threads(project: Project) -> None:
    (project.folder / "my_work.py").write_text(SLEEPS)
    options = ("--counts", "1,8", "--workers", "4", "--arms", "threads", "--minutes", "0.4")
    said = project.succeed("crossover", "try", "my_work.py", *options)
    lines = said.rstrip().splitlines()
    assert lines[0].startswith("my_work.py: task takes 20") and len(lines) <= 25
    assert "Your function: " in said
    assert lines[-4].startswith("with ThreadPoolExecutor(") and "executor.map(function, items)" in lines[-3]
    made = "--configfile results-my_work/try.yaml --config own=my_work.py results=results-my_work"
    assert lines[-1] == f"Its page: snakemake --profile profiles/local {made} partial=true"
    results = project.folder / "results-my_work"
    choices = pq.read_table(results / "experiments" / "own_task" / "choices.parquet").to_pylist()
    assert {row["x"]: row["choice"] for row in choices}[8.0] == "threads"
    launches = pq.read_table(results / "experiments" / "own_task" / "launches.parquet").to_pylist()
    assert {json.loads(row["settings"])["sources"]["my_work.py"] for row in launches} == {SLEEPS}
    assert "threads" in project.succeed("crossover", "ask", "own_task", "8", "--results", "results-my_work")


def test_an_object_is_sent_and_more_launches_need_the_file(project: Project) -> None:
    (project.folder / "my_work.py").write_text("def message(count):\n    return {'a': list(range(count))}\n")
    said = project.succeed(
        "crossover", "try", "my_work.py", "--counts", "1,10", "--arms", "Pipe send", "--minutes", "0.2"
    )
    assert said.startswith("my_work.py: message(") and " is a dict of " in said.splitlines()[0]
    assert "Your object, " in said and len(said.splitlines()) <= 25
    results = project.folder / "results-my_work"
    launches = pq.read_table(results / "experiments" / "own_message" / "launches.parquet").to_pylist()
    assert all("message(10) is " in row["notes"] and "bytes when pickled" in row["notes"] for row in launches)
    more = ("crossover", "more", "own_message", "--results", "results-my_work")
    code, printed = project.run(*more)
    assert code == 1 and "measured my_work.py; name that file: --own FILE" in printed
    assert "of own_message" in project.succeed(*more, "--own", "my_work.py", "--dry-run")
