"""The doctor on a healthy cluster, and on clusters with the usual problems of a new site."""

from __future__ import annotations

import re
import sys

import pytest
from clusters import PROMPT, OnCluster
from machines import eventually

from crossover.doctor.conclude import CHECKS

DOCTOR = (*PROMPT, "-F", "doctor")
FINDING = re.compile(r"^(ok|warning|problem|unknown) +(\w+(?: \w+)?)(?:  +(.*)|)$((?:\n {20,}.*)*)", re.MULTILINE)


def findings(project: OnCluster) -> dict[str, tuple[str, str]]:
    """Verdict and text of each finding, from the file that the doctor writes."""
    page = (project.folder / "results/doctor.txt").read_text()
    return {title: (verdict, " ".join(f"{text}{more}".split())) for verdict, title, text, more in FINDING.findall(page)}


def examined(project: OnCluster, *wrapper: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The doctor's exit code and findings."""
    code, said = project.run(*wrapper, *DOCTOR)
    assert "Traceback" not in said
    assert project.slurm.jobs() == [] or all("COMP" in job or "CANCEL" in job for job in project.slurm.jobs()), said
    return code, findings(project)


def test_on_a_healthy_cluster_all_is_well(project: OnCluster) -> None:
    code, found = examined(project)
    assert code == 0
    assert {verdict for verdict, _ in found.values()} == {"ok"}
    assert len(found) == len(CHECKS)
    assert re.search(r"see each other, on node\d and node\d", found["two hosts"][1])
    assert re.search(
        r"one host ran after \d+ s in the queue; the job for two hosts ran after \d+ s", found["executor"][1]
    )
    assert "10.77.0." in found["ports"][1]
    assert "each host has its own" in found["temporary folder"][1]


def test_a_wrong_launcher_and_interface_are_problems_and_a_shared_temporary_folder_a_warning(
    project: OnCluster,
) -> None:
    project.site("mpi: srun --mpi=none\ninterface: ib9")
    # The path of a temporary folder must be short.
    folder = project.slurm.shared / "t"
    folder.mkdir(exist_ok=True)
    code, found = examined(project, "env", f"TMPDIR={folder}")
    assert code == 1
    assert {title for title, (verdict, _) in found.items() if verdict == "problem"} == {"launcher", "ports"}
    assert "srun --mpi=none started 2 ranks that came up alone" in found["launcher"][1]
    assert "in profiles/slurm/site.yaml set `mpi: srun --mpi=pmi2`" in found["launcher"][1]
    # The launcher that works finds the interface in any case.
    assert "in profiles/slurm/site.yaml set `interface: eth0`" in found["ports"][1]
    assert [title for title, (verdict, _) in found.items() if verdict == "warning"] == ["temporary folder"]
    assert f"both hosts see the same files in {folder}" in found["temporary folder"][1]


def test_a_partition_of_one_node_is_a_problem_only_for_two_hosts(project: OnCluster) -> None:
    project.site("partition: single")
    code, found = examined(project)
    assert code == 1
    assert found["two hosts"][0] == "problem"
    words = "there was no job for two hosts: Slurm refuses jobs of 2 nodes (Requested node configuration is not"
    assert found["two hosts"][1].startswith(words) and "set `partition:` in" in found["two hosts"][1]
    assert [title for title, (verdict, _) in found.items() if verdict != "ok"] == ["two hosts"]


@pytest.mark.parametrize(
    ("facts", "words", "key"),
    [
        ("partition: nope", "invalid partition specified: nope", "partition"),
        ("constraint: icelake", "Invalid feature specification", "constraint"),
    ],
)
def test_a_refusal_by_slurm_names_the_key(project: OnCluster, facts: str, words: str, key: str) -> None:
    project.site(facts)
    code, found = examined(project)
    assert code == 1
    assert found["executor"][0] == "problem"
    assert words in found["executor"][1]
    assert f"in profiles/slurm/site.yaml set `{key}`" in found["executor"][1]
    assert found["ports"][0] == "unknown"


def test_an_interrupted_run_with_waiting_jobs_reports_its_findings(project: OnCluster) -> None:
    project.slurm.login.run("sbatch", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 600")
    run = project.begin(*DOCTOR)
    run.wait_until(lambda: len(project.slurm.jobs()) == 3)
    project.slurm.login.interrupt("doctor")
    _, said = run.end()
    # Snakemake's event loop may print a traceback, but it must not contain our code.
    assert "workflow/crossover/" not in said
    found = findings(project)
    assert "this run ended before the job did" in found["executor"][1]
    assert eventually(lambda: not any("PENDING" in job for job in project.slurm.jobs()), 30), "its jobs are cancelled"


def test_where_nodes_do_not_see_python_the_doctor_says_so(project: OnCluster) -> None:
    for node in project.slurm.nodes:
        node.run("mount", "-t", "tmpfs", "hidden", sys.prefix)
    try:
        code, found = examined(project)
    finally:
        for node in project.slurm.nodes:
            node.run("umount", sys.prefix)
    assert code == 1
    assert f"if compute nodes do not see {sys.prefix}, clone crossover into a folder" in found["executor"][1]


def test_shared_nodes_and_a_list_of_nodes_are_well_too(project: OnCluster) -> None:
    project.site("exclusive: false\nsbatch_options: --hint=nomultithread\nnode_list: [node1, node2, node3]")
    code, found = examined(project)
    assert code == 0, found
