"""A part of the analysis or the report that fails: the rest is made, the page says what is missing, the run fails."""

import re

from copies import Project

from crossover import failure, record

COMMAND = ("snakemake", "--profile", "profiles/local")
WITHIN = "workflow/crossover/analyse/within.py"
BEGINS = '    """Levels that differ by less than the width that was asked for are the same."""\n'
FAULT = f'{BEGINS}    raise ValueError("a fault")\n'


def test_a_table_that_fails_costs_that_table_alone_and_the_exit_code_is_1_until_it_is_repaired(
    project: Project,
) -> None:
    results = project.folder / "results"
    project.edit(WITHIN, BEGINS, FAULT)
    code, said = project.run(*COMMAND)
    assert code == 1, said
    assert re.search(r"table steady of toy: ValueError: a fault \(analyse/within\.py, line \d+\)", said)
    assert "traceback: results/logs/toy/tables.log" in said
    assert "Traceback (most recent call last)" in (results / "logs/toy/tables.log").read_text()
    page = (results / "report/index.html").read_text()
    assert page.count("ValueError: a fault") >= 3, "at the top, in its section, among the holes"
    assert record.read(results / "steady.parquet", record.STEADY).num_rows == 0
    assert record.read(results / "needs.parquet", record.NEEDS).num_rows > 0
    assert [each.name for each in failure.within(results)] == ["steady"]

    # The same command tries again, also that for one experiment, and fails again.
    assert "measure" not in project.planned()
    for target in ([], ["toy"]):
        code, said = project.run(*COMMAND, *target)
        assert code == 1, said
        assert "ValueError: a fault" in said

    project.edit(WITHIN, FAULT, BEGINS)
    assert "measure" not in project.planned()
    assert "failed" not in project.succeed(*COMMAND)
    assert record.read(results / "steady.parquet", record.STEADY).num_rows > 0
    assert "ValueError" not in (results / "report/index.html").read_text()
    assert project.planned() == {}
