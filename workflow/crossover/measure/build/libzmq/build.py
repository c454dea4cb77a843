"""Compiles one variant of libzmq: one line, one message struct, all sources in one go.

Every source is included in one, which one compiler call turns into the library: four times faster than one call for
each, and the same for all variants. A variant shares no symbol with another in the same process: what it defines is
bound within it, hidden where possible, and none is unique to the process (as GNU makes inline functions' statics).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from crossover.measure.build.artifact import produce
from crossover.measure.build.compiler import CXX
from crossover.measure.build.libzmq import source
from crossover.measure.build.libzmq.line import Line, parse, patch, sources
from crossover.paths import NATIVE

OURS = NATIVE / "libzmq"
"""What we add: `platform.hpp` in the place of configure, and the struct's real size."""

FLAGS = ("-w", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-pthread")


def build(name: str, archive: Path, library: Path) -> str:
    """Build the variant called `name` (`libzmq-VERSION-BYTES`, or with `-LAYOUT` after it) from `archive`.

    Where that fails `library` holds the reason as text, which is also returned.
    """

    def make(part: Path) -> None:
        line, struct = parse(name)
        with tempfile.TemporaryDirectory(prefix="crossover-build-") as folder:
            tree = Path(folder)
            source.unpack(archive, tree)
            patch(tree, line, struct)
            _compile(line, tree, part)

    return produce(library, make)


def _compile(line: Line, tree: Path, library: Path) -> None:
    whole = tree / "whole.cpp"
    shutil.copy(OURS / "struct_bytes.cpp", tree)
    whole.write_text("".join(f'#include "{path}"\n' for path in [*sources(tree, line), "struct_bytes.cpp"]))
    # Only GNU has unique symbols, and only it knows the option against them.
    unique = () if "clang" in CXX.identity() else ("-fno-gnu-unique",)
    folders = (f"-I{OURS / line.version}", "-Isrc", "-Iinclude", "-I.")
    arguments = (*line.flags, *FLAGS, *unique, *folders, whole.name, "-lrt", "-o", str(library))
    CXX.run(f"build libzmq {line.version}", *arguments, folder=tree)
