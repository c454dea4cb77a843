"""The programs in place of Slurm's on Snakemake's PATH: which jobs end, which wait, which are submitted again."""

import os
import resource
import subprocess
import time

import pytest

from crossover.slurm.submission import BIN

ENDED = (
    *("BOOT_FAIL", "CANCELLED", "CANCELLED by 0", "CANCELLED+", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "SPECIAL_EXIT", "TIMEOUT"),
)
"""States in which a job has ended without success, in every spelling: the launch is tried again, or becomes a hole."""

GOING_ON = (
    *("COMPLETING", "CONFIGURING", "EXPEDITING", "PENDING", "POWER_UP_NODE", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD"),
    *("RESIZING", "RESV_DEL_HOLD", "RUNNING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED", "UPDATE_DB"),
)
"""States in which a job waits or runs: so does the run, which says why."""

QUERIES = {
    "sacct": ("-X", "--parsable2", "--format=JobIdRaw,State", "--name", "run"),
    "squeue": ("--format=%i|%T", "--states=all", "--noheader", "--name", "run"),
}
"""How Slurm's plugin asks for the states of jobs."""

SUBMISSION = ("sbatch", "--parsable", "--job-name", "run", "--comment", "rule_launches-1")
SILENT = "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"
WITHOUT_ACCOUNTS = "echo 'Slurm accounting storage is disabled' >&2; exit 1"


@pytest.fixture
def slurm(stand_in, tmp_path, monkeypatch):
    """Makes a program of Slurm from a script of the shell; the environment is that of a run."""
    monkeypatch.setenv("PATH", str(BIN), prepend=os.pathsep)
    monkeypatch.setenv("CROSSOVER_REFUSALS", str(tmp_path / "run" / "refusals"))
    monkeypatch.setenv("CROSSOVER_JOBS", str(tmp_path / "run" / "jobs"))
    monkeypatch.setenv("CROSSOVER_REFUSAL_SECONDS", "0")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "jobs").touch()
    return stand_in


@pytest.fixture
def folder(slurm, tmp_path):
    """The folder of a run, with its record of accepted jobs, `jobs`."""
    return tmp_path / "run"


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=20)


def states(program):
    """The states that the plugin gets, by the number of the job."""
    return dict(line.split("|") for line in said(program, *QUERIES[program]).stdout.splitlines())


@pytest.mark.parametrize("program", QUERIES)
def test_every_final_state_ends_the_wait_and_no_other(slurm, folder, program):
    every = {str(number): state for number, state in enumerate(["COMPLETED", *ENDED, *GOING_ON], 10)}
    slurm("squeue", "\n".join(f"echo '{number}|{state}|x'" for number, state in {"9": "RUNNING", **every}.items()))
    (folder / "jobs").write_text("".join(f"{number}\n" for number in every))
    expected = {number: "FAILED" if state in ENDED else state for number, state in every.items()}
    assert states(program) == states(program) == expected


@pytest.mark.parametrize("state", ["COMPLETED", *ENDED])
def test_the_accounts_are_asked_for_a_job_that_the_controller_has_forgotten(slurm, folder, state):
    (folder / "jobs").write_text("7\n8\n9\n")
    slurm("squeue", "echo '17|RUNNING|x'; echo '9|RUNNING|x'")
    answer = f"echo '7|{state}|x'; echo '8|TIMEOUT|x'"
    slurm("sacct", f"echo asked >>{folder}/asked; case $* in *--jobs=[78],[78]) {answer}; esac")
    expected = {"7": "FAILED" if state in ENDED else state, "8": "FAILED", "9": "RUNNING"}
    assert states("squeue") == states("squeue") == expected
    assert (folder / "asked").read_text() == "asked\n"


@pytest.mark.parametrize("program", QUERIES)
def test_other_questions_and_failures_pass(slurm, program):
    slurm(program, 'echo "7|NODE_FAIL" "$@"')
    assert said(program, "--me", "--format=%T").stdout == "7|NODE_FAIL --me --format=%T\n"
    slurm("squeue", "exit 3")
    assert said(program, *QUERIES[program]).returncode == 3


@pytest.mark.parametrize("accounts", [WITHOUT_ACCOUNTS, "echo '7|RUNNING|x'"])
def test_a_job_that_slurm_has_forgotten_ends_at_the_second_look(slurm, folder, accounts):
    (folder / "jobs").write_text("7\n8\n")
    slurm("squeue", "echo '8|COMPLETED|x'")
    slurm("sacct", accounts)
    assert states("squeue") == {"7": "MISSING", "8": "COMPLETED"}
    assert states("squeue") == states("squeue") == {"7": "FAILED", "8": "COMPLETED"}


