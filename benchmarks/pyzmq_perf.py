"""pyzmq's own performance script, from the sources of the installed version, run point by point.

Takes `thr` or `lat` and then size:messages; prints messages/s (`thr`) or seconds per round trip (`lat`) by size, the
median over runs, copying, over ipc. The script starts a new receiving process for each run, and both ends open a new
connection; with `--warm`, one process receives all runs, and for `thr` over one connection.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import zmq

RUNS = 8


def fetched(folder: Path) -> Path:
    """The folder of pyzmq's performance scripts, from the source distribution of the installed version."""
    wanted = f"pyzmq=={zmq.__version__}"
    command = ["download", "--quiet", "--no-deps", "--no-binary", "pyzmq", "--dest", str(folder), wanted]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        members = [name for name in archive.getnames() if Path(name).match("*/perf/*.py")]
        for member in members:
            archive.extract(member, folder, filter="data")
    return folder / Path(members[0]).parent


def loaded(scripts: Path, name: str) -> ModuleType:
    """Load one of these scripts as a module that the others can import."""
    specification = importlib.util.spec_from_file_location(name, scripts / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


class Lasting(zmq.Socket[bytes]):
    """A socket that is attached to an address once, and is not closed after a run."""

    def bind(self, address: str) -> Any:
        return None if self.last_endpoint else super().bind(address)

    def connect(self, address: str) -> Any:
        return None if self.last_endpoint else super().connect(address)

    def close(self, linger: int | None = None) -> None:
        """The next run needs this socket."""


def connected(perf: ModuleType) -> None:
    """Let the script's functions use the same socket in all their runs within this process."""
    socket = cache(partial(Lasting, zmq.Context()))
    lasting = SimpleNamespace(socket=socket, term=lambda: None, destroy=lambda: None)
    perf.zmq = SimpleNamespace(**vars(zmq) | {"Context": lambda: lasting})  # type: ignore[attr-defined]


def receiving(perf: ModuleType, test: str, runs: Connection) -> None:
    """The receiving end: calls its function once for each run, until told to stop."""
    if test == "thr":
        connected(perf)
    function = {"thr": perf.thr_sink, "lat": perf.latency_echo}[test]
    while arguments := runs.recv():
        function(**arguments)


@contextmanager
def one_receiver(perf: ModuleType, test: str) -> Iterator[Callable[..., Any]]:
    """A function that runs the test like the script's `do_run`, but always with the same receiving process.

    `thr` also keeps the connection; `lat` leaves a request unanswered at the end, after which it must be opened anew.
    """
    runs, received = Pipe()
    # Like the script, by a fork, which inherits its functions.
    receiver = get_context("fork").Process(target=receiving, args=(perf, test, received))
    receiver.start()
    if test == "thr":
        connected(perf)

    def run(**arguments: Any) -> Any:
        runs.send(arguments)
        return {"thr": perf.throughput, "lat": perf.latency}[test](**arguments)

    yield run
    runs.send(None)
    receiver.join()


def url() -> str:
    """An address for one run."""
    return f"ipc://@perf-{os.getpid()}-{os.urandom(4).hex()}"


def main(test: str, *plan: str) -> None:
    """Measure every point; print the medians."""
    with tempfile.TemporaryDirectory() as folder:
        perf = loaded(fetched(Path(folder)), "perf")
        with one_receiver(perf, test) if "--warm" in plan else nullcontext(partial(perf.do_run, test)) as run:

            def once(size: int, count: int) -> float:
                found = run(url=url(), count=count, size=size, copy=True, poll=False, quiet=True)
                # The script returns the rate of sends and then the throughput; or half a round trip, in microseconds.
                return float(found[1]) if test == "thr" else 2e-6 * float(found)

            points = {int(size): int(count) for size, _, count in (each.partition(":") for each in plan) if count}
            medians = {size: statistics.median(once(size, n) for _ in range(RUNS)) for size, n in points.items()}
        print(json.dumps(medians))


if __name__ == "__main__":
    main(*sys.argv[1:])
