"""Gets the sources of libzmq, edits them, and compiles variants: one version, one message struct.

The sources come from a folder or by pip, and are believed by their checksum alone. One file includes every source, and
is compiled by one call. Variants in one process share no symbols. docs/decisions/libzmq_builds.md has the reasons.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from crossover import programs
from crossover.measure.native.compiler import CXX, BuildError, produce
from crossover.measure.native.loader import reason_in
from crossover.measure.native.message_struct import AROUND_BYTES, Struct
from crossover.paths import NATIVE

OURS = NATIVE / "libzmq"
"""Our additions: `platform.hpp` instead of configure's, and the struct's real size."""

FLAGS = ("-w", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-pthread")

BACKEND = '''\
"""A build backend that only reports the name and version of the package."""

from pathlib import Path


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = Path(folder, "{name}-{version}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return info.name


class __legacy__:
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
'''
"""Replaces setuptools for pip, so that pip only downloads. Otherwise it installs the archive's build requirements and
runs its code for its metadata, which takes half a minute."""

DOWNLOAD_LIMIT_SECONDS = 120


@dataclass(frozen=True)
class Edit:
    """Replaces `old`, which occurs `count` times in `file`, by `new`, a format of the numbers `struct` and `inline`."""

    file: str
    old: str
    new: str
    count: int = 1


@dataclass(frozen=True)
class Line:
    """One version of libzmq, bundled in the source distribution of a version of pyzmq."""

    version: str
    sdist: str
    """The source distribution, as name==version."""
    sha256: str
    edits: tuple[Edit, ...]
    """Edits for another size of the struct."""
    flags: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Prefixes of sources that are not compiled."""
    layouts: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    """Further edits, for another layout of the struct."""

    @property
    def archive(self) -> str:
        """The file name of the source distribution."""
        return f"{self.sdist.replace('==', '-')}.tar.gz"


STRUCT = """\
typedef struct
{
    void *content;
    unsigned char flags;
    unsigned char vsm_size;
    unsigned char vsm_data [ZMQ_MAX_VSM_SIZE];
} zmq_msg_t;
"""
UNION = """\
typedef struct
{{
    union
    {{
        void *content;
        unsigned char vsm_data [ZMQ_MAX_VSM_SIZE];
    }};
    unsigned char flags;
    unsigned char vsm_size;
}} zmq_msg_t;
"""

# In the release, one invalid pointer marks an inline message, and another the end of a pipe. In a union there is no
# pointer beside the message: a flag marks the first, and the second is the only message without any flag.
IS_SHORT = """
{0}msg_->content = (zmq::msg_content_t*) ZMQ_VSM;
{0}msg_->flags = (unsigned char) ~ZMQ_MSG_MASK;
"""
IS_LONG = """{0}->content != (zmq::msg_content_t*) ZMQ_DELIMITER &&
          {0}->content != (zmq::msg_content_t*) ZMQ_VSM"""
BY_FLAG = (
    Edit("include/zmq.h", "#define ZMQ_MSG_MASK 129", "#define ZMQ_MSG_VSM 2\n#define ZMQ_MSG_MASK 131"),
    *(
        Edit("src/zmq.cpp", IS_SHORT.format(indent), "\nmsg_->flags = (unsigned char) ~ZMQ_MSG_MASK | ZMQ_MSG_VSM;\n")
        for indent in (4 * " ", 8 * " ")
    ),
    *(Edit("src/zmq.cpp", IS_LONG.format(name), f"!({name}->flags & ZMQ_MSG_VSM)") for name in ("msg_", "src_")),
    Edit("src/zmq.cpp", "msg_->content == (zmq::msg_content_t*) ZMQ_VSM", "msg_->flags & ZMQ_MSG_VSM", count=2),
    Edit("src/dist.cpp", "content == (msg_content_t*) ZMQ_VSM", "msg_->flags & ZMQ_MSG_VSM"),
    Edit("src/pipe.cpp", "msg_.content == (void*) (offset + ZMQ_DELIMITER)", "!msg_.flags"),
    Edit("src/pipe.cpp", "msg_->content == (void*) (offset + ZMQ_DELIMITER)", "!msg_->flags"),
    Edit(
        "src/decoder.cpp",
        "in_progress.flags = tmpbuf [0] | ~ZMQ_MSG_MASK;",
        "in_progress.flags = (in_progress.flags & ZMQ_MSG_VSM) | (tmpbuf [0] & ~ZMQ_MSG_VSM) | ~ZMQ_MSG_MASK;",
    ),
)

