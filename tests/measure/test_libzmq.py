"""Are libzmq's sources checked by checksum, changed correctly, and built so that variants share no state?"""

import ctypes
import hashlib
import io
import shutil
import tarfile
from dataclasses import replace

import pytest

from crossover.measure.native import libzmq
from crossover.measure.native.compiler import CXX, BuildError
from crossover.measure.native.libzmq import LINES, parse, patch, sources
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


@pytest.mark.parametrize(("size", "inline"), [(32, 22), (40, 30), (64, 54), (128, 118)])
def test_the_old_line_gets_the_payload_size_for_the_struct(size, inline, tmp_path):
    tree = write(tmp_path, HEADERS["2.2.0"])
    patch(tree, LINES["2.2.0"], Struct("2.2.0", size))
    assert (tree / "include/zmq.h").read_text() == f"#define ZMQ_MAX_VSM_SIZE {inline}\n"


def test_the_new_line_gets_the_size_in_both_headers(tmp_path):
    tree = write(tmp_path, HEADERS["4.3.4"])
    patch(tree, LINES["4.3.4"], Struct("4.3.4", 96))
    assert (tree / "include/zmq.h").read_text() == "unsigned char _[96];\n" * 4
    assert (tree / "src/msg.hpp").read_text() == "enum { msg_t_size = 96 };\n"


@pytest.mark.parametrize("layout", ["union", "aligned", "packed"])
def test_another_layout_is_refused_if_an_edit_does_not_fit(layout, tmp_path):
    tree = write(tmp_path, HEADERS["2.2.0"])
    with pytest.raises(BuildError, match=r"include/zmq.h has 0 times '#define ZMQ_MSG_MASK 129' instead of 1"):
        patch(tree, LINES["2.2.0"], Struct("2.2.0", 64, layout))


@pytest.mark.parametrize("version", LINES)
@pytest.mark.parametrize("change", ["gone", "twice"])
def test_other_sources_than_expected_are_refused(version, change, tmp_path):
    files = {name: "" if change == "gone" else text * 2 for name, text in HEADERS[version].items()}
    with pytest.raises(BuildError, match=r"these are not the sources of that version"):
        patch(write(tmp_path, files), LINES[version], Struct(version, 64))


@pytest.mark.parametrize("size", [0, 8, 33])
@pytest.mark.parametrize("version", LINES)
def test_an_impossible_struct_is_refused(version, size, tmp_path):
    with pytest.raises(BuildError, match="multiple of 8, or too small"):
        patch(write(tmp_path, HEADERS[version]), LINES[version], Struct(version, size))


def test_sources_of_excluded_features_are_not_compiled(tmp_path):
    tree = write(tmp_path, {f"src/{name}.cpp": "" for name in ("zmq", "ws_engine", "wss_engine", "address", "wsx")})
    assert list(sources(tree, LINES["4.3.4"])) == ["src/address.cpp", "src/wsx.cpp", "src/zmq.cpp"]
    assert len(list(sources(tree, LINES["2.2.0"]))) == 5


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


def test_a_folder_without_the_archive_is_told(tmp_path):
    reason = libzmq.fetch(LINES["4.3.4"], tmp_path / "archive.tar.gz", str(tmp_path / "nowhere"))
    assert "nowhere/pyzmq-25.1.2.tar.gz is not there" in reason and "archives: pip" in reason


def test_without_a_network_the_reason_gives_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    reason = libzmq.fetch(LINES["4.3.4"], tmp_path / "archive.tar.gz")
    assert reason.startswith("pip cannot download pyzmq==25.1.2 (ERROR: No matching distribution")
    assert "name a folder that holds pyzmq-25.1.2.tar.gz in `archives`" in reason


def test_pip_runs_no_code_of_an_archive_and_accepts_no_other(tmp_path, monkeypatch):
    """Uses pip with a folder as its index: first the right archive, then another of that name."""
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


