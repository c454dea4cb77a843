"""Do Python and the command line give the same answers, quickly, from the tables of a run?"""

import json
import os
import re
import shlex
import subprocess
import sys

import altair as alt
import pytest
import vl_convert
from campaigns import Campaign, recommendation, zmq

import crossover
from crossover.__main__ import main
from crossover.errors import CrossoverError, printable
from crossover.paths import PACKAGE, PROJECT
from crossover.query import answers
from crossover.report.text import numbers

ALONE = ["ask", "zmq_throughput", "--transport", "tcp", "--at", "10kB"]
QUESTION = ["ask", "zmq_throughput", "--at", "40kB", "--transport", "tcp", "--arm", "no-copy", "--than", "copy"]


@pytest.fixture
def ask(real, capsys):
    """Runs `crossover ask` on a stored run; returns the exit code and the output."""

    def run(*words):
        code = main([*words, "--results", str(real[0].results)])
        printed = capsys.readouterr()
        return code, printed.out or printed.err

    return run


def loaded(statement):
    """The modules that a statement loads in a fresh interpreter."""
    code = f"import sys; {statement}; print(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    return set(done.stdout.decode().split())


# ---- one command, two lines of Python


def test_a_command_and_python_give_the_same_numbers(real, ask):
    run = crossover.load(real[0].results)
    frame = run.ask("zmq_throughput", at=40_000, transport="tcp")
    code, printed = ask(*QUESTION, "--json")
    [told] = json.loads(printed)
    [row] = json.loads(frame.to_json(orient="records", double_precision=15))
    assert code == 0
    assert told.pop("to_decide").startswith("more launches may decide it")
    assert told.keys() == row.keys()
    assert all(
        row[name] == (pytest.approx(value) if isinstance(value, float) else value) for name, value in told.items()
    )
    assert f"throughput {numbers.ratio(row['ratio'], row['low'], row['high'])} times" in ask(*QUESTION)[1]


def test_the_answer_has_three_lines_for_an_open_question(ask):
    code, printed = ask(*QUESTION)
    head, place, remedy = printed.splitlines()
    assert code == 0
    assert head.startswith("no-copy / copy at 40 kB (ZeroMQ stream, tcp): throughput ")
    assert place.startswith("between the measured 10 kB (") and " and 100 kB (" in place
    assert "crossover more zmq_throughput --launches " in remedy


def test_all_rivals_answer_unless_one_is_named(real, ask):
    run = real[0]
    assert set(run.ask("mpi_pingpong", at=1000, re_sent=False)["arm"]) == {"Send", "pkl5.send"}
    assert list(run.ask("mpi_pingpong", at=1000, re_sent=False, arm="null")["arm"]) == ["null"]
    _, printed = ask("ask", "mpi_pingpong", "--at", "1,000", "--re-sent", "no", "--arm", "memcpy")
    assert printed.startswith("memcpy at 1,000 elements (mpi4py arrays): round trip ")


def test_two_rivals_are_compared_by_the_command_of_the_page(ask):
    [command] = re.findall(r"`crossover (ask [^`]+ --than [^`]+)`", (PROJECT / "docs/python.md").read_text())
    code, printed = ask(*shlex.split(command))
    assert code == 0 and printed.startswith("Send / pkl5.send at 1,000 elements (mpi4py arrays): round trip ")
    assert " % (that of the null arm of send): " in printed.splitlines()[0]