LINES = {
    "2.2.0": Line(
        "2.2.0",
        "pyzmq==2.2.0.1",
        "dae7423f4aa7c93f8c77dadd15e34ce6576121a6e7ae0ecdb6084d855097decc",
        edits=(Edit("include/zmq.h", "#define ZMQ_MAX_VSM_SIZE 30", "#define ZMQ_MAX_VSM_SIZE {inline}"),),
        flags=("-std=c++98", "-fpermissive"),
        layouts={
            "union": (*BY_FLAG, Edit("include/zmq.h", STRUCT, UNION)),
            **{
                layout: (
                    *BY_FLAG,
                    Edit("include/zmq.h", STRUCT, f"#pragma pack(push, {n})\n{UNION}#pragma pack(pop)\n"),
                )
                for layout, n in (("aligned", 4), ("packed", 1))
            },
        },
    ),
    "4.3.4": Line(
        "4.3.4",
        "pyzmq==25.1.2",
        "93f1aa311e8bb912e34f004cf186407a4e90eec4f0ecc0efd26056bf7eda0226",
        edits=(
            Edit("src/msg.hpp", "msg_t_size = 64", "msg_t_size = {struct}"),
            # The public struct, once for each compiler; the library does not compile if the two differ.
            Edit("include/zmq.h", "_[64]", "_[{struct}]", count=4),
        ),
        flags=("-std=c++11",),
        left_out=("ws_", "wss_"),
    ),
}


def fetch(line: Line, archive: Path, origin: str = "pip") -> str:
    """Put the line's source distribution at `archive`: downloaded by pip, or from the folder `origin`.

    If that fails, `archive` holds the reason as text, which is also returned.
    """

    def make(part: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="crossover-source-") as temporary:
            try:
                found = _download(line, Path(temporary)) if origin == "pip" else Path(origin) / line.archive
                part.write_bytes(_checked(line, found))
            except BuildError as error:
                raise BuildError(f"{error}, and run again with -R {archive}") from error

    return produce(archive, make)


def _checked(line: Line, path: Path) -> bytes:
    if not path.is_file():
        raise BuildError(f"{path} is not there; put it there, or have it downloaded with `archives: pip`")
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != line.sha256:
        raise BuildError(
            f"{path.name} has the SHA-256 checksum {found} instead of {line.sha256}, so it is refused; get the original"
        )
    return content


