"""Does the package work where it is installed, without the checkout?"""

import os
import shutil
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from crossover import __main__
from crossover.cli.command import GROUPS

ROOT = Path(__file__).parents[2]
PARTS = (
    *("pyproject.toml", "setup.py", "Snakefile", "README.md", "LICENSE", "CITATION.cff", "docs"),
    *("requirements.lock", "requirements-dev.lock", "config", "envs", "profiles", "reports", "workflow"),
)


@pytest.fixture(scope="session")
def installed(build_once):
    """A virtual environment with the package from its wheel, and with the locked packages, but without the checkout."""

    def build_in(folder):
        # A copy, because setuptools builds in the folder of the sources.
        sources = folder / "sources"
        sources.mkdir()
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, sources / part)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        offline = ["--no-deps", "--no-index"]
        subprocess.run(
            [*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", folder, sources], check=True, timeout=120
        )
        shutil.rmtree(sources)
        venv.create(folder / "venv", with_pip=False)
        [wheel] = folder.glob("crossover-*.whl")
        python = folder / "venv/bin/python"
        subprocess.run([*pip, "--python", python, "install", *offline, wheel], check=True, timeout=120)
        [packages] = (folder / "venv").glob("lib/python*/site-packages")
        # As a path alone: the .pth files there are not read, among them that of the checkout.
        (packages / "locked.pth").write_text("\n".join(site.getsitepackages()))

    return build_once("installed", build_in) / "venv"


@pytest.fixture
def program(installed, tmp_path):
    """Runs Python of that environment in an empty folder, without Quarto; returns the finished process."""

    def run(*words):
        clean = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | {"PATH": str(tmp_path)}
        # The folder of the environment was renamed, so its scripts' first lines name another interpreter.
        return subprocess.run(
            [installed / "bin/python", *words], cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=120
        )

    return run


def test_the_program_is_installed(program, installed):
    done = program(installed / "bin/crossover", "--help")
    assert done.returncode == 0, done.stderr
    assert all(f"\n{group}:\n" in done.stdout for group in GROUPS)


def test_it_reads_its_own_copy_of_the_claims(program, installed):
    done = program("-c", "from crossover.config import claim_list; print(claim_list.FILE, len(claim_list.read()))")
    assert done.returncode == 0, done.stderr
    file, count = done.stdout.split()
    assert Path(file).is_relative_to(installed) and int(count) > 100


def test_it_renders_the_same_page_as_the_checkout(program, installed, results, rendered, tmp_path):
    page = tmp_path / "page.html"
    done = program(installed / "bin/crossover", "report", results, "--page", page)
    assert done.returncode == 0, done.stderr
    assert page.read_bytes() == rendered.read_bytes()


def test_it_answers_from_a_copied_folder_of_results(program, installed, results, tmp_path):
    copied = shutil.copytree(results, tmp_path / "copied")
    done = program(installed / "bin/crossover", "show", copied)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Send NumPy arrays with Send, not send: ") and "What to choose" in done.stdout


def test_a_command_that_changes_the_sources_asks_for_a_clone(program, installed):
    done = program(installed / "bin/crossover", "document")
    assert done.returncode == 1 and "run it in a clone of crossover" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_the_program_with_the_code_of_a_shell_and_no_message(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "main", interrupted)
    assert __main__.run() == 130
    assert capsys.readouterr() == ("", "")
