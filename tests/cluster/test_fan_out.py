"""Launches use all nodes, each node for one launch at a time."""

from __future__ import annotations

from datetime import datetime
from itertools import combinations
from typing import NamedTuple

import pytest
from clusters import PROMPT, OnCluster, recorded
from test_faults import LONG


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


@pytest.mark.parametrize(("site", "nodes"), [("", 3), ("partition: single", 1), ("nodes: 1", 1)])
def test_launches_run_side_by_side_on_as_many_nodes_as_the_site_has_or_allows(
    project: OnCluster, site: str, nodes: int
) -> None:
    project.configure(toy=LONG)
    project.site(site)
    said = project.succeed(*PROMPT, "toy")
    found = stays(project)
    assert len(found) == LONG["launches"]
    assert nodes == 1 or {stay.host for stay in found} == {"node1", "node2", "node3"}
    assert len(overlapping(found)) == (3 if nodes == 3 else 0)
    assert nodes == 3 or "on one node, plus" in said
