"""Compiles one variant of libzmq: one line, one size of its message struct, all sources in one go.

Every source is included in one, which one compiler call turns into the library: four times faster than one call for
each, and the same for all variants. A variant shares no symbol with another in the same process: what it defines is
bound within it, hidden where possible, and none is unique to the process (as GNU makes inline functions' statics).

The compiler is a fact of the machine: the environment variable CXX names it, else it is `g++` or `c++`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from crossover.measure.libzmq import source
from crossover.measure.libzmq.line import BuildError, Line, parse, patch, sources

OURS = Path(__file__).parents[3] / "native" / "libzmq"
"""What we add: `platform.hpp` in the place of configure, and the struct's real size."""

FLAGS = ("-w", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-pthread")
COMPILE_LIMIT_SECONDS = 300
NEXT_STEP = (
    "install a C++ compiler (on Debian and Ubuntu: apt install g++) or name one in the environment variable CXX, "
    "then run the same command again"
)


def build(name: str, archive: Path, library: Path) -> str:
    """Build the variant called `name` (`libzmq-VERSION-BYTES`) from `archive`.

    Where that fails `library` holds the reason as text, which is also returned. So the step succeeds anyhow, and when
    what was missing comes, the file's content changes, and what depends on it is redone.
    """
    library.parent.mkdir(parents=True, exist_ok=True)
    part = library.with_name(f".{library.name}.{os.getpid()}.part")
    reason = ""
    try:
        line, struct_bytes = parse(name)
        with tempfile.TemporaryDirectory(prefix="crossover-build-") as folder:
            tree = Path(folder)
            source.unpack(archive, tree)
            patch(tree, line, struct_bytes)
            _compile(line, tree, part.absolute())
    except BuildError as error:
        reason = str(error)
        part.write_text(f"{reason}\n", encoding="utf-8")
    try:
        part.replace(library)
    finally:
        part.unlink(missing_ok=True)
    return reason


def identity() -> str:
    """Which compiler `build` would use and its version, or the empty string where there is none."""
    try:
        return f"{shlex.join(_compiler())}: {_run([*_compiler(), '--version']).splitlines()[0]}"
    except (BuildError, IndexError):
        return ""


def of_variant(_: Any) -> str:
    """The same of a variant's wildcards: one compiler builds all."""
    return identity()


def _compiler() -> list[str]:
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [["g++"], ["c++"]]:
        if found := shutil.which(command[0]):
            return [found, *command[1:]]
    raise BuildError(f"no C++ compiler {named[0] if named else 'g++'!r} was found; {NEXT_STEP}")


def _compile(line: Line, tree: Path, library: Path) -> None:
    compiler = _compiler()
    whole = tree / "whole.cpp"
    shutil.copy(OURS / "struct_bytes.cpp", tree)
    whole.write_text("".join(f'#include "{path}"\n' for path in [*sources(tree, line), "struct_bytes.cpp"]))
    # Only GNU has unique symbols, and only it knows the option against them.
    unique = () if "clang" in identity() else ("-fno-gnu-unique",)
    folders = (f"-I{OURS / line.version}", "-Isrc", "-Iinclude", "-I.")
    _run([*compiler, *line.flags, *FLAGS, *unique, *folders, whole.name, "-lrt", "-o", str(library)], tree)


def _run(command: list[str], folder: Path | None = None) -> str:
    """What a command prints; BuildError, with its first error, if it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=COMPILE_LIMIT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]} failed ({error}); {NEXT_STEP}") from error
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line or "not found" in line), "")
        why = said.strip() or "it did not say why"
        raise BuildError(f"{command[0]} failed to build libzmq (code {done.returncode}): {why}; {NEXT_STEP}")
    return done.stdout
