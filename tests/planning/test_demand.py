"""Is a measured launch kept, and are its differences from the run reported?"""

import json
from dataclasses import replace

import pytest

from crossover.config import schema
from crossover.planning import command_line, inventory, plan, second_sweep
from crossover.planning.command_line import Command
from crossover.planning.demand import Demand
from crossover.records import record

PINGPONG = {"mpi_pingpong": {"launches": 2, "placements": ["node"], "target_width": 0.02, "players": ["rank"]}}
SOFTWARE = {"libzmq": "4.3.5", "python": "CPython 3.12.1", "distributed": "2025.1"}


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path), "tier": "quick", "experiments": PINGPONG})


def measure(config, number, outcome="measured", seconds=1800.0, **changed):
    """Write the raw file of a launch of this run, like its supervisor."""
    launch = {"experiment": "mpi_pingpong", "placement": "node", "launch": number}
    settings = second_sweep.settings_of(config, launch) | changed
    facts = launch | {"outcome": outcome, "settings": plan.canonical(settings), "code": "", "wall_seconds": seconds}
    ranks = [{"libraries": '{"libzmq": "4.3.5", "distributed": "2024.9"}', "python": SOFTWARE["python"]}]
    path = inventory.Path(plan.raw_file(config, launch))
    record.write(record.MEASUREMENTS.empty_table(), path, {"launch": facts, "ranks": ranks})
    return str(path)


def held(config):
    return inventory.launches(config["results"], config["tier"])


def kept(config, command=None):
    return [each.launch["launch"] for each in Demand(config, command or Command()).kept(held(config))]


def test_a_measured_launch_is_kept_and_a_hole_is_not(config):
    measure(config, 1)
    measure(config, 2, outcome="hole")
    assert kept(config) == [1]


def test_a_forced_launch_is_not_kept(config):
    first, _ = measure(config, 1), measure(config, 2)
    assert kept(config, Command(forced=frozenset({first}))) == [2]
    assert kept(config, Command(everything=True)) == kept(config, Command(forced=frozenset({"launch"}))) == []


def test_remeasure_affects_only_launches_that_differ(config):
    measure(config, 1)
    measure(config, 2, target_width=0.5)
    assert kept(config | {"remeasure": True}) == [1]


def test_a_file_that_cannot_be_read_is_not_kept(config):
    path = inventory.Path(measure(config, 1))
    path.write_bytes(b"nothing")
    [found] = held(config)
    assert found.outcome == "unreadable"
    assert inventory.files([found], "mpi_pingpong") == [str(path)]
    assert kept(config) == []


def test_a_launch_with_the_same_settings_code_and_software_does_not_differ(config):
    measure(config, 1)
    run = Demand(config, Command(), SOFTWARE)
    assert run.differences(held(config)[0]) == []
    assert run.conflict(held(config), {"mpi_pingpong"}) == ""


def test_differences_name_key_and_library_with_both_values(config):
    measure(config, 1, target_width=0.5, rounds={"at_least": 1, "at_most": 500})
    run = Demand(config, Command(), SOFTWARE | {"libzmq": "4.3.6"})
    # An experiment without farms does not use the farms' libraries.
    assert run.differences(held(config)[0]) == [
        "rounds.at_least: 1, now 10",
        "target_width: 0.5, now 0.02",
        "libzmq: 4.3.5, now 4.3.6",
    ]


def test_the_conflict_gives_the_measuring_time_and_the_commands(config):
    for number in (1, 2):
        measure(config, number, seconds=5400.0, target_width=0.5)
    command = Command(profile="slurm", targets=("mpi_pingpong",), values=("tier=quick",))
    said = Demand(config, command).conflict(held(config), {"mpi_pingpong"}).splitlines()
    assert said[0].startswith("2 measured launches differ from what this command would measure")
    assert said[1] == "  mpi_pingpong, placement node, launch 1, 2: target_width: 0.5, now 0.02"
    assert said[2] == "measuring them took 3.0 h; choose one:"
    assert "    snakemake --profile slurm --config tier=quick partial=true -- mpi_pingpong" in said
    assert "    snakemake --profile slurm --config tier=quick remeasure=true -- mpi_pingpong" in said


