"""What reaches Snakemake of a profile, of the facts of a site, and of a profile of the user's own beside it."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from copies import ROOT, Project
from snakemake.cli import parse_args

Settings = dict[str, Any]


@pytest.fixture
def there(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of the project in which this process works."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    return project


def settings(*arguments: str) -> Settings:
    """Snakemake's settings as it takes them from its arguments and the profiles; resources as they are written."""
    found = vars(parse_args(arguments)[1])
    rules = {rule: written(asked) for rule, asked in (found["set_resources"] or {}).items()}
    return found | {
        "resources": written(found["resources"]),
        "default_resources": written(found["default_resources"] or {}),
        "set_resources": rules,
    }


def written(resources: Any) -> Settings:
    return {name: entry.raw if entry.is_evaluable() else entry.value for name, entry in resources.items()}


def test_without_a_site_file_nothing_is_asked_that_a_site_would_have_to_say(there: Project) -> None:
    found = settings("--profile", "slurm")
    assert set(found["set_resources"]["measure"]) == {"mpi", "slurm_extra", "mem_mb"}
    assert found["resources"] == {}


def test_every_fact_of_a_site_reaches_slurm(there: Project) -> None:
    (there.folder / "profiles/slurm/site.yaml").write_text(
        "partition: compute\naccount: '1234'\nqos: short\nconstraint: a&b\nmpi: srun --mpi=pmix\n"
        "nodes: 3\ninterface: ib0\naccounting: true\n"
    )
    found = settings("--profile", "slurm")
    expected = {
        "mpi": "'srun --mpi=pmix'",
        "slurm_partition": "'compute'",
        "slurm_account": "'1234'",
        "qos": "'short'",
        "constraint": "'a&b'",
        "interface": "'ib0'",
    }
    assert expected.items() <= found["set_resources"]["measure"].items()
    assert found["resources"] == {"nodes": 3}
    assert found["slurm_status_command"] == "sacct"


def test_no_two_launches_may_share_a_node_and_no_job_may_be_one_of_an_array(there: Project) -> None:
    found = settings("--profile", "slurm")
    assert found["set_resources"]["measure"]["slurm_extra"] == "'--exclusive'"
    assert not isinstance(found.get("slurm_array_jobs"), str)


def test_a_wrong_site_file_ends_with_its_name_and_no_traceback(project: Project) -> None:
    (project.folder / "profiles/slurm/site.yaml").write_text("partitoin: compute\nnodes: many\n")
    code, said = project.run("snakemake", "--profile", "slurm")
    assert code == 1
    assert "config error\n  profiles/slurm/site.yaml: partitoin: unknown key; known here: partition, " in said
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()


# ---- the example of profiles/slurm/README.md


@pytest.fixture
def home(there: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that has the profile of the example, and is that of this process."""
    [example] = re.findall(r"^```yaml\n(.+?)^```", (ROOT / "profiles/slurm/README.md").read_text(), re.DOTALL | re.M)
    folder = tmp_path / "home/.config/snakemake/mine"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(example)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


BESIDE = [
    (("--workflow-profile", "slurm"), "mine"),
    (("--profile", "mine", "--profile", "slurm"), ""),
]


@pytest.mark.parametrize(("arguments", "profile"), BESIDE)
def test_both_profiles_are_read_and_the_projects_wins_key_by_key(
    home: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], profile: str
) -> None:
    if profile:
        monkeypatch.setenv("SNAKEMAKE_PROFILE", profile)
    found = settings(*arguments)
    assert found["printshellcmds"] is True
    assert found["retries"] == 2
    assert found["executor"] == "slurm"
    assert found["default_resources"].items() >= {"slurm_account": "ab1234", "slurm_partition": "compute"}.items()
    # What default-resources brings along is no limit for a launch.
    assert "mem_mb" in found["default_resources"]
    assert found["set_resources"]["measure"]["mem_mb"] == 0


def test_a_key_is_replaced_as_a_whole(there: Project) -> None:
    found = settings("--profile", "slurm", "--set-resources", "measure:slurm_partition=compute")
    assert set(found["set_resources"]["measure"]) == {"slurm_partition"}


def test_a_profile_on_the_command_line_replaces_that_of_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNAKEMAKE_PROFILE", "mine")
    found = settings("--profile", "slurm")
    assert found["printshellcmds"] is False
    assert found["default_resources"] == {}
