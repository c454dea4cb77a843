"""Do ranks and their launcher get the variables that they need, and no secrets of the user's session?"""

import math
import os
import signal

import psutil
import pytest
from launching import ENDLESS, script

from crossover.measure.launch import mpi_launcher
from crossover.measure.launch.mpi_launcher import passed
from crossover.measure.ranks import provenance

SECRETS = {
    "GITHUB_TOKEN": "s3cret",
    "AWS_SECRET_ACCESS_KEY": "s3cret",
    "DATABASE_URL": "postgres://me:s3cret@host",
    "https_proxy": "http://me:s3cret@proxy",
    "SLURM_JWT": "s3cret",
    "OMPI_PASSWORD": "s3cret",
    "BASH_FUNC_login%%": "() { echo s3cret; }",
}
NEEDED = {
    "PATH": "/bin",
    "PYTHONPATH": "/lib",
    "LD_LIBRARY_PATH": "/lib",
    "SLURM_JOB_ID": "1",
    "SLURM_CONF": "/etc/slurm.conf",
    "PBS_NODEFILE": "/nodes",
    "LSB_DJOB_HOSTFILE": "/hosts",
    "PMI_RANK": "0",
    "MPIR_CVAR_CH4_NETMOD": "ofi",
    "OMPI_MCA_btl": "tcp,self",
    "UCX_TLS": "tcp",
    "FI_PROVIDER": "tcp",
    "OMP_NUM_THREADS": "1",
    "CROSSOVER_RUN": "1",
}


def test_what_a_launch_needs_is_passed_and_no_secret():
    assert passed(NEEDED | SECRETS) == NEEDED


def test_launchers_get_the_variables_that_are_set_for_them(monkeypatch):
    monkeypatch.setenv("OMPI_MCA_hwloc_base_binding_policy", "core")
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret")
    environment = mpi_launcher.environment_without_network()
    assert environment["OMPI_MCA_hwloc_base_binding_policy"] == "core"
    assert environment.items() >= mpi_launcher.FOR_SRUN.items()
    assert "GITHUB_TOKEN" not in environment


@pytest.mark.parametrize("mpi", ["mpiexec", "mpiexec -launcher fork"])
def test_neither_ranks_nor_their_launcher_have_a_secret(toy, monkeypatch, mpi):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    one = toy(mpi=mpi, **ENDLESS)
    one.start_measuring("working")
    below = psutil.Process(one.process.pid).children(recursive=True)
    assert len(below) >= 3
    assert not [each for each in below if "s3cret" in " ".join(each.environ().values())]
    # The supervisor's own environment stays as it is.
    assert psutil.Process(one.process.pid).environ().items() >= SECRETS.items()
    os.kill(one.process.pid, signal.SIGTERM)
    assert one.process.wait(30) == 1


def test_a_user_can_pass_further_variables_by_the_launcher_in_the_site_file(toy):
    one = toy(mpi="env SITE_LICENSE=abc mpiexec", **ENDLESS)
    one.start_measuring("working")
    assert {rank.environ()["SITE_LICENSE"] for rank in one.ranks()} == {"abc"}


def test_ranks_take_turns_on_the_hosts_whatever_their_width(tmp_path):
    variables = mpi_launcher.in_turn(["n1", "n2"], 5, tmp_path)
    assert variables["SLURM_DISTRIBUTION"] == "arbitrary"
    assert (tmp_path / "hosts").read_text(encoding="utf-8").split() == ["n1", "n2", "n1", "n2", "n1"]
    assert variables["SLURM_HOSTFILE"] == str(tmp_path / "hosts")


@pytest.mark.parametrize(
    ("facts", "processors"),
    [
        ("NumCPUs=1 OverSubscribe=OK", 1),
        ("NumCPUs=64 OverSubscribe=NO", math.inf),
        ("NumCPUs=1", math.inf),
        ("", math.inf),
    ],
)
def test_only_beside_other_jobs_the_processors_of_a_job_are_a_bound(monkeypatch, tmp_path, facts, processors):
    script(tmp_path / "scontrol", f"echo 'JobId=7 {facts}'")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    provenance._scontrol.cache_clear()
    assert provenance.granted_processors() == processors
