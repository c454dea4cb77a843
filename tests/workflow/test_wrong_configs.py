"""A wrong configuration ends before any job, with one message that names the key."""

import pytest
import yaml
from copies import Project

WRONG = {
    "unknown key": ({"tiers": "quick"}, "tiers: unknown key; known here: tier"),
    "unknown tier": ({"tier": "huge"}, "tier: 'huge' is not one of smoke, quick, standard, paper"),
    "unknown experiment": ({"experiments": {"zmq": {}}}, "experiments.zmq: unknown key"),
    "no experiment": ({"experiments": {}}, "experiments: is empty"),
    "unknown key of an experiment": (
        {"experiments": {"mpi_pingpong": {"element": [1]}}},
        "experiments.mpi_pingpong.element: unknown key",
    ),
    "wrong type": (
        {"experiments": {"mpi_pingpong": {"launches": "three"}}},
        "experiments.mpi_pingpong.launches: 'three' is not of type integer",
    ),
    "unknown arm": (
        {"experiments": {"mpi_pingpong": {"arms": ["send", "isend"]}}},
        "experiments.mpi_pingpong.arms.1: 'isend' is not one of send, Send",
    ),
    "one arm": (
        {"experiments": {"mpi_pingpong": {"arms": ["send"]}}},
        "experiments.mpi_pingpong.arms: is empty or too short",
    ),
    "empty axis": (
        {"experiments": {"mpi_pingpong": {"elements": []}}},
        "experiments.mpi_pingpong.elements: [] is neither a list",
    ),
    "axis backwards": (
        {"experiments": {"mpi_pingpong": {"elements": {"from": 10, "to": 1, "per_decade": 3}}}},
        "experiments.mpi_pingpong.elements: to (1) must be greater than from (10)",
    ),
    "negative budget": (
        {"experiments": {"mpi_pingpong": {"budget_seconds": -1}}},
        "experiments.mpi_pingpong.budget_seconds: -1 is less than or equal to the minimum of 0",
    ),
    "a tier forgotten": (
        {"experiments": {"mpi_pingpong": {"launches": {"quick": 3}}}},
        "experiments.mpi_pingpong.launches: has no value for one of the tiers",
    ),
    "rounds the wrong way round": (
        {"experiments": {"mpi_pingpong": {"rounds": {"at_least": 10, "at_most": 5}}}},
        "experiments.mpi_pingpong.rounds: at_most (5) is less than at_least (10)",
    ),
}


def test_a_wrong_claim_is_named_and_nothing_runs(project: Project) -> None:
    file = project.folder / "config/claims.yaml"
    file.write_text(file.read_text().replace("over: no-copy", "under: no-copy", 1))
    code, said = project.run("snakemake", "--profile", "profiles/local")
    assert code == 1
    assert "config/claims.yaml: claims.zmq-small-penalty.quantity.under: unknown key; known here: " in said
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_configuration_is_named_and_nothing_runs(project: Project, kind: str) -> None:
    config, message = WRONG[kind]
    (project.folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    code, said = project.run("snakemake", "--profile", "profiles/local")
    assert code == 1
    assert f"config error\n  {message}" in said
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()


def test_all_that_is_wrong_is_said_at_once(project: Project) -> None:
    config = {"experiments": {"toy": {"launches": 0, "budget_seconds": "much"}, "mpi_pingpong": {"arm": 1}}}
    (project.folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    _, said = project.run("snakemake", "--profile", "profiles/local")
    for key in ("toy.launches", "toy.budget_seconds", "mpi_pingpong.arm"):
        assert f"experiments.{key}: " in said


def test_a_file_that_is_not_yaml_is_named(project: Project) -> None:
    (project.folder / "config/config.yaml").write_text("experiments: {toy: {")
    code, said = project.run("snakemake", "--profile", "profiles/local")
    assert code == 1
    assert "config/config.yaml" in said
