"""Gets the sources of libzmq, and compiles variants: one version, one message struct.

The sources come from a folder or by pip, and are believed by their checksum alone. One file includes every source, and
is compiled by one call. Variants in one process share no symbols. docs/decisions/libzmq_builds.md has the reasons.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from crossover.measure.build.compiler import CXX, BuildError, produce
from crossover.measure.build.libzmq.line import Line, parse, patch, sources
from crossover.measure.build.loader import reason_in
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
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"),
                *("--no-deps", "--no-binary", name, "--no-build-isolation", "--use-pep517", "--require-hashes"),
                *("--dest", str(folder), "--requirement", str(wanted)),
            ],
            env=os.environ | {"PYTHONPATH": str(backend.parent)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            errors="replace",
            timeout=DOWNLOAD_LIMIT_SECONDS,
            encoding="utf-8",
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
    whole.write_text("".join(f'#include "{path}"\n' for path in [*sources(tree, line), "struct_bytes.cpp"]), encoding="utf-8")
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
