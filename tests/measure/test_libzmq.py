"""Are libzmq's sources checked by checksum, changed correctly, and built so that variants share no state?"""

import ctypes
import hashlib
import io
import shutil
import tarfile
from dataclasses import replace

import pytest

from crossover.measure.native import libzmq
from crossover.measure.native.compiler import BuildError
from crossover.measure.native.libzmq import LINES, parse, patch
from crossover.measure.native.message_struct import Struct

HEADERS = {
    "2.2.0": {"include/zmq.h": "#define ZMQ_MAX_VSM_SIZE 30\n"},
    "4.3.4": {"include/zmq.h": "unsigned char _[64];\n" * 4, "src/msg.hpp": "enum { msg_t_size = 64 };\n"},
}
"""The texts to change, as in the real sources."""

SMALL = {
    "include/zmq.h": "#define ZMQ_MAX_VSM_SIZE 30\nstruct zmq_msg_t { void *content; unsigned char rest[2];\n"
    "unsigned char data[ZMQ_MAX_VSM_SIZE]; };\n",
    # A static variable of an inline function: by default, GNU makes it unique in the whole process.
    "src/shared.hpp": "inline int &shared () { static int count; return count; }\n",
    "src/one.cpp": '#include "shared.hpp"\nextern "C" __attribute__((visibility("default")))\n'
    "int count () { return ++shared (); }\n",
    "src/ws_other.cpp": "#error this needs what is not there\n",
}
"""A library of a few lines that is built like the real one."""


