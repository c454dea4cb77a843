"""Builds the small C sources of `workflow/native` into libraries that the ranks load, or says why it cannot.

The compiler is a fact of the machine: the environment variables CC and MPICC name it, else it is `cc` and the `mpicc`
that is found first, that of this environment's own MPI. Without one the ceilings are not measured and all else is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

FLAGS = ("-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O2", "-fPIC", "-shared")

SOURCES = Path(__file__).parents[2] / "native"

NEXT_STEP = (
    "install a C compiler (on Debian and Ubuntu: apt install gcc) or name one in the environment variable {variable}, "
    "then run the same command again"
)


class CompilerError(Exception):
    """A library that cannot be built here; the message says which compiler was asked and what to do."""


def build(source: Path, library: Path) -> str:
    """Compile `source` to `library`. Where that fails `library` holds the reason as text, which is also returned.

    So the step succeeds anyhow, and when a compiler comes the file's content changes, and what depends on it is redone.
    """
    library.parent.mkdir(parents=True, exist_ok=True)
    part = library.with_name(f".{library.name}.{os.getpid()}.part")
    reason = ""
    try:
        _compile(source, part)
    except CompilerError as error:
        reason = str(error)
        part.write_text(f"{reason}\n", encoding="utf-8")
    try:
        part.replace(library)
    finally:
        part.unlink(missing_ok=True)
    return reason


def of_library(wildcards: Any) -> str:
    """Which compiler would build that library, with its version; the empty string where there is none that works."""
    source = SOURCES / f"{wildcards.library}.c"
    try:
        return f"{shlex.join(_command(source))}: {_run([*_command(source), '--version']).splitlines()[0]}"
    except (CompilerError, IndexError):
        return ""


def _variable(source: Path) -> str:
    return "MPICC" if "#include <mpi.h>" in source.read_text(encoding="utf-8") else "CC"


def _command(source: Path) -> list[str]:
    """The compiler, as the environment names it; CompilerError if there is no such program."""
    variable = _variable(source)
    named = shlex.split(os.environ.get(variable, "")) or [variable.lower()]
    found = shutil.which(named[0])
    if found is None:
        raise CompilerError(f"no C compiler {named[0]!r} was found; {NEXT_STEP.format(variable=variable)}")
    return [found, *named[1:]]


def _compile(source: Path, library: Path) -> None:
    _run([*_command(source), *FLAGS, str(source), "-o", str(library)], source)


def _run(command: list[str], source: Path | None = None) -> str:
    """What a command prints; CompilerError, with its last word, if it fails."""
    # MPI's compilers are wrappers: let them wrap the compiler that was named.
    wrapped = {f"{mpi}_CC": os.environ["CC"] for mpi in ("MPICH", "OMPI") if os.environ.get("CC")}
    done = subprocess.run(command, env=wrapped | os.environ, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["it did not say why"]
        said = next((line for line in lines if "error:" in line), lines[-1])
        about = f" to build {source.name}" if source else ""
        raise CompilerError(
            f"{command[0]} failed{about} (code {done.returncode}): {said}; " + NEXT_STEP.format(variable="CC")
        )
    return done.stdout
