"""Which receipt must each launch have, and are differences of measured launches from the run reported?"""

import json
from dataclasses import replace

import pytest
from measured import SOFTWARE, measure

from crossover import code_digest
from crossover.config import schema
from crossover.design.launch import MOST_LAUNCHES, MPI_LIBRARY
from crossover.design.settings import Rounds
from crossover.planning import plan, receipt
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
    return [{"libraries": {MPI_LIBRARY: library, "libzmq": SOFTWARE["libzmq"]}, "python": SOFTWARE["python"]}]


@pytest.mark.parametrize("software", [None, SOFTWARE], ids=["with --sdm", "known here"])
def test_launches_that_loaded_another_library_than_the_newest_are_listed_and_measured_again(config, software):
    """The package can be the same: LD_LIBRARY_PATH or another launcher decides what is loaded."""
    measure(config, FIRST, ranks=loaded("MPICH 5.0.2"))
    measure(config, SECOND, ranks=loaded("MPICH 5.0.2"))
    said = demand(config, software).conflict([FIRST, SECOND])
    assert said == ""
    measure(config, SECOND, 1, ranks=loaded("Open MPI v4.1.4"))
    run = demand(replace(config, remeasure=True), software)
    said = demand(config, software).conflict([FIRST, SECOND])
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
    assert f"placement node, launch 1: {difference}\n" in demand(config).conflict([FIRST])


def test_of_another_text_only_its_name_is_listed(config):
    measure(config, FIRST, reference="one\ntwo")
    assert "placement node, launch 1: reference: another text\n" in demand(config).conflict([FIRST])


@pytest.mark.parametrize("known", [True, False], ids=["known here", "with --sdm"])
def test_a_launch_with_other_variables_is_listed_and_one_with_unknown_variables_is_not(config, known):
    def listed(now):
        here = SOFTWARE | {receipt.VARIABLES: json.dumps(now)}
        return demand(config, here if known else None).conflict([FIRST, SECOND])

    measure(config, FIRST)
    assert listed({"UCX_TLS": "tcp"}) == ""
    measure(config, FIRST, 1, ranks=[loaded("MPICH")[0] | {"variables": {"PYTHONDEVMODE": "1"}}])
    measure(config, SECOND, ranks=[loaded("MPICH")[0] | {"variables": {"UCX_TLS": "tcp"}}])
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


def test_differences_name_key_and_library_with_both_values(config):
    measure(config, FIRST, target_width=0.5, rounds=Rounds(500, at_least=1))
    # An experiment without farms does not use the farms' libraries.
    assert differences(config, SOFTWARE | {"libzmq": "4.3.6"}) == [
        "rounds.at_least: 1, now 10",
        "target_width: 0.5, now 0.02",
        "libzmq: 4.3.5, now 4.3.6",
    ]


def test_the_conflict_gives_the_measuring_time_and_the_values_to_add(config):
    for launch in (FIRST, SECOND):
        measure(config, launch, facts={"wall_seconds": 5400.0}, target_width=0.5)
    said = demand(config).conflict([FIRST, SECOND]).splitlines()
    assert said[0].startswith("2 measured launches differ from what this command would measure")
    assert said[1] == "  mpi_pingpong, placement node, launch 1, 2: target_width: 0.5, now 0.02"
    assert said[2] == "measuring them took 3.0 h; add one of these behind snakemake's --config:"
    assert [line.split(":")[0] for line in said[3:]] == [
        "  partial=true", f"  results={config.results}.new", "  remeasure=true",
    ]  # fmt: skip


def test_a_partial_run_and_one_that_remeasures_have_no_conflict(config):
    measure(config, FIRST, target_width=0.5)
    assert demand(config).conflict([FIRST]) != ""
    assert demand(config).conflict([SECOND]) == ""
    for chosen in ("partial", "remeasure"):
        assert demand(replace(config, **{chosen: True})).conflict([FIRST]) == ""


def test_a_hole_has_no_conflict_whatever_was_measured_before_it(config, code):
    measure(config, FIRST, target_width=0.5)
    measure(config, FIRST, facts=hole("crashed"))
    assert demand(config).conflict([FIRST]) == ""


def test_a_partial_report_lists_its_launches_and_the_others_with_reasons(config):
    measure(config, FIRST, target_width=0.5)
    measure(config, SECOND, facts=hole("crashed"))
    held = {**receipt.held(config.results, "quick"), ("gone", "node", 1): []}
    said = Demand(config, held).remarks(plan.launches(config), {"paper": 1})
    assert said == [
        "partial: 1 measured launches and 1 holes of tier quick",
        "1 of them were measured with other settings, code or software than the current",
        "left out: gone, which the configuration does not list",
        "left out: 1 launches of tier paper",
    ]


def test_a_launch_of_an_earlier_refinement_counts_in_a_partial_report_and_is_never_asked_for(config):
    measure(config, replace(SECOND, number=MOST_LAUNCHES + 2), target_width=0.5)
    found = demand(config)
    assert found.remarks(plan.launches(config), {}) == ["partial: 1 measured launches and 0 holes of tier quick"]
    assert len(found.existing("mpi_pingpong")) == 1
    assert found.conflict(plan.launches(config)) == ""