def test_the_leading_metric_is_the_default(real):
    run = real[0]
    assert set(run.ask("zmq_throughput", at="1kB", transport="tcp")["metric"]) == {"throughput"}
    assert set(run.ask("zmq_throughput", at="1kB", transport="tcp", metric="send rate")["metric"]) == {"send rate"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["ask", "--at", "40kB"], "no experiment is named; put one before the options: mpi_pingpong, "),
        (
            ["ask", "zmq_throughput", "--arm", "no-copy"],
            "no point is named; add --at POINT: message size, 100 B to 1 MB",
        ),
        (["ask", "zmq", "--at", "1"], "unknown experiment 'zmq'; available: mpi_pingpong, "),
        ([*QUESTION, "--metric", "speed"], "unknown metric 'speed'; available: bandwidth, "),
        ([*QUESTION, "--arm", "magic"], "unknown arm 'magic'; available: 'C copy', copy, no-copy, null"),
        ([*QUESTION, "--than", "magic"], "unknown arm 'magic'; available: 'C copy', copy, no-copy, null"),
        (
            [*QUESTION, "--arm", "copy"],
            "--arm and --than are both copy; choose another arm: 'C copy', no-copy, null",
        ),
        ([*ALONE, "--arm", "magic"], "unknown arm 'magic'; available: 'C copy', copy, no-copy, null"),
        ([*ALONE, "--arm", "copy", "--at", "2MB"], "2 MB is outside the measured axis of copy: 100 B to 1 MB"),
        (
            [*ALONE, "--arm", "default"],
            "default has no value here; tier standard measures it: make report TIER=standard",
        ),
        (
            ["ask", "task_latency", "--at", "8", "--arm", "ray"],
            "ray has no value here; make env EXTRA=ray installs it; then name it in config/config.yaml: task_latency: "
            "{arms: [ray, ...]}",
        ),
        (
            ["ask", "zmq_latency", "--at", "100", "--transport", "inproc"],
            "no curve of zmq_latency has transport inproc; available: ipc; tier standard measures it: make ",
        ),
        (
            ["ask", "zmq_throughput", "--efficiency", "90%"],
            "zmq_throughput has no metric with levels; these have one: task_map",
        ),
        (["ask", "task_map", "--efficiency", "90"], "'90' is no share between 0 and 1"),
        (["ask", "task_map", "--efficiency", "90%", "--at", "1ms"], "--efficiency asks for a point; leave out --at"),
        (
            [*QUESTION, "--arm", "no-copy", "--than", "no-copy"],
            "--arm and --than are both no-copy; choose another arm: 'C copy', copy, null",
        ),
        (
            [*QUESTION, "--placement", "nodes"],
            "no curve of zmq_throughput has placement nodes; available: node, process; a run on several hosts measures",
        ),
        ([*QUESTION, "--at", "2MB"], "2 MB is outside the measured axis; the message size of zmq_throughput is from"),
        ([*QUESTION, "--at", "99"], "99 B is outside the measured axis"),
        ([*QUESTION, "--setting", "copy_threshold"], "--setting asks for a recommendation; leave out the experiment"),
        (["ask", "--setting", "magic"], "unknown setting 'magic'; available: "),
    ],
)
def test_a_question_without_an_answer_lists_what_there_is(ask, words, error):
    code, printed = ask(*words)
    assert code == 1 and printed.startswith(f"crossover ask: {error}")
    assert printed.count("\n") == 1


def test_an_ambiguous_question_has_a_line_for_each_choice_and_each_is_an_answer(ask):
    code, printed = ask("ask", "zmq_throughput", "--at", "40kB")
    first, *choices = printed.splitlines()
    assert code == 1 and first == "crossover ask: zmq_throughput has 4 such curves; choose one:"
    for choice in choices:
        assert ask("ask", "zmq_throughput", "--at", "40kB", *choice.split())[0] == 0


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(CrossoverError, match="no results of a finished run; start one: make report"):
        crossover.load(tmp_path)


def test_keys_choose_the_metric_that_has_such_a_curve(tmp_path):
    curve = {"experiment": "async_cost", "arm": "uvloop", "reference": "asyncio"}
    metrics = {"REQ/REP": "round trip", "PUSH/PULL": "throughput"}
    asked = [zmq(f"{pattern} over tcp", metric, **curve) for pattern, metric in metrics.items()]
    run = crossover.load(Campaign(asked).write_tables(tmp_path))
    assert run.contents("async_cost", None, {"pattern": "PUSH/PULL"})
    with pytest.raises(CrossoverError, match=r"^asyncio is the reference of all ratios; choose another arm"):
        run.ask("async_cost", "1kB", arm="asyncio", pattern="REQ/REP")
    with pytest.raises(CrossoverError, match=r"^unknown arm 'ray'"):
        run.ask("async_cost", "1kB", arm="ray", pattern="REQ/REP")
    for pattern, metric in metrics.items():
        (found,) = run.choose("async_cost", "1kB", pattern=pattern).to_dict("records")
        assert found["metric"] == metric


# ---- an arm alone


def test_an_arm_alone_has_its_value_and_what_it_can_cost(real, ask):
    [cell] = [
        row
        for row in real[0].choices().to_dict("records")
        if (row["experiment"], row["transport"], row["x"]) == ("zmq_throughput", "tcp", 1e4)
    ]
    code, printed = ask(*ALONE, "--arm", cell["choice"], "--json")
    [told] = json.loads(printed)
    assert code == 0 and told["median"] == pytest.approx(cell["value"], rel=0.2)
    assert told["cost"] == pytest.approx(cell["guarantee"])
    _, printed = ask(*ALONE, "--arm", "copy")
    first, second = printed.splitlines()
    assert re.fullmatch(r"copy at 10 kB \(ZeroMQ stream, tcp\): throughput [\d,]+ messages/s \[.+ messages/s\]", first)
    assert second.endswith(" worse than the best candidate")
    between = ask(*ALONE, "--at", "40kB", "--arm", "copy")[1]
    assert " at the measured 10 kB and " in between and " at the measured 100 kB" in between


