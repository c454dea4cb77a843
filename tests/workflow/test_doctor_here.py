"""The doctor on one machine, by the command of the README."""

import re

from copies import Project

from crossover.doctor.conclude import CHECKS

DOCTOR = ("snakemake", "--profile", "profiles/local", "-F", "doctor")


def verdicts(project: Project) -> dict[str, str]:
    """Each finding's verdict, from the file that the doctor writes."""
    page = (project.folder / "results/doctor.txt").read_text()
    return {
        title: verdict
        for verdict, title in re.findall(r"^(ok|warning|problem|unknown) +(\w+(?: \w+)?)(?:  |$)", page, re.M)
    }


def test_one_machine_has_all_findings_but_two_hosts_and_a_failed_job_hides_no_other(
    project: Project,
) -> None:
    said = project.succeed(*DOCTOR)
    assert "unknown   two hosts" in said
    found = verdicts(project)
    assert found.keys() == CHECKS.keys()
    assert {title for title, verdict in found.items() if verdict == "unknown"} == {"two hosts"}
    assert "problem" not in found.values()
    assert not (project.folder / "results/raw").exists(), "the doctor must measure nothing"
    assert project.leftovers() == []

    project.edit("workflow/rules/doctor.smk", '"python -m crossover examine', '"false && python -m crossover examine')
    code, said = project.run(*DOCTOR)
    assert code == 1
    assert "Traceback" not in said
    found = verdicts(project)
    assert found["executor"] == "problem"
    assert (found["launcher"], found["ports"]) == ("unknown", "unknown"), "a finding must not come from an earlier run"


def test_a_missing_launcher_is_named_with_one_that_works(project: Project) -> None:
    code, said = project.run(*DOCTOR, "--set-resources", "examine:mpi='no-launcher --quick'")
    assert code == 1
    assert "Traceback" not in said
    assert verdicts(project)["launcher"] == "problem"
    page = " ".join((project.folder / "results/doctor.txt").read_text().split())
    assert "no program no-launcher on PATH; mpiexec worked" in page
    assert "set `mpi: mpiexec`" in page
    assert verdicts(project)["ports"] == "ok", "the launcher that works must give the other findings"
