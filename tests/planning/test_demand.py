"""Which receipt must each launch have, and are differences of measured launches from the run reported?"""

import json
from dataclasses import replace

import pytest
from measured import SOFTWARE, measure

from crossover import code_digest
from crossover.config import schema
from crossover.design.launch import MOST_LAUNCHES, MPI_LIBRARY
from crossover.design.settings import Rounds
from crossover.planning import command as commands
from crossover.planning import plan, receipt
from crossover.planning.command import Command
from crossover.planning.demand import Demand

PINGPONG = {"mpi_pingpong": {"launches": 2, "placements": ["node"], "target_width": 0.02, "players": ["rank"]}}
FIRST, SECOND = (
    plan.launch(schema.complete({"experiments": PINGPONG}), "mpi_pingpong", "node", number) for number in (1, 2)
)


@pytest.fixture
def config(tmp_path):
    return schema.complete({"results": str(tmp_path), "tier": "quick", "experiments": PINGPONG})


@pytest.fixture
def code(monkeypatch):
    """A function that sets the digest of the measuring code."""

    def change(digest):
        digests = {FIRST.experiment: digest}
        monkeypatch.setattr(code_digest, "of_launch", lambda experiment, _: digests.get(experiment, "another"))

    change("now")
    return change


def demand(config, software=None):
    return Demand(config, receipt.held(config.results, config.tier), software)


def turn(config, launch=FIRST):
    """The turn that a launch must have."""
    return demand(config).planned(launch).turn


def hole(kind, code="now"):
    return {"outcome": "hole", "hole": kind, "reason": "it broke", "code": code}


def test_a_measured_launch_keeps_its_receipt_and_a_new_one_has_the_digest_of_its_settings(config):
    file = measure(config, FIRST)
    assert demand(config).planned(FIRST).path == file
    changed = replace(FIRST, settings=replace(FIRST.settings, elements=(1,)))
    assert demand(config).planned(changed).path != file
    assert demand(config).planned(FIRST).path == file, "changing back finds the first"


def test_a_plan_does_not_change_while_receipts_are_written(config):
    run = demand(config)
    before = run.planned(FIRST)
    measure(config, FIRST, 7)
    assert run.planned(FIRST) == before


@pytest.mark.parametrize(
    ("kind", "again"), [("host in use", 1), ("no space", 1), ("stranger", 1), ("crashed", 0), ("exception", 0)]
)
def test_a_hole_whose_cause_passes_has_a_next_turn(config, code, kind, again):
    measure(config, FIRST, facts=hole(kind))
    assert turn(config) == again


@pytest.mark.parametrize(("kind", "again"), [("exception", 1), ("unknown metric", 1), ("crashed", 0)])
def test_a_hole_of_faulty_code_has_a_next_turn_once_the_code_has_changed(config, code, kind, again):
    measure(config, FIRST, facts=hole(kind, code="before"))
    assert turn(config) == again
    code("before")
    assert turn(config) == 0


def test_a_launch_without_its_raw_file_has_a_next_turn(config):
    file = measure(config, FIRST)
    receipt.read(file).raw_file.unlink()
    assert turn(config) == 1
    measure(config, FIRST, 1)
    assert turn(config) == 1


def loaded(library):
    """The ranks of a launch that loaded this library of MPI."""
    return [
        {"libraries": json.dumps({MPI_LIBRARY: library, "libzmq": SOFTWARE["libzmq"]}), "python": SOFTWARE["python"]}
    ]


@pytest.mark.parametrize("software", [None, SOFTWARE], ids=["with --sdm", "known here"])
def test_launches_that_loaded_another_library_than_the_newest_are_listed_and_measured_again(config, software):
    """The package can be the same: LD_LIBRARY_PATH or another launcher decides what is loaded."""
    measure(config, FIRST, ranks=loaded("MPICH 5.0.2"))
    measure(config, SECOND, ranks=loaded("MPICH 5.0.2"))
    said = demand(config, software).conflict([FIRST, SECOND], Command(()))
    assert said == ""
    measure(config, SECOND, 1, ranks=loaded("Open MPI v4.1.4"))
    run = demand(replace(config, remeasure=True), software)
    said = demand(config, software).conflict([FIRST, SECOND], Command(()))
    assert "mpi_pingpong, placement node, launch 1: MPI library: MPICH 5.0.2, now Open MPI v4.1.4" in said
    assert [run.planned(launch).turn for launch in (FIRST, SECOND)] == [1, 1]


