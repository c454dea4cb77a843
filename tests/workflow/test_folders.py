"""Are folders that a run cannot use refused before it measures, and does a run need no home?"""

import getpass
import os
import tempfile

import pytest

from crossover.errors import CrossoverError
from crossover.paths import PROFILES
from crossover.workflow import folders, session


@pytest.fixture(autouse=True)
def temporary(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")


def test_a_folder_that_exists_or_will_be_made_is_accepted(tmp_path):
    folders.require(tmp_path)
    folders.require(tmp_path / "new" / "results")


@pytest.mark.parametrize("below", ["", "results"])
def test_a_file_in_place_of_a_folder_is_named_with_the_next_step(tmp_path, below):
    (tmp_path / "file").touch()
    with pytest.raises(CrossoverError, match=r"/file: is a file, .*; move it away, or .* --config results="):
        folders.require(tmp_path / "file" / below)


def test_a_temporary_folder_is_refused_if_sockets_do_not_fit_in_it(monkeypatch):
    # The kernel's own limit: sun_path has 108 bytes, and a path ends with a zero.
    longest = "/" + "x" * (108 - 1 - len("/crossover-12345678/kernel-ipc-4") - 1)
    monkeypatch.setattr(tempfile, "tempdir", longest)
    folders.require("results")
    monkeypatch.setattr(tempfile, "tempdir", longest + "x")
    with pytest.raises(
        CrossoverError, match=r"^TMPDIR: /x+ has 76 bytes, .* at most 75; set TMPDIR to .* such as /tmp$"
    ):
        folders.require("results")


def test_a_name_with_a_line_break_is_refused():
    with pytest.raises(CrossoverError, match=r"^results: 'a\\nb' is not printable"):
        folders.require("a\nb")


@pytest.mark.parametrize("home", ["/dev/null/home", "/proc"])
def test_the_cache_moves_to_the_working_folder_if_the_home_cannot_be_written_to(monkeypatch, tmp_path, home):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    folders.spare_home()
    assert os.environ["XDG_CACHE_HOME"] == str(tmp_path / ".snakemake/cache")


def test_a_user_without_an_entry_among_the_hosts_users_has_a_number_as_name(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    with pytest.raises(KeyError):
        getpass.getuser()
    folders.spare_home()
    assert getpass.getuser() == "54321"


def test_the_cache_stays_in_a_home_that_can_be_written_to(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    folders.spare_home()
    assert "XDG_CACHE_HOME" not in os.environ
    assert list((tmp_path / ".cache").iterdir()) == []


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


@pytest.mark.parametrize("name", ["config", ".git", "workflow/x", ".", "..", "/"])
def test_a_folder_of_the_project_holds_no_results(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CrossoverError, match=r"is a folder of the project, or contains it; choose another"):
        folders.require(name)
    folders.require("results/config")


def test_another_system_than_linux_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(session.sys, "platform", "darwin")
    with pytest.raises(CrossoverError, match=r"measures on Linux, and this is darwin; on macOS use a virtual machine"):
        session.require_linux()
