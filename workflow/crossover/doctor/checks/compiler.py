"""Are there compilers for the ceilings where Snakemake runs?"""

from __future__ import annotations

from crossover.doctor.finding import Finding, Seen, Verdict
from crossover.measure.build.compiler import CC, CXX, MPICC

NEEDED = {"the C ceilings": CC, "the MPI ceiling": MPICC, "the variants of libzmq": CXX}
"""What each compiler is for."""


def look() -> dict[str, str]:
    """What each compiler says of itself, by what it is for; empty where there is none that works."""
    return {purpose: compiler.identity() for purpose, compiler in NEEDED.items()}


def judge(seen: Seen) -> Finding:
    """A compiler that is missing is a warning: what it would build is left out, all else is measured."""
    found = seen.here.get("compiler")
    if not found:
        return Finding(Verdict.UNTOLD, "nothing was looked at; see the log")
    missing = [purpose for purpose, identity in found.items() if not identity]
    said = "; ".join(identity for identity in found.values() if identity) or "none"
    if not missing:
        return Finding(Verdict.OK, said)
    variables = " or ".join(NEEDED[purpose].variable for purpose in missing)
    step = (
        f"load the site's module, or name a compiler in the environment variable {variables}, before Snakemake starts"
    )
    return Finding(Verdict.WARNING, f"{said}; none for {', '.join(missing)}, left out", step=step)