def _download(line: Line, folder: Path) -> Path:
    name, _, version = line.sdist.partition("==")
    backend = folder / "backend" / "setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(BACKEND.format(name=name, version=version), encoding="utf-8")
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{line.sdist} --hash=sha256:{line.sha256}\n", encoding="utf-8")
    try:
        done = programs.run(
            [
                *(sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
                *(
                    "--no-cache-dir",
                    "--no-deps",
                    "--no-binary",
                    name,
                    "--no-build-isolation",
                    "--use-pep517",
                    "--require-hashes",
                ),
                *("--dest", str(folder), "--requirement", str(wanted)),
            ],
            seconds=DOWNLOAD_LIMIT_SECONDS,
            variables={"PYTHONPATH": str(backend.parent)},
        )
        why = (done.stderr.strip().splitlines() or ["it did not say why"])[-1].strip()
    except subprocess.TimeoutExpired:
        why = f"not finished after {DOWNLOAD_LIMIT_SECONDS} s"
    if not (folder / line.archive).is_file():
        raise BuildError(
            f"pip cannot download {line.sdist} ({why}); go online, or name a folder that holds {line.archive} in "
            "`archives`"
        )
    return folder / line.archive


def build(name: str, archive: Path, library: Path) -> str:
    """Build the variant `name` (`libzmq-VERSION-BYTES` or `libzmq-VERSION-BYTES-LAYOUT`) from `archive`.

    If that fails, `library` holds the reason as text, which is also returned.
    """

    def make(part: Path) -> None:
        line, struct = parse(name)
        with tempfile.TemporaryDirectory(prefix="crossover-build-") as folder:
            tree = Path(folder)
            unpack(archive, tree)
            patch(tree, line, struct)
            _compile(line, tree, part)

    return produce(library, make)


def _compile(line: Line, tree: Path, library: Path) -> None:
    whole = tree / "whole.cpp"
    shutil.copy(OURS / "struct_bytes.cpp", tree)
    whole.write_text(
        "".join(f'#include "{path}"\n' for path in [*sources(tree, line), "struct_bytes.cpp"]), encoding="utf-8"
    )
    # Only GNU's compiler makes unique symbols, and only it has the option against them.
    unique = () if "clang" in CXX.identity() else ("-fno-gnu-unique",)
    folders = (f"-I{OURS / line.version}", "-Isrc", "-Iinclude", "-I.")
    arguments = (*line.flags, *FLAGS, *unique, *folders, whole.name, "-lrt", "-o", str(library))
    CXX.run(f"build libzmq {line.version}", *arguments, folder=tree)


def unpack(archive: Path, tree: Path) -> None:
    """Write the bundled src/ and include/ of libzmq to `tree`.

    Raises BuildError if there are none, with the reason if `archive` holds one instead.
    """
    if not tarfile.is_tarfile(archive):
        raise BuildError(reason_in(archive))
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = PurePosixPath(member.name).parts
            if member.isfile() and parts[1:3] == ("bundled", "zeromq") and parts[3] in ("src", "include"):
                path = tree.joinpath(*parts[3:])
                if ".." in parts:
                    raise BuildError(f"{archive} holds {member.name}, which leads out of it; get the original")
                path.parent.mkdir(parents=True, exist_ok=True)
                with tar.extractfile(member) as content, path.open("wb") as file:  # type: ignore[union-attr]
                    shutil.copyfileobj(content, file)
    if not (tree / "src").is_dir():
        raise BuildError(f"{archive} bundles no libzmq; get the original")


def patch(tree: Path, line: Line, struct: Struct) -> None:
    """Edit the sources in `tree` (src/, include/) for this message struct.

    Raises BuildError if its size is not a multiple of 8 bytes or too small, or if the edits do not fit the sources.
    """
    if struct.bytes % 8 or struct.limit_bytes < 1:
        raise BuildError(f"libzmq {line.version}: a struct of {struct.bytes} bytes is no multiple of 8, or too small")
    for edit in (*line.edits, *line.layouts.get(struct.layout, ())):
        path = tree / edit.file
        text = path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""
        if text.count(edit.old) != edit.count:
            raise BuildError(
                f"libzmq {line.version}: {edit.file} has {text.count(edit.old)} times {edit.old!r} instead of "
                f"{edit.count}; these are not the sources of that version"
            )
        new = edit.new.format(struct=struct.bytes, inline=struct.limit_bytes)
        path.write_text(text.replace(edit.old, new), encoding="utf-8", errors="surrogateescape")


def sources(tree: Path, line: Line) -> Iterator[str]:
    """The C++ sources to compile, relative to `tree`, in a fixed order."""
    for path in sorted((tree / "src").glob("*.cpp")):
        if not path.name.startswith(line.left_out):
            yield path.relative_to(tree).as_posix()


def parse(name: str) -> tuple[Line, Struct]:
    """The line and the struct of a library's name, such as `libzmq-2.2.0-64` or `libzmq-2.2.0-64-union`."""
    try:
        struct = Struct.of(name)
        return LINES[struct.version], struct
    except (ValueError, KeyError):
        known = "; ".join(f"{version} {' or '.join(filter(None, AROUND_BYTES[version]))}".strip() for version in LINES)
        raise BuildError(
            f"{name}: names no variant; write libzmq-VERSION-BYTES or libzmq-VERSION-BYTES-LAYOUT; the versions and "
            f"their layouts: {known}"
        ) from None