def test_a_silent_controller_forgets_no_job(slurm, folder):
    (folder / "jobs").write_text("7\n")
    slurm("sacct", WITHOUT_ACCOUNTS)
    slurm("squeue", SILENT)
    assert [states("sacct") for _ in range(3)] == [{}] * 3


def test_a_controller_that_fails_at_once_is_asked_rarely(slurm, monkeypatch):
    """The plugin repeats a failed question ten times a second."""
    monkeypatch.setenv("CROSSOVER_REFUSAL_SECONDS", "0.5")
    slurm("squeue", SILENT)
    begin = time.monotonic()
    assert said("squeue", *QUERIES["squeue"]).returncode == 1
    assert time.monotonic() - begin > 0.5


@pytest.mark.parametrize("command", [("squeue", *QUERIES["squeue"]), SUBMISSION], ids=["squeue", "sbatch"])
def test_a_signal_ends_a_program_that_waits_and_frees_its_output(slurm, monkeypatch, command):
    """Otherwise Snakemake would wait for the output of a `sleep` that nobody ends."""
    monkeypatch.setenv("CROSSOVER_REFUSAL_SECONDS", "9")
    slurm(command[0], SILENT)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        time.sleep(0.5)
        program.terminate()
        program.communicate(timeout=5)


def test_the_cost_of_a_look_does_not_grow_with_the_square_of_the_jobs(slurm, folder):
    numbers = range(100_000, 105_000)
    (folder / "jobs").write_text("".join(f"{number}\n" for number in numbers))
    (folder / "rows").write_text("".join(f"{number}|RUNNING|run-{number}\n" for number in numbers))
    slurm("squeue", f"cat {folder}/rows")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert states("squeue") == {str(number): "RUNNING" for number in numbers}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1


@pytest.fixture(params=["removed", "lost", "unwritable"])
def damaged(request, folder):
    """The folder of a run was removed for good, by a cleaner, or cannot be written to."""
    (folder / "jobs").unlink()
    folder.rmdir()
    if request.param == "lost":
        folder.write_text("")
    if request.param == "unwritable":
        folder.symlink_to("/proc")
    return folder


def test_without_its_folder_a_run_learns_the_end_of_its_jobs_from_slurm_alone(slurm, damaged):
    slurm("squeue", "printf '%s\n' '7|RUNNING|run-a' '8|TIMEOUT|run-b' '5|FAILED|run2-a' '6|RUNNING|x'")
    slurm("sacct", "printf '%s\n' '3|CANCELLED by 0|run-c' '4|COMPLETED|run-d' '9|PENDING|run-e' '2|FAILED|x'")
    first = {"3": "FAILED", "4": "COMPLETED", "7": "RUNNING", "8": "FAILED"}
    assert states("squeue") == states("squeue") == first


def test_without_its_folder_a_job_is_submitted_and_refused_with_slurms_words(slurm, damaged):
    slurm("mktemp", "exit 1")
    slurm("sbatch", "echo 17")
    assert said(*SUBMISSION).stdout == "17\n"
    slurm("sbatch", 'echo "sbatch: error: Invalid qos specification" >&2\nexit 1')
    done = said(*SUBMISSION)
    assert (done.returncode, done.stderr) == (1, "sbatch: error: Invalid qos specification\n")


def test_a_removed_folder_is_there_again_with_the_jobs_that_slurm_knows_and_the_words(slurm, folder):
    (folder / "jobs").write_text("7\n8\n")
    slurm("squeue", "printf '%s\n' '7|RUNNING|run-a' '8|RUNNING|run-b'")
    slurm("sacct", WITHOUT_ACCOUNTS)
    (folder / "jobs").unlink()
    folder.rmdir()
    assert states("squeue") == {"7": "RUNNING", "8": "RUNNING"}
    slurm("squeue", "echo '7|COMPLETED|run-a'")
    slurm("sbatch", "echo Invalid qos; exit 1")
    said(*SUBMISSION)
    assert (folder / "refusals").read_text() == "refused\tInvalid qos\n"
    assert states("squeue") == {"7": "COMPLETED", "8": "MISSING"}
    assert states("squeue") == {"7": "COMPLETED", "8": "FAILED"}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_record_that_cannot_take_a_job_is_not_taken_for_complete(slurm, folder):
    (folder / "jobs").unlink()
    (folder / "jobs").symlink_to("/dev/full")
    slurm("sbatch", "echo 17")
    assert said(*SUBMISSION).stdout == "17\n"
    assert not (folder / "jobs").is_symlink()


