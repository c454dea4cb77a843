"""A node of a job that no longer answers: its first words count, and the job fails so that it is repeated."""

import io

import pytest

from crossover.errors import CrossoverError
from crossover.measure.launch import supervisor
from crossover.measure.ranks.log import Relay, ended_step, first_lost_node

LAUNCH_FAILED = "srun: error: Task launch for StepId=7.2 failed on node n3: Communication connection failure"
CONSEQUENCES = [
    "srun: error: Application launch failed: Communication connection failure",
    "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.",
    "rank 0 on n2 was ended by signal 9 (Killed)",
    "srun: error: n2: task 0: Killed",
]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (LAUNCH_FAILED, "node n3: Communication connection failure"),
        ("srun: error: Node failure on n3", "node n3: node failure"),
        ("srun: error: n2: task 0: Killed", ""),
        ("srun: error: Unable to create step for job 7: Invalid node name specified", ""),
    ],
)
def test_only_what_slurm_says_of_a_lost_node_counts(line, words):
    assert first_lost_node([line, *CONSEQUENCES]) == words


FAILED_STEP = "slurmstepd-n2: error: *** STEP 4.0 ON n2 FAILED (non-zero exit code or other failure mode) ***"


AT = "CANCELLED AT 2026-11-28T07:00:00"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([FAILED_STEP], "4.0 ON n2 FAILED"),
        ([f"slurmstepd: error: *** STEP 4.0 ON n2 {AT} DUE TO TIME LIMIT ***"], f"4.0 ON n2 {AT} DUE TO TIME LIMIT"),
        (["srun: error: n2: task 0: Segmentation fault", FAILED_STEP], ""),
        (["srun: Terminating StepId=4.0", f"slurmstepd: error: *** STEP 4.0 ON n2 {AT} ***"], ""),
    ],
)
def test_a_step_that_slurm_ends_for_no_fault_of_its_ranks_is_no_hole(lines, words):
    assert ended_step(lines) == words


def test_the_job_of_a_lost_node_fails_instead_of_leaving_a_hole():
    say = Relay(io.BytesIO(), echo=False)
    for line in (LAUNCH_FAILED, *CONSEQUENCES):
        say(line)
    with pytest.raises(CrossoverError, match=r"Slurm lost a node of its job \(node n3: Communication connection"):
        supervisor._failure(None, 137, 60.0, None, say)
