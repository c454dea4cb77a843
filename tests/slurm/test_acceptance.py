"""Is Slurm asked about every kind of job, and does its refusal name the key?"""

from functools import partial
from pathlib import Path

import pytest

from crossover.errors import CrossoverError
from crossover.slurm import acceptance
from crossover.slurm.cluster import Partition

JOB = {"nodes": 1, "tasks": 2, "runtime": 6, "slurm_extra": "--exclusive"}
WIDE = JOB | {"nodes": 2}


@pytest.fixture
def sbatch(stand_in):
    """Gives sbatch an answer; this machine's own sinfo may have no configuration."""
    stand_in("sinfo", "true")
    return partial(stand_in, "sbatch")


def test_sbatch_is_asked_about_each_kind_of_job(sbatch, tmp_path):
    sbatch(f'echo "$@" >> {tmp_path}/asked')
    acceptance.check(None, [JOB, WIDE])
    assert (tmp_path / "asked").read_text(encoding="utf-8").splitlines() == [
        "--test-only --nodes=1 --ntasks=2 --time=6 --exclusive --wrap=true",
        "--test-only --nodes=2 --ntasks=2 --time=6 --exclusive --wrap=true",
    ]


def test_all_of_slurms_words_and_of_a_sites_own_come_before_the_remedy(sbatch):
    said = (
        "sbatch: error: Please name your project with --account; your projects: ab1, ab2",
        "sbatch: error: Batch job submission failed: Unspecified error",
    )
    sbatch(f"printf '%s\\n' '{said[0]}' '{said[1]}' >&2; exit 1")
    with pytest.raises(CrossoverError) as refusal:
        acceptance.check(None, [JOB])
    words = ": ".join(line.removeprefix("sbatch: error: ") for line in said)
    assert f"{words}; set `partition:` in profiles/slurm/site.yaml" in str(refusal.value)
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
        acceptance.check(None, [JOB, WIDE | {"slurm_partition": "small", "slurm_account": "ab1", "mem_mb": 0}])
    [_, line] = str(refusal.value).splitlines()
    asked = "--partition=small --account=ab1 --nodes=2 --ntasks=2 --time=6 --exclusive"
    assert line.startswith(f"  {asked}: too few; set `partition:` or `account:` in profiles/slurm/site.yaml")


UNAVAILABLE = "echo 'allocation failure: Requested node configuration is not available' >&2; exit 1"
"""Slurm's answer to a shortage."""


def test_the_most_hosts_that_slurm_grants_have_its_words_for_why_no_more(sbatch):
    sbatch(f"case $* in *--nodes=[34]*) {UNAVAILABLE};; esac")
    hosts, reason = acceptance.most_hosts({"slurm_partition": "small"}, 4)
    assert hosts == 2
    assert reason.startswith("Slurm refuses jobs of 3 nodes (Requested node configuration is not available); set `part")
    assert "`wait_for_nodes: true`" in reason
    assert acceptance.most_hosts({"slurm_partition": "small"}, 2) == (2, "")


@pytest.mark.parametrize("script", ["exit 0", UNAVAILABLE])
def test_if_even_one_host_is_refused_nothing_is_left_out(sbatch, script):
    sbatch(script)
    assert acceptance.most_hosts({}, 4) == (4, "")


def test_a_site_that_waits_for_nodes_has_all_of_its_partition_and_no_more(sbatch, monkeypatch):
    monkeypatch.setattr(acceptance.cluster, "partition", lambda _: Partition(nodes=3))
    sbatch(f"case $* in *--nodes=1*) ;; *) {UNAVAILABLE};; esac")
    assert acceptance.most_hosts({"wait_for_nodes": 1}, 4)[0] == 3
    assert acceptance.most_hosts({"wait_for_nodes": 0}, 4)[0] == 1


def test_a_known_reason_names_its_key(sbatch):
    sbatch("echo 'allocation failure: Invalid account or account/partition combination specified' >&2; exit 1")
    with pytest.raises(CrossoverError, match=r"set `account:` in profiles/slurm/site.yaml: .*sacctmgr"):
        acceptance.check(None, [JOB | {"slurm_partition": "small", "slurm_account": "ab1"}])


def test_a_full_queue_refuses_nothing(sbatch):
    sbatch("printf 'sbatch: error: QOSMaxSubmitJobPerUserLimit\nallocation failure: Job violates policy\n' >&2; exit 1")
    acceptance.check(None, [JOB])
    assert acceptance.most_hosts({}, 4) == (4, "")


@pytest.mark.parametrize("words", ["Unable to contact slurm controller", "Socket timed out on send/recv operation", ""])
def test_a_controller_that_does_not_answer_is_asked_again_and_never_taken_for_a_yes(sbatch, tmp_path, words):
    silent = f"echo 'sbatch: error: {words}' | sed 's/.*: $//' >&2; exit 1"
    sbatch(f"[ -e {tmp_path}/asked ] || {{ touch {tmp_path}/asked; {silent}; }}\n{UNAVAILABLE}")
    with pytest.raises(CrossoverError, match="Slurm refuses these jobs"):
        acceptance.check(None, [JOB])
    sbatch(silent)
    with pytest.raises(CrossoverError, match=f"Slurm does not answer: sbatch: {words}"):
        acceptance.most_hosts({}, 4)


def test_without_sbatch_the_run_starts(monkeypatch):
    monkeypatch.setenv("PATH", str(Path(__file__).parent))
    acceptance.check(None, [JOB])


def test_job_arrays_are_refused_whatever_slurm_says(sbatch):
    sbatch("exit 0")
    with pytest.raises(CrossoverError, match=r"slurm-array-jobs is set \(all\).*remove it"):
        acceptance.check("all", [JOB])
