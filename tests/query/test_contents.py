"""Does the command without a point list what can be asked, and does its last line answer?"""

import json
import re
import shlex

import pytest
from campaigns import mpi, two_good_one_hole

from crossover.__main__ import main
from crossover.cli.command import TYPED
from crossover.errors import CrossoverError
from crossover.query import question
from crossover.query.run import Run


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory):
    """A run of two experiments, one with two curves and three metrics, one with an arm that needs quotes."""
    campaign = two_good_one_hole()
    campaign.curves.append(mpi(arm="Send, twice"))
    return campaign.write_tables(tmp_path_factory.mktemp("contents"))


@pytest.fixture
def ask(synthetic, capsys):
    """Runs `crossover ask` with these words; returns the lines."""

    def run(*words):
        assert main(["ask", *words, "--results", str(synthetic)]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_the_command_alone_lists_the_experiments_with_their_titles(ask):
    assert ask() == [
        "mpi_pingpong    mpi4py arrays",
        "zmq_throughput  ZeroMQ stream",
        "crossover ask mpi_pingpong",
    ]
    assert json.loads("".join(ask("--json"))) == {"mpi_pingpong": "mpi4py arrays", "zmq_throughput": "ZeroMQ stream"}


def test_an_experiment_alone_lists_axis_metrics_arms_and_keys(ask):
    assert ask("zmq_throughput") == [
        "zmq_throughput: ZeroMQ stream",
        "    --at POINT: message size, 100 B to 1 MB",
        "    --metric throughput | bandwidth | 'send rate'",
        "    --arm copy | no-copy | null (reference copy)",
        "    --transport ipc | tcp",
        "    the same for all: --pattern PUSH/PULL --polled no --window-bytes 64000000 --placement node",
        "crossover ask zmq_throughput --at 10kB --transport tcp",
    ]


def test_an_arm_with_a_comma_or_a_space_is_quoted(ask, synthetic):
    assert "    --arm send | Send | 'Send, twice' | null (reference send)" in ask("mpi_pingpong")
    with pytest.raises(CrossoverError, match=r"^unknown arm 'x'; available: Send, 'Send, twice', null$"):
        Run(synthetic).ask("mpi_pingpong", 1, arm="x")
    assert ask("mpi_pingpong", "--at", "1", "--arm", "Send, twice")[0].startswith("'Send, twice' at 1 element (")


@pytest.mark.parametrize(
    "words",
    [
        ["mpi_pingpong"],
        ["zmq_throughput"],
        ["zmq_throughput", "--transport", "ipc"],
        ["zmq_throughput", "--metric", "send rate"],
    ],
)
def test_the_last_line_is_a_command_that_answers(ask, words):
    typed, command, *rest = shlex.split(ask(*words)[-1])
    assert (typed, command) == (TYPED, "ask")
    assert all(word in rest for word in words)
    assert re.search(" times|surely the best", ask(*rest)[0])


def test_the_example_of_every_experiment_of_a_real_run_answers(real, capsys):
    for run in real:
        for experiment in run.experiments():
            words = ["--results", str(run.results)]
            assert main(["ask", experiment, *words]) == 0
            example = capsys.readouterr().out.splitlines()[-1]
            assert main([*shlex.split(example)[1:], *words]) == 0
            capsys.readouterr()


def test_keys_narrow_the_list(ask):
    lines = ask("zmq_throughput", "--transport", "ipc")
    assert any(line.startswith("    the same for all: --pattern PUSH/PULL --transport ipc") for line in lines)


def test_the_list_as_json_has_values(ask):
    found = json.loads("".join(ask("zmq_throughput", "--json")))
    assert found["options"]["transport"] == ["ipc", "tcp"] and found["options"]["polled"] == [False]
    assert (found["x_from"], found["x_to"], found["axis_unit"]) == (100, 1e6, "bytes")
    assert found["metrics"] == ["throughput", "bandwidth", "send rate"] and found["reference"] == "copy"


def test_a_written_point_is_read_as_it_is_printed():
    for x, unit in ((31_623.0, "bytes"), (100.0, "bytes"), (31_600.0, "µs"), (0.15, "s"), (8.0, "tasks")):
        assert question.amount(question.written(x, unit), unit) == pytest.approx(x, rel=1e-2)
