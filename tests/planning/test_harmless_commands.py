"""Is nothing repeated or printed to paste that a file of somebody else could have put there?"""

import json

import pytest

from crossover.__main__ import main
from crossover.planning.command import SHARED, harmless, restored
from crossover.report.base.tables import Tables
from crossover.report.sentences import holes
from crossover.workflow import replication

OPTIONS = ["--profile", "profiles/local", "--cores", "4"]
COMMAND = {"options": OPTIONS, "values": ["tier=smoke"], "targets": ["zmq_latency"]}
FILE = "results/launches/quick/zmq_latency/node/3-0a1b2c3d.0.json"


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"options": ["--profile=slurm"]},
        {"options": []},
        {"targets": [FILE]},
        {"values": ["results=/scratch/me/results.2", "tier=paper", "partial=true"]},
        {"options": ["--cores", "all", "-k"]},
        {"options": ["-j4", "--retries=2"]},
    ],
)
def test_what_crossover_stores_is_repeated(changed):
    assert harmless(COMMAND | changed) == COMMAND | changed


def test_a_command_of_an_earlier_version_is_repeated():
    earlier = COMMAND | {"profile": "profiles/local", "options": ["--cores", "4"]}
    assert harmless(earlier) == COMMAND == restored(earlier).stored()


@pytest.mark.parametrize(
    "changed",
    [
        {"options": ["--snakefile /x/Snakefile"]},
        {"options": ["--cores", "4", "-s", "x"]},
        {"options": ["--cores 4 --snakefile x"]},
        {"options": ["--profile", "--snakefile"]},
        {"options": ["--profile", "../x"]},
        {"options": ["--default-resources slurm_extra=x"]},
        {"profile": "/x/profile"},
        {"profile": "../x"},
        {"targets": ["--snakefile=x"]},
        {"targets": ["https://example.org/Snakefile"]},
        {"values": ["mpi=sh -c x"]},
        {"values": "tier=smoke"},
        {"options": None},
    ],
)
def test_whatever_could_run_other_code_is_not(changed, tmp_path, capsys):
    assert harmless(COMMAND | changed) is None
    (tmp_path / replication.COMMAND).write_text(json.dumps({"tier": "smoke"} | COMMAND | changed))
    assert main(["more", "--results", str(tmp_path)]) == 1
    assert "holds a tier, a target or an option that this command does not repeat" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[]", '"x"', json.dumps(COMMAND | {"tier": "../../x"}), "{"])
def test_a_file_that_holds_no_command_is_refused(text, tmp_path, capsys):
    (tmp_path / replication.COMMAND).write_text(text)
    assert main(["more", "--results", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_command_of_another_user_is_refused(tmp_path, monkeypatch, capsys):
    replication.keep(str(tmp_path), "smoke", COMMAND)
    monkeypatch.setattr("os.getuid", lambda: 4321)
    assert main(["more", "--results", str(tmp_path)]) == 1
    assert "belongs to another user" in capsys.readouterr().err


def retry(*files, own=None):
    tables = Tables([], [], [], [], [])
    return holes.command(tables, [{"receipt": file} for file in files], own=own)


def test_only_paths_of_receipts_are_printed_to_paste():
    hostile = "--snakefile=https://example.org/launches/quick/x/node/1-0a1b2c3d.0.json"
    assert retry(FILE, hostile, own=COMMAND).endswith(f"-R {FILE} --config tier=smoke -- zmq_latency")
    assert "example" not in retry(FILE, hostile)
    assert retry(hostile) == retry(None, "$(x)/launches/a/b/c/1-0a1b2c3d.0.json") == ""


def test_a_page_for_others_prints_no_command():
    assert retry(FILE, own=SHARED) == ""
    row = {
        "launch": 1,
        "experiment": "zmq_latency",
        "placement": "node",
        "hole": "crashed",
        "reason": "x",
        "receipt": FILE,
    }
    tables = Tables([row | {"outcome": "hole"}], [], [], [], [])
    assert holes.NO_COMMAND in holes.paragraphs(tables, SHARED)[0]
    assert FILE in holes.paragraphs(tables, COMMAND)[0]
