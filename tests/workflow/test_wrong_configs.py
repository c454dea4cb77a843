"""A wrong configuration is refused before any job, with the key. tests/config/test_schema.py tests each fault."""

import yaml
from copies import Project


def refused(project: Project) -> str:
    """The output of a run that is refused before any job."""
    code, said = project.run("snakemake", "--profile", "profiles/local")
    assert code == 1
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()
    return said


def test_a_wrong_claim_is_named_and_nothing_runs(project: Project) -> None:
    file = project.folder / "config/claims.yaml"
    file.write_text(file.read_text().replace("over: no-copy", "under: no-copy", 1))
    said = refused(project)
    assert "config/claims.yaml: claims.zmq-small-penalty.quantity.under: unknown key" in said


def test_all_faults_are_reported_at_once_and_nothing_runs(project: Project) -> None:
    config = {"experiments": {"toy": {"launches": 0, "budget_seconds": "much"}, "mpi_pingpong": {"arm": 1}}}
    (project.folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    said = refused(project)
    assert "config error\n  experiments." in said
    for key in ("toy.launches", "toy.budget_seconds", "mpi_pingpong.arm"):
        assert f"  experiments.{key}: " in said


def test_a_file_that_is_not_yaml_is_named(project: Project) -> None:
    (project.folder / "config/config.yaml").write_text("experiments: {toy: {")
    assert "config/config.yaml" in refused(project)
