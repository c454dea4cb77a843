"""The MPI launcher: its command, its environment (binding, distribution, the end of the ranks), and its run.

A launcher may send its environment over the network: MPICH's sends it to the first that asks. So passwords and tokens
of the user's session must not be in it, and only variables that a launch needs are passed, to the ranks too.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from crossover.measure.launch.host_lock import POLL_SECONDS
from crossover.measure.ranks import network, variables
from crossover.measure.ranks.ending import GRACE_SECONDS, die_with_parent, end_descendants

FOR_OPEN_MPI = {
    # Otherwise threads and servers beside a rank share its one core. The first of each pair is for version 4, the
    # second for version 5.
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # Farms may have more engines than there are cores.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Defaults for Open MPI's mpiexec; its options override them."""
FOR_SRUN = {
    "SLURM_CPU_BIND": "none",
    # Farms may have more engines than there are processors. The job needs --overcommit too.
    "SLURM_OVERCOMMIT": "1",
    # The same number of ranks on each host; by default srun fills the first host.
    "SLURM_DISTRIBUTION": "cyclic",
    # If a rank fails, end the others; if a rank ends, end the others after half a minute.
    "SLURM_KILL_BAD_EXIT": "1",
    "SLURM_WAIT": "30",
}
"""Defaults for srun; its options override them. A job sets some of these variables for its own step."""


PASSED = (
    # The programs that ranks and servers of farms start are found by PATH; libraries, by the LD_ variables.
    *("PATH", "LD_LIBRARY_PATH", "LD_BIND_NOW", "SHELL", "PWD"),
    # Programs such as ssh and IPython ask who the user is, and where to keep files.
    *("HOME", "USER", "LOGNAME", "HOSTNAME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "IPYTHONDIR"),
    # The encoding and language of messages, and times in them.
    *("LANG", "LANGUAGE", "TZ", "TERM"),
    # The environment of Python that is recorded, and whether it is in a container.
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "APPTAINER_NAME", "APPTAINER_CONTAINER", "SINGULARITY_NAME"),
    # Launchers without a batch system start ranks on other hosts by ssh. These are paths, of no use on another host.
    *("SSH_AUTH_SOCK", "KRB5CCNAME"),
    # Processors of a PBS job.
    "NCPUS",
)
"""Names of passed variables."""

PASSED_FAMILIES = (
    *variables.FAMILIES,
    # Our own: the private folder, built libraries, the time of planning.
    "CROSSOVER_",
    # The language of messages, in parts.
    "LC_",
    # The process managers by which ranks meet, and their launchers.
    *("PMI_", "PMI2_", "PMIX_", "HYDRA_", "HYDI_", "PRTE_", "PRRTE_", "PALS_", "MPIEXEC_", "ORTE_"),
    # Batch systems: the job, its hosts, and the settings of its launcher.
    *("SLURM_", "SLURMD_", "SRUN_", "PBS_", "LSB_", "LSF_", "LS_", "FLUX_"),
)
"""First letters of passed variables."""


def starting(mpi: str, ranks: int, nodes: int) -> list[str]:
    """The command line that starts `ranks` ranks, without the ranks' own command; `mpi` is the user's launcher.

    On one host, `starter.py` replaces MPICH's `mpiexec` without options.
    """
    found = shutil.which(mpi) if nodes == 1 and mpi == "mpiexec" else None
    if found and Path(found).resolve().with_name("hydra_pmi_proxy").exists():
        return [sys.executable, "-m", "crossover.measure.launch.starter", str(ranks)]
    return [*shlex.split(mpi), "-n", str(ranks)]


def surroundings(placement: str, interface: str) -> dict[str, str]:
    """The environment of an MPI launcher. Raises Refusal (WRONG_SETUP)."""
    # MPI must not listen on networks without ranks; the user's own variables override this.
    return network.reach(placement, interface).for_mpi() | environment_without_network()


def in_turn(hosts: Sequence[str], ranks: int, folder: Path) -> dict[str, str]:
    """The variables by which srun starts ranks on these hosts in turn; `folder` is for the file that names them.

    By default, srun starts no more ranks on a host than it has processors while another host has some.
    """
    file = folder / "hosts"
    file.write_text("".join(f"{hosts[rank % len(hosts)]}\n" for rank in range(ranks)), encoding="utf-8")
    return {"SLURM_DISTRIBUTION": "arbitrary", "SLURM_HOSTFILE": str(file)}


def environment_without_network() -> dict[str, str]:
    """The environment of an MPI launcher without the network's variables."""
    return FOR_OPEN_MPI | passed(os.environ) | FOR_SRUN


def passed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment that a launcher gets."""
    return {
        name: value
        for name, value in environment.items()
        if (name in PASSED or name.startswith(PASSED_FAMILIES)) and not variables.SECRET.search(name)
    }


def processors(mpi: str) -> int:
    """The logical processors that each rank must be able to use: as many as this process, or 1 if `mpi` binds ranks."""
    binds = any(word.startswith("-") and "bind" in word for word in shlex.split(mpi))
    return 1 if binds else len(os.sched_getaffinity(0))


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    say: Callable[[str], None],
    limit_seconds: float,
    check: Callable[[], None] = lambda: None,
    expire: Callable[[], None] = lambda: None,
) -> int | None:
    """Run a launcher's command, pass its output to `say` line by line, then end all processes below this one.

    Returns the exit code, or None at the time limit. `check` is called repeatedly; it may raise to give up.
    `expire` is called at the time limit, before the processes are ended.
    """
    launcher = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: die_with_parent(signal.SIGTERM),
        encoding="utf-8",
    )

    def relay() -> None:
        for line in launcher.stdout or ():
            say(line.rstrip("\n"))

    relaying = threading.Thread(target=relay, daemon=True)
    relaying.start()
    deadline = time.perf_counter() + limit_seconds
    try:
        while launcher.poll() is None:
            check()
            if time.perf_counter() > deadline:
                expire()
                return None
            time.sleep(POLL_SECONDS)
        return launcher.returncode
    finally:
        end_descendants()
        relaying.join(timeout=GRACE_SECONDS)