PASSING = (
    "Batch job submission failed: Socket timed out on send/recv operation",
    "Unable to contact slurm controller (connect failure)",
    "Batch job submission failed: Resource temporarily unavailable",
    "Batch job submission failed: Transport endpoint is not connected",
    "Batch job submission failed: Zero Bytes were transmitted or received",
    "Batch job submission failed: Slurm backup controller in standby mode",
    "Slurm temporarily unable to accept job, sleeping and retrying",
    "Batch job submission failed: Rate limit exceeded, please retry momentarily",
    "Batch job submission failed: MaxJobCount limit reached",
    "QOSMaxSubmitJobPerUserLimit",
)


@pytest.mark.parametrize("words", PASSING)
def test_a_busy_controller_is_outwaited(slurm, folder, words):
    once = folder / "once"
    slurm("sbatch", f'[ -f {once} ] && echo "17;here" && exit\ntouch {once}\necho "sbatch: error: {words}" >&2\nexit 1')
    done = said(*SUBMISSION)
    assert (done.returncode, done.stdout, done.stderr) == (0, "17\n", "")
    assert (folder / "refusals").read_text(encoding="utf-8") == f"waits\t{words}\n"
    assert (folder / "jobs").read_text(encoding="utf-8") == "17\n"


def test_a_submission_without_an_answer_is_repeated(slurm, folder, monkeypatch):
    monkeypatch.setenv("CROSSOVER_ANSWER_SECONDS", "0.5")
    slurm("sbatch", f"[ -f {folder}/once ] && echo 17 && exit\ntouch {folder}/once\nexec sleep 60")
    assert said(*SUBMISSION).stdout == "17\n"
    assert (folder / "refusals").read_text(encoding="utf-8") == "waits\tno answer in time\n"


def test_copies_of_a_job_share_a_name_under_which_slurm_runs_one_at_a_time(slurm, tmp_path):
    slurm("sbatch", f'echo "$@" >>{tmp_path}/asked\necho 17')
    said(*SUBMISSION)
    said(*SUBMISSION[:-1], "rule_launches-10")
    first, second = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert first == f"--dependency=singleton {' '.join(SUBMISSION[1:])} --job-name=run-rule_launches-1"
    assert second.endswith(" --job-name=run-rule_launches-10")


def test_a_refusal_for_good_keeps_slurms_words(slurm, folder):
    slurm("sbatch", 'echo "sbatch: error: Invalid qos specification" >&2\nexit 1')
    done = said(*SUBMISSION)
    assert (done.returncode, done.stderr) == (1, "sbatch: error: Invalid qos specification\n")
    assert (folder / "refusals").read_text(encoding="utf-8") == "refused\tInvalid qos specification\n"
    assert (folder / "jobs").read_text(encoding="utf-8") == ""


@pytest.mark.parametrize(
    ("lines", "queued"),
    [
        (["17"], ""),
        (["17;here"], ""),
        (["Welcome; 3 jobs wait", "17", "Charged 250; project x"], ""),
        (["17;here", "Use 8 cores; not 7 cores"], ""),
        (["250", "17;here"], "17"),
        (["17", "250"], "17"),
        (["250", "17"], ""),
        (["Submitted batch job 17"], "9\n17"),
    ],
)
def test_only_the_number_of_a_job_is_taken_from_a_talkative_sbatch(slurm, folder, lines, queued):
    slurm("sbatch", "\n".join(f"echo '{line}'" for line in lines))
    slurm("squeue", f"case $* in *--name=run-rule_launches-1*--format=%i*) echo '{queued}'; esac")
    done = said(*SUBMISSION)
    assert (done.returncode, done.stdout, done.stderr) == (0, "17\n", "")
    assert (folder / "jobs").read_text(encoding="utf-8") == "17\n"


def test_a_job_without_a_number_is_refused_with_the_words(slurm, folder):
    slurm("sbatch", "echo 'Nothing to do'")
    slurm("squeue", SILENT)
    done = said(*SUBMISSION)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "sbatch gave no number of the job, and squeue knows none of its name: Nothing to do\n"
    assert (folder / "refusals").read_text(encoding="utf-8") == f"refused\t{done.stderr}"


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sshare"])
def test_what_the_plugin_asks_at_a_submission_never_fails(slurm, program):
    slurm(program, "echo 'Access/permission denied' >&2; exit 1")
    done = said(program, "-n")
    assert (done.returncode, done.stdout) == (0, "")
    slurm(program, 'printf "%s;" "$@"')
    assert said(program, "-n", "a b").stdout == "-n;a b;"


@pytest.mark.parametrize("program", ["sinfo", "sacctmgr", "sacct"])
def test_what_the_plugin_asks_at_a_submission_ends(slurm, monkeypatch, program):
    monkeypatch.setenv("CROSSOVER_ANSWER_SECONDS", "0.2")
    slurm(program, "exec sleep 60")
    assert said(program, "-nu", "root", "-o", "Account%256").stdout == ""
