"""Do a job of the doctor and its two ranks record the truth? The ranks are threads, and the test sets the truth."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from scenes import PAIR, attempt, job

from crossover.doctor import facts
from crossover.doctor.facts import Pair
from crossover.measure.ranks import network


class Line:
    """A communicator of two ranks that are threads."""

    def __init__(self, rank: int, ends: list[queue.Queue[Any]]):
        self.rank, self._ends = rank, ends

    def allgather(self, value: Any) -> list[Any]:
        self._ends[1 - self.rank].put(value)
        other = self._ends[self.rank].get(timeout=20)
        return [value, other] if self.rank == 0 else [other, value]


def together(first: Path, second: Path, interface: str = "auto", apart: bool = True) -> Pair:
    """The facts of two ranks, each with its own path of the folder of results."""
    ends: list[queue.Queue[Any]] = [queue.Queue(), queue.Queue()]
    arguments: list[Any] = [
        (Line(rank, ends), "MPICH", folder, apart, interface) for rank, folder in enumerate((first, second))
    ]
    other = threading.Thread(target=facts.together, args=arguments[1], daemon=True)
    other.start()
    found = facts.together(*arguments[0])
    other.join(20)
    assert not other.is_alive()
    return found


@pytest.fixture(autouse=True)
def one_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "interfaces", lambda: [network.Reach("open", "127.0.0.1")])


def test_folders_that_both_ranks_see_are_shared_and_stay_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = together(tmp_path, tmp_path)
    assert found.temporary_shared
    assert [path for path, _, _ in found.folders] == [str(tmp_path), "/dev/shm"] * 2
    assert (found.unwritten, found.results) == ("", str(tmp_path))
    assert found.seen_seconds is not None
    assert list(tmp_path.iterdir()) == []
    assert not together(tmp_path, tmp_path, apart=False).temporary_shared


def test_a_file_that_the_other_rank_does_not_see_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "FILE_SECONDS", 0.1)
    (tmp_path / "other").mkdir()
    found = together(tmp_path, tmp_path / "other")
    assert (found.unwritten, found.seen_seconds) == ("", None)


def test_folders_that_cannot_be_written_to_have_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    found = together(file, tmp_path)
    assert [error for _, _, error in found.folders] == ["No such file or directory", ""] * 2
    assert "cannot be written" in found.unwritten
    assert found.seen_seconds is None


def test_interfaces_that_answer_and_those_that_do_not_are_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = [network.Reach("open", "127.0.0.1"), network.Reach("gone", "192.0.2.1")]
    monkeypatch.setattr(network, "interfaces", lambda: present)
    found = together(tmp_path, tmp_path, "gone").interfaces
    assert [(name, bool(error)) for name, _, error in found] == [("gone", True), ("open", False)]
    assert together(tmp_path, tmp_path, "gone", apart=False).interfaces == (("lo", "127.0.0.1", ""),)


def test_if_the_named_interface_is_missing_the_others_are_tried(tmp_path: Path) -> None:
    found = together(tmp_path, tmp_path, "ib9")
    assert "has no interface ib9" in found.no_interface
    assert found.interfaces == (("open", "127.0.0.1", ""),)


def test_output_of_ranks_and_of_launchers_is_separated() -> None:
    worlds = ((("n1", "n1"), asdict(PAIR)), (("n2",), None))
    lines = ["srun: some warning", *(f"and {facts.MARK}{json.dumps(world)}" for world in worlds), " "]
    found = facts.understood("srun", 0, lines)
    assert found == attempt("srun", "n1 n1", "n2", said="srun: some warning")
    assert facts.understood("srun", 3, []).said == "ended with code 3"
    hung = facts.understood("srun", None, lines)
    assert hung.worlds == () and "not finished" in hung.said


def test_other_launchers_are_tried_until_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts.shutil, "which", lambda name: None if name == "gone" else f"/bin/{name}")
    assert facts.launchers("srun --mpi=pmix --x") == [
        *("srun --mpi=pmix --x", "srun --mpi=pmi2 --x", "srun --mpi=cray_shasta --x", "mpiexec"),
    ]
    runs: list[str] = []

    def run(command: list[str], *_: Any) -> int:
        runs.append(command[1])
        return 0

    outcomes = {"--mpi=pmi2": attempt("srun --mpi=pmi2", "n1", "n1"), "--mpi=pmix": attempt("srun --mpi=pmix", "n1 n1")}
    monkeypatch.setattr(facts.mpi_launcher, "run", run)
    monkeypatch.setattr(facts, "understood", lambda *_: outcomes[runs[-1]])
    found = facts.attempts("gone --fast", "node", "auto", tmp_path, lambda _: None)
    assert [each.mpi for each in found] == ["gone --fast", "srun --mpi=pmi2", "srun --mpi=pmix"]
    assert "no program gone on PATH" in found[0].said


def test_facts_of_another_release_and_of_too_few_hosts_are_none(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text('{"cc": "12"}')
    assert facts.read(tmp_path / "nodes.json") is None
    assert job("n1 n1", placement="nodes").pair is None
    assert (facts.placements(1), facts.placements(2)) == (["node"], ["node", "nodes"])


def test_heavy_modules_are_not_loaded() -> None:
    code = "import sys; from crossover.doctor import conclude, facts; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()).isdisjoint({"mpi4py.MPI", "pyarrow", "numpy"})


def test_a_rank_that_comes_up_alone_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.facts", str(tmp_path), "auto"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = facts.understood("mpiexec", 0, done.stdout.splitlines())
    assert (list(map(len, found.worlds)), found.pair) == ([1], None)
