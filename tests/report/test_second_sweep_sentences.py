"""Does the page name the launches and points that refined a crossover?"""

import json

import label_keys
import pytest
from campaigns import Campaign, launch_row, run, zmq

from crossover.design.protocol import identity
from crossover.report.text import findings
from crossover.report.text.tables import Panel

TCP, IPC = (zmq(f"PUSH/PULL over {transport}, 64 MB in flight") for transport in ("tcp", "ipc"))


def refining(launch, points=(4642, 6813, 10000), **changes):
    """A row of a launch of the second sweep."""
    settings = json.dumps({"cells": {identity(label_keys.keys(TCP.protocol)): list(points)}})
    return launch_row("zmq_throughput", launch) | {"settings": settings} | changes


def panels(*launches) -> tuple[dict[str, Panel], list]:
    tables = run(Campaign([TCP, IPC]))
    every = [*tables.launches, *launches]
    return {panel.protocol: panel for panel in tables.panels("zmq_throughput")}, every


def test_the_launches_and_points_of_the_second_sweep_are_named():
    found, launches = panels(refining(10001), refining(10002), refining(10003))
    assert findings.second_sweep(found[TCP.protocol], launches) == (
        "A second sweep of 3 launches (number 10001 to 10003) added 3 points from 4.64 kB to 10 kB, inside the "
        "crossovers of the first."
    )
    assert findings.second_sweep(found[IPC.protocol], launches) == ""


@pytest.mark.parametrize("change", [{"outcome": "hole"}, {"placement": "nodes"}, {"experiment": "zmq_latency"}])
def test_holes_and_other_experiments_launches_do_not_count(change):
    found, launches = panels(refining(10001, **change))
    assert findings.second_sweep(found[TCP.protocol], launches) == ""


def test_heats_with_different_points_are_described_together():
    found, launches = panels(refining(10001, (10, 20, 40)), refining(10002, (1000, 2000)))
    assert "2 launches (number 10001 to 10002)" in findings.second_sweep(found[TCP.protocol], launches)
    assert "added 5 points from 10 B to 2 kB" in findings.second_sweep(found[TCP.protocol], launches)