def test_other_experiments_and_a_partial_run_have_no_conflict(config):
    measure(config, 1, target_width=0.5)
    assert Demand(config, Command()).conflict(held(config), {"zmq_latency"}) == ""
    assert Demand(config | {"partial": True}, Command()).conflict(held(config), {"mpi_pingpong"}) == ""


def test_a_launch_that_is_no_longer_planned_has_no_differences(config):
    measure(config, 1, target_width=0.5)
    fewer = schema.complete({"results": config["results"], "experiments": {"zmq_latency": {}}})
    assert Demand(fewer, Command()).differences(held(config)[0]) == []


@pytest.mark.parametrize("lowered", [{"launches": 1}, {"placements": ["nodes"]}])
def test_launches_that_are_no_longer_planned_never_stop_a_run(config, lowered):
    measure(config, 2, target_width=0.5)
    narrowed = {"mpi_pingpong": PINGPONG["mpi_pingpong"] | lowered}
    less = schema.complete({"results": config["results"], "tier": "quick", "experiments": narrowed})
    assert Demand(config, Command()).conflict(held(config), {"mpi_pingpong"}) != ""
    assert Demand(less, Command()).conflict(held(config), {"mpi_pingpong"}) == ""


def test_a_second_sweep_is_no_longer_planned_without_its_first_sweep_or_points(config):
    of_both = schema.complete({"results": config["results"], "experiments": {"mpi_pingpong": {"refine_points": 3}}})
    plan_file = inventory.Path(config["results"], "raw/quick/mpi_pingpong/refinement.json")
    plan_file.parent.mkdir(parents=True)
    cells = {"cells": {"a": [1, 2]}, "budget_seconds": 1.0}
    plan_file.write_text(json.dumps({"node": {str(plan.SECOND_SWEEP + 2): cells}}))
    measure(of_both, plan.SECOND_SWEEP + 2, target_width=0.5)
    for planned, change in ((True, {}), (False, {"launches": 1, "players": ["rank"]}), (False, {"refine_points": 0})):
        less = of_both["experiments"]["mpi_pingpong"] | change
        run = Demand(of_both | {"experiments": {"mpi_pingpong": less}}, Command())
        assert bool(run.differences(held(config)[0])) is planned, change


@pytest.mark.parametrize(("kind", "again"), [("exception", True), ("unknown metric", True), ("crashed", False)])
def test_a_hole_of_faulty_code_is_repeated_when_the_code_has_changed(config, kind, again, monkeypatch):
    path = inventory.Path(measure(config, 1, outcome="hole"))
    table = record.read(path, record.MEASUREMENTS)
    launch = record.metadata(table)["launch"] | {"hole": kind, "code": "before"}
    record.write(table, path, {"launch": launch, "ranks": []})
    monkeypatch.setattr("crossover.code_digest.of_launch", lambda experiment, settings: "before")
    assert Demand(config, Command()).repeated(held(config)) == []
    monkeypatch.setattr("crossover.code_digest.of_launch", lambda experiment, settings: "after")
    assert Demand(config, Command()).repeated(held(config)) == [str(path)] * again


def test_only_remeasure_repeats_launches_that_differ(config):
    measure(config, 1)
    second = measure(config, 2, target_width=0.5)
    assert Demand(config, Command()).repeated(held(config)) == []
    assert Demand(config | {"remeasure": True}, Command()).repeated(held(config)) == [second]


# ---- a report on existing launches


