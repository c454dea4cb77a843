"""Do the ladder's layers have the right units and the right arm of the right curve?"""

from dataclasses import replace

import pytest
from campaigns import Campaign, mpi, run, tasks, zmq

from crossover.design import farms
from crossover.design.experiments import declared
from crossover.report.charts import ladder

FARM = {"experiment": "task_throughput", "metric": "round trip", "axis": "array size", "axis_unit": "bytes"}
FARM["protocol"] = "128 tasks echo an array, engines: 2"


def summary(*curves):
    return run(Campaign([*curves])).summary


def rung(shown, name):
    return {row.x: row for row in shown.summary if row.arm == name}


def test_elements_become_bytes_and_rates_become_times():
    rows = summary(mpi(), tasks(**FARM, points=[10.0, 1000.0]))
    shown = ladder.panel(rows)
    (send,) = [row for row in rows if row.arm == "send" and row.x == 10]
    assert rung(shown, "mpi4py send")[80].median == send.median
    (farm,) = [row for row in rows if row.arm == "leastload" and row.x == 1000]
    found = rung(shown, "ipyparallel, per task")[1000]
    assert found.median == pytest.approx(1 / farm.median)
    assert (found.low, found.high) == pytest.approx((1 / farm.high, 1 / farm.low))
    assert {row.unit for row in shown.summary} == {"s"}


def test_a_layer_uses_one_of_several_curves():
    plain = zmq(experiment="zmq_latency", metric="round trip", protocol="REQ/REP over ipc")
    legacy = zmq(experiment="zmq_latency", metric="round trip", protocol="REQ/REP over ipc, legacy")
    shown = ladder.panel(summary(mpi(), plain, legacy))
    assert {row.protocol for row in shown.summary if row.arm == "pyzmq"} == {"REQ/REP over ipc"}


def test_re_sent_arrays_other_hosts_other_metrics_and_the_null_arm_are_no_layers():
    latency = zmq(experiment="zmq_latency", metric="round trip, median", protocol="REQ/REP over ipc")
    others = summary(mpi(protocol="float64 array, re-sent, thread level multiple", rate=1.0), latency)
    others += [replace(row, placement="nodes", median=1.0) for row in summary(mpi())]
    assert ladder.panel(others) is None
    assert ladder.panel([*others, *summary(mpi())]) == ladder.panel(summary(mpi()))
    assert set(ladder.panel(summary(mpi())).arms) == {"mpi4py send", "mpi4py Send"}


def test_every_layer_names_a_known_experiment_and_arm():
    entrants = farms.arms()
    for layer, experiment in ladder.LAYERS:
        known = declared()[experiment]
        assert layer.arm in {*known.names("arms"), *known.names("ceilings"), *entrants}, layer
