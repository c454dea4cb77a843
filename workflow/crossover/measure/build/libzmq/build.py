"""Compiles one variant of libzmq: one version, one message struct, all sources at once.

One file includes every source, and is compiled by one call. This is four times faster than a call per source. Variants
in one process share no symbols: each library binds its own definitions and hides them where possible, and none is
unique to the process (as GNU's compiler makes statics of inline functions).
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
"""Our additions: `platform.hpp` instead of configure's, and the struct's real size."""

FLAGS = ("-w", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-pthread")


def build(name: str, archive: Path, library: Path) -> str:
    """Build the variant `name` (`libzmq-VERSION-BYTES` or `libzmq-VERSION-BYTES-LAYOUT`) from `archive`.

    If that fails, `library` holds the reason as text, which is also returned.
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
    # Only GNU's compiler makes unique symbols, and only it has the option against them.
    unique = () if "clang" in CXX.identity() else ("-fno-gnu-unique",)
    folders = (f"-I{OURS / line.version}", "-Isrc", "-Iinclude", "-I.")
    arguments = (*line.flags, *FLAGS, *unique, *folders, whole.name, "-lrt", "-o", str(library))
    CXX.run(f"build libzmq {line.version}", *arguments, folder=tree)
