"""Compiles our libraries. Where that is impossible, a library's file holds the reason, so that everything else goes on.

If a library can be built later, its file changes, and all steps that depend on it are repeated.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crossover import programs
from crossover.errors import CrossoverError
from crossover.records import atomic

LIMIT_SECONDS = 300
"""Time limit of a build. The longest, of a variant of libzmq, takes some ten seconds."""

FLAGS = ("-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O2", "-fPIC", "-shared")
"""Options for the C sources of `workflow/native`."""


class BuildError(CrossoverError):
    """A product that cannot be made here; the message gives the reason and the remedy."""


def produce(product: Path, make: Callable[[Path], object]) -> str:
    """Write the product of `make`, or the message of its BuildError; the file appears whole.

    Returns that message; empty on success. After any other error, the old file stays.
    """
    reason = ""
    with atomic.replacing(product) as part:
        try:
            # Absolute, because a compiler may run in another folder.
            make(part.absolute())
        except BuildError as error:
            reason = str(error)
            part.write_text(f"{reason}\n", encoding="utf-8")
    return reason


@dataclass(frozen=True)
class Compiler:
    """A kind of compiler: the one that an environment variable names, otherwise the first on PATH with a usual name."""

    language: str
    variable: str
    """The environment variable with its name and, if needed, options."""
    names: tuple[str, ...]
    package: str
    """The package for Debian and Ubuntu."""
    wrapped: str = ""
    """The variable of the compiler that an MPI compiler wraps."""

    def identity(self) -> str:
        """Its command and version on this machine; empty if there is no working compiler."""
        with suppress(BuildError, IndexError):
            return f"{shlex.join(self._command())}: {self.run('tell its version', '--version').splitlines()[0]}"
        return ""

    def kind(self) -> str:
        """What makes its libraries others: its name, options and version, but not its place on this machine."""
        with suppress(BuildError):
            program = self._command()[0]
            return self.identity().replace(program, Path(program).name, 1)
        return ""

    def run(self, purpose: str, *arguments: str, folder: Path | None = None) -> str:
        """Run it in `folder`; returns its output. Raises BuildError with its first error if it fails."""
        command = self._command()
        # These variables make the compiler of MPICH or Open MPI wrap the user's compiler.
        named = os.environ.get(self.wrapped)
        wrappers = [f"{mpi}_{self.wrapped}" for mpi in ("MPICH", "OMPI")] if named else []
        wrapping = {name: os.environ.get(name, str(named)) for name in wrappers}
        try:
            done = programs.run([*command, *arguments], folder=folder, seconds=LIMIT_SECONDS, variables=wrapping)
            if not done.returncode:
                return done.stdout
            why = f"{_first_error(done.stderr)} (code {done.returncode})"
        except subprocess.TimeoutExpired:
            why = f"not finished after {LIMIT_SECONDS} s"
        except OSError as error:
            why = str(error)
        raise BuildError(f"{command[0]} failed to {purpose}: {why}; {self._next_step(self.wrapped or self.variable)}")

    def _command(self) -> list[str]:
        named = shlex.split(os.environ.get(self.variable, ""))
        wanted = [named] if named else [[name] for name in self.names]
        for program, *options in wanted:
            if found := shutil.which(program):
                return [found, *options]
        missing = " or ".join(repr(program) for program, *_ in wanted)
        raise BuildError(f"no {self.language} compiler {missing} was found; {self._next_step(self.variable)}")

    def _next_step(self, variable: str) -> str:
        return (
            f"install a {self.language} compiler (on Debian and Ubuntu: apt install {self.package}) or name one in the "
            f"environment variable {variable}, then run the same command again"
        )


def _first_error(messages: str) -> str:
    """The first line that reads like an error; the last line of a compiler is only a summary."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()] or ["it did not say why"]
    errors = ("error:", "not found", "undefined reference", "cannot find")
    return next((line for line in lines if any(words in line for words in errors)), lines[-1])


CC = Compiler("C", "CC", ("cc",), "gcc")
MPICC = Compiler("C", "MPICC", ("mpicc",), "gcc", wrapped="CC")
"""The first `mpicc` on PATH belongs to this environment's MPI."""
CXX = Compiler("C++", "CXX", ("g++", "c++"), "g++")


def compiler_of(source: Path) -> Compiler:
    """MPI's compiler if the C source includes MPI's header, otherwise the plain one."""
    return MPICC if "#include <mpi.h>" in source.read_text(encoding="utf-8") else CC


def build(source: Path, library: Path) -> str:
    """Compile a C source. If that fails, `library` holds the reason as text, which is also returned."""
    run = compiler_of(source).run
    return produce(library, lambda part: run(f"build {source.name}", *FLAGS, str(source), "-o", str(part)))
