"""What a run says about a job that failed: its reason, and whether it is repeated by itself."""

import pytest

from crossover.config import schema
from crossover.design.launch import Launch
from crossover.planning import receipt
from crossover.slurm.jobs import Fate
from crossover.workflow.failures import Attempts

RUN = "this"
ANY = schema.complete({}).experiments["zmq_latency"]
FIRST, SECOND, THIRD = (Launch("toy", "node", number, ANY) for number in (1, 2, 3))


@pytest.fixture(autouse=True)
def this_run(monkeypatch):
    monkeypatch.setenv(receipt.RUN, RUN)


@pytest.fixture
def attempts(tmp_path):
    """Three attempts for each job, on a Slurm whose jobs have the fates of the dictionary `fates`."""
    fates = {}

    def log(launch):
        return tmp_path / f"{launch.number}.log"

    made = Attempts(3, log, fates.__getitem__, lambda: "Invalid qos")
    return made, fates


def write(attempts, launch, text, run=RUN):
    log = attempts.log(launch)
    log.write_text(f"run {run}\n{text}")
    return log


def test_the_state_and_node_of_slurm_come_before_the_last_line_of_the_log(attempts):
    made, fates = attempts
    fates["7"] = Fate("NODE_FAIL", "node2")
    log = write(made, SECOND, "toy node launch 2: interrupted by SIGTERM; launch discarded; repeat the command")
    write(made, FIRST, "toy node launch 1: from an earlier run", run="earlier")
    assert made.failed([FIRST, SECOND, THIRD], "7") == (
        SECOND,
        f"Slurm ended its job: NODE_FAIL on node2 (job 7, log: {log}); 2 more of its job wait; "
        "attempt 1 of 3, repeated by itself",
    )
    assert made.reasons == {SECOND: "Slurm ended its job: NODE_FAIL on node2"}


def test_a_job_that_failed_by_itself_has_the_last_line_of_the_log(attempts):
    made, fates = attempts
    fates["7"] = Fate("FAILED", "node1")
    log = write(made, FIRST, "visit 3\ntoy node launch 1: the disk is full; launch discarded; to repeat it, ...\n")
    for number in (1, 2):
        assert made.failed([FIRST], "7")[1].endswith(f"; attempt {number} of 3, repeated by itself")
    assert made.failed([FIRST], "7")[1] == (
        f"the disk is full (job 7, log: {log}); attempt 3 of 3; to retry, repeat the command"
    )


def test_a_log_that_stops_in_the_middle_has_no_reason(attempts):
    made, fates = attempts
    fates["7"] = Fate("FAILED", "node1")
    write(made, FIRST, "toy node launch 1: visit 3 of 9\n")
    assert made.failed([FIRST], "7")[1].startswith("its job ended early (job 7, log: ")


def test_a_log_of_an_earlier_run_is_no_reason(attempts):
    made, fates = attempts
    fates["7"] = Fate("FAILED", "node1")
    write(made, FIRST, "toy node launch 1: of yesterday", run="earlier")
    assert made.failed([FIRST], "7")[1].startswith("its job ended early (job 7); attempt 1")


def test_slurms_words_for_a_refused_job_hold_for_all_its_launches(attempts):
    made, _ = attempts
    assert made.failed([FIRST, SECOND], None)[1].startswith(
        "Slurm refused its job: Invalid qos; 1 more of its job waits;"
    )
    assert made.reasons == dict.fromkeys([FIRST, SECOND], "Slurm refused its job: Invalid qos")


def test_without_slurm_and_retries_there_is_only_the_log(tmp_path):
    made = Attempts(1, lambda key: tmp_path / "log")
    log = write(made, FIRST, "toy node launch 1: it broke; launch discarded; to repeat it, repeat the command")
    assert made.failed([FIRST], None)[1] == f"it broke (log: {log}); to retry, repeat the command"
