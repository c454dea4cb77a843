"""Does a step that fails fail the run, and is it repeated? Is a damaged raw file named and left out?"""

import os

import pytest
from copies import Project

from crossover.records import record

COMMAND = ("snakemake", "--profile", "profiles/local")
TABLE = "workflow/crossover/analyse/tables/writer.py"
BEGINS = "        if curve.competes and used.any():\n"
FAULT = f'{BEGINS}            if curve.facts["experiment"] == "toy":\n                raise ValueError("a fault")\n'


@pytest.mark.long
def test_a_bug_fails_its_step_keeps_the_launches_and_is_repeated_by_the_same_command(finished: Project) -> None:
    finished.edit(TABLE, BEGINS, FAULT)
    for _ in range(2):
        code, said = finished.run(*COMMAND)
        assert code == 1, said
        assert "failed: Deriving the tables of toy: ValueError: a fault (log: results/logs/toy/tables.log)" in said
        assert "ValueError: a fault" in (finished.folder / "results/logs/toy/tables.log").read_text()
        assert "launch" not in finished.planned()
    finished.edit(TABLE, FAULT, BEGINS)
    assert "failed" not in finished.succeed(*COMMAND)
    assert finished.planned() == {}


@pytest.mark.long
def test_a_damaged_raw_file_is_a_hole_until_it_is_measured_again(finished: Project) -> None:
    results = finished.folder / "results"
    path, receipt = finished.raw()["toy/node/1"], finished.receipts()["toy/node/1"].relative_to(finished.folder)
    # A cut file would be measured again. Damage is seen when tables are made.
    whole, time = path.read_bytes(), path.stat().st_mtime_ns
    path.write_bytes(bytes(path.stat().st_size))
    # A run that was repeated, here for the experiment alone, fails again.
    for arguments in (("-R", "tables"), ("toy",)):
        code, said = finished.run(*COMMAND, *arguments)
        assert code == 1, said
        named = path.relative_to(finished.folder)
        assert f"not readable: {named}: the file cannot be read as parquet" in said
        repeat = " ".join((*COMMAND, "-R", str(receipt)))
        assert repeat in said and "delete" not in said
    page = " ".join((results / "report/index.html").read_text().split())
    assert "Launch 1 of <code>toy</code> (placement node), <em>unreadable file</em>" in page and repeat in page
    launches = record.read(results / "launches.parquet", record.LAUNCHES).to_pylist()
    assert [row["file"] for row in launches if row["outcome"] == "hole"] == [str(named)]
    assert "toy" in record.read(results / "ratios.parquet", record.RATIOS)["experiment"].to_pylist()
    # A copy with its old time is read without being measured again.
    path.write_bytes(whole)
    os.utime(path, ns=(time, time))
    assert "launch" not in finished.planned()
    finished.succeed(*COMMAND)
    assert "unreadable file" not in (results / "report/index.html").read_text()
    path.write_bytes(bytes(len(whole)))
    assert finished.run(*COMMAND, "-R", "tables")[0] == 1
    finished.succeed(*repeat.split())
    assert "unreadable file" not in (results / "report/index.html").read_text()
