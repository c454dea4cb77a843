"""A part of the analysis or the report that fails: the rest is made, the page says what is missing, the run fails."""

import re

from copies import Project, refine

from crossover.planning.plan import SECOND_SWEEP
from crossover.records import failure, record

COMMAND = ("snakemake", "--profile", "profiles/local")
WITHIN = "workflow/crossover/analyse/tables/per_round.py"
BEGINS = '    """Levels that differ by less than the target width count as equal."""\n'
FAULT = f'{BEGINS}    raise ValueError("a fault")\n'


def test_a_table_that_fails_costs_that_table_alone_and_the_exit_code_is_1_until_it_is_repaired(
    project: Project,
) -> None:
    results = project.folder / "results"
    project.edit(WITHIN, BEGINS, FAULT)
    code, said = project.run(*COMMAND)
    assert code == 1, said
    assert re.search(r"table steady of toy: ValueError: a fault \(analyse/tables/per_round\.py, line \d+\)", said)
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


def test_a_second_sweep_a_figure_and_a_section_that_fail_are_named_and_made_after_the_repair(project: Project) -> None:
    refine(project)
    begins = {
        "workflow/crossover/analyse/tables/refinement.py": "    chosen = [curve",
        "workflow/crossover/report/charts/figures.py": '    points = [marks.point(panel, row, row["ratio"]',
        "workflow/crossover/report/pages/index.py": "    lines = certainty.needs(",
    }
    faults = {file: (sound, sound.replace("    ", "    None[0]; ", 1)) for file, sound in begins.items()}
    for file, (sound, wrong) in faults.items():
        project.edit(file, sound, wrong)
    code, said = project.run(*COMMAND)
    assert code == 1, said
    fault = r"TypeError: 'NoneType' object is not subscriptable \([\w/]+\.py, line \d+\)"
    for part, log in {
        "second sweep of toy": "toy/refinement.log",
        "figure pace-spinning-ratio of toy": "toy/figures.log",
        "section needs": "report.log",
    }.items():
        assert re.search(rf"  {part}: {fault}\n    traceback: results/logs/{log}\n", said), part
    page = (project.folder / "results/report/index.html").read_text()
    assert "Second sweep of" in page and "This figure could not be drawn" in page
    assert project.planned().keys() >= {"refinement", "figures", "report"}

    for file, (sound, wrong) in faults.items():
        project.edit(file, wrong, sound)
    project.succeed(*COMMAND)
    launches = record.read(project.folder / "results/launches.parquet", record.LAUNCHES)["launch"].to_pylist()
    assert max(launches) > SECOND_SWEEP
    assert failure.within(project.folder / "results") == []
    assert project.planned() == {}