@pytest.mark.parametrize(
    ("before", "difference"),
    [
        (lambda arms: arms[:-1], "arms: pkl5.send is new"),
        (lambda arms: (*arms, "nng ipc", "nng tcp"), "arms: nng ipc, nng tcp are gone"),
        (lambda arms: (*arms[:-1], "nng ipc"), "arms: pkl5.send is new, nng ipc is gone"),
        (lambda arms: arms[::-1], "arms: in another order"),
        (lambda arms: ("one",), 'arms: ["one"], now ["send", "Send", "Send into new array", "pkl5.send"]'),
    ],
)
def test_of_two_lists_only_what_differs_is_listed(config, before, difference):
    measure(config, FIRST, arms=before(FIRST.settings.arms))
    assert f"placement node, launch 1: {difference}\n" in demand(config).conflict([FIRST], Command(()))


def test_of_another_text_only_its_name_is_listed(config):
    measure(config, FIRST, reference="one\ntwo")
    assert "placement node, launch 1: reference: another text\n" in demand(config).conflict([FIRST], Command(()))


@pytest.mark.parametrize("known", [True, False], ids=["known here", "with --sdm"])
def test_a_launch_with_other_variables_is_listed_and_one_with_unknown_variables_is_not(config, known):
    def listed(now):
        here = SOFTWARE | {receipt.VARIABLES: json.dumps(now)}
        return demand(config, here if known else None).conflict([FIRST, SECOND], Command(()))

    measure(config, FIRST)
    assert listed({"UCX_TLS": "tcp"}) == ""
    measure(config, FIRST, 1, ranks=[loaded("MPICH")[0] | {"variables": '{"PYTHONDEVMODE": "1"}'}])
    measure(config, SECOND, ranks=[loaded("MPICH")[0] | {"variables": '{"UCX_TLS": "tcp"}'}])
    differences = "mpi_pingpong, placement node, launch 1: PYTHONDEVMODE: 1, now none; UCX_TLS: none, now tcp"
    assert differences in listed({"UCX_TLS": "tcp"})


def test_remeasure_has_a_next_turn_for_launches_that_differ_until_they_are_measured(config, code):
    measure(config, FIRST, facts={"code": "before"})
    measure(config, SECOND, facts={"code": "now"})
    again = replace(config, remeasure=True)
    assert (turn(config), turn(again), turn(again, SECOND)) == (0, 1, 0)
    measure(config, FIRST, 1, facts={"code": "now"})
    assert turn(again) == turn(config) == 1
    code("before")
    assert turn(config) == 0, "changing the code back finds the first"


def test_a_hole_of_the_present_code_counts_before_a_measurement_of_other_code(config, code):
    measure(config, FIRST, facts={"code": "before"})
    measure(config, FIRST, 1, facts=hole("crashed"))
    assert turn(replace(config, remeasure=True)) == turn(config) == 1
    code("before")
    assert turn(config) == 0


def test_a_partial_run_has_the_latest_receipt_of_each_launch(config):
    measure(config, FIRST, target_width=0.5)
    last = measure(config, FIRST)
    broken = measure(config, SECOND)
    receipt.read(broken).raw_file.unlink()
    assert demand(config).existing("mpi_pingpong") == [str(last)]
    assert demand(config).existing("zmq_latency") == []


def differences(config, software=None):
    return demand(config, software).differing(FIRST)[1]


def test_a_launch_with_the_same_settings_code_and_software_does_not_differ(config):
    measure(config, FIRST)
    assert differences(config, SOFTWARE) == []
    assert demand(config, SOFTWARE).conflict([FIRST], Command()) == ""


def test_differences_name_key_and_library_with_both_values(config):
    measure(config, FIRST, target_width=0.5, rounds=Rounds(500, at_least=1))
    # An experiment without farms does not use the farms' libraries.
    assert differences(config, SOFTWARE | {"libzmq": "4.3.6"}) == [
        "rounds.at_least: 1, now 10",
        "target_width: 0.5, now 0.02",
        "libzmq: 4.3.5, now 4.3.6",
    ]


def test_the_conflict_gives_the_measuring_time_and_the_commands(config):
    for launch in (FIRST, SECOND):
        measure(config, launch, facts={"wall_seconds": 5400.0}, target_width=0.5)
    command = Command(("--profile", "slurm"), ("tier=quick",), ("mpi_pingpong",))
    said = demand(config).conflict([FIRST, SECOND], command).splitlines()
    assert said[0].startswith("2 measured launches differ from what this command would measure")
    assert said[1] == "  mpi_pingpong, placement node, launch 1, 2: target_width: 0.5, now 0.02"
    assert said[2] == "measuring them took 3.0 h; choose one:"
    assert "    snakemake --profile slurm --config tier=quick partial=true -- mpi_pingpong" in said
    assert "    snakemake --profile slurm --config tier=quick remeasure=true -- mpi_pingpong" in said


