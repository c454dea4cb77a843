"""ipyparallel: a controller as a child process, engines in ranks, a load-balanced view as the client.

One controller per farm, so that schedulers live side by side. `--nodb`: the hub keeps no task database, since
it would grow with every task and slow the launch as it goes.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ipyparallel as ipp
import zmq
from ipyparallel.engine.app import IPEngine

from crossover.measure.peers import LOOPBACK, Refusal

START_SECONDS = 60
PORTS = 20
"""What a controller binds is sixteen, by its documentation."""


def empty_task(number: int) -> int:
    """The task: what comes back shows that it ran."""
    return number


class IpyparallelFarm:
    """One controller with one scheduling `scheme` and high-water mark `hwm` (0: none)."""

    def __init__(self, scheme: str, hwm: int):
        self.scheme = scheme
        self.hwm = hwm
        self._pending: list[Any] = []
        # Taken as the farm is made, so that farms started at once cannot be given the same ones: left to itself, each
        # controller would choose free ports, and bind them only later.
        self._reserved = [socket.create_server((LOOPBACK, 0)) for _ in range(PORTS)]

    def start(self) -> None:
        """Start the controller, without waiting for it."""
        self._folder = Path(tempfile.mkdtemp(prefix=f"{self.scheme}-"))
        self._log = self._folder / "controller.log"
        ports = [reserved.getsockname()[1] for reserved in self._reserved]
        for reserved in self._reserved:
            reserved.close()
        self._controller = subprocess.Popen(
            [
                *(sys.executable, "-m", "crossover.measure.death"),
                *(sys.executable, "-m", "ipyparallel.controller"),
                *(f"--IPController.ports={port}" for port in ports),
                *(f"--profile-dir={self._folder}", f"--ip={LOOPBACK}", f"--location={LOOPBACK}"),
                *(f"--scheme={self.scheme}", f"--hwm={self.hwm}", "--nodb"),
                # Registration takes two heartbeats: short ones start fast, many allowed misses keep busy engines.
                *("--HeartMonitor.period=250", "--HeartMonitor.max_heartmonitor_misses=1000"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._log.open("w"),
            stderr=subprocess.STDOUT,
            env=os.environ | {"IPYTHONDIR": str(self._folder)},
            start_new_session=True,
        )

    def invitation(self) -> dict[str, Any]:
        """Wait for the controller; returns the connection facts for the engines."""
        return self._connection("engine")

    def _connection(self, side: str) -> dict[str, Any]:
        file = self._folder / "security" / f"ipcontroller-{side}.json"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._controller.poll() is None:
            try:
                facts: dict[str, Any] = json.loads(file.read_text())
                return facts
            except (OSError, json.JSONDecodeError):  # not there yet, or half written
                time.sleep(0.02)
        said = self._log.read_text().splitlines()[-1:]
        raise Refusal("crashed", f"the ipyparallel controller ({self.scheme}) did not come up; last words: {said}")

    def join(self, engines: int) -> None:
        """Wait with a probe client until all engines have joined, then connect the real one.

        The pure scheduler refuses a client that saw engines come.
        """
        # Without a folder of its own the client would make one in the user's home.
        connection = {"connection_info": self._connection("client"), "ipython_dir": str(self._folder)}
        with _Client(**connection, timeout=START_SECONDS) as probe:
            probe.wait_for_engines(engines, timeout=START_SECONDS, interactive=False)
        self._client = _Client(**connection, timeout=START_SECONDS)
        if len(self._client) != engines:
            raise Refusal("wrong placement", f"{len(self._client)} engines joined instead of {engines}")
        self._view = self._client.load_balanced_view()

    def submit(self, tasks: int) -> None:
        """Submit empty tasks; the client's own thread does the sending."""
        submit = self._view.apply_async
        self._pending = [submit(empty_task, number) for number in range(tasks)]

    def wait(self) -> int:
        """Wait for the results, then look at each."""
        self._client.wait(self._pending)
        return sum(result.successful() and result.get() == number for number, result in enumerate(self._pending))

    def forget(self) -> None:
        """Drop what the client keeps of every task: untimed, so that no block pays for those before it."""
        self._pending = []
        for kept in (self._client.results, self._client.metadata, self._client.history):
            kept.clear()

    def stop(self) -> None:
        """End the engines' loops, then the controller with its children."""
        try:
            self._client.shutdown(targets="all", hub=False, block=True)
            self._client.close()
        finally:
            self._controller.terminate()
            self._controller.wait(START_SECONDS)


class _Client(ipp.Client):  # type: ignore[misc]
    """A client that bears engines to come out of order, and to go at the end."""

    def _stop_scheduling_tasks(self) -> None:
        """Do nothing: under the pure scheduler a client would close its socket, under its own feet if it is still
        connecting. An engine that is lost on the way is a rank that is lost, and ends the launch.
        """


class _Engine(IPEngine):  # type: ignore[misc]
    """An engine that is a rank: it keeps the rank's signals and its output."""

    def init_signal(self) -> None:
        """Leave the signals alone: an engine that survives SIGTERM would outlive a dead driver."""

    def redirect_output(self, iopub_socket: zmq.Socket[bytes]) -> None:
        """Leave standard output alone: a crash must reach the launch's log."""


def serve(connection: dict[str, Any]) -> None:
    """Be an engine of the farm described by `connection`; returns when the farm stops."""
    os.environ["IPP_CONNECTION_INFO"] = json.dumps(connection)
    engine = _Engine(enable_nanny=False, timeout=START_SECONDS, log_level=logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="engine-") as folder:
        os.environ["IPYTHONDIR"] = folder
        engine.initialize([f"--profile-dir={folder}"])
        try:
            engine.start()
        except (SystemExit, RuntimeError) as ending:  # how ipykernel ends its loop when it is shut down
            if getattr(ending, "code", 0):
                raise
