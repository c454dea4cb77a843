"""Launches use all nodes, each node for one launch at a time."""

from __future__ import annotations

from datetime import datetime
from itertools import combinations
from typing import NamedTuple

import pytest
from clusters import PROMPT, OnCluster, recorded

LAUNCHES = 3
ASLEEP_SECONDS = 10
"""How long a launch sleeps: so long that it matters little how starting three at a time loads this one machine."""


class Stay(NamedTuple):
    """A launch's time on its host, from the start of its supervisor to its finished file."""

    host: str
    began: float
    ended: float


def stays(project: OnCluster) -> list[Stay]:
    """The hosts and times that the launches recorded."""
    found = []
    for facts in recorded(project).values():
        began = datetime.fromisoformat(facts["started_utc"]).timestamp() - facts["meeting_seconds"]
        found.append(Stay(facts["host"], began, began + facts["wall_seconds"]))
    return found


def overlapping(found: list[Stay]) -> list[tuple[Stay, Stay]]:
    return [(one, other) for one, other in combinations(found, 2) if max(one[1], other[1]) < min(one[2], other[2])]


@pytest.fixture
def sleeping(project: OnCluster) -> OnCluster:
    """A project whose launches sleep."""
    project.edit(
        "workflow/crossover/experiments/toy/driver.py",
        "        while perf_counter() - began < n * turn_seconds:\n            pass\n",
        "        time.sleep(0.1)\n",
    )
    project.edit("workflow/crossover/experiments/toy/driver.py", "from time import", "import time\nfrom time import")
    rounds = ASLEEP_SECONDS * 10 // 3
    project.configure(
        toy={
            "weights": [1],
            "launches": LAUNCHES,
            "rounds": {"at_least": rounds, "at_most": rounds},
            "budget_seconds": 2 * ASLEEP_SECONDS,
        }
    )
    return project


def measured(project: OnCluster, site: str) -> list[Stay]:
    """The stays of remeasured launches, with these facts of the site."""
    project.site(site)
    project.succeed(*PROMPT, "--forcerun", "launch", "--", "toy")
    found = stays(project)
    assert len(found) == LAUNCHES
    return found


def seconds(found: list[Stay]) -> float:
    """From the start of the first launch to the end of the last."""
    return max(stay.ended for stay in found) - min(stay.began for stay in found)


@pytest.mark.alone
def test_three_nodes_finish_the_same_launches_at_least_twice_as_fast_as_one(sleeping: OnCluster) -> None:
    # The partition `single` has one of the nodes.
    one, three = (measured(sleeping, site) for site in ("partition: single", ""))
    assert {stay.host for stay in one} == {"node1"}
    assert overlapping(one) == []
    assert {stay.host for stay in three} == {"node1", "node2", "node3"}
    assert len(overlapping(three)) == LAUNCHES, "they did not run side by side"
    assert seconds(one) >= 2 * seconds(three)


def test_no_more_nodes_are_in_use_at_a_time_than_the_site_allows(project: OnCluster) -> None:
    project.site("nodes: 1")
    said = project.succeed(*PROMPT, "toy")
    assert overlapping(stays(project)) == []
    assert "on one node, plus" in said
