"""Does a run with a folder that it cannot use end before anything is measured, with one line, or work all the same?"""

from __future__ import annotations

from copies import Project

RUN = ("snakemake", "--profile", "profiles/local")


def refused(project: Project, *command: str) -> str:
    """The last line of a run that is refused before any job."""
    code, said = project.run(*command)
    assert code == 1
    assert "Traceback" not in said
    assert not (project.folder / "results/raw").exists()
    return said.strip().splitlines()[-1]


def test_results_that_are_a_file_are_named(project: Project) -> None:
    (project.folder / "results").touch()
    assert refused(project, *RUN).startswith("results: is a file, and the results need a folder of this name; move it")


def test_a_temporary_folder_with_a_long_path_is_named(project: Project) -> None:
    long = project.folder / ("x" * 100)
    long.mkdir()
    assert refused(project, "env", f"TMPDIR={long}", *RUN).startswith(f"TMPDIR: {long} has ")


def test_a_home_that_cannot_be_written_to_does_not_matter(project: Project) -> None:
    code, said = project.run("env", "-u", "XDG_CACHE_HOME", "HOME=/dev/null/home", *RUN, "--dry-run")
    assert code == 0, said
    assert "Traceback" not in said
