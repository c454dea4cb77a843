"""What a run cannot use is refused before any job. tests/config and test_folders.py test each fault."""

from collections.abc import Callable

import pytest
import yaml
from copies import Project


def a_claim(project: Project) -> list[str]:
    project.edit("config/claims.yaml", "over: no-copy", "under: no-copy")
    return ["config/claims.yaml: claims.zmq-small-penalty.quantity.under: unknown key"]


def several_settings(project: Project) -> list[str]:
    config = {"experiments": {"toy": {"launches": 0, "budget_seconds": "much"}, "mpi_pingpong": {"arm": 1}}}
    (project.folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    keys = ("toy.launches", "toy.budget_seconds", "mpi_pingpong.arm")
    return ["config error\n  experiments.", *(f"  experiments.{key}: " for key in keys)]


def no_yaml(project: Project) -> list[str]:
    (project.folder / "config/config.yaml").write_text("experiments: {toy: {")
    return ["config/config.yaml"]


def a_file_as_results(project: Project) -> list[str]:
    (project.folder / "results").touch()
    return ["results: is a file, and the results need a folder of this name; move it"]


def a_site(project: Project) -> list[str]:
    (project.folder / "profiles/slurm/site.yaml").write_text("partitoin: compute\nnodes: many\n")
    return ["config error\n  profiles/slurm/site.yaml: ", "partitoin: unknown key"]


@pytest.mark.parametrize("spoil", [a_claim, several_settings, no_yaml, a_file_as_results, a_site])
def test_what_is_wrong_is_named_and_nothing_runs(project: Project, spoil: Callable[[Project], list[str]]) -> None:
    told = spoil(project)
    code, said = project.run("snakemake", "--profile", "slurm" if spoil is a_site else "profiles/local")
    assert code == 1 and "Traceback" not in said
    assert [words for words in told if words not in said] == []
    assert not (project.folder / "results").is_dir()
