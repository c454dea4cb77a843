"""Is Slurm asked about every kind of job, and does its refusal name the key?"""

from pathlib import Path

import pytest

from crossover.errors import CrossoverError
from crossover.slurm import acceptance

JOB = {"nodes": 1, "tasks": 2, "runtime": 6, "slurm_extra": "--exclusive"}
WIDE = JOB | {"nodes": 2}


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    """Gives sbatch an answer; returns the arguments of its calls."""

    def answering(script):
        program = tmp_path / "sbatch"
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n{script}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    answering.asked = lambda: (tmp_path / "asked").read_text().splitlines()
    return answering


def test_jobs_of_a_kind_need_one_question_about_the_largest(sbatch):
    sbatch("exit 0")
    acceptance.check(None, [JOB, JOB | {"runtime": 90}, JOB | {"tasks": 16}, WIDE])
    asked = sbatch.asked()
    assert asked == [
        "--test-only --nodes=1 --ntasks=16 --time=90 --exclusive --wrap=true",
        "--test-only --nodes=2 --ntasks=2 --time=6 --exclusive --wrap=true",
    ]


def test_the_most_minutes_are_found_only_if_the_wanted_ones_are_refused(sbatch):
    refused = "echo 'sbatch: error: Requested time limit is invalid' >&2; exit 1"
    sbatch(f"case $* in *--time=120\\ *|*--time=60\\ *) {refused};; esac")
    assert acceptance.most_minutes({}, 120) == 45
    assert acceptance.most_minutes({}, 50) == 50


def test_a_slurm_that_grants_no_time_at_all_is_left_to_the_check(sbatch):
    sbatch("echo 'sbatch: error: invalid partition' >&2; exit 1")
    assert acceptance.most_minutes({}, 120) == 120


def test_a_full_queue_is_no_reason_to_refuse_a_run(sbatch):
    sbatch(
        "printf 'sbatch: error: QOSMaxSubmitJobPerUserLimit\\nallocation failure: Job violates policy\\n' >&2; exit 1"
    )
    acceptance.check(None, [JOB])


def test_the_name_of_a_limit_is_told_before_slurms_words(sbatch):
    sbatch("printf 'sbatch: error: QOSMaxCpuPerNode\\nx\\nsbatch: error: QOSMaxNodeLimit\\n' >&2; exit 1")
    with pytest.raises(CrossoverError, match=": QOSMaxNodeLimit"):
        acceptance.check(None, [JOB])
    sbatch("printf 'sbatch: error: QOSMaxNodePerJobLimit\\nallocation failure: Job violates policy\\n' >&2; exit 1")
    with pytest.raises(CrossoverError, match="QOSMaxNodePerJobLimit: Job violates policy"):
        acceptance.check(None, [JOB])


def test_jobs_on_other_nodes_are_another_kind(sbatch):
    sbatch("case $* in *n3*) echo 'sbatch: error: Invalid node name specified' >&2; exit 1;; esac")
    jobs = [WIDE | {"slurm_extra": f"--exclusive --nodelist={pair}"} for pair in ("n1,n2", "n2,n3")]
    with pytest.raises(CrossoverError, match=r"n2,n3: Invalid node .*; set `node_list:` in .*: `sinfo --Node` lists"):
        acceptance.check(None, jobs)
    acceptance.check(None, jobs[:1])


def test_a_refusal_names_the_request_the_reason_and_the_keys(sbatch):
    sbatch("case $* in *--nodes=2*) echo 'allocation failure: too few' >&2; exit 1;; esac")
    with pytest.raises(CrossoverError) as refusal:
        acceptance.check(None, [JOB, WIDE | {"slurm_partition": "small", "slurm_account": "ab1"}])
    [_, line] = str(refusal.value).splitlines()
    asked = "--partition=small --account=ab1 --nodes=2 --ntasks=2 --time=6 --exclusive"
    assert line.startswith(f"  {asked}: too few (too few nodes); set ")
    assert "set `partition:` in profiles/slurm/site.yaml: choose one that allows jobs of as many nodes" in line


def test_an_unknown_refusal_names_the_keys_that_are_set(sbatch):
    sbatch("echo 'allocation failure: no' >&2; exit 1")
    with pytest.raises(CrossoverError, match=r"no; set `partition:` or `account:` in profiles/slurm/site.yaml"):
        acceptance.check(None, [WIDE | {"slurm_partition": "small", "slurm_account": "ab1", "mem_mb": 0}])


