"""ipyparallel: a controller as a child process, engines in ranks, a load-balanced view as the client.

Each farm has its own controller, so that schedulers run side by side. With `--nodb`, the hub keeps no task database,
which would grow with every task and slow the launch down.

With `ssh`, the client connects to the controller through an SSH tunnel, as from a laptop; the engines connect directly.
"""

import json
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import ipyparallel as ipp
import zmq
from ipyparallel.engine.app import IPEngine

from crossover.farms.ipyparallel import Options
from crossover.measure.farms import Farm, Task
from crossover.measure.farms.server import START_SECONDS, Server
from crossover.measure.farms.ssh_tunnel import Tunnel
from crossover.measure.ranks.network import Reserved
from crossover.measure.ranks.peers import Peers
from crossover.records.holes import HoleKind, Refusal

PORTS = 20
"""Ports reserved for a controller, which binds sixteen according to its documentation."""


class Client(Farm):
    """One controller with one scheduling `scheme`, high-water mark `hwm` (0: none) and message `packer`.

    `encrypted` uses CurveZMQ, with keys made for this controller, instead of signed messages.
    """

    def __init__(self, peers: Peers, ranks: Sequence[int], engines: int, options: Options):
        super().__init__(peers, ranks, engines, options)
        self.scheme, self.hwm, self.packer = options.scheme, options.hwm, options.packer
        self.encrypted = options.encrypted
        self._pending: list[Any] = []
        # By default, a controller chooses free ports and binds them later; meanwhile, another process could take them.
        self._reserved = Reserved(PORTS, peers.address)
        self._tunnel = Tunnel() if options.ssh else None

    def start(self) -> None:
        """Start the controller, and the server of the tunnel."""
        if self._tunnel:
            self._tunnel.start()
        self._server = Server(f"ipyparallel {self.scheme}")
        folder, address = self._server.folder, self.peers.address
        # Every user of the host can read a command line, and take a port before the controller listens on it.
        (folder / "ipcontroller_config.py").write_text(
            f"c.IPController.ports = {self._reserved.numbers}\n", encoding="utf-8"
        )
        self._server.start(
            [
                *("-m", "ipyparallel.controller"),
                *(f"--profile-dir={folder}", f"--ip={address}", f"--location={address}"),
                *(f"--scheme={self.scheme}", f"--hwm={self.hwm}", "--nodb"),
                f"--IPController.enable_curve={self.encrypted}",
                *(f"--Session.packer={self.packer}", f"--Session.unpacker={self.packer}"),
                # Registration takes two heartbeats, so a short period makes the start fast. Busy engines miss many.
                *("--HeartMonitor.period=250", "--HeartMonitor.max_heartmonitor_misses=1000"),
            ],
            {"IPYTHONDIR": str(folder)},
        )

    def invitation(self) -> dict[str, Any]:
        """Wait for the controller; returns the connection facts for the engines."""
        return self._connection("engine")

    def _connection(self, side: str) -> dict[str, Any]:
        file = self._server.folder / "security" / f"ipcontroller-{side}.json"
        facts: dict[str, Any] = self._server.wait_for(lambda: json.loads(file.read_text(encoding="utf-8")))
        if self._tunnel and side == "client":
            # All ports, so that no connection bypasses the tunnel.
            ports = {name: value for name, value in facts.items() if isinstance(value, int)}
            facts |= zip(ports, self._tunnel.through(list(ports.values())), strict=True)
        return facts

    def join(self) -> None:
        """Wait with a probe client until all engines have joined, then connect the real one.

        The pure scheduler refuses a client that saw engines join.
        """
        # Without its own folder, the client would create one in the user's home.
        connection = {"connection_info": self._connection("client"), "ipython_dir": str(self._server.folder)}
        with _Client(**connection, timeout=START_SECONDS) as probe:
            deadline = time.monotonic() + START_SECONDS
            # A client's own count can miss engines for good: an engine that joins while the client is connecting is
            # neither in the hub's answer nor in the notifications, to which the client's socket has not subscribed yet.
            while (joined := sum(isinstance(name, int) for name in probe.queue_status())) < len(self.ranks):
                if time.monotonic() > deadline:
                    raise self._server.refusal(
                        f"only {joined} of {len(self.ranks)} engines joined within {START_SECONDS} s"
                    )
                time.sleep(0.05)
        self._client = _Client(**connection, timeout=START_SECONDS)
        if len(self._client) != len(self.ranks):
            raise Refusal(HoleKind.WRONG_SETUP, f"{len(self._client)} engines joined instead of {len(self.ranks)}")
        self._view = self._client.direct_view() if self.options.map else self._client.load_balanced_view()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit; the client's own thread sends."""
        if self.options.map:
            self._pending = [self._view.map_async(task, arguments)]
        else:
            submit = self._view.apply_async
            self._pending = [submit(task, argument) for argument in arguments]

    def wait(self) -> list[Any]:
        """Wait for the results, and drop the client's records of all tasks, which would slow down later floods."""
        self._client.wait(self._pending)
        found = [result.get() for result in self._pending]
        results = found[0] if self.options.map else found
        self._pending = []
        for kept in (self._client.results, self._client.metadata, self._client.history):
            kept.clear()
        return results

    def stop(self) -> None:
        """End the engines' loops, then the tunnel and the controller with its children."""
        try:
            self._client.shutdown(targets="all", hub=False, block=True)
            self._client.close()
        finally:
            if self._tunnel:
                self._tunnel.stop()
            self._server.stop()


class _Client(ipp.Client):  # type: ignore[misc]
    """A client that tolerates engines that join out of order, or leave at the end."""

    def _stop_scheduling_tasks(self) -> None:
        """Do nothing. With the pure scheduler, the client would close its socket, even while it is connecting. A lost
        engine is a lost rank, and ends the launch.
        """


class _Engine(IPEngine):  # type: ignore[misc]
    """An engine that is a rank: it keeps the rank's signals and its output."""

    def init_signal(self) -> None:
        """Do not change signal handlers, because an engine that survives SIGTERM would outlive a dead driver."""

    def redirect_output(self, iopub_socket: zmq.Socket[bytes]) -> None:
        """Do not redirect standard output, because the launch's log must show a crash."""


def serve(peers: Peers, connection: dict[str, Any]) -> None:
    """Run an engine of the farm described by `connection`; returns when the farm stops."""
    os.environ["IPP_CONNECTION_INFO"] = json.dumps(connection)
    engine = _Engine(enable_nanny=False, timeout=START_SECONDS, log_level=logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="engine-") as folder:
        os.environ["IPYTHONDIR"] = folder
        engine.initialize([f"--profile-dir={folder}"])
        try:
            engine.start()
        except (SystemExit, RuntimeError) as ending:  # raised by ipykernel at a normal end of its loop
            if getattr(ending, "code", 0):
                raise
