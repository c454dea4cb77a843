"""Is nothing run, or printed to paste, that a file of somebody else could have put there?"""

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from crossover.__main__ import main
from crossover.records import record
from crossover.records.rows import Launch
from crossover.report.text import holes
from crossover.report.text.tables import Tables
from crossover.workflow import replication

FILE = "results/launches/quick/zmq_latency/node/3-0a1b2c3d.0.json"


@pytest.fixture
def theirs(results, tmp_path, monkeypatch):
    """A folder of results from elsewhere in a checkout, which is the current folder."""
    folder = tmp_path / "results"
    shutil.copytree(results, folder)
    (tmp_path / "Snakefile").write_text("")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def started(monkeypatch):
    """The commands that `crossover more` starts."""
    found = []
    monkeypatch.setattr(os, "execv", lambda program, words: found.append(words[1:]))
    return found


def change(folder, **columns):
    path = folder / "launches.parquet"
    table = record.read(path, record.LAUNCHES)
    for column, value in columns.items():
        values = pa.array([value] * table.num_rows, pa.string())
        table = table.set_column(table.column_names.index(column), column, values)
    record.write(table, path)


def test_no_file_in_a_folder_of_results_names_the_code_to_run(theirs, started):
    evil = {"options": ["--profile", "results"], "values": [], "targets": [], "tier": "quick"}
    (theirs / "command.json").write_text(json.dumps(evil))
    (theirs / "config.yaml").write_text("snakefile: results/evil.smk\ncores: 1\n")
    (theirs / "evil.smk").write_text("open('ran', 'w').close()\n\nrule all:\n    shell: 'touch ran'\n")
    change(theirs, host=socket.gethostname())
    assert main(["more", "mpi_pingpong"]) == 0
    (words,) = started
    Path("profiles/local").mkdir(parents=True)
    Path("profiles/local/config.yaml").write_text("cores: 1\n")
    subprocess.run([sys.executable, *words], capture_output=True, timeout=60)
    assert not Path("ran").exists()
    known = ["snakemake", "--profile", "profiles/local", "--config", "results=results", "tier=quick"]
    assert words == ["-m", *known]


def test_the_folder_and_the_profile_that_the_user_types_are_used(theirs, started, capsys):
    theirs.rename("other results")
    assert main(["more", "mpi_pingpong", "--results", "other results", "--profile", "pbs"]) == 0
    known = ["snakemake", "--profile", "pbs", "--config", "results=other results", "tier=quick"]
    assert started == [["-m", *known]]
    assert shlex.split(capsys.readouterr().out.splitlines()[-1]) == known
    assert replication.wanted("other results", "quick").keys() == {"mpi_pingpong"}


def test_a_run_of_other_hosts_needs_a_profile(theirs, started, capsys):
    assert main(["more", "mpi_pingpong"]) == 1
    assert "was measured on node-a" in capsys.readouterr().err
    assert started == [] and not list(theirs.rglob("launches.json"))


@pytest.mark.parametrize(
    "receipt", [None, FILE.replace("quick", "evil"), FILE.replace("quick", "../../quick"), "x"], ids=str
)
def test_a_tier_that_does_not_exist_is_refused(theirs, started, capsys, receipt):
    change(theirs, receipt=receipt, host=socket.gethostname())
    assert main(["more", "mpi_pingpong"]) == 1
    assert "name no tier" in capsys.readouterr().err and started == []


def retry(*files):
    tables = Tables()
    return holes.command(tables, [Launch.of({"receipt": file}) for file in files])


@pytest.mark.parametrize(
    "hostile",
    [
        "--snakefile=https://example.org/launches/quick/x/node/1-0a1b2c3d.0.json",
        "../../etc/launches/quick/x/node/1-0a1b2c3d.0.json",
        "results/../x/launches/quick/x/node/1-0a1b2c3d.0.json",
        "$(x)/launches/a/b/c/1-0a1b2c3d.0.json",
        "x\n/launches/quick/x/node/1-0a1b2c3d.0.json",
        None,
    ],
)
def test_only_paths_of_receipts_are_printed_to_paste(hostile):
    printed = f"snakemake --profile profiles/local -R {FILE} --config results=results tier=quick"
    assert retry(FILE, hostile) == retry(hostile, FILE) == printed
    assert retry(hostile) == ""


def test_a_hole_without_a_receipt_has_no_command():
    row = {"launch": 1, "experiment": "zmq_latency", "placement": "node", "hole": "crashed", "reason": "x"}
    for file, said in ((FILE, FILE), ("x", holes.NO_COMMAND)):
        tables = Tables.of({"launches": [row | {"outcome": "hole", "receipt": file}]})
        assert said in holes.paragraphs(tables)[0]