UNAVAILABLE = "echo 'allocation failure: Requested node configuration is not available' >&2; exit 1"
"""Slurm's answer to three different shortages."""


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("*--nodes=2*) " + UNAVAILABLE, "too few nodes); set `partition:`"),
        ("*--overcommit*) exit 0;; *) " + UNAVAILABLE, "too few processors); add `--overcommit` to `slurm_extra`"),
        ("*--mem=*) " + UNAVAILABLE, "too little memory); set `partition:`"),
        ("*) " + UNAVAILABLE, "not available; set `partition:`"),
    ],
)
def test_shortages_are_told_apart(sbatch, case, words):
    sbatch(f"case $* in {case};; esac")
    with pytest.raises(CrossoverError) as refusal:
        acceptance.check(None, [WIDE | {"mem_mb": 4000}])
    assert words in str(refusal.value)


@pytest.mark.parametrize(("allowed", "wanted"), [(1, 2), (1, 9), (3, 4), (5, 16), (7, 8)])
def test_the_most_hosts_are_found_with_the_reason_for_no_more(sbatch, allowed, wanted):
    granted = "|".join(f"*--nodes={count}\\ *" for count in range(1, allowed + 1))
    sbatch(f'case "$*" in {granted}) exit 0;; esac; {UNAVAILABLE}')
    hosts, reason = acceptance.most_hosts({"slurm_partition": "small"}, wanted)
    assert hosts == allowed
    assert reason.startswith(f"too few nodes: Slurm refuses jobs of {allowed + 1} nodes (Requested node configuration")
    assert "set `partition:` in profiles/slurm/site.yaml" in reason
    assert acceptance.most_hosts({"slurm_partition": "small"}, allowed) == (allowed, "")


@pytest.mark.parametrize("script", ["exit 0", UNAVAILABLE, "echo 'Unable to contact slurm controller' >&2; exit 1"])
def test_if_even_one_host_is_refused_or_slurm_is_silent_nothing_is_left_out(sbatch, script):
    sbatch(script)
    assert acceptance.most_hosts({}, 4) == (4, "")


def test_a_known_reason_names_its_key(sbatch):
    sbatch("echo 'allocation failure: Invalid account or account/partition combination specified' >&2; exit 1")
    with pytest.raises(CrossoverError, match=r"set `account:` in profiles/slurm/site.yaml: .*sacctmgr"):
        acceptance.check(None, [JOB | {"slurm_partition": "small", "slurm_account": "ab1"}])


@pytest.mark.parametrize(
    "words", ["Unable to contact slurm controller (connect failure)", "Socket timed out on send/recv operation"]
)
def test_a_controller_that_does_not_answer_refuses_nothing(sbatch, words):
    sbatch(f"echo 'sbatch: error: Batch job submission failed: {words}' >&2; exit 1")
    acceptance.check(None, [JOB])
    assert acceptance.most_hosts({}, 4) == (4, "")


def test_without_sbatch_the_run_starts(monkeypatch):
    monkeypatch.setenv("PATH", str(Path(__file__).parent))
    acceptance.check(None, [JOB])


def test_job_arrays_are_refused_whatever_slurm_says(sbatch):
    sbatch("exit 0")
    with pytest.raises(CrossoverError, match=r"slurm-array-jobs is set \(all\).*remove it"):
        acceptance.check("all", [JOB])


@pytest.mark.parametrize(("processors", "fitting"), [(1, 0), (2, 2), (4, 3), (16, 9), (64, 33)])
def test_the_widest_launch_with_a_processor_for_each_rank_is_found(sbatch, processors, fitting):
    granted = "|".join(f"*--ntasks={count}\\ *" for count in range(1, processors + 1))
    sbatch(f'case "$*" in *--overcommit*) exit 0;; {granted}) exit 0;; esac; {UNAVAILABLE}')
    resources = {"slurm_extra": "--exclusive --overcommit"}
    assert acceptance.most_ranks(resources, {2, 3, 5, 9, 33} - ({5} if processors == 16 else set())) == fitting


@pytest.mark.parametrize("script", ["exit 0", UNAVAILABLE, "echo 'Unable to contact slurm controller' >&2; exit 1"])
def test_if_even_one_rank_is_refused_or_slurm_is_silent_no_launch_is_called_wide(sbatch, script):
    sbatch(script)
    assert acceptance.most_ranks({}, {2, 9}) == 9
    assert acceptance.most_ranks({}, set()) == 0
