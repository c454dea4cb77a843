"""On a full disk, a run gives the reason and keeps no part of a file; it resumes when there is space again."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import PROMPT, OnCluster, Supply
from copies import copy_of_the_project
from slurm import cluster

DISK_BYTES = 8 << 20


@pytest.fixture
def crowded(clusters: Supply, tmp_path: Path) -> Iterator[OnCluster]:
    """A project whose results are on a disk of a few megabytes that all machines share."""
    copy = copy_of_the_project(clusters.shared / tmp_path.name)
    copy.configure(toy={"launches": 1})
    results = copy.folder / "results"
    results.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", results], check=True)
    try:
        with cluster(clusters.shared, count=1) as slurm:
            # The machines have inherited the mount and keep it.
            subprocess.run(["umount", results], check=True)
            yield OnCluster(copy.folder, slurm)
    finally:
        subprocess.run(["umount", "--quiet", results], check=False)


def fill(project: OnCluster) -> None:
    """Fill the disk to the last byte."""
    project.slurm.login.run("sh", "-c", f"cat /dev/zero > {project.folder}/results/ballast || true")


def files(project: OnCluster) -> set[str]:
    """The files on the disk, without the ballast, the logs, and the stamps of raw files."""
    found = project.slurm.login.run("find", f"{project.folder}/results", "-type", "f", "-printf", "%P\\n").split()
    kept = {name for name in found if name != "ballast" and not name.startswith("logs/")}
    return {re.sub(r"\d+\.parquet$", "parquet", name) for name in kept}


@pytest.mark.core
def test_a_full_disk_ends_the_run_with_the_reason_until_there_is_space(crowded: OnCluster) -> None:
    [receipt] = crowded.due()
    fill(crowded)
    code, said = crowded.run(*PROMPT, receipt)
    assert code == 1
    assert re.search(r"^results/\S+: cannot be written \(No space left on device\); free some space there", said, re.M)
    assert "Traceback" not in said and "submitted" not in said
    crowded.slurm.login.run("rm", f"{crowded.folder}/results/ballast")
    crowded.edit("workflow/crossover/experiments/toy/driver.py", "    yield Spinner()", FILLING)
    code, said = crowded.run(*PROMPT, receipt, "--retries", "0")
    assert code == 1
    assert re.search(
        r"^results: cannot be written to \(No space left on device\); free some space there", said, re.MULTILINE
    )
    assert "Traceback" not in said
    assert files(crowded) == {".claim"}
    job = crowded.slurm.login.run("sh", "-c", f"cat {crowded.folder}/results/logs/slurm/*/*/*.log")
    assert "launch discarded" in job and "Traceback" not in job
    crowded.slurm.login.run("rm", f"{crowded.folder}/results/ballast")
    crowded.edit("workflow/crossover/experiments/toy/driver.py", FILLING, "    yield Spinner()")
    crowded.succeed(*PROMPT, receipt)
    name = receipt.removeprefix("results/launches/")
    raw = f"raw/{Path(name).parent}/launch={Path(name).stem}.parquet"
    assert files(crowded) == {".claim", f"launches/{name}", raw}


FILLING = """\
    yield Spinner()
    import subprocess
    if peers.rank == 0:
        subprocess.run(["sh", "-c", f"cat /dev/zero > {os.getcwd()}/results/ballast"], stderr=subprocess.DEVNULL)"""
"""In the toy's driver: fills the disk just before the result is written."""
