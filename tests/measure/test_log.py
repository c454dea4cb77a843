"""Do a launch's last words name the error, whatever output follows it?"""

import io
from contextlib import nullcontext
from pathlib import Path

import pytest

from crossover.errors import CrossoverError
from crossover.measure.launch import supervisor
from crossover.measure.ranks.log import Relay, ended_by_slurm, from_outside

HYDRAS = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   KILLED BY SIGNAL: 9 (Killed)
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"""
RULE = 74 * "-"
PRRTES = f"""\
{RULE}
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
  Errorcode: 7

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
{RULE}
{RULE}
prterun has exited due to process rank 1 with PID 0 on node alpha calling
"abort". This may have caused other processes in the application to be
terminated by signals sent by prterun (as reported here).
{RULE}"""
SLOTS = f"""\
{RULE}
There are not enough slots available in the system to satisfy the 9
slots that were requested by the application:

  python

Alternatively, you can use the --map-by :OVERSUBSCRIBE option.
{RULE}
"""
FAULT = """\
[alpha:04369] *** Process received signal ***
[alpha:04369] Signal: Segmentation fault (11)
22  /lib/libpython3.11.so.1.0(_PyEval_EvalFrameDefault+0x2e53) [0x7f2dd02fd9c3]"""
SRUNS = """\
srun: error: n3: task 2: Killed
srun: launch/slurm: _step_signal: Terminating StepId=4.0
slurmstepd: error: *** STEP 4.0 ON n1 CANCELLED AT 2026-11-24T10:00:00 ***
srun: error: n1: task 0: Terminated
srun: error: n2: task 1: Killed"""
EXITED = SRUNS.replace("task 2: Killed", "task 2: Exited with exit code 5")
NOTICED = f"""\
{RULE}
prterun noticed that process rank 1 with PID 7 on node alpha exited on
signal 11 (Segmentation fault: invalid address).

The log has more.
{RULE}"""
ABORTED = "rank 1 on alpha was ended by signal 6 (Aborted)"
STACK = ["Thread 0x00007f3f63211b80 (most recent call first):", *['  File "toy.py", line 27 in run'] * 30]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["working", "Timeout (0:00:02)!", *STACK, *HYDRAS.splitlines()], "Timeout (0:00:02)!"),
        (["RuntimeError: apart", "Abort(1) on node 0: internal error", *HYDRAS.splitlines()], "RuntimeError: apart"),
        (["working", *HYDRAS.splitlines()], HYDRAS.splitlines()[-1]),
        (["RuntimeError: apart", *PRRTES.splitlines(), ""], "RuntimeError: apart"),
        (["RuntimeError: apart", "[alpha:17] [[1,0],0] ORTE_ERROR_LOG: Data unpack"], "RuntimeError: apart"),
        (
            ["working", *PRRTES.splitlines(), ""],
            "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD Errorcode: 7",
        ),
        (
            SLOTS.splitlines(),
            "There are not enough slots available in the system to satisfy the 9 slots that were requested by the "
            "application:",
        ),
        (["working", *FAULT.splitlines()], "[alpha:04369] Signal: Segmentation fault (11)"),
        (["working", *EXITED.splitlines()], "srun: error: n3: task 2: Exited with exit code 5"),
        (["RuntimeError: apart", *EXITED.splitlines()], "RuntimeError: apart"),
        (["working", "and so on", ""], "and so on"),
        ([], "none"),
    ],
)
def test_the_last_words_are_the_ranks_own_if_they_contain_an_error(said, told):
    relay = Relay(io.BytesIO())
    for line in said:
        relay(line)
    assert relay.last_words() == f"last words: {told}"


@pytest.mark.parametrize(
    ("said", "end", "outside"),
    [
        (SRUNS, "n3: task 2: Killed", True),
        (SRUNS.replace("task 2: Killed", "tasks 2-3: Out Of Memory"), "n3: tasks 2-3: Out Of Memory", True),
        (SRUNS.replace("Killed", "Bus error (core dumped)", 1), "n3: task 2: Bus error (core dumped)", False),
        (ABORTED, ABORTED, False),
        (
            NOTICED,
            "prterun noticed that process rank 1 with PID 7 on node alpha exited on signal 11 (Segmentation fault: "
            "invalid address).",
            False,
        ),
        # What the launcher ended itself is no cause.
        (EXITED, "", False),
        ("srun: error: n3: task 2: Exited with exit code 5\nsrun: error: n2: task 1: Killed", "", False),
        (SRUNS.replace("task 2: Killed", "task 2: Terminated"), "", False),
        (HYDRAS, "", False),
        ("", "", False),
    ],
)
def test_the_first_end_is_that_of_the_first_rank_that_the_launcher_did_not_end_itself(said, end, outside):
    relay = Relay(io.BytesIO())
    for line in ["working", *said.splitlines(), "RuntimeError: the other rank is gone"]:
        relay(line)
    assert (relay.first_end(), from_outside(relay.first_end())) == (end, outside)


# ---- a job whose node no longer answers, or that Slurm ends, is repeated


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
    say = Relay(io.BytesIO(), echo=False)
    for each in lines:
        say(each)
    # It fails instead of leaving a hole.
    with pytest.raises(CrossoverError, match=r"Slurm ended its ranks \(s\w+") if line else nullcontext():
        supervisor._failure(None, 137, 60.0, None, say)


def test_a_shortage_that_only_the_log_reports_is_found():
    say = Relay(io.BytesIO(), echo=False)
    say("worker 1: cannot write: No space left on device")
    found = supervisor._failure(None, 7, 60.0, None, say)
    assert found.kind == "disturbed" and "worker 1: cannot write: No space left on device" in str(found)


def test_lines_after_our_own_kill_are_logged_but_no_reason():
    log = io.BytesIO()
    relay = Relay(log)
    relay("working")
    relay.close()
    for line in SRUNS.splitlines():
        relay(line)
    assert (relay.first_end(), relay.error(), relay.last_words()) == ("", "", "last words: working")
    assert SRUNS in log.getvalue().decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_log_on_a_full_disk_blocks_nothing(capfd):
    with Path("/dev/full").open("wb", buffering=0) as full:
        relay = Relay(full)
        relay("one")
        relay("two")
    assert capfd.readouterr().err.split() == ["one", "two"]
