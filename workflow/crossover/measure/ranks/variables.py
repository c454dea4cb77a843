"""Environment variables and settings of the kernel that can change results: facts of a launch, besides its software."""

import getpass
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

RECORDED = "CROSSOVER_VARIABLES"
"""The variable by which a run passes its variables to its launches, as JSON. Snakemake and MPI launchers add others."""

OF_USER = "CROSSOVER_LIBRARY_THREADS"
"""The variable by which a run passes the user's own THREADS to its launches, as JSON."""

THREADS = (
    *("OMP_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "BLIS_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"),
)
"""The variables that limit the threads inside libraries. Snakemake sets the first for each job."""

AS_SET = "as set"
"""As many threads inside libraries as the variables of the run's command say."""

FAMILIES = (
    # Python: its path, hash seed, memory, debugging, warnings.
    "PYTHON",
    # MPI libraries: MPICH, Open MPI, Intel MPI, MVAPICH, Cray's; mpi4py.
    *("CRAY_", "MPI_", "MPICH_", "MPIR_", "MPI4PY_", "OMPI_", "OPAL_", "I_MPI_", "MV2_", "MVP_"),
    # The networks below them.
    *("UCX_", "UCC_", "HCOLL_", "FI_", "PSM2_", "PSM3_", "IBV_", "RDMAV_", "MLX4_", "MLX5_"),
    # Threads of numerical libraries, their places, and memory.
    *("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_", "BLIS_", "HWLOC_", "MALLOC_"),
    # The allocator of glibc, and libraries in place of others.
    *("GLIBC_TUNABLES", "LD_PRELOAD"),
    # ZeroMQ.
    "ZMQ_",
)
"""First letters of variables that can change results."""

UNRELATED = re.compile(
    # Python's paths, and its output.
    "PYTHON(PATH|HOME|USERBASE|NOUSERSITE|SAFEPATH|PLATLIBDIR|STARTUP|INSPECT|BREAKPOINT|CASEOK|WARNINGS|UNBUFFERED"
    "|IOENCODING|UTF8|COERCECLOCALE|PYCACHEPREFIX|DONTWRITEBYTECODE|_HISTORY|_COLORS|_BASIC_REPL)"
    # Snakemake sets these for each job.
    "|(OMP|OPENBLAS|MKL)_NUM_THREADS"
)
"""Variables of these families that are not recorded: they change no result, or a launch does not get the user's."""

SECRET = re.compile(r"TOKEN|PASSW|SECRET|CREDENTIAL|API_?KEY|JWT", re.IGNORECASE)
"""Words in names of variables that are never passed or recorded, such as Slurm's SLURM_JWT."""

TUNING = {
    "transparent huge pages": "/sys/kernel/mm/transparent_hugepage/enabled",
    "SMT": "/sys/devices/system/cpu/smt/active",
    "boost": "/sys/devices/system/cpu/cpufreq/boost",
    "no turbo": "/sys/devices/system/cpu/intel_pstate/no_turbo",
}
"""Settings of the kernel that can change results, and their files."""

SWITCH = {"0": "off", "1": "on"}


def changing(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that can change results, by name; `set` in place of a value that can name the user."""
    names = {environment.get(name) for name in ("HOME", "USER", "LOGNAME")}
    with suppress(LookupError, OSError, ImportError, RuntimeError):
        names |= {getpass.getuser(), str(Path.home())}
    return {
        name: "set" if any(private in value for private in names if private) else value
        for name, value in sorted(environment.items())
        if name.startswith(FAMILIES) and not UNRELATED.fullmatch(name) and not SECRET.search(name)
    }


def recorded() -> str:
    """The variables of this process's run, as JSON; its own, if no run has started it."""
    return os.environ.get(RECORDED) or json.dumps(changing(os.environ))


def threads(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of THREADS that an environment has."""
    return {name: environment[name] for name in THREADS if name in environment}


def with_threads(environment: Mapping[str, str], wanted: str) -> dict[str, str]:
    """An environment whose libraries have `wanted` threads, a number or `as set` by the user, and which records them.

    It is unchanged if `wanted` is empty.
    """
    if not wanted:
        return {**environment}
    stored = os.environ.get(OF_USER)
    users = json.loads(stored) if stored else threads(os.environ)
    own = users if wanted == AS_SET else dict.fromkeys(THREADS, wanted)
    kept = {name: value for name, value in environment.items() if name not in THREADS}
    return kept | own | {RECORDED: json.dumps(json.loads(environment[RECORDED]) | own)}


def tuning() -> dict[str, str]:
    """The settings of this host's kernel, by name, without those that it does not have."""
    found = {}
    for name, file in TUNING.items():
        with suppress(OSError):
            text = Path(file).read_text(encoding="utf-8").strip()
            # One word of several, in brackets.
            chosen = re.search(r"\[(.+)\]", text)
            found[name] = chosen[1] if chosen else SWITCH.get(text, text)
    return found
