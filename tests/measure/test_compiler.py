"""Are the ceilings built from clean C, and does a machine without a compiler get a reason instead?"""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from crossover.measure import compiler, native

SOURCES = sorted(compiler.SOURCES.glob("*.c"))


@pytest.fixture(autouse=True)
def no_compiler_named(monkeypatch):
    for variable in ("CC", "MPICC", "MPICH_CC", "OMPI_CC"):
        monkeypatch.delenv(variable, raising=False)


compiles = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler here")


@compiles
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_compiler_has_nothing_to_say(source, tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-Wall", "-Wextra", "-Wpedantic", "-Werror"))
    assert compiler.build(source, tmp_path / "library.so") == ""


@compiles
def test_the_same_source_gives_the_same_bytes_so_that_a_rebuilt_library_reruns_nothing(tmp_path):
    built = [tmp_path / name / "library.so" for name in ("one", "another")]
    for library in built:
        assert compiler.build(SOURCES[0], library) == ""
    assert built[0].read_bytes() == built[1].read_bytes()


@pytest.mark.parametrize(("name", "variable"), [("memory_copy", "CC"), ("mpi_pingpong", "MPICC")])
def test_without_a_compiler_the_file_says_which_was_looked_for_and_what_to_do(name, variable, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, "/no/such/compiler -O3")
    library = tmp_path / f"{name}.so"
    reason = compiler.build(compiler.SOURCES / f"{name}.c", library)
    assert "'/no/such/compiler'" in reason and variable in reason and "apt install gcc" in reason
    monkeypatch.setenv(native.VARIABLE, str(library))
    with pytest.raises(native.UnavailableError) as told:
        native.load(name)
    assert str(told.value) == reason
    assert list(tmp_path.iterdir()) == [library]


def test_a_wrapper_whose_compiler_is_missing_is_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "/no/such/compiler")
    reason = compiler.build(compiler.SOURCES / "mpi_pingpong.c", tmp_path / "mpi_pingpong.so")
    assert "mpicc failed" in reason and "/no/such/compiler" in reason
    assert compiler.of_library(SimpleNamespace(library="mpi_pingpong")) == ""


@compiles
def test_a_source_that_does_not_compile_is_told_with_the_compilers_own_words(tmp_path):
    source = tmp_path / "broken.c"
    source.write_text("int broken(void) { return nothing; }\n")
    assert "nothing" in compiler.build(source, tmp_path / "broken.so")


@compiles
def test_which_compiler_there_is_changes_when_one_is_installed(monkeypatch):
    wildcards = SimpleNamespace(library="memory_copy")
    assert shutil.which("cc") in compiler.of_library(wildcards)
    monkeypatch.setenv("CC", "/no/such/compiler")
    assert compiler.of_library(wildcards) == ""


@compiles
def test_mpis_compiler_is_that_of_this_environment():
    beside_python = Path(sys.executable).parent / "mpicc"
    assert compiler.of_library(SimpleNamespace(library="mpi_pingpong")).startswith(f"{beside_python}: ")


@pytest.mark.parametrize("content", [b"", b"\x7fELF and then nothing"])
def test_a_file_that_is_no_library_is_named(content, tmp_path, monkeypatch):
    file = tmp_path / "memory_copy.so"
    file.write_bytes(content)
    monkeypatch.setenv(native.VARIABLE, str(file))
    with pytest.raises(native.UnavailableError, match=r"memory_copy\.so .*delete it"):
        native.load("memory_copy")


def test_a_library_that_the_launch_was_not_given_is_named(monkeypatch):
    monkeypatch.delenv(native.VARIABLE, raising=False)
    with pytest.raises(native.UnavailableError, match="no library memory_copy"):
        native.load("memory_copy")


OTHER_MPI = """
#include <string.h>
int mpi_pingpong(void) { return 0; }
int MPI_Get_library_version(char *text, int *length)
{
    strcpy(text, "Some MPI 1.0, of another maker");
    *length = (int)strlen(text);
    return 0;
}
"""


@compiles
def test_a_library_of_another_mpi_is_refused_before_it_crashes(tmp_path, monkeypatch):
    source = tmp_path / "mpi_pingpong.c"
    source.write_text(OTHER_MPI)
    assert compiler.build(source, tmp_path / "mpi_pingpong.so") == ""
    monkeypatch.setenv(native.VARIABLE, str(tmp_path / "mpi_pingpong.so"))
    script = "from mpi4py import MPI; from crossover.measure.ceilings import mpi; mpi.pingpong(MPI.COMM_WORLD, 0)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "was built for another MPI (Some MPI 1.0) than mpi4py runs on (MPICH" in done.stderr, done.stderr
    assert "MPICC" in done.stderr
