"""Does the set-up install from the site's index, or from a folder, and only what the lock files describe?"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

ROOT = Path(__file__).parents[2]

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""

BACKEND = """\
import shutil

def build_wheel(folder, config_settings=None, metadata_directory=None):
    shutil.copy("itself-1-py3-none-any.whl", folder)
    return "itself-1-py3-none-any.whl"

build_editable = build_wheel
"""
"""Builds a package by taking the wheel that its sources contain."""

RUN = {"setuptools-1", "source-1", "itself-1"}
"""The packages that `make env` installs."""


def locked(file: Path, name: str) -> str:
    """The entry of a package in a lock file."""
    return f"{name}==1 \\\n    --hash=sha256:{sha256(file.read_bytes()).hexdigest()}\n    # via something\n"


def write_wheel(folder: Path, name: str, version: str = "1", **modules: str) -> Path:
    """Write a package of a few modules."""
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    facts = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as packed:
        for module, text in modules.items():
            packed.writestr(f"{name}/{module}.py", text)
        packed.writestr(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        packed.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{facts}/RECORD", "")
    return wheel


def write_setuptools(folder: Path) -> Path:
    """Write a small stand-in for setuptools, which builds like BACKEND."""
    own = f"{BACKEND.replace('itself', 'source')}\n__legacy__ = __import__('sys').modules[__name__]\n"
    return write_wheel(folder, "setuptools", __init__="", build_meta=own)


def write_source(folder: Path) -> Path:
    """Write a package without a wheel and without a pyproject.toml."""
    folder.mkdir(parents=True)
    sources = write_wheel(folder / "unpacked", "source").parent
    (sources / "setup.py").touch()
    with tarfile.open(folder / "source-1.tar.gz", "w:gz") as packed:
        packed.add(sources, "source-1")
    shutil.rmtree(sources)
    return folder / "source-1.tar.gz"


class Clone:
    """The Makefile, lock files of a few small packages, and an index of these packages that only a pip.conf names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.index = folder / "index"
        self.configuration = folder / "pip.conf"
        self.folder.mkdir()
        shutil.copy(ROOT / "Makefile", self.folder)
        # As an index does, this one offers a version that nobody locked, too.
        write_wheel(self.index / "setuptools", "setuptools", "2")
        packages = {
            "setuptools": write_setuptools,
            "source": write_source,
            "tested": partial(write_wheel, name="tested"),
        }
        entries = [locked(write(self.index / name), name) for name, write in packages.items()]
        (self.folder / "requirements.lock").write_text("".join(entries[:2]))
        (self.folder / "requirements-dev.lock").write_text("".join(entries))
        (self.folder / "envs").mkdir()
        (self.folder / "envs/farm.lock").write_text(entries[2])
        (self.folder / "pyproject.toml").write_text(PYPROJECT)
        (self.folder / "backend.py").write_text(BACKEND)
        write_wheel(self.folder, "itself")
        self.asked: list[str] = []
        self.wait_seconds = 0

    def make(self, *words: str) -> tuple[int, str]:
        """Run make as a user does; returns the exit code and the output."""
        with self.making(*words) as process:
            said = process.communicate(timeout=120)[0]
        return process.returncode, said

    def making(self, *words: str) -> subprocess.Popen[str]:
        """Make, with pip configured by the pip.conf alone."""
        ours = ("PIP_", "MAKE", "MFLAGS", "PYTHONPATH")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
        return subprocess.Popen(
            ["make", f"PYTHON={sys.executable}", *words],
            cwd=self.folder,
            env=kept | {"PIP_CONFIG_FILE": str(self.configuration), "PIP_NO_CACHE_DIR": "1", "no_proxy": "127.0.0.1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def installed(self) -> set[str]:
        """The packages in .venv and their versions, except pip, which venv brings."""
        found = self.folder.glob(".venv/lib/python*/site-packages/*.dist-info")
        return {path.stem for path in found if not path.name.startswith("pip-")}


@pytest.fixture
def clone(tmp_path):
    one = Clone(tmp_path)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            one.asked.append(self.path)

        def do_GET(self):
            time.sleep(one.wait_seconds)
            super().do_GET()

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=one.index)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        one.configuration.write_text(f"[global]\nindex-url = http://127.0.0.1:{server.server_port}/\nretries = 0\n")
        yield one
        server.shutdown()


@pytest.mark.long
def test_everything_comes_from_the_index_that_pips_configuration_names(clone):
    assert clone.make(".venv/develop") == (0, "Setting up .venv (about a minute) ...\n")
    assert clone.installed() == {*RUN, "tested-1"}
    assert {"/source/source-1.tar.gz", "/tested/tested-1-py3-none-any.whl"} <= set(clone.asked)
    assert not [path for path in clone.asked if path.startswith("/setuptools/setuptools-2")]


def test_wheels_of_a_folder_need_no_index(clone):
    wheels = clone.folder / "wheels"
    wheels.mkdir()
    for file in clone.index.glob("s*/*-1*"):
        shutil.copy(file, wheels)
    code, said = clone.make("env", "WHEELS=wheels")
    assert code == 0, said
    assert clone.installed() == RUN
    assert clone.asked == []
    clone.folder = clone.folder.rename(clone.folder.with_name("moved"))
    assert "-m venv --clear" in clone.make("-n", "env")[1], "its programs name the old folder"


@pytest.mark.long
def test_a_package_with_another_hash_is_refused_and_the_next_set_up_repeats_the_step(clone):
    lock = clone.folder / "requirements.lock"
    right = lock.read_text()
    lock.write_text(re.sub("[0-9a-f]{8}(?=\n)", "00000000", right))
    code, said = clone.make("env")
    assert code != 0 and "THESE PACKAGES DO NOT MATCH THE HASHES" in said
    lock.write_text(right)
    code, said = clone.make("env")
    assert code == 0 and said.startswith("The Python of .venv has changed, or its set-up was ended.")
    assert clone.installed() == RUN
    assert clone.make("env") == (0, "make: Nothing to be done for 'env'.\n")
    # Without the environment, its packages are installed again too.
    (clone.folder / ".venv/made").unlink()
    assert "-r requirements.lock" in clone.make("-n", "env")[1]


@pytest.mark.long
def test_an_extra_is_installed_when_it_is_named(clone):
    assert clone.make("env", "EXTRA=farm")[0] == 0
    assert clone.installed() == {*RUN, "tested-1"}
    code, said = clone.make("env", "EXTRA=fram")
    assert code != 0 and "fram" in said


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_pip_ends_with_make(clone, how):
    def pips():
        every = psutil.process_iter(["cmdline", "cwd"])
        return [
            each
            for each in every
            if "--no-compile" in (each.info["cmdline"] or []) and each.info["cwd"] == str(clone.folder)
        ]

    clone.wait_seconds = 60
    with clone.making("env") as making:
        until = time.monotonic() + 60
        while not (found := pips()) and time.monotonic() < until:
            time.sleep(0.1)
        making.send_signal(how)
        making.wait()
        until = time.monotonic() + 10
        while pips() and time.monotonic() < until:
            time.sleep(0.1)
        assert found and not pips()


def test_an_old_python_is_refused(clone, tmp_path):
    old = tmp_path / "python3.10"
    old.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} -c "import sys; sys.version_info = (3, 10); $1"\n')
    old.chmod(0o755)
    code, said = clone.make("env", f"PYTHON={old}")
    assert code != 0 and "crossover needs Python 3.11 or newer, but this is 3.10; name another" in said
