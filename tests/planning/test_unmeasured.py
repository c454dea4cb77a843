"""Does a run name the launches that it did not measure, each with its reason and a command that repeats it?"""

from pathlib import Path

import pytest

from crossover.config import schema
from crossover.planning import plan, unmeasured
from crossover.planning.command_line import Command
from crossover.records import record

TOY = {"mpi_pingpong": {"launches": 5, "placements": ["node"], "players": ["rank"]}}
COMMAND = Command("slurm", values=("tier=quick",), options=("--cores", "2"))


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path), "tier": "quick", "experiments": TOY})


def launches(config):
    return list(plan.launches(config))


def write(config, launch, outcome="hole", hole="crashed", reason="it broke"):
    """Write the raw file of a launch, like its supervisor."""
    facts = launch | {"outcome": outcome} | ({"hole": hole, "reason": reason} if outcome == "hole" else {})
    path = Path(plan.raw_file(config, launch))
    path.parent.mkdir(parents=True, exist_ok=True)
    record.write(record.MEASUREMENTS.empty_table(), path, {"launch": facts, "ranks": []})
    return str(path)


def test_each_group_of_holes_has_kind_reason_and_command(config):
    first, second, third, fourth, fifth = launches(config)
    write(config, first, "measured")
    files = [write(config, launch) for launch in (second, fifth)]
    other = write(config, third, hole="timed out", reason="too slow")
    write(config, fourth, hole="crashed", reason="not of this run")
    found = unmeasured.find(config, COMMAND, [fifth, first, second, third], [])
    assert found.fails
    assert str(found).splitlines() == [
        "3 launches of this run were not measured",
        "not measured: mpi_pingpong, placement node, launch 2, 5 (crashed): it broke; to retry:",
        f"    snakemake --profile slurm --cores 2 -R {' '.join(files)} --config tier=quick",
        "not measured: mpi_pingpong, placement node, launch 3 (timed out): too slow; to retry:",
        f"    snakemake --profile slurm --cores 2 -R {other} --config tier=quick",
    ]


def test_launches_whose_job_failed_without_a_file_have_the_command_for_the_page_too(config):
    first, second, third, *_ = launches(config)
    write(config, first, "measured")
    log = Path(plan.LOG.format(results=config["results"], tier=config["tier"], **second))
    log.parent.mkdir(parents=True)
    log.write_text("mpi_pingpong node launch 2: cell 3 of 9\n")
    # The third was not started, for example because the run was interrupted.
    found = unmeasured.find(config, COMMAND, [first, second, third], [first, second])
    assert found.fails
    assert str(found).splitlines() == [
        "1 launch of this run was not measured",
        "not measured: mpi_pingpong, placement node, launch 2 (no raw file): its job ended early; "
        f"logs: {log.parent}; to retry:",
        f"    snakemake --profile slurm --cores 2 -R {plan.raw_file(config, second)} --config tier=quick",
        "to report on the existing launches now:",
        "    snakemake --profile slurm --cores 2 --config tier=quick partial=true",
    ]
    log.write_text("mpi_pingpong node launch 2: no space; launch discarded; to repeat it, repeat the command\n")
    assert "(no raw file): no space; launch discarded" in str(unmeasured.find(config, COMMAND, [second], [second]))


def test_a_raw_file_among_the_targets_is_no_target_of_the_page(config):
    first, *_ = launches(config)
    command = Command("slurm", targets=("mpi_pingpong", plan.raw_file(config, first)))
    lines = str(unmeasured.find(config, command, [first], [first])).splitlines()
    assert lines[-1] == "    snakemake --profile slurm --config partial=true -- mpi_pingpong"


@pytest.mark.parametrize(
    ("hole", "fails"),
    [("not built", False), ("another machine", False), ("not installed", True), ("host in use", True)],
)
def test_holes_that_retrying_here_does_not_fill_do_not_fail_the_run(config, hole, fails):
    first, *_ = launches(config)
    write(config, first, hole=hole)
    found = unmeasured.find(config, COMMAND, [first], [])
    assert found.fails is fails
    assert f"launch 1 ({hole}): it broke; to retry:" in str(found)


def test_a_run_that_measured_everything_says_nothing(config):
    first, second, *_ = launches(config)
    write(config, first, "measured")
    # A file that cannot be read has a message of its own.
    Path(plan.raw_file(config, second)).write_bytes(b"PAR1")
    found = unmeasured.find(config, COMMAND, [first, second], [])
    assert (str(found), found.fails) == ("", False)
