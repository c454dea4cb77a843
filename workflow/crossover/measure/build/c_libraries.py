"""Compiles the C sources of `workflow/native` into libraries. Without a compiler, only the ceilings are missing."""

from __future__ import annotations

from pathlib import Path

from crossover.measure.build.artifact import produce
from crossover.measure.build.compiler import CC, MPICC, Compiler
from crossover.paths import NATIVE

FLAGS = ("-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O2", "-fPIC", "-shared")

SOURCES = NATIVE


def build(source: Path, library: Path) -> str:
    """Compile `source` to `library`. If that fails, `library` holds the reason as text, which is also returned."""

    def make(part: Path) -> None:
        _compiler(source).run(f"build {source.name}", *FLAGS, str(source), "-o", str(part))

    return produce(library, make)


def compiler_of(library: str) -> Compiler:
    """The compiler of the library of that name."""
    return _compiler(SOURCES / f"{library}.c")


def _compiler(source: Path) -> Compiler:
    """MPI's compiler if the source includes MPI's header, otherwise the plain one."""
    return MPICC if "#include <mpi.h>" in source.read_text(encoding="utf-8") else CC