def test_from_where_each_arm_reaches_a_share_agrees_with_the_table_of_thresholds(real, ask):
    rows = real[0].thresholds()
    rows = rows[(rows["experiment"] == "task_map") & ~rows["is_null_arm"]]
    for level, share in ((0.5, "50%"), (0.95, ".95")):
        code, printed = ask("ask", "task_map", "--efficiency", share, "--json")
        printed_rows = {(row["arm"], row["protocol"]): row for row in json.loads(printed)}
        expected = rows[rows["level"] == level].to_dict("records")
        assert code == 0 and len(expected) == len(printed_rows) > 1
        for row in expected:
            answer = printed_rows[row["arm"], row["protocol"]]
            assert answer["verdict"] == row["verdict"] and (
                answer["x"] is None or answer["x"] == pytest.approx(row["x"])
            )
    assert ": efficiency of at least 90 % " in ask("ask", "task_map", "--efficiency", "90%")[1]


# ---- settings


def test_a_setting_has_a_line_for_each_recommendation_or_reason(real, ask):
    rows = real[0].settings()
    own = rows[rows["setting"] == "copy_threshold"]
    code, printed = ask("ask", "--setting", "copy_threshold")
    lines = [line for line in printed.splitlines() if line.startswith("copy_threshold")]
    assert code == 0 and len(lines) == len(own) > 2
    for line, row in zip(lines, own.to_dict("records"), strict=True):
        if row["recommended"]:
            assert line.startswith(f"copy_threshold = {row['value']}") and line.endswith(" worse than the best")
        else:
            assert f": no recommendation: {row['reason']}" in line
    assert {bool(each) for each in own["recommended"]} == {True, False}


def test_a_recommended_setting_has_its_arm_and_the_lines_to_paste(real, ask):
    found = [row for row, _ in real[0].recommended("copy_threshold", {}) if row["recommended"]]
    _, printed = ask("ask", "--setting", "copy_threshold")
    for row in found:
        assert f"\narm {row['arm']}, to paste:\n\n{row['snippet'].strip()}\n" in printed
    assert printed.count("to paste") == len(found) > 0 and not printed.endswith("\n\n")


def test_a_snippet_commands_no_terminal():
    row = recommendation(snippet="a = 1\x1b[2J\r\nif a:\n\tb = 2\n", arm="no copy")
    shown = printable("\n".join(answers.recommendation_lines(row, "streams"))).splitlines()
    assert shown[1:] == ["arm 'no copy', to paste:", "", "a = 1�[2J", "if a:", "\tb = 2"]


def test_a_setting_can_be_narrowed_by_a_key_and_printed_as_json(ask):
    _, printed = ask("ask", "--setting", "copy_threshold", "--transport", "tcp", "--json")
    assert {row["transport"] for row in json.loads(printed)} == {"tcp"}
    assert all(isinstance(row["points"], dict) for row in json.loads(printed))


def test_every_setting_has_words(real, ask):
    for name in set(real[0].settings()["setting"]):
        assert ask("ask", "--setting", name)[0] == 0


# ---- charts


@pytest.mark.parametrize("ratios", [False, True])
def test_a_chart_is_the_reports_chart_of_one_curve_or_of_several(real, ratios):
    one = real[0].chart("zmq_throughput", ratios=ratios, transport="tcp")
    several = real[0].chart("zmq_throughput", ratios=ratios)
    assert isinstance(one, alt.LayerChart) and isinstance(several, alt.VConcatChart)
    assert len(several.vconcat) == 4
    for chart in (one, several):
        assert "no-copy" in vl_convert.vegalite_to_svg(chart.to_json())


# ---- what is loaded


def test_importing_crossover_loads_nothing_else():
    assert {name for name in loaded("import crossover") if name.startswith("crossover")} == {"crossover"}


def test_a_question_loads_no_library_of_charts_or_measurements(real):
    words = [*QUESTION, "--results", str(real[0].results)]
    modules = loaded(f"from crossover.__main__ import main; main({words})")
    assert modules & {"altair", "IPython", "rich", "scipy.stats", "zmq", "mpi4py", "ipyparallel", "snakemake"} == set()