def write(tree, files):
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def pack(path, files, top="pyzmq-0/bundled/zeromq/"):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(top + name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture(autouse=True)
def no_compiler_named(monkeypatch):
    monkeypatch.delenv("CXX", raising=False)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with an archive of the small library; the 2.2 line accepts its checksum."""
    line = replace(LINES["2.2.0"], left_out=("ws_",))
    archive = pack(tmp_path / line.archive, SMALL)
    monkeypatch.setitem(LINES, "2.2.0", replace(line, sha256=hashlib.sha256(archive.read_bytes()).hexdigest()))
    return tmp_path


# ---- changing the struct


@pytest.mark.parametrize(
    ("version", "size", "expected"),
    [
        *(
            ("2.2.0", size, {"include/zmq.h": f"#define ZMQ_MAX_VSM_SIZE {inline}\n"})
            for size, inline in ((32, 22), (40, 30), (128, 118))
        ),
        ("4.3.4", 96, {name: text.replace("64", "96") for name, text in HEADERS["4.3.4"].items()}),
    ],
)
def test_headers_get_the_size_of_the_struct_or_of_its_payload(version, size, expected, tmp_path):
    patch(write(tmp_path, HEADERS[version]), LINES[version], Struct(version, size))
    assert {name: (tmp_path / name).read_text() for name in expected} == expected


@pytest.mark.parametrize("version", LINES)
@pytest.mark.parametrize(
    ("times", "size", "words"),
    [
        *((times, 64, "these are not the sources of that version") for times in (0, 2)),
        *((1, size, "multiple of 8, or too small") for size in (0, 8, 33)),
    ],
)
def test_other_sources_and_impossible_structs_are_refused(version, times, size, words, tmp_path):
    files = {name: text * times for name, text in HEADERS[version].items()}
    with pytest.raises(BuildError, match=words):
        patch(write(tmp_path, files), LINES[version], Struct(version, size))


def test_a_variants_name_has_line_and_size_and_no_other_name_is_accepted():
    assert parse("libzmq-4.3.4-96") == (LINES["4.3.4"], Struct("4.3.4", 96))
    assert parse("libzmq-2.2.0-64-union") == (LINES["2.2.0"], Struct("2.2.0", 64, "union"))
    wrong = ("libzmq-9.9-64", "libzmq-4.3.4", "libzmq-4.3.4-large", "libzmq")
    for name in (*wrong, "libzmq-4.3.4-64-union", "libzmq-2.2.0-64-odd", "libzmq-2.2.0-64-union-packed"):
        with pytest.raises(BuildError, match=r"names no variant.*2\.2\.0 union or aligned or packed; 4\.3\.4$"):
            parse(name)


# ---- getting the sources


def test_an_archive_in_a_folder_is_used_if_its_checksum_is_right(small, tmp_path):
    line, archive = LINES["2.2.0"], tmp_path / "there" / "archive.tar.gz"
    assert libzmq.fetch(line, archive, str(small)) == ""
    assert archive.read_bytes() == (small / line.archive).read_bytes()


def test_an_archive_with_another_checksum_is_refused_and_not_kept(small, tmp_path):
    line = replace(LINES["2.2.0"], sha256="0" * 64)
    archive = tmp_path / "there" / "archive.tar.gz"
    reason = libzmq.fetch(line, archive, str(small))
    assert "has the SHA-256 checksum" in reason and f"instead of {'0' * 64}" in reason and f"-R {archive}" in reason
    assert archive.read_text() == f"{reason}\n"
    assert list(archive.parent.iterdir()) == [archive]


def test_pip_runs_no_code_of_an_archive_and_accepts_no_other(tmp_path, monkeypatch):
    """Uses pip with a folder as its index: first the right archive, then another of that name, then none."""
    ran = tmp_path / "ran"
    files = {"setup.py": f"open({str(ran)!r}, 'w')\n", "PKG-INFO": "Metadata-Version: 2.1\nName: pyzmq\n"}
    (tmp_path / "index").mkdir()
    archive = pack(tmp_path / "index" / "pyzmq-2.2.0.1.tar.gz", files, top="pyzmq-2.2.0.1/")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(archive.parent))
    line = replace(LINES["2.2.0"], sha256=hashlib.sha256(archive.read_bytes()).hexdigest())
    assert libzmq.fetch(line, tmp_path / "got.tar.gz") == ""
    assert (tmp_path / "got.tar.gz").read_bytes() == archive.read_bytes()
    assert "pip cannot download" in libzmq.fetch(LINES["2.2.0"], tmp_path / "got.tar.gz")
    assert not ran.exists()
    reason = libzmq.fetch(LINES["4.3.4"], tmp_path / "archive.tar.gz")
    assert reason.startswith("pip cannot download pyzmq==25.1.2 (ERROR: No matching distribution")
    assert "name a folder that holds pyzmq-25.1.2.tar.gz in `archives`" in reason
    reason = libzmq.fetch(LINES["4.3.4"], tmp_path / "archive.tar.gz", str(tmp_path / "nowhere"))
    assert "nowhere/pyzmq-25.1.2.tar.gz is not there" in reason and "archives: pip" in reason


def test_only_the_librarys_sources_are_unpacked(tmp_path):
    archive = pack(tmp_path / "archive.tar.gz", {"src/zmq.cpp": "1", "include/zmq.h": "2", "COPYING": "3"})
    libzmq.unpack(archive, tmp_path / "tree")
    found = sorted(path.relative_to(tmp_path / "tree").as_posix() for path in (tmp_path / "tree").rglob("*.*"))
    assert found == ["include/zmq.h", "src/zmq.cpp"]


@pytest.mark.parametrize(("name", "words"), [("src/../../../evil.cpp", "leads out of it"), ("a", "bundles no libzmq")])
def test_an_archive_that_leads_out_of_its_folder_or_lacks_the_library_is_refused(name, words, tmp_path):
    with pytest.raises(BuildError, match=words):
        libzmq.unpack(pack(tmp_path / "archive.tar.gz", {name: "1"}), tmp_path / "deep" / "tree")
    assert not [*tmp_path.rglob("evil.cpp")]


# ---- building


@pytest.fixture
def compiler_here():
    if not (shutil.which("g++") or shutil.which("c++")):
        pytest.skip("no C++ compiler here")


def test_a_rebuilt_variant_has_the_same_bytes_so_that_nothing_reruns(small, compiler_here):
    built = [small / name / "libzmq-2.2.0-64.so" for name in ("one", "another")]
    for library in built:
        assert libzmq.build(library.stem, small / LINES["2.2.0"].archive, library) == ""
    assert built[0].read_bytes() == built[1].read_bytes()


def test_variants_in_one_process_have_their_sizes_and_share_no_state(small, compiler_here):
    loaded = []
    for size in (40, 64):
        library = small / f"libzmq-2.2.0-{size}.so"
        assert libzmq.build(library.stem, small / LINES["2.2.0"].archive, library) == ""
        loaded.append(ctypes.CDLL(str(library)))
        assert loaded[-1].crossover_struct_bytes() == size
    assert not list(small.glob(".*"))
    copied = shutil.copy(small / "libzmq-2.2.0-64.so", small / "copy.so")
    loaded.append(ctypes.CDLL(str(copied)))
    assert [library.count() for library in (*loaded, *loaded)] == [1, 1, 1, 2, 2, 2]


def test_a_reason_instead_of_the_archive_is_passed_on(tmp_path):
    archive = tmp_path / "archive.tar.gz"
    archive.write_text("pip cannot download it\n")
    assert libzmq.build("libzmq-2.2.0-64", archive, tmp_path / "library.so") == "pip cannot download it"
    assert (tmp_path / "library.so").read_text() == "pip cannot download it\n"


def test_a_compile_error_gives_the_compilers_message(small, compiler_here):
    broken = pack(small / "broken.tar.gz", SMALL | {"src/one.cpp": "int count () { return nothing; }\n"})
    reason = libzmq.build("libzmq-2.2.0-64", broken, small / "library.so")
    assert "failed to build libzmq" in reason and "nothing" in reason
