"""Finds and runs the compilers of our libraries.

An environment variable can name each of them; by default it is the first on PATH with a usual name. The first `mpicc`
on PATH belongs to this environment's MPI.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from crossover.measure.build.artifact import BuildError

LIMIT_SECONDS = 300
"""Time limit of a build. The longest, of a variant of libzmq, takes some ten seconds."""


@dataclass(frozen=True)
class Compiler:
    """A kind of compiler."""

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
        try:
            return f"{shlex.join(self._command())}: {self.run('tell its version', '--version').splitlines()[0]}"
        except (BuildError, IndexError):
            return ""

    def run(self, purpose: str, *arguments: str, folder: Path | None = None) -> str:
        """Run it in `folder`; returns its output. Raises BuildError with its first error if it fails."""
        command = self._command()
        try:
            done = subprocess.run(
                [*command, *arguments],
                cwd=folder,
                env=self._wrapped() | os.environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise self._failure(command, purpose, f"not finished after {LIMIT_SECONDS} s") from None
        except OSError as error:
            raise self._failure(command, purpose, str(error)) from error
        if done.returncode:
            raise self._failure(command, purpose, f"{_first_error(done.stderr)} (code {done.returncode})")
        return done.stdout

    def _command(self) -> list[str]:
        named = shlex.split(os.environ.get(self.variable, ""))
        wanted = [named] if named else [[name] for name in self.names]
        for program, *options in wanted:
            if found := shutil.which(program):
                return [found, *options]
        missing = " or ".join(repr(program) for program, *_ in wanted)
        raise BuildError(f"no {self.language} compiler {missing} was found; {self._next_step(self.variable)}")

    def _wrapped(self) -> dict[str, str]:
        """Environment variables that make the compiler of MPICH or Open MPI wrap the user's compiler."""
        named = os.environ.get(self.wrapped)
        return {f"{mpi}_{self.wrapped}": named for mpi in ("MPICH", "OMPI")} if named else {}

    def _failure(self, command: list[str], purpose: str, why: str) -> BuildError:
        return BuildError(f"{command[0]} failed to {purpose}: {why}; {self._next_step(self.wrapped or self.variable)}")

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
CXX = Compiler("C++", "CXX", ("g++", "c++"), "g++")
