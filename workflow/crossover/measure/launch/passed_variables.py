"""The environment variables that an MPI launcher gets, and therefore the ranks.

A launcher may send its environment over the network: MPICH's sends it to the first that asks. So passwords and tokens
of the user's session must not be in it, and only variables that a launch needs are passed.
"""

import re
from collections.abc import Mapping

SESSION = (
    # The programs that ranks and servers of farms start are found by PATH; libraries, by the LD_ variables.
    *("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "SHELL", "PWD"),
    # Programs such as ssh and IPython ask who the user is, and where to keep files.
    *("HOME", "USER", "LOGNAME", "HOSTNAME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "IPYTHONDIR"),
    # The encoding and language of messages, and times in them.
    *("LANG", "LANGUAGE", "TZ", "TERM"),
    # The environment of Python that is recorded, and whether it is in a container.
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "APPTAINER_NAME", "APPTAINER_CONTAINER", "SINGULARITY_NAME"),
    # Launchers without a batch system start ranks on other hosts by ssh. These are paths, of no use on another host.
    *("SSH_AUTH_SOCK", "KRB5CCNAME"),
    # The allocator of glibc.
    "GLIBC_TUNABLES",
    # Processors of a PBS job.
    "NCPUS",
)
"""Names of passed variables."""

FAMILIES = (
    # Our own: the private folder, built libraries, the time of planning.
    "CROSSOVER_",
    # The language of messages, in parts.
    "LC_",
    # Python: its path, hash seed, memory, warnings.
    "PYTHON",
    # The process managers by which ranks meet, and their launchers.
    *("PMI_", "PMI2_", "PMIX_", "HYDRA_", "HYDI_", "PRTE_", "PRRTE_", "PALS_"),
    # MPI libraries: MPICH, Open MPI, Intel MPI, MVAPICH, Cray's; mpi4py.
    *("CRAY_", "MPI_", "MPICH_", "MPIR_", "MPIEXEC_", "MPI4PY_", "OMPI_", "OPAL_", "ORTE_", "I_MPI_", "MV2_", "MVP_"),
    # The networks below them.
    *("UCX_", "UCC_", "HCOLL_", "FI_", "PSM2_", "PSM3_", "IBV_", "RDMAV_", "MLX4_", "MLX5_"),
    # Batch systems: the job, its hosts, and the settings of its launcher.
    *("SLURM_", "SLURMD_", "SRUN_", "PBS_", "LSB_", "LSF_", "LS_", "FLUX_"),
    # Threads of numerical libraries, their places, and memory.
    *("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "BLIS_", "HWLOC_", "MALLOC_"),
    # Measured libraries.
    *("ZMQ_", "DASK_DISTRIBUTED__"),
)
"""First letters of passed variables."""

SECRET = re.compile(r"TOKEN|PASSW|SECRET|CREDENTIAL|API_?KEY|JWT", re.IGNORECASE)
"""Words in names of variables that are never passed, such as Slurm's SLURM_JWT."""


def passed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment that a launcher gets."""
    return {
        name: value
        for name, value in environment.items()
        if (name in SESSION or name.startswith(FAMILIES)) and not SECRET.search(name)
    }
