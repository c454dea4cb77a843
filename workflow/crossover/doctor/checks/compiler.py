"""Are there compilers for the ceilings where Snakemake runs?"""

from crossover.doctor.finding import NOT_RUN, Finding, Seen, Verdict
from crossover.measure.build.compiler import CC, CXX, MPICC

NEEDED = {"the C ceilings": CC, "the MPI ceiling": MPICC, "the variants of libzmq": CXX}
"""The purpose of each compiler."""


def look() -> dict[str, str]:
    """The identity of each compiler, by purpose; empty if none works."""
    return {purpose: compiler.identity() for purpose, compiler in NEEDED.items()}


def judge(seen: Seen) -> Finding:
    """A missing compiler is a warning: only the arms and ceilings that need it are left out."""
    found = seen.here.get("compiler")
    if not found:
        return NOT_RUN
    missing = [purpose for purpose, identity in found.items() if not identity]
    text = "; ".join(identity for identity in found.values() if identity) or "none"
    if not missing:
        return Finding(Verdict.OK, text)
    variables = " or ".join(NEEDED[purpose].variable for purpose in missing)
    step = (
        f"load the site's module, or name a compiler in the environment variable {variables}, before Snakemake starts"
    )
    return Finding(Verdict.WARNING, f"{text}; none for {', '.join(missing)}, which are left out", step=step)