def test_a_partial_run_and_one_that_remeasures_have_no_conflict(config):
    measure(config, FIRST, target_width=0.5)
    assert demand(config).conflict([FIRST], Command()) != ""
    assert demand(config).conflict([SECOND], Command()) == ""
    for chosen in ("partial", "remeasure"):
        assert demand(replace(config, **{chosen: True})).conflict([FIRST], Command()) == ""


def test_a_hole_has_no_conflict_whatever_was_measured_before_it(config, code):
    measure(config, FIRST, target_width=0.5)
    measure(config, FIRST, facts=hole("crashed"))
    assert demand(config).conflict([FIRST], Command()) == ""


@pytest.mark.parametrize("lowered", [{}, {"launches": 1}, {"placements": ["nodes"]}])
def test_a_partial_report_counts_differences_of_planned_launches_only(config, lowered):
    measure(config, SECOND, target_width=0.5)
    chosen = {"mpi_pingpong": PINGPONG["mpi_pingpong"] | lowered}
    less = schema.complete({"results": config.results, "experiments": chosen})
    said = [str(each) for each in demand(less).remarks(plan.launches(less), {}, Command())]
    assert said[0] == "partial: 1 measured launches and 0 holes of tier quick"
    assert len(said) == (1 if lowered else 2)


def test_a_partial_report_lists_its_launches_and_the_others_with_reasons(config):
    measure(config, FIRST, target_width=0.5)
    measure(config, SECOND, facts=hole("crashed"))
    held = {**receipt.held(config.results, "quick"), ("gone", "node", 1): []}
    said = "\n".join(map(str, Demand(config, held).remarks(plan.launches(config), {"paper": 1}, Command())))
    assert said.splitlines() == [
        "partial: 1 measured launches and 1 holes of tier quick",
        "1 of them were measured with other settings, code or software than the current",
        "left out: gone, which the configuration does not list",
        "left out: 1 launches of tier paper; to report on them:",
        "    snakemake --config partial=true tier=paper",
    ]


def test_a_launch_of_an_earlier_refinement_counts_in_a_partial_report_and_is_never_asked_for(config):
    measure(config, replace(SECOND, number=MOST_LAUNCHES + 2), target_width=0.5)
    found = demand(config)
    assert [str(each) for each in found.remarks(plan.launches(config), {}, Command())] == [
        "partial: 1 measured launches and 0 holes of tier quick"
    ]
    assert len(found.existing("mpi_pingpong")) == 1
    assert found.conflict(plan.launches(config), Command()) == ""


def test_a_command_is_repeated_with_other_values_and_without_force():
    words = ["--profile", "profiles/local", "-F", "toy", "--config", "tier=paper", "results=my runs"]
    command = commands.read(words, {"toy"})
    assert command.but(results="x", partial="true") == (
        "snakemake --profile profiles/local --config tier=paper results=x partial=true -- toy"
    )


def test_a_command_that_forces_only_some_files():
    command = commands.read(["--profile", "slurm", "-F", "toy", "--config", "remeasure=true"], {"toy"})
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
    command = commands.read(words.split(), {"toy"})
    repeated = command.forcing(["a"])
    assert repeated.startswith(f"snakemake {options} -R a")
    again = commands.read(repeated.split()[1:], {"toy"})
    assert (again.options, again.values, again.targets) == (command.options, command.values, command.targets)


def test_a_command_is_repeated_without_force():
    command = commands.read(["--profile", "slurm", "-c", "1", "-F", "--config", "tier=smoke", "--", "toy"])
    assert command.but() == "snakemake --profile slurm -c 1 --config tier=smoke -- toy"


@pytest.mark.parametrize("words", [["--config", "tier=smoke", "toy"], ["-C", "tier=smoke", "toy", "-n"]])
def test_a_target_behind_config_is_refused_with_the_right_command(words):
    with pytest.raises(SystemExit, match="not 'toy'; if that is a target, put -- before it: -- toy"):
        commands.require_values(words)


def test_values_behind_config_are_accepted():
    commands.require_values(["toy", "--config", "tier=smoke", "results=a b", "--", "toy"])
    commands.require_values(["-F", "toy", "--profile", "slurm", "--config", "tier=smoke", "-n"])
