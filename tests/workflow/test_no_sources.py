"""Without libzmq's sources, its experiment is a hole with the reason and the command to retry."""

from pathlib import Path

import pytest
from copies import Project

SMALL = {
    "sizes_bytes": [8],
    "scan_bytes": 0,
    "placements": ["process"],
    "launches": 1,
    "rounds": {"at_least": 3, "at_most": 3},
    "budget_seconds": 0.2,
}


@pytest.mark.long
def test_without_sources_the_launch_is_a_hole_with_the_reason_and_the_command(project: Project, tmp_path: Path) -> None:
    project.configure(zmq_message_size=SMALL)
    command = ("snakemake", "--profile", "profiles/local", "--config", f"archives={tmp_path / 'nowhere'}", "--")
    said = project.succeed(*command, "all")
    assert "libzmq-2.2.0.tar.gz: not fetched, so the arms that need it will not be measured" in said
    page = " ".join((project.folder / "results/report/index.html").read_text().split())
    assert "<code>zmq_message_size</code> (placement process), <em>not built</em>" in page
    assert "nowhere/pyzmq-2.2.0.1.tar.gz is not there" in page
    assert "-R results/native/libzmq-2.2.0.tar.gz" in page
    assert "nothing is left to measure" in project.succeed(*command, "all")
    jobs = project.planned("--config", f"archives={tmp_path / 'nowhere'}", "-R", "results/native/libzmq-2.2.0.tar.gz")
    assert len(jobs["build"]) == 3 and len(jobs["launch"]) == 1
    assert project.leftovers() == []
