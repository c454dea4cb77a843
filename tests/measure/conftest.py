"""The launches of all tests of `measure`, and the compiled libraries that they need, built once."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from launching import COMMON, Launch, toy_project

from crossover.measure.native import compiler, libzmq
from crossover.paths import NATIVE

BuildOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launch]]:
    """Prepares launches in the test's folder, or in one below it, and kills their processes at the end."""
    prepared = []

    def prepare(experiment: str, chosen: Any, folder: str = "", **others: Any) -> Launch:
        prepared.append(Launch(tmp_path / folder, experiment, chosen, **others))
        return prepared[-1]

    yield prepare
    for one in prepared:
        one.end()


@pytest.fixture(scope="session")
def toys(build_once: BuildOnce) -> Path:
    """A copy of the package with the experiment `toy` and an early timeout of blocks."""
    limit = ("measure/launch/conduct.py", "BLOCK_LIMIT_SECONDS = 120", "BLOCK_LIMIT_SECONDS = 2")
    return build_once("toys", lambda folder: toy_project(folder, limit=limit))


@pytest.fixture
def toy(launch: Callable[..., Launch], toys: Path) -> Callable[..., Launch]:
    """Prepares a launch of the toy that does this."""

    def prepare(does: str = "work", mpi: str = "mpiexec", root: Path = toys, **chosen: Any) -> Launch:
        return launch("toy", COMMON | {"does": does} | chosen, mpi=mpi, root=root)

    return prepare


@pytest.fixture(scope="session")
def libraries(build_once: BuildOnce) -> Path:
    """A folder with the ceilings' libraries. Skips without a compiler."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")

    def build_in(folder: Path) -> None:
        for driver in NATIVE.glob("*.c"):
            assert compiler.build(driver, folder / f"{driver.stem}.so") == ""

    return build_once("native", build_in)


@pytest.fixture(scope="session")
def variants(build_once: BuildOnce, libraries: Path) -> Path:
    """A folder with the C driver and three libzmq 2.2.0: as released, with a struct of 64 bytes, with unions of 32."""
    if not (shutil.which("g++") or shutil.which("c++")):
        pytest.skip("no C++ compiler here")

    def build_in(folder: Path) -> None:
        shutil.copy(libraries / "zmq_inproc.so", folder)
        archive = folder / "archive.tar.gz"
        if reason := libzmq.fetch(libzmq.LINES["2.2.0"], archive):
            # Where pip finds pyzmq at all, that is no reason to skip.
            asked = subprocess.run([sys.executable, "-m", "pip", "index", "versions", "pyzmq"], capture_output=True)
            assert asked.returncode, reason
            pytest.skip(f"libzmq's sources cannot be fetched: {reason}")
        # Only right results count here, and the compiler takes a third of the time.
        monkeypatch = pytest.MonkeyPatch()
        monkeypatch.setattr(libzmq, "FLAGS", tuple(flag.replace("-O2", "-O0") for flag in libzmq.FLAGS))
        for struct in ("40", "64", "32-packed", "32-aligned", "32-union"):
            assert libzmq.build(f"libzmq-2.2.0-{struct}", archive, folder / f"libzmq-2.2.0-{struct}.so") == ""
        monkeypatch.undo()
        archive.unlink()

    return build_once("libzmq", build_in)
