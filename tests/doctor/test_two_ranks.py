"""Do the checks between two ranks see the truth? The ranks are threads, and the test sets the truth."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from scenes import looked

from crossover.doctor.checks import clocks, ports, shared, temporary
from crossover.measure.ranks import network


def test_the_offset_of_two_clocks_is_found_within_the_stated_bound() -> None:
    chance = random.Random(4)
    exchanges, now, ahead = [], 1000.0, 3.25
    for _ in range(50):
        there, back = chance.uniform(1e-4, 2e-3), chance.uniform(1e-4, 2e-3)
        exchanges.append((now, now + there + ahead, now + there + back))
        now += 0.01
    found = clocks.offset(exchanges)
    assert abs(found["offset_seconds"] - ahead) <= found["within_seconds"] + 1e-9
    assert found["within_seconds"] < 5e-4, "the shortest round trip bounds the offset best"


def test_one_clock_agrees_with_itself(tmp_path: Path) -> None:
    found = looked(clocks, True, tmp_path, tmp_path)
    assert abs(found["offset_seconds"]) <= found["within_seconds"] + 1e-6
    assert all(clock["step_seconds"] > 0 for clock in found["measuring"])


def test_a_folder_that_both_see_is_shared_and_stays_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = looked(temporary, True, tmp_path, tmp_path)
    assert found["seen_by_other"]
    assert {host["folder"]["path"] for host in found["hosts"]} == {str(tmp_path)}
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_reported_as_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    found = looked(temporary, True, tmp_path, tmp_path)
    assert "No such file" in found["hosts"][0]["folder"]["error"]


def test_files_are_seen_in_a_shared_folder_and_deleted(tmp_path: Path) -> None:
    found = looked(shared, True, tmp_path, tmp_path)
    assert found["error"] == ""
    assert len(found["write_seconds"]) == len(found["visible_seconds"]) == shared.FILES
    assert list(tmp_path.iterdir()) == []


def test_files_are_not_seen_in_folders_that_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "LIMIT_SECONDS", 0.1)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert looked(shared, True, tmp_path / "a", tmp_path / "b")["visible_seconds"] == [None]


def test_a_folder_that_cannot_be_written_has_a_reason(tmp_path: Path) -> None:
    found = looked(shared, True, tmp_path / "none", tmp_path)
    assert "No such file" in found["error"]


def test_interfaces_that_answer_and_those_that_do_not_are_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = [network.Reach("open", "127.0.0.1"), network.Reach("gone", "192.0.2.1")]
    monkeypatch.setattr(network, "interfaces", lambda: present)
    tried = looked(ports, True, tmp_path, tmp_path, "gone")["tried"]
    assert [(each["interface"], each["chosen"], bool(each["error"])) for each in tried] == [
        ("gone", True, True),
        ("open", False, False),
    ]


@pytest.mark.parametrize(("written", "megabits"), [("25000", 25_000), ("-1", None), ("", None), (None, None)])
def test_the_speed_and_the_rdma_of_interfaces_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None, megabits: int | None
) -> None:
    (tmp_path / "open/device/infiniband").mkdir(parents=True)
    if written is not None:
        (tmp_path / "open/speed").write_text(f"{written}\n")
    monkeypatch.setattr(network, "DEVICES", tmp_path)
    monkeypatch.setattr(network, "interfaces", lambda: [network.Reach("open", "127.0.0.1")])
    [found] = looked(ports, True, tmp_path, tmp_path, "open")["tried"]
    assert (found["megabits"], found["rdma"], found["chosen"]) == (megabits, True, True)


def test_if_the_named_interface_is_missing_the_others_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "interfaces", lambda: [network.Reach("open", "127.0.0.1")])
    found = looked(ports, True, tmp_path, tmp_path, "ib9")
    assert "has no interface ib9" in found["trouble"]
    assert [(each["chosen"], each["error"]) for each in found["tried"]] == [(False, "")]
