"""If parts of the analysis or report fail, the rest is made, the page names the missing parts, and the run fails."""

import re

import pytest
from copies import Project, refine

from crossover.planning.plan import MOST_LAUNCHES
from crossover.records import failure, record

COMMAND = ("snakemake", "--profile", "profiles/local")
TABLE = "workflow/crossover/analyse/tables/writer.py"
BEGINS = "        if curve.competes and used.any():\n"
FAULTS = {TABLE: (BEGINS, f'{BEGINS}            raise ValueError("a fault")\n')} | {
    file: (sound, sound.replace("    ", "    None[0]; ", 1))
    for file, sound in {
        "workflow/crossover/analyse/tables/refinement.py": "    chosen = [curve",
        "workflow/crossover/report/charts/figures.py": '    points = [marks.point(panel, row, row["ratio"]',
        "workflow/crossover/report/pages/index.py": "    return markup.table(certainty.sure(",
    }.items()
}
"""For each file, a sound text and a faulty replacement."""


@pytest.mark.long
def test_faulty_parts_are_left_out_and_the_exit_code_is_1_until_they_are_repaired(
    project: Project,
) -> None:
    refine(project)
    results = project.folder / "results"
    for file, (sound, wrong) in FAULTS.items():
        project.edit(file, sound, wrong)
    code, said = project.run(*COMMAND)
    assert code == 1, said
    assert re.search(r"table crossovers of toy: ValueError: a fault \(analyse/tables/writer\.py, line \d+\)", said)
    assert "traceback: results/logs/toy/tables.log" in said
    assert "Traceback (most recent call last)" in (results / "logs/toy/tables.log").read_text()
    fault = r"TypeError: 'NoneType' object is not subscriptable \([\w/]+\.py, line \d+\)"
    for part, log in {
        "refinement of toy": "toy/refinement.log",
        "figure pace-tasks-spin-ratio of toy": "toy/figures.log",
        "section sure": "report.log",
    }.items():
        assert re.search(rf"  {part}: {fault}\n    traceback: results/logs/{log}\n", said), part
    page = (results / "report/index.html").read_text()
    assert page.count("ValueError: a fault") >= 3, "at the top, in its section and among the holes"
    assert "efinement of" in page and "This figure could not be drawn" in page
    # The rest is made.
    assert record.read(results / "crossovers.parquet", record.CROSSOVERS).num_rows == 0
    assert record.read(results / "choices.parquet", record.CHOICES).num_rows > 0
    assert [each.name for each in failure.within(results) if each.kind == "table"] == ["crossovers"]

    # The same command retries all of it. So does the command for one experiment, which fails again.
    assert project.planned().keys() >= {"refinement", "tables", "figures", "report"}
    assert "launch" not in project.planned()
    code, said = project.run(*COMMAND, "toy")
    assert code == 1, said
    assert "ValueError: a fault" in said

    for file, (sound, wrong) in FAULTS.items():
        project.edit(file, wrong, sound)
    assert "failed" not in project.succeed(*COMMAND)
    assert record.read(results / "crossovers.parquet", record.CROSSOVERS).num_rows > 0
    launches = record.read(results / "launches.parquet", record.LAUNCHES)["launch"].to_pylist()
    assert max(launches) > MOST_LAUNCHES
    assert failure.within(results) == []
    assert "ValueError" not in (results / "report/index.html").read_text()
    assert project.planned() == {}


@pytest.mark.long
def test_a_damaged_raw_file_is_a_hole_until_it_is_measured_again(finished: Project) -> None:
    results = finished.folder / "results"
    path, receipt = finished.raw()["toy/node/1"], finished.receipts()["toy/node/1"].relative_to(finished.folder)
    # A cut file would be measured again. Damage is seen when tables are made.
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
    finished.succeed(*repeat.split())
    assert "unreadable file" not in (results / "report/index.html").read_text()
