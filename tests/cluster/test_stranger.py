"""A user who is not root follows the README on a cluster, from the clone to the report."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from clusters import Supply
from copies import ROOT, Project
from slurm import USER, USER_ID, Cluster, cluster

from crossover.config import schema
from crossover.planning import plan

LIMIT_SECONDS = 3600

pytestmark = [
    pytest.mark.timeout(LIMIT_SECONDS + 60),
    pytest.mark.skipif(
        os.environ.get("CROSSOVER_CLUSTER") != "long", reason="takes minutes; CROSSOVER_CLUSTER=long runs it"
    ),
]

ENVIRONMENT = {"LANG": "C.UTF-8", "USER": USER, "COLUMNS": "120", "PATH": "/usr/local/bin:/usr/bin:/bin"}
KEPT = ("HTTP", "HTTPS", "NO", "PIP", "UV", "SSL", "http", "https", "no")
"""First parts of the variables with which this machine reaches a package index."""


@pytest.fixture
def slurm(clusters: Supply) -> Iterator[Cluster]:
    """A cluster for this user alone."""
    with cluster(clusters.shared) as found:
        yield found


def types(slurm: Cluster, command: str, *, online: bool = False) -> str:
    """Type a command in the clone, which must succeed; returns its output."""
    index = {name: value for name, value in os.environ.items() if name.split("_")[0] in KEPT}
    done = subprocess.run(
        slurm.login.command(
            *("timeout", "--signal=KILL", str(LIMIT_SECONDS), "bash", "-c", command),
            user=USER,
            folder=slurm.home / "crossover",
            online=online,
        ),
        env=ENVIRONMENT | index | {"HOME": str(slurm.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    return done.stdout


def literally(page: str, command: str) -> str:
    """A command, after a check that the document contains it word for word."""
    assert command in (ROOT / page).read_text()
    return command


def test_from_the_clone_to_the_report(slurm: Cluster) -> None:
    clone = slurm.home / "crossover"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    for path in (clone, *clone.rglob("*")):
        os.chown(path, USER_ID, USER_ID, follow_symlinks=False)
    set_up = literally("README.md", "make env && . .venv/bin/activate")
    # The test cluster's login node has no network, and only root can use this machine's other Pythons.
    types(slurm, set_up.replace("make env", "make env PYTHON=/usr/bin/python3"), online=True)
    activate = set_up.split("&& ")[1]
    said = types(slurm, f"{activate} && {literally('README.md', 'snakemake --profile slurm -F doctor')}")
    assert re.search(r"^ok +executor", said, re.MULTILINE) and not re.search(r"^problem", said, re.MULTILINE)
    # The smallest tier contains all experiments.
    config = clone / "config/config.yaml"
    config.write_text(re.sub(r"^tier: \w+", "tier: smoke", config.read_text(), flags=re.MULTILINE))
    types(slurm, f"{activate} && {literally('README.md', 'snakemake --profile slurm')}")
    copy = Project(clone)
    launches = list(plan.launches(schema.complete({"tier": "smoke"})))
    raw = copy.raw("smoke", "results-smoke")
    assert {launch.experiment for launch in launches} == {name.split("/")[0] for name in raw}
    assert {file.stat().st_uid for file in raw.values()} == {USER_ID}
    assert copy.leftovers() == []
    assert (clone / "results-smoke/report/index.html").exists()
    types(slurm, f"{activate} && {literally('profiles/slurm/README.md', 'snakemake --profile slurm mpi_pingpong')}")
    assert copy.raw("smoke", "results-smoke") == raw
