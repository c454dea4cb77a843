"""Starts real launches by the command line, each with its own home, temporary folder and mark in the environment."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

from crossover.design.experiments import declared
from crossover.design.launch import Launch as Planned
from crossover.design.settings import Settings
from crossover.measure.ranks import ending
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import record
from crossover.records.holes import HoleKind

ROOT = Path(__file__).parents[2]
SHARED_FOLDERS = (Path("/tmp"), Path("/dev/shm"))
LEAKS = ("hydra_", "mpich_", "ompi", "zmq", "ipcontroller", "sem.mp-", "pymp-", "psm_")
"""First letters of the files that MPI, ZeroMQ and Python's multiprocessing may leave in shared folders."""

COMMON = {
    "placement": "node",
    "block_seconds": 0.002,
    "rounds": {"at_least": 3, "at_most": 30},
    "fewest_rounds": 3,
    "target_width": 1e-6,
    "budget_seconds": 0.5,
}
ENDLESS = {"budget_seconds": 1000, "rounds": {"at_least": 3, "at_most": 10**6}}

WHERE_WEIGHTS = "    weights: "
TOY_DECLARATION = (
    (ROOT / "tests/workflow/toy/__init__.py")
    .read_text(encoding="utf-8")
    .replace(WHERE_WEIGHTS, f'    does: str = "work"\n{WHERE_WEIGHTS}')
)

TOY_DRIVER = '''
"""An experiment that misbehaves as it is told to."""

import ctypes, os, random, signal, sys, time
from contextlib import contextmanager

from crossover.design.cell import Cell
from crossover.measure.sampling.contract import DAMAGED, Block
from crossover.records.holes import HoleKind, Refusal


def cells(settings):
    lacking = settings.does == "have no cells"
    return [Cell({"work": "toy"}, x) for x in (settings.size if lacking else settings.weights)]


def misbehave(how):
    match how:
        case "raise":
            raise RuntimeError("the toy has come apart")
        case "segfault":
            ctypes.string_at(0)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(1000)
        case "refuse":
            raise Refusal(HoleKind.WRONG_SETUP, "this toy needs a battery; buy one")
        case "leave":
            sys.exit(7)
        case "fill shared memory":
            with open("/dev/shm/ballast", "wb", buffering=0) as file:
                while file.write(bytes(1 << 16)):
                    pass
        case "open files":
            while True:
                os.dup(0)


class Toy:
    def __init__(self, how):
        self.how = how

    def run(self, cell, arm, n):
        time.sleep(0.001 * n)
        if arm.name == "slow":
            misbehave(self.how)
            if self.how == "lose":
                return Block(0.001 * n, fault=DAMAGED)
            if self.how == "measure more":
                return Block(0.001 * n, {"pace": 1e3, "charge": 1.0})
        if self.how == "lose everything":
            return Block(0.001 * n, fault=DAMAGED)
        if self.how == "measure nothing":
            return Block(0.001 * n)
        return Block(0.001 * n, {"pace": 1e3 * (1 + random.random())})


@contextmanager
def drive(peers, settings):
    channel = peers.channel(to=1)
    print("working", flush=True)
    try:
        yield Toy(settings.does)
    finally:
        if settings.does == "have no cells":
            print("FileNotFoundError: a child of the toy is gone", file=sys.stderr, flush=True)
            raise OSError("the toy cannot end its child")
    channel.send("stop")


def serve(peers, settings):
    channel = peers.channel(to=0)
    misbehave(settings.does.removeprefix("other rank: "))
    channel.receive()
'''


def toy_project(folder: Path, **constants: tuple[str, str, str]) -> Path:
    """A copy of the package with an experiment `toy`; `constants` are (file, text, other text)."""
    for part in ("workflow", "config"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))
    package = folder / "workflow" / "crossover"
    toy = package / "experiments" / "toy"
    toy.mkdir()
    (toy / "__init__.py").write_text(TOY_DECLARATION)
    (toy / "driver.py").write_text(TOY_DRIVER)
    for file, text, other in constants.values():
        source = (package / file).read_text()
        assert source.count(text) == 1, f"{file} does not contain {text!r} exactly once"
        (package / file).write_text(source.replace(text, other))
    return folder


def settings(experiment: str, chosen: Mapping[str, object]) -> Settings:
    """The settings of a launch at tier quick in placement `node`, with these values instead."""
    toy: dict[str, Any] = {"__name__": __name__}
    if experiment == "toy":
        exec(TOY_DECLARATION, toy)
    quick = (toy.get("EXPERIMENT") or declared()[experiment]).tiers.quick
    defaults = {each.name: getattr(quick, each.name) for each in fields(quick)}
    return type(quick).read({"placement": "node", **defaults, **chosen})