def test_a_partial_report_lists_its_launches_and_the_others_with_reasons(config):
    measure(config, 1, target_width=0.5)
    measure(config, 2, outcome="hole")
    broken = inventory.Path(measure(config, 3))
    broken.write_bytes(b"nothing")
    measure(config | {"tier": "paper"}, 1)
    partial = config | {"partial": True}
    others = inventory.other_tiers(config["results"], "quick", schema.TIERS)
    old = inventory.Path(config["results"], "raw/mpi_pingpong/node/launch=1.parquet")
    record.write(record.MEASUREMENTS.empty_table(), old)
    remarks = Demand(partial, Command()).leaves_out(
        held(config), others, inventory.of_no_tier(config["results"], "quick")
    )
    said = "\n".join(map(str, remarks))
    assert said.splitlines()[:2] == [
        "partial: 1 measured launches and 2 holes of tier quick",
        "1 of them were measured with other settings, code or software than the current",
    ]
    assert str(broken) not in said, "the tables have it as a hole"
    assert (
        "left out: 1 launches of tier paper; to report on them:\n    snakemake --config partial=true tier=paper" in said
    )
    assert f"left out: 1 launches of an earlier version, such as {old}; if they are of tier quick, move" in said
    assert inventory.of_no_tier(f"{config['results']}/elsewhere", "quick") == []


# ---- the command


@pytest.mark.parametrize(
    ("words", "forces"),
    [
        (["-F", "toy"], True),
        (["-nF", "toy"], True),
        (["-R", "results/raw/quick/toy/node/launch=1.parquet"], True),
        (["-R", "launch"], True),
        (["-f", "./results/raw/quick/toy/node/launch=1.parquet"], True),
        (["toy"], False),
        (["-R", "results/raw/quick/toy/node/launch=2.parquet"], False),
        (["-f", "toy"], False),
    ],
)
def test_which_commands_force_a_launch(words, forces):
    command = command_line.read(["--cores", "1", *words])
    assert command.remeasures("results/raw/quick/toy/node/launch=1.parquet") is forces


def test_a_command_is_repeated_with_other_values_and_without_force():
    command = command_line.read(
        ["--profile", "profiles/local", "-F", "toy", "--config", "tier=paper", "results=my runs"]
    )
    assert command.but(results="x", partial="true") == (
        "snakemake --profile profiles/local --config tier=paper results=x partial=true -- toy"
    )


def test_a_command_that_forces_only_some_files():
    command = command_line.read(["--profile", "slurm", "-F", "toy", "--config", "remeasure=true"])
    assert command.forcing(["a", "b c"]) == "snakemake --profile slurm -R a 'b c' --config remeasure=true -- toy"
    assert Command(values=("partial=true",)).forcing(["a"]) == "snakemake -R a"
    assert Command(targets=("toy",)).forcing(["a"]) == "snakemake -R a -- toy"
    assert command.forcing(["a", "b"], " | ") == "snakemake --profile slurm -R a | b --config remeasure=true -- toy"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("--cores 2 --sdm conda -R launch --config tier=smoke -- toy", "--cores 2 --sdm conda"),
        (
            "-nj4 -F --set-resources launch:mpi=a launch:nodes=2 -k toy",
            "-j4 --set-resources launch:mpi=a launch:nodes=2 -k",
        ),
        ("-c1 toy --retries=0 -C tier=smoke -kF", "-c1 --retries=0 -k"),
        ("-j 3 --dry-run --verbose -f toy", "-j 3 --verbose"),
    ],
)
def test_a_repeated_command_keeps_all_other_options(words, options):
    command = command_line.read(words.split())
    repeated = command.forcing(["a"])
    assert repeated.startswith(f"snakemake {options} -R a")
    again = command_line.read(repeated.split()[1:])
    assert (again.options, again.values, again.targets) == (command.options, command.values, command.targets)


def test_a_command_is_stored_and_restored_without_force():
    command = command_line.read(["--profile", "slurm", "-c", "1", "-F", "--config", "tier=smoke", "--", "toy"])
    assert command_line.restored(json.loads(command.stored())) == replace(command, everything=False)


@pytest.mark.parametrize("words", [["--config", "tier=smoke", "toy"], ["-C", "tier=smoke", "toy", "-n"]])
def test_a_target_behind_config_is_refused_with_the_right_command(words):
    with pytest.raises(SystemExit, match="not 'toy'; if that is a target, put -- before it: -- toy"):
        command_line.require_values(words)


def test_values_behind_config_are_accepted():
    command_line.require_values(["toy", "--config", "tier=smoke", "results=a b", "--", "toy"])
    command_line.require_values(["-F", "toy", "--profile", "slurm", "--config", "tier=smoke", "-n"])
