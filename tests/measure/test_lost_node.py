"""A job whose node no longer answers, or that Slurm ends, fails so that it is repeated, and leaves no hole."""

import io

import pytest

from crossover.errors import CrossoverError
from crossover.measure.launch import supervisor
from crossover.measure.ranks.log import Relay, ended_by_slurm

LAUNCH_FAILED = "srun: error: Task launch for StepId=7.2 failed on node n3: Communication connection failure"
CONSEQUENCES = [
    "srun: error: Application launch failed: Communication connection failure",
    "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.",
    "rank 0 on n2 was ended by signal 9 (Killed)",
    "srun: error: n2: task 0: Killed",
]
NODE_FAILED = "srun: error: Node failure on n3"
FAILED_STEP = "slurmstepd-n2: error: *** STEP 4.0 ON n2 FAILED (non-zero exit code or other failure mode) ***"
CANCELLED = "slurmstepd: error: *** STEP 4.0 ON n2 CANCELLED AT 2026-11-28T07:00:00"
LATE = f"{CANCELLED} DUE TO TIME LIMIT ***"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([LAUNCH_FAILED, *CONSEQUENCES], LAUNCH_FAILED),
        ([NODE_FAILED], NODE_FAILED),
        (["srun: error: n2: task 0: Killed", NODE_FAILED], NODE_FAILED),
        (["srun: error: n2: task 0: Killed"], ""),
        (["srun: error: Unable to create step for job 7: Invalid node name specified"], ""),
        ([FAILED_STEP], FAILED_STEP),
        ([LATE], LATE),
        (["srun: error: n2: task 0: Exited with exit code 1", FAILED_STEP], ""),
        (["srun: Terminating StepId=4.0", f"{CANCELLED} ***"], ""),
    ],
)
def test_only_an_end_for_no_fault_of_the_ranks_counts(lines, line):
    assert ended_by_slurm(lines) == line


def test_the_job_of_a_lost_node_fails_instead_of_leaving_a_hole():
    say = Relay(io.BytesIO(), echo=False)
    for line in (LAUNCH_FAILED, *CONSEQUENCES):
        say(line)
    with pytest.raises(CrossoverError, match=r"Slurm ended its ranks \(srun: error: Task launch .* on node n3: "):
        supervisor._failure(None, 137, 60.0, None, say)
