"""The lines of libzmq that can be built, and what must be changed in each for another size of its message struct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crossover.measure.libzmq import inline
from crossover.measure.product import BuildError


@dataclass(frozen=True)
class Edit:
    """A text that stands `count` times in `file`; `{struct}` and `{inline}` in its replacement are bytes."""

    file: str
    old: str
    new: str
    count: int = 1


@dataclass(frozen=True)
class Line:
    """One version of libzmq, bundled in the source distribution of a version of pyzmq."""

    version: str
    sdist: str
    """The source distribution, as an installer calls it: name==version."""
    sha256: str
    edits: tuple[Edit, ...]
    flags: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """How the names of those sources begin that need what is left out of this build."""

    @property
    def archive(self) -> str:
        """The file name of the source distribution."""
        return f"{self.sdist.replace('==', '-')}.tar.gz"


LINES = {
    line.version: line
    for line in (
        Line(
            "2.2.0",
            "pyzmq==2.2.0.1",
            "dae7423f4aa7c93f8c77dadd15e34ce6576121a6e7ae0ecdb6084d855097decc",
            edits=(Edit("include/zmq.h", "#define ZMQ_MAX_VSM_SIZE 30", "#define ZMQ_MAX_VSM_SIZE {inline}"),),
            flags=("-std=c++98", "-fpermissive"),
        ),
        Line(
            "4.3.4",
            "pyzmq==25.1.2",
            "93f1aa311e8bb912e34f004cf186407a4e90eec4f0ecc0efd26056bf7eda0226",
            edits=(
                Edit("src/msg.hpp", "msg_t_size = 64", "msg_t_size = {struct}"),
                # The public struct, once for each compiler; the library refuses to compile if the two differ.
                Edit("include/zmq.h", "_[64]", "_[{struct}]", count=4),
            ),
            flags=("-std=c++11",),
            left_out=("ws_", "wss_"),
        ),
    )
}


def patch(tree: Path, line: Line, struct_bytes: int) -> None:
    """Give the sources in `tree` (src/, include/) a message struct of so many bytes, a multiple of 8.

    Raises BuildError if they are not the sources that the line's edits were written for.
    """
    limit = inline.limit_bytes(line.version, struct_bytes)
    if struct_bytes % 8 or limit < 1:
        raise BuildError(f"libzmq {line.version}: a struct of {struct_bytes} bytes is no multiple of 8, or too small")
    for edit in line.edits:
        path = tree / edit.file
        text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""
        if text.count(edit.old) != edit.count:
            raise BuildError(
                f"libzmq {line.version}: {edit.file} has {text.count(edit.old)} times {edit.old!r} instead of "
                f"{edit.count}; these are not the sources of that version"
            )
        new = edit.new.format(struct=struct_bytes, inline=limit)
        path.write_text(text.replace(edit.old, new), encoding="utf-8", errors="surrogateescape")


def sources(tree: Path, line: Line) -> Iterator[str]:
    """The C++ sources to compile, relative to `tree`, in a fixed order."""
    for path in sorted((tree / "src").glob("*.cpp")):
        if not path.name.startswith(line.left_out or ("/",)):
            yield path.relative_to(tree).as_posix()


def parse(name: str) -> tuple[Line, int]:
    """The line and the struct's bytes of a library's name, such as `libzmq-2.2.0-64`."""
    try:
        _, version, struct_bytes = name.split("-")
        return LINES[version], int(struct_bytes)
    except (ValueError, KeyError):
        known = ", ".join(LINES)
        raise BuildError(f"{name}: names no variant; write libzmq-VERSION-BYTES with a version of {known}") from None
