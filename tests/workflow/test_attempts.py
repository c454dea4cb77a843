"""What a run says about a job that failed: its reason, and whether it is repeated by itself."""

import pytest

from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.slurm.jobs import Fate
from crossover.workflow.failures import Attempts

RUN = "this"


@pytest.fixture(autouse=True)
def this_run(monkeypatch):
    monkeypatch.setenv(receipt.RUN, RUN)


@pytest.fixture
def attempts(tmp_path):
    """Three attempts for each job, on a Slurm whose jobs have the fates of the dictionary `fates`."""
    fates = {}
    return Attempts(3, fates.__getitem__, lambda: "Invalid qos"), fates


@pytest.fixture
def launches(tmp_path):
    """Three launches."""
    return [Files(tmp_path / f"launches/quick/toy/node/{number}-0123abcd.0.json") for number in (1, 2, 3)]


def write(launch, text, run=RUN):
    launch.log.parent.mkdir(parents=True, exist_ok=True)
    launch.log.write_text(f"run {run}\n{text}")
    return launch.log


def test_the_state_and_node_of_slurm_come_before_the_last_line_of_the_log(attempts, launches):
    first, second, third = launches
    made, fates = attempts
    fates["7"] = Fate("NODE_FAIL", "node2")
    log = write(second, "toy node launch 2: interrupted by SIGTERM; launch discarded; repeat the command")
    write(first, "toy node launch 1: from an earlier run", run="earlier")
    assert made.failed([first, second, third], "7") == (
        second,
        f"Slurm ended its job: NODE_FAIL on node2 (job 7, log: {log}); 2 more of its job wait; "
        "attempt 1 of 3, repeated by itself",
    )
    assert made.reasons == {second: "Slurm ended its job: NODE_FAIL on node2"}


@pytest.mark.parametrize(
    ("text", "run", "said"),
    [
        ("visit 3\ntoy node launch 1: it broke; launch discarded; to ...\n", RUN, "it broke (job 7, log: {})"),
        # A log that stops in the middle, and one of an earlier run, are no reason.
        ("toy node launch 1: visit 3 of 9\n", RUN, "its job ended early (job 7, log: {})"),
        ("toy node launch 1: of yesterday", "earlier", "its job ended early (job 7)"),
    ],
)
def test_a_job_that_failed_by_itself_has_the_last_line_of_the_log(attempts, launches, text, run, said):
    first, *_ = launches
    made, fates = attempts
    fates["7"] = Fate("FAILED", "node1")
    reason = said.format(write(first, text, run))
    for number in (1, 2):
        assert made.failed([first], "7")[1] == f"{reason}; attempt {number} of 3, repeated by itself"
    assert made.failed([first], "7")[1] == f"{reason}; attempt 3 of 3; to retry, repeat the command"


def test_slurms_words_for_a_refused_job_hold_for_all_its_launches(attempts, launches):
    first, second, _ = launches
    made, _ = attempts
    assert made.failed([first, second], None)[1].startswith(
        "Slurm refused its job: Invalid qos; 1 more of its job waits;"
    )
    assert made.reasons == dict.fromkeys([first, second], "Slurm refused its job: Invalid qos")


def test_without_slurm_and_retries_there_is_only_the_log(launches):
    made, first = Attempts(1), launches[0]
    log = write(first, "toy node launch 1: it broke; launch discarded; to repeat it, repeat the command")
    assert made.failed([first], None)[1] == f"it broke (log: {log}); to retry, repeat the command"