class Launch:
    """One launch in `folder`: starts it, waits for it, and checks for leftovers."""

    def __init__(
        self,
        folder: Path,
        experiment: str,
        told: dict[str, Any] | Settings,
        mpi: str = "mpiexec",
        root: Path = ROOT,
        libraries: Sequence[Path] = (),
    ):
        self.folder = folder
        self.home, self.temporary = folder / "home", folder / "tmp"
        self.settings = told if isinstance(told, Settings) else settings(experiment, told)
        planned = Planned(experiment, self.settings.placement, 1, self.settings)
        self.receipt = Files.of(str(folder / "results"), "quick", planned, 0).path
        self.log = folder / "logs" / "launch=1.log"
        for made in (self.home, self.temporary):
            made.mkdir(parents=True, exist_ok=True)
        self.file = folder / "logs" / "launch.json"
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(planned.stored, encoding="utf-8")
        self.mark = f"crossover-test-{uuid.uuid4().hex}"
        self.environment = os.environ | {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "CROSSOVER_LOCK": str(self.temporary),
            "PYTHONPATH": str(root / "workflow"),
            "CROSSOVER_TEST": self.mark,
        }
        for variable in ("IPYTHONDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
            self.environment.pop(variable, None)
        self.command = [
            *(sys.executable, "-m", "crossover", "launch", str(self.file), "--mpi", mpi),
            *("--code", "c0de", "--receipt", str(self.receipt), "--log", str(self.log)),
            *("--libraries", *map(str, libraries)),
        ]

    @property
    def output(self) -> Path:
        """The raw file that its receipt names."""
        held = receipt.read(self.receipt)
        assert held.complete, self.log.read_text()
        return held.raw_file

    @property
    def table(self) -> pa.Table:
        """The measurements."""
        return record.read(self.output, record.MEASUREMENTS)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each measurement."""
        return self.table.to_pylist()

    @property
    def facts(self) -> dict[str, Any]:
        """What its file says of the whole launch."""
        return record.metadata(self.table)["launch"]

    def start_measuring(self, said: str = ": visit ", wrapper: Sequence[str] = ()) -> None:
        """Start it, and wait until this is in its log; by default that a visit of a cell is done, so all parts run."""
        self.start(*wrapper)

        def text() -> str:
            return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

        assert eventually(lambda: said in text(), 60), text()

    def start(self, *wrapper: str) -> subprocess.Popen[bytes]:
        """Start it; a `wrapper` gets the command line as further arguments."""
        self.folder_before = {folder: _names(folder) for folder in SHARED_FOLDERS}
        self.process = subprocess.Popen(
            [*wrapper, *self.command],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            start_new_session=True,
        )
        return self.process

    def run(self) -> int:
        """Start it and wait; returns the exit code."""
        return self.start().wait(120)

    def hole(self, kind: str) -> str:
        """Run it, or wait if it has started, and assert that it left just a hole of this kind; returns the reason."""
        process = self.process if hasattr(self, "process") else self.start()
        assert process.wait(120) == 0, self.log.read_text(encoding="utf-8")
        facts = self.facts
        assert (facts["outcome"], facts["hole"], facts["host"]) == ("hole", kind, socket.gethostname()), facts
        assert self.table.num_rows == 0
        held = receipt.read(self.receipt)
        assert (held.outcome, held.hole, held.reason) == ("hole", kind, facts["reason"])
        step = "the next run retries it" if kind == HoleKind.DISTURBED else f"with: -R {self.receipt}"
        assert step in self.log.read_text(encoding="utf-8")
        self.leaves_nothing_but_its_file()
        return str(facts["reason"])

    def ends_with_killed_supervisor(self) -> None:
        """Kill its supervisor, and assert that all other processes end too, without a receipt."""
        self.process.kill()
        self.process.wait()
        assert eventually(lambda: not self.processes()), self.processes()
        assert not self.receipt.exists()

    def processes(self) -> list[psutil.Process]:
        """This launch's processes that still run."""
        return marked(self.mark)

    def ranks(self) -> list[psutil.Process]:
        """This launch's ranks."""
        found = []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                line = process.cmdline()
                if "rank" in line and line[1:3] == ["-m", "mpi4py"]:
                    found.append(process)
        return found

    def end(self) -> None:
        """Kill its processes and delete its leftovers, which other tests would take for their own."""
        left = self.processes()
        memory = {segment for process in left for segment in ending.mpich_memory(process.pid)}
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        ending.unlink(memory)

    def leaves_nothing_but_its_file(self) -> None:
        """Assert that it left no process, file, folder or shared memory, except its raw file and receipt, if any."""
        assert eventually(lambda: not self.processes()), self.processes()
        kept = [self.receipt, self.output] if self.receipt.exists() else []
        assert sorted(path for path in (self.folder / "results").rglob("*") if path.is_file()) == kept
        assert list(self.home.iterdir()) == []
        assert [path.name for path in self.temporary.iterdir() if not path.name.endswith(".lock")] == []
        # Other launches may be starting, whose files disappear soon.
        assert eventually(lambda: not self.left_in_shared_folders()), self.left_in_shared_folders()

    def left_in_shared_folders(self) -> set[str]:
        """New names that look like ours, because other programs use these folders too.

        Shared memory that a process still uses is no leftover: every process that imports MPI has some.
        """
        found = {
            str(folder / name)
            for folder, before in self.folder_before.items()
            for name in _names(folder) - before
            if name.startswith(LEAKS) or f"-{self.process.pid}-" in name
        }
        return found and found - {str(used) for pid in psutil.pids() for used in ending.mpich_memory(pid)}


def marked(mark: str) -> list[psutil.Process]:
    """The processes with this mark in the environment that still run."""
    found = []
    # Otherwise psutil confuses a new process with an old one of the same id.
    psutil.process_iter.cache_clear()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("CROSSOVER_TEST") == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def listening(process: psutil.Process) -> set[tuple[str, int]]:
    """The TCP addresses on which a process listens; its children inherit some. None if it has ended."""
    with contextlib.suppress(psutil.Error):
        return {tuple(each.laddr) for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
    return set()


def script(path: Path, text: str) -> Path:
    """Make a program of the shell."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def eventually(is_so: Callable[[], Any], within_seconds: float = 30) -> bool:
    """Whether this becomes true before a generous deadline; only failures wait so long."""
    deadline = time.monotonic() + within_seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
