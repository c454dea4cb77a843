"""Dask distributed: a scheduler as a child process, a worker of one thread in each rank, a client on rank 0.

By default they speak TLS, with one certificate made for the launch, which every end must have; ranks get it over MPI.
The farm serves no web pages, and listens only on the ranks' addresses. It wakes up often while idle, so it needs
`alone`: launches with the reference only.
"""

import asyncio
import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import dask
import distributed
from distributed import Future, Security

from crossover.farms.dask import Options
from crossover.measure.farms import Farm, Task, dask_without_pages
from crossover.measure.farms.server import START_SECONDS, Server
from crossover.measure.ranks.peers import Peers

CONFIGURATION = {
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.diagnostics.nvml": False,
    "distributed.worker.profile.enabled": False,
}


UNQUEUED = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "inf"}
"""The environment of a scheduler that sends workers every task at once."""


class Client(Farm):
    """One scheduler with its client, `encrypted` or not."""

    def __init__(self, peers: Peers, ranks: Sequence[int], engines: int, options: Options):
        super().__init__(peers, ranks, engines, options)
        self._security = Security.temporary() if options.encrypted else None
        self._environment = {} if options.queued else UNQUEUED

    def start(self) -> None:
        """Start the scheduler."""
        self._server = Server("dask")
        self._file, address = self._server.folder / "scheduler.json", self.peers.address
        program = ["-m", dask_without_pages.__name__, str(self._file), address, *self._credentials()]
        self._server.start(program, self._environment)

    def _credentials(self) -> Iterator[str]:
        """The files with the scheduler's certificates and key for TLS, in its private folder; none without."""
        if self._security is None:
            return
        for name in ("tls_ca_file", "tls_scheduler_cert", "tls_scheduler_key"):
            file = self._server.folder / f"{name}.pem"
            file.touch(mode=0o600)
            file.write_text(getattr(self._security, name), encoding="utf-8")
            yield str(file)

    def invitation(self) -> tuple[str, Security | None]:
        """Wait for the scheduler; returns its address, and the certificate with its key."""
        return str(
            self._server.wait_for(lambda: json.loads(self._file.read_text(encoding="utf-8")))["address"]
        ), self._security

    def join(self) -> None:
        """Connect, and wait until all workers have joined."""
        dask.config.set(CONFIGURATION)
        address, security = self.invitation()
        self._client = distributed.Client(address, timeout=START_SECONDS, set_as_default=False, security=security)
        self._client.wait_for_workers(len(self.ranks), timeout=START_SECONDS)

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit. With `pure=False` each task runs, even if it equals another."""
        submit = self._client.submit
        self._pending: list[Future] = (
            self._client.map(task, list(arguments), pure=False)
            if self.options.map
            else [submit(task, argument, pure=False) for argument in arguments]
        )

    def wait(self) -> list[Any]:
        """Gather the results, and release the futures."""
        results: list[Any] = self._client.gather(self._pending)
        self._pending = []
        return results

    def stop(self) -> None:
        """End workers and scheduler."""
        self._server.may_end = True
        self._client.shutdown()
        self._client.close()
        self._server.stop()


def serve(peers: Peers, invitation: tuple[str, Security | None]) -> None:
    """Run a worker until the scheduler ends."""
    dask.config.set(CONFIGURATION)
    # Workers log their start and end at length.
    logging.getLogger("distributed").setLevel(logging.ERROR)
    # The scheduler may end during a heartbeat. This ends the worker, and is no error.
    expected = "Failed to communicate with scheduler during heartbeat."
    logging.getLogger("distributed.worker").addFilter(lambda entry: entry.getMessage() != expected)
    with tempfile.TemporaryDirectory(prefix="worker-") as folder:
        asyncio.run(_work(*invitation, peers.address, folder))


async def _work(scheduler: str, security: Security | None, own_address: str, folder: str) -> None:
    worker = dask_without_pages.Worker(
        scheduler,
        security=security,
        nthreads=1,
        host=own_address,
        local_directory=folder,
        memory_limit=0,
        dashboard=False,
    )
    async with worker:
        await worker.finished()
