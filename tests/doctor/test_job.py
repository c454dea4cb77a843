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
from crossover.doctor import job as jobs
from crossover.doctor.facts import Job, Pair, World
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
    arguments: list[Any] = [(Line(rank, ends), folder, apart, interface) for rank, folder in enumerate((first, second))]
    other = threading.Thread(target=jobs.together, args=arguments[1], daemon=True)
    other.start()
    found = jobs.together(*arguments[0])
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
    assert {rank.folders[0].path for rank in found.ranks} == {str(tmp_path)}
    assert (found.written.error, found.written.folder) == ("", str(tmp_path))
    assert found.written.seen_seconds is not None
    assert list(tmp_path.iterdir()) == []
    assert not together(tmp_path, tmp_path, apart=False).temporary_shared


def test_a_file_that_the_other_rank_does_not_see_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FILE_SECONDS", 0.1)
    (tmp_path / "other").mkdir()
    found = together(tmp_path, tmp_path / "other").written
    assert (found.error, found.seen_seconds) == ("", None)


def test_folders_that_cannot_be_written_to_have_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    found = together(file, tmp_path)
    assert {rank.folders[0].error for rank in found.ranks} == {"No such file or directory"}
    assert "cannot be written" in found.written.error
    assert found.written.seen_seconds is None


def test_interfaces_that_answer_and_those_that_do_not_are_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = [network.Reach("open", "127.0.0.1"), network.Reach("gone", "192.0.2.1")]
    monkeypatch.setattr(network, "interfaces", lambda: present)
    found = together(tmp_path, tmp_path, "gone").interfaces
    assert [(each.name, each.chosen, bool(each.error)) for each in found] == [
        ("gone", True, True),
        ("open", False, False),
    ]
    found = together(tmp_path, tmp_path, "gone", apart=False).interfaces
    assert [(each.name, each.chosen, each.error) for each in found] == [("lo", True, "")]


def test_if_the_named_interface_is_missing_the_others_are_tried(tmp_path: Path) -> None:
    found = together(tmp_path, tmp_path, "ib9")
    assert "has no interface ib9" in found.no_interface
    assert [(each.chosen, each.error) for each in found.interfaces] == [(False, "")]


@pytest.mark.parametrize(("written", "megabits"), [("25000", 25_000), ("-1", 0), ("", 0), (None, 0)])
def test_the_speed_and_the_rdma_of_interfaces_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None, megabits: int
) -> None:
    (tmp_path / "open/device/infiniband").mkdir(parents=True)
    if written is not None:
        (tmp_path / "open/speed").write_text(f"{written}\n")
    monkeypatch.setattr(network, "DEVICES", tmp_path)
    [found] = together(tmp_path, tmp_path, "open").interfaces
    assert (found.megabits, found.rdma, found.chosen) == (megabits, True, True)


def test_output_of_ranks_and_of_launchers_is_separated() -> None:
    worlds = (World(("n1", "n1"), "MPICH", PAIR), World(("n2",), "MPICH"))
    lines = ["srun: some warning", *(f"and {jobs.MARK}{json.dumps(asdict(world))}" for world in worlds), " "]
    found = jobs.understood("srun", 0, lines)
    assert (found.worlds, found.said) == (worlds, "srun: some warning")
    assert jobs.understood("srun", 3, []).said == "ended with code 3"
    hung = jobs.understood("srun", None, lines)
    assert hung.worlds == () and "not finished" in hung.said


def test_other_launchers_are_tried_until_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.shutil, "which", lambda name: None if name == "gone" else f"/bin/{name}")
    assert jobs.launchers("srun --mpi=pmix --x") == [
        *("srun --mpi=pmix --x", "srun --mpi=pmi2 --x", "srun --mpi=cray_shasta --x", "mpiexec"),
    ]
    runs: list[str] = []

    def run(command: list[str], *_: Any) -> int:
        runs.append(command[1])
        return 0

    outcomes = {"--mpi=pmi2": attempt("srun --mpi=pmi2", "n1", "n1"), "--mpi=pmix": attempt("srun --mpi=pmix", "n1 n1")}
    monkeypatch.setattr(jobs.mpi_launcher, "run", run)
    monkeypatch.setattr(jobs, "understood", lambda *_: outcomes[runs[-1]])
    found = jobs.attempts("gone --fast", "node", "auto", tmp_path, lambda _: None)
    assert [each.mpi for each in found] == ["gone --fast", "srun --mpi=pmi2", "srun --mpi=pmix"]
    assert "no program gone on PATH" in found[0].said


def test_facts_are_read_as_they_were_written(tmp_path: Path) -> None:
    for found, kind in ((job("n1 n2"), Job), ({"cc": "12"}, dict[str, str])):
        facts.write(found, tmp_path / "facts.json")
        assert facts.read(tmp_path / "facts.json", kind) == found
    assert facts.read(tmp_path / "none.json", Job) is None
    assert facts.read(tmp_path / "facts.json", Job) is None, "that of another release"
    assert (facts.placements(1), facts.placements(2)) == (["node"], ["node", "nodes"])
    assert job("n1 n2").pair == PAIR
    assert job("n1 n1", placement="nodes").pair is None


@pytest.mark.parametrize(
    ("modules", "unwanted"),
    [("conclude, facts", {"mpi4py.MPI", "pyarrow"}), ("facts, job", {"mpi4py.MPI"}), ("facts", {"psutil", "numpy"})],
    ids=["Snakemake", "the supervisor of a job", "the environment of the report"],
)
def test_heavy_modules_are_not_loaded(modules: str, unwanted: set[str]) -> None:
    code = f"import sys; from crossover.doctor import {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()).isdisjoint(unwanted)


def test_a_rank_that_comes_up_alone_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.job", str(tmp_path), "auto"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    [world] = jobs.understood("mpiexec", 0, done.stdout.splitlines()).worlds
    assert (len(world.hosts), world.pair) == (1, None)
