"""Are folders that a run cannot use refused before it measures, and does a run need no home?"""

import getpass
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from crossover.errors import CrossoverError
from crossover.paths import PROFILES, WORKFLOW
from crossover.records import record
from crossover.workflow import folders, session


@pytest.mark.parametrize("below", ["", "results"])
def test_a_file_in_place_of_a_folder_is_named_with_the_next_step(tmp_path, below):
    folders.require(tmp_path / "new" / below)
    (tmp_path / "file").touch()
    with pytest.raises(CrossoverError, match=r"/file: is a file, .*; move it away, or .* --config results="):
        folders.require(tmp_path / "file" / below)


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc", ""])
def test_the_cache_moves_to_the_working_folder_only_if_the_home_cannot_be_written_to(monkeypatch, tmp_path, home):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", home or str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    folders.spare_home()
    assert os.environ["XDG_CACHE_HOME"] == (str(tmp_path / ".snakemake/cache") if home else "")
    assert home or list((tmp_path / ".cache").iterdir()) == []


def test_a_user_without_an_entry_among_the_hosts_users_has_a_number_as_name(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    with pytest.raises(KeyError):
        getpass.getuser()
    folders.spare_home()
    assert getpass.getuser() == "54321"


def test_a_working_folder_that_cannot_be_written_to_is_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    folders.require_own()
    (tmp_path / ".snakemake").rmdir()
    (tmp_path / ".snakemake").touch()
    with pytest.raises(CrossoverError, match=r"^\.snakemake: cannot be written to .*, then repeat the command$"):
        folders.require_own()


def test_every_profile_spares_the_home():
    for profile in PROFILES.glob("*/config.yaml"):
        assert "  - folders.spare_home()\n" in profile.read_text(), profile


@pytest.mark.parametrize("name", ["config", ".git", "workflow/x", ".", "..", "/", "a\nb"])
def test_a_folder_of_the_project_and_a_name_with_a_line_break_hold_no_results(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CrossoverError, match=r"is a folder of the project, or|^results: 'a\\nb' is not printable"):
        folders.require(name)
    folders.require("results/config")


def test_another_system_than_linux_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(session.sys, "platform", "darwin")
    with pytest.raises(CrossoverError, match=r"measures on Linux, and this is darwin; on macOS use a virtual machine"):
        session.require_linux()


def test_a_run_hides_no_answers_of_a_higher_tier(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert folders.of_results(["--config", "tier=smoke"]) == "results-smoke"
    assert folders.of_results(["--config", "tier=smoke", "results=here"]) == "here"
    assert folders.of_results(["--config", "tier=paper"]) == "results"
    (tmp_path / "results").mkdir()
    folders.require_no_higher_tier("results", "quick")
    row = {"experiment": "toy", "receipt": "results/launches/standard/toy/node/1-0123abcd.0.json"}
    record.write(record.from_rows([row], record.LAUNCHES), Path("results/launches.parquet"))
    for tier in ("standard", "paper"):
        folders.require_no_higher_tier("results", tier)
    with pytest.raises(CrossoverError, match=r"answers of tier standard.*--config results=results-quick$"):
        folders.require_no_higher_tier("results", "quick")


CLAIMS = """
import sys
sys.path.insert(0, sys.argv[1])
import os
from crossover.errors import plain
from crossover.workflow import folders
os.setgroups([GROUP])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
os.umask(int(sys.argv[3], 8))
with plain():
    folders.share("results")
    folders.require_own()
    folders.claim("results")
    os.makedirs("results/logs", exist_ok=True)
    open("results/logs/all.log", "a").close()
"""
GROUP = 54320


@pytest.fixture
def folder():
    """A new folder outside those of pytest, which only this user can enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        yield Path(made)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two users")
@pytest.mark.parametrize(("umask", "shared"), [("000", True), ("022", True), ("077", True), ("022", False)])
def test_two_users_of_a_group_use_its_folder_in_turn_and_nobody_else_can_write(folder, monkeypatch, umask, shared):
    os.chown(folder, 54321, GROUP)
    folder.chmod(0o2775 if shared else 0o777)
    monkeypatch.chdir(folder)

    def claimed(user):
        command = [sys.executable, "-c", CLAIMS.replace("GROUP", str(GROUP)), str(WORKFLOW), str(user), umask]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)

    first, second = claimed(54321), claimed(54322)
    assert first.returncode == 0, first.stderr
    assert not [path for path in folder.rglob("*") if path.stat().st_mode & 0o002]
    if shared:
        assert second.returncode == 0, second.stderr
    else:
        (line,) = second.stderr.splitlines()
        assert "belongs to another user" in line
        assert "chmod -R g+rwX" in line
