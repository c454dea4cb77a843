"""The compiled libraries that launches need, built once for all tests of `measure`."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crossover.measure.native import compiler, libzmq
from crossover.paths import NATIVE

BuildOnce = Callable[[str, Callable[[Path], object]], Path]


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
        for struct in ("40", "64", "32-packed", "32-aligned", "32-union"):
            assert libzmq.build(f"libzmq-2.2.0-{struct}", archive, folder / f"libzmq-2.2.0-{struct}.so") == ""
        archive.unlink()

    return build_once("libzmq", build_in)
