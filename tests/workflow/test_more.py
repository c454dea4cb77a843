"""Does `crossover more` add launches beside the first ones, and do later runs keep them?"""

from copies import Project
from test_kept import raw


def test_more_launches_are_added_and_kept(finished: Project) -> None:
    first = raw(finished)
    said = finished.succeed("crossover", "more", "--dry-run", "mpi_pingpong")
    assert "launches of each heat: 4 of mpi_pingpong; about " in said
    assert raw(finished) == first

    said = finished.succeed("crossover", "more", "mpi_pingpong")
    assert "snakemake --profile profiles/local" in said
    both = raw(finished)
    assert {name: both[name] for name in first} == first, "the first launches must stay as they were"
    assert set(both) - set(first) == {f"mpi_pingpong/node/launch={number}.parquet" for number in (3, 4)}

    assert "launch" not in finished.planned(), "a plain run must want no fewer launches"


def test_without_a_finished_run_the_next_step_is_named(project: Project) -> None:
    code, said = project.run("crossover", "more")
    assert code == 1 and "repeat the run's command first" in said and "Traceback" not in said
