"""Do profiles, a site's facts and a user's own profile reach Snakemake?"""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from copies import ROOT, Project
from snakemake.cli import parse_args
from snakemake.profiles import ProfileConfigFileParser

from crossover.config import schema
from crossover.design.launch import Launch
from crossover.workflow import session

Settings = dict[str, Any]


@pytest.fixture
def there(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of the project in which this process works."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    return project


def settings(*arguments: str) -> Settings:
    """Snakemake's settings from its arguments and the profiles; resources stay as written."""
    found = vars(parse_args(arguments)[1])
    rules = {rule: written(asked) for rule, asked in (found["set_resources"] or {}).items()}
    return found | {
        "resources": written(found["resources"]),
        "default_resources": written(found["default_resources"] or {}),
        "set_resources": rules,
    }


def written(resources: Any) -> Settings:
    return {name: entry.raw if entry.is_evaluable() else entry.value for name, entry in resources.items()}


def a_run(*arguments: str) -> Any:
    """What Snakemake calls the workflow, with the resources that these arguments give."""
    found = vars(parse_args(arguments)[1])
    given = {"default_resources": found["default_resources"], "overwrite_resources": found["set_resources"] or {}}
    return SimpleNamespace(resource_settings=SimpleNamespace(**given))


def test_without_a_site_file_no_fact_of_a_site_is_requested_and_launches_share_no_node(there: Project) -> None:
    found = settings("--profile", "slurm")
    own = ("mpi", "slurm_extra", "mem_mb", "batch_launches", "batch_minutes", "time_factor", "wait_for_nodes")
    assert set(found["set_resources"]["launch"]) == {*own}
    assert found["resources"] == {}
    assert found["set_resources"]["launch"]["slurm_extra"] == "'--exclusive --overcommit'"
    assert not isinstance(found.get("slurm_array_jobs"), str)
    assert found["local_cores"] == 2, "the login node must not be filled"


def test_every_fact_of_a_site_reaches_slurm(there: Project) -> None:
    (there.folder / "profiles/slurm/site.yaml").write_text(
        "partition: compute\naccount: '1234'\nqos: short\nconstraint: a&b\nmpi: srun --mpi=pmix\n"
        "nodes: 3\ninterface: ib0\n"
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
    assert expected.items() <= found["set_resources"]["launch"].items()
    assert found["resources"] == {"nodes": 3}
    # The command line replaces a key of a profile as a whole.
    found = settings("--profile", "slurm", "--set-resources", "launch:slurm_partition=compute")
    assert set(found["set_resources"]["launch"]) == {"slurm_partition"}


def test_options_of_a_site_and_shared_nodes_reach_launches_and_the_doctor(there: Project) -> None:
    (there.folder / "profiles/slurm/site.yaml").write_text(
        "sbatch_options: --gpus-per-node=1 --reservation=tests --prefer='a&b'\nexclusive: false\n"
    )
    found = settings("--profile", "slurm")["set_resources"]
    options = "--gpus-per-node=1 --reservation=tests '--prefer=a&b'"
    assert found["launch"]["slurm_extra"] == found["examine"]["slurm_extra"] == repr(options)
    (there.folder / "profiles/slurm/site.yaml").write_text("sbatch_options: --hint=x\nnode_list: [n1, n2]\n")
    workflow = a_run("--profile", "slurm")
    assert session.slurm_resources(workflow)["slurm_extra"] == "--exclusive --overcommit --hint=x"
    across = Launch("mpi_pingpong", "nodes", 1, schema.complete({}).experiments["mpi_pingpong"])
    assert session.slurm_extra(workflow)(across) == "--exclusive --overcommit --hint=x --nodelist=n1,n2"


def test_launches_rotate_over_the_nodes_of_a_site_and_the_doctor_takes_any(there: Project) -> None:
    (there.folder / "profiles/slurm/site.yaml").write_text("node_list: [n1, n2, n3]\n")
    asked = vars(parse_args(("--profile", "slurm"))[1])["set_resources"]

    def extra(placement: str, launch: int) -> Any:
        wildcards = SimpleNamespace(experiment="mpi_pingpong", placement=placement, launch=str(launch))
        entry = asked["launch"]["slurm_extra"]
        return entry.evaluate(wildcards, input=[], attempt=1, threads=1, rulename="launch", async_run=None).value

    every_job = "--exclusive --overcommit"
    assert [extra("nodes", launch) for launch in (1, 2, 3)] == [
        f"{every_job} --nodelist={pair}" for pair in ("n1,n2", "n2,n3", "n1,n3")
    ]
    assert extra("node", 1) == every_job
    assert asked["examine"]["slurm_extra"].raw == repr(every_job)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        # Of a resource that differs between launches, that of one on a single host.
        ("slurm", {"slurm_partition": "compute", "qos": "short", "slurm_extra": "--exclusive --overcommit"}),
        ("profiles/local", {}),
    ],
)
def test_a_run_on_slurm_is_recognised_by_the_resources_of_launches(
    there: Project, profile: str, expected: Settings
) -> None:
    (there.folder / "profiles/slurm/site.yaml").write_text("partition: compute\nqos: short\nnode_list: [n1, n2, n3]\n")
    found = session.slurm_resources(a_run("--profile", profile))
    assert expected.items() <= found.items()
    assert ("slurm_extra" in found) == bool(expected)


# ---- the example of profiles/slurm/README.md


@pytest.fixture
def home(there: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of this process, with the profile of the example."""
    [example] = re.findall(r"^```yaml\n(.+?)^```", (ROOT / "profiles/slurm/README.md").read_text(), re.DOTALL | re.M)
    folder = tmp_path / "home/.config/snakemake/mine"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(example)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("arguments", "profile"),
    [(("--workflow-profile", "slurm"), "mine"), (("--profile", "mine", "--profile", "slurm"), "")],
)
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
    # default-resources adds a memory limit, but it must not apply to a launch.
    assert "mem_mb" in found["default_resources"]
    assert found["set_resources"]["launch"]["mem_mb"] == 0


PROFILES = sorted(path.name for path in (ROOT / "profiles").iterdir() if path.is_dir())


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_loses_nothing_when_a_launch_fails(there: Project, profile: str) -> None:
    with Path(f"profiles/{profile}/config.yaml").open(encoding="utf-8") as file:
        entries = dict(ProfileConfigFileParser().parse(file))
    assert {entries[key] for key in ("keep-going", "ignore-incomplete", "nolock")} == {"True"}
    assert entries["rerun-triggers"] == ["mtime", "params"]
    assert ("keep-incomplete" in entries) is (profile != "local")
    # Either would make jobs wrong or slow; see profiles/slurm.
    assert not {"default-resources", "slurm-array-jobs"} & set(entries)


def test_the_page_lists_every_key_that_slurm_takes() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "profiles/slurm/README.md").read_text(), re.MULTILINE)
    [taken] = re.findall(r'keys = "(.+?)"', (ROOT / "profiles/slurm/config.yaml").read_text())
    assert sorted(listed) == sorted(taken.split())
