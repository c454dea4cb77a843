"""Are the ceilings built from clean C, and does a machine without a compiler get a reason instead?"""

import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from launching import script

from crossover.measure.native import compiler, loader
from crossover.measure.native.compiler import CXX, MPICC, BuildError, produce
from crossover.paths import NATIVE

SOURCES = sorted(NATIVE.glob("*.c"))


@pytest.fixture(autouse=True)
def no_compiler_named(monkeypatch):
    for variable in ("CC", "CXX", "MPICC", "MPICH_CC", "OMPI_CC"):
        monkeypatch.delenv(variable, raising=False)


compiles = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler here")


@compiles
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_compiler_has_nothing_to_say(source, tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-Wall", "-Wextra", "-Wpedantic", "-Werror"))
    assert compiler.build(source, tmp_path / "library.so") == ""


@compiles
def test_a_rebuilt_library_has_the_same_bytes_so_that_nothing_reruns(tmp_path):
    built = [tmp_path / name / "library.so" for name in ("one", "another")]
    for library in built:
        assert compiler.build(SOURCES[0], library) == ""
    assert built[0].read_bytes() == built[1].read_bytes()


@pytest.mark.parametrize(("name", "variable"), [("memory_copy", "CC"), ("mpi_exchange", "MPICC")])
def test_without_a_compiler_the_file_names_the_missing_one_and_the_remedy(name, variable, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, "/no/such/compiler -O3")
    library = tmp_path / f"{name}.so"
    reason = compiler.build(NATIVE / f"{name}.c", library)
    assert "'/no/such/compiler'" in reason and variable in reason and "apt install gcc" in reason
    monkeypatch.setenv(loader.VARIABLE, str(library))
    with pytest.raises(loader.UnavailableError) as told:
        loader.load(name)
    assert str(told.value) == reason
    assert list(tmp_path.iterdir()) == [library]


def test_a_wrapper_without_its_compiler_is_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "/no/such/compiler")
    # MPI's is that of this environment.
    assert compiler.compiler_of(NATIVE / "mpi_exchange.c") is MPICC
    assert MPICC._command() == [str(Path(sys.executable).parent / "mpicc")]
    reason = compiler.build(NATIVE / "mpi_exchange.c", tmp_path / "mpi_exchange.so")
    assert "mpicc failed" in reason and "/no/such/compiler" in reason
    assert MPICC.identity() == ""


@compiles
def test_a_link_error_names_the_missing_symbol_instead_of_the_linkers_last_line(tmp_path, monkeypatch):
    source = tmp_path / "unlinked.c"
    source.write_text("int missing(void);\nint unlinked(void) { return missing(); }\n")
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-Wl,-z,defs"))
    assert "undefined reference to `missing'" in compiler.build(source, tmp_path / "unlinked.so")


@pytest.fixture
def false_compiler(tmp_path, monkeypatch):
    """Makes a script the C++ compiler."""

    def name(text):
        program = script(tmp_path / "compiler", text)
        monkeypatch.setenv("CXX", f"{program} -O3")
        return program

    return name


def test_the_place_of_a_compiler_is_no_part_of_its_kind(false_compiler, tmp_path, monkeypatch):
    program = false_compiler('echo "version 1"')
    kind = CXX.kind()
    assert kind == "compiler -O3: version 1"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("CXX", f"{program.rename(elsewhere / program.name)} -O3")
    assert CXX.kind() == kind
    (elsewhere / program.name).write_text('#!/bin/sh\necho "version 2"\n')
    assert CXX.kind() != kind


def test_a_compiler_that_hangs_is_killed_and_reported(false_compiler, monkeypatch):
    program = false_compiler("exec sleep 60")
    monkeypatch.setattr(compiler, "LIMIT_SECONDS", 0.2)
    with pytest.raises(BuildError, match=f"{program} failed to build it: not finished after 0.2 s; .* variable CXX,"):
        CXX.run("build it")


@pytest.mark.parametrize(("text", "said"), [("no program", "Exec format error"), ("#!/bin/false\n", "did not say why")])
def test_a_compiler_that_cannot_run_is_reported(text, said, false_compiler):
    false_compiler("").write_text(text, encoding="utf-8")
    assert CXX.identity() == ""
    with pytest.raises(BuildError, match=f"failed to build it: .*{said}.*; install a C.. compiler .*apt install g"):
        CXX.run("build it")


def test_the_first_compiler_of_the_usual_names_is_used_or_all_names_are_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"no C\+\+ compiler 'g\+\+' or 'c\+\+' was found"):
        CXX.run("build it")
    for name in ("c++", "g++"):
        program = script(tmp_path / name, "echo version 1")
        assert CXX.identity() == f"{program}: version 1"


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF and then nothing"])
def test_a_library_that_is_absent_or_none_is_named(content, tmp_path, monkeypatch):
    file = tmp_path / "memory_copy.so"
    monkeypatch.setenv(loader.VARIABLE, str(file) if content is not None else "")
    file.write_bytes(content or b"")
    words = "no library memory_copy" if content is None else r"memory_copy\.so .*delete it"
    with pytest.raises(loader.UnavailableError, match=words):
        loader.load("memory_copy")


OTHER_MPI = """
#include <string.h>
int mpi_pingpong(void) { return 0; }
int MPI_Get_library_version(char *text, int *length)
{
    /* MPICH writes more than Open MPI says that there may be, and this one more than MPICH says. */
    memset(text, 'x', 20000);
    memcpy(text, "Some MPI 1.0, ", 14);
    text[20000] = 0;
    *length = 20000;
    return 0;
}
"""


@compiles
def test_a_library_of_another_mpi_is_refused_before_it_crashes(tmp_path, monkeypatch):
    source = tmp_path / "mpi_exchange.c"
    source.write_text(OTHER_MPI)
    assert compiler.build(source, tmp_path / "mpi_exchange.so") == ""
    monkeypatch.setenv(loader.VARIABLE, str(tmp_path / "mpi_exchange.so"))
    ceiling = "from crossover.measure.native.ceiling_mpi import pingpong; pingpong(MPI.COMM_WORLD, 0)"
    script = f"from mpi4py import MPI; {ceiling}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "was built for another MPI (Some MPI 1.0) than mpi4py runs on (MPICH" in done.stderr, done.stderr
    assert "MPICC" in done.stderr


# ---- whole or not at all


@pytest.mark.parametrize(
    ("error", "left"), [(BuildError("this is\nwhy"), "this is\nwhy\n"), (KeyboardInterrupt(), "of an earlier run")]
)
def test_of_what_cannot_be_made_the_reason_is_left_or_the_old_product_but_no_half(tmp_path, monkeypatch, error, left):
    monkeypatch.chdir(tmp_path)
    product = Path("product")
    product.write_text("of an earlier run")

    def fail(part):
        assert part.is_absolute(), "a compiler may run in another folder"
        part.write_text("half, and longer than the reason")
        assert product.read_text() == "of an earlier run"
        raise error

    with suppress(KeyboardInterrupt):
        assert produce(product, fail) == "this is\nwhy"
    assert product.read_text() == left
    assert isinstance(error, KeyboardInterrupt) or loader.reason_in(product) == "this is why"
    assert list(tmp_path.iterdir()) == [tmp_path / product]
