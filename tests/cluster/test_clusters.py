"""Does the test cluster leave nothing behind, and are two clusters separate?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import psutil
import pytest
from machines import eventually
from slurm import Cluster, cluster

KINDS = ("cgroup", "ipc", "mnt", "net", "pid", "uts")


@pytest.fixture
def shared(tmp_path: Path, clusters: object) -> Path:
    """A folder for a cluster to share, if clusters are possible here."""
    return tmp_path


def namespaces() -> dict[int, set[str]]:
    """The namespaces of every process."""
    found = {}
    for pid in psutil.pids():
        try:
            found[pid] = {str(Path(f"/proc/{pid}/ns/{kind}").readlink()) for kind in KINDS}
        except OSError:
            continue  # it has ended meanwhile
    return found


def here() -> tuple[list[str], list[str]]:
    """The network interfaces and mounts of the real system."""
    links = subprocess.run(["ip", "-oneline", "link"], capture_output=True, text=True, check=True).stdout
    return [line.split(":")[1] for line in links.splitlines()], Path("/proc/mounts").read_text().splitlines()


def own_spaces(slurm: Cluster) -> set[str]:
    """A cluster's own namespaces."""
    known = namespaces()
    ours = known[psutil.Process().pid]
    processes = [slurm.login.pid, slurm.login.switch.pid, *(node.pid for node in slurm.nodes)]
    return set.union(*(known[pid] for pid in processes)) - ours


def test_a_cluster_leaves_no_process_namespace_interface_mount_or_file(shared: Path) -> None:
    before = here()
    with cluster(shared) as slurm:
        slurm.login.run("sbatch", "--wrap=sleep 100", f"--chdir={shared}", "--output=/dev/null")
        spaces = own_spaces(slurm)
        assert len(spaces) > len(slurm.nodes) * 4
        assert here() == before
    assert eventually(lambda: not any(found & spaces for found in namespaces().values()), 10)
    assert here() == before
    assert list(shared.iterdir()) == []


def test_a_cluster_ends_with_the_process_that_made_it(shared: Path) -> None:
    command = ["python", str(Path(__file__).with_name("slurm.py")), "--nodes=1", "--", "sh", "-c", "echo up; sleep 100"]
    with subprocess.Popen(command, cwd=shared, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None and maker.stdout.readline() == "up\n"
        known = namespaces()
        parts = [child.pid for child in psutil.Process(maker.pid).children(recursive=True)]
        spaces = set.union(*(known[pid] for pid in parts if pid in known)) - known[psutil.Process().pid]
        maker.kill()
    assert spaces
    assert eventually(lambda: not any(found & spaces for found in namespaces().values()), 10)


def test_two_clusters_side_by_side_do_not_meet(tmp_path: Path, clusters: object) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    with cluster(folders[0], 1) as one:
        with cluster(folders[1], 1) as other:
            other.login.run("sbatch", "--wrap=sleep 100", "--output=/dev/null", "--chdir=/")
            assert len(other.jobs()) == 1
            assert one.jobs() == []
            assert own_spaces(one).isdisjoint(own_spaces(other))
        assert one.states() == {"node1": "idle"}
        assert one.login.run("srun", "hostname").strip() == "node1"