def test_only_the_librarys_sources_are_unpacked(tmp_path):
    archive = pack(tmp_path / "archive.tar.gz", {"src/zmq.cpp": "1", "include/zmq.h": "2", "COPYING": "3"})
    libzmq.unpack(archive, tmp_path / "tree")
    found = sorted(path.relative_to(tmp_path / "tree").as_posix() for path in (tmp_path / "tree").rglob("*.*"))
    assert found == ["include/zmq.h", "src/zmq.cpp"]


def test_an_archive_that_leads_out_of_its_folder_is_refused(tmp_path):
    archive = pack(tmp_path / "archive.tar.gz", {"src/../../../evil.cpp": "1"})
    with pytest.raises(BuildError, match="leads out of it"):
        libzmq.unpack(archive, tmp_path / "deep" / "tree")
    assert not (tmp_path / "evil.cpp").exists() and not (tmp_path / "deep" / "evil.cpp").exists()


def test_an_archive_without_the_library_is_refused(tmp_path):
    with pytest.raises(BuildError, match="bundles no libzmq"):
        libzmq.unpack(pack(tmp_path / "archive.tar.gz", {"README": "1"}), tmp_path / "tree")


# ---- building


@pytest.fixture
def compiler_here():
    if not (shutil.which("g++") or shutil.which("c++")):
        pytest.skip("no C++ compiler here")


def test_a_built_variant_reports_its_real_size(small, compiler_here):
    library = small / "libzmq-2.2.0-64.so"
    assert libzmq.build(library.stem, small / LINES["2.2.0"].archive, library) == ""
    told = ctypes.CDLL(str(library)).crossover_struct_bytes
    told.restype = ctypes.c_ulong
    assert told() == 64
    assert not list(small.glob(".*"))


def test_a_rebuilt_variant_has_the_same_bytes_so_that_nothing_reruns(small, compiler_here):
    built = [small / name / "libzmq-2.2.0-64.so" for name in ("one", "another")]
    for library in built:
        assert libzmq.build(library.stem, small / LINES["2.2.0"].archive, library) == ""
    assert built[0].read_bytes() == built[1].read_bytes()


def test_variants_in_one_process_share_no_state(small, compiler_here):
    loaded = []
    for size in (40, 64):
        library = small / f"libzmq-2.2.0-{size}.so"
        assert libzmq.build(library.stem, small / LINES["2.2.0"].archive, library) == ""
        loaded.append(ctypes.CDLL(str(library)))
    copied = shutil.copy(small / "libzmq-2.2.0-64.so", small / "copy.so")
    loaded.append(ctypes.CDLL(str(copied)))
    assert [library.count() for library in (*loaded, *loaded)] == [1, 1, 1, 2, 2, 2]


def test_without_a_compiler_the_library_file_contains_the_reason(small, monkeypatch):
    monkeypatch.setenv("CXX", "/no/such/compiler -O3")
    library = small / "libzmq-2.2.0-64.so"
    reason = libzmq.build(library.stem, small / LINES["2.2.0"].archive, library)
    assert "no C++ compiler '/no/such/compiler' was found" in reason and "apt install g++" in reason
    assert library.read_text() == f"{reason}\n"
    assert CXX.identity() == ""


def test_a_reason_instead_of_the_archive_is_passed_on(tmp_path):
    archive = tmp_path / "archive.tar.gz"
    archive.write_text("pip cannot download it\n")
    assert libzmq.build("libzmq-2.2.0-64", archive, tmp_path / "library.so") == "pip cannot download it"
    assert (tmp_path / "library.so").read_text() == "pip cannot download it\n"


def test_a_compile_error_gives_the_compilers_message(small, compiler_here):
    broken = pack(small / "broken.tar.gz", SMALL | {"src/one.cpp": "int count () { return nothing; }\n"})
    reason = libzmq.build("libzmq-2.2.0-64", broken, small / "library.so")
    assert "failed to build libzmq" in reason and "nothing" in reason
