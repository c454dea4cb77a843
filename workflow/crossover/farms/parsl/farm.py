"""Parsl with its executor for many short tasks (HTEX): an interchange and a pool of workers, below rank 0.

Every connection is encrypted, with keys made for the launch (CurveZMQ), and on the launch's own address.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

import parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider

from crossover.measure.farms import Farm, Task, server
from crossover.measure.farms.tasks import echo
from crossover.measure.ranks import ending

HEARTBEAT_SECONDS = 2
"""The period of heartbeats; workers end after three missing ones."""


class Client(Farm):
    """One executor with a pool of as many processes as there are engines."""

    def start(self) -> None:
        """Start the interchange, and the pool of workers without waiting for it."""
        # Parsl starts its programs by their names.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        folder = tempfile.mkdtemp(prefix="parsl-")
        executor = HighThroughputExecutor(
            address=self.peers.address,
            loopback_address=self.peers.address,
            encrypted=True,
            # The guard ends the interchange with rank 0, and workers end when its heartbeats are missing.
            interchange_launch_cmd=[sys.executable, "-m", ending.__name__, "interchange.py"],
            max_workers_per_node=self.engines,
            # Otherwise it would start no more workers than cores.
            cores_per_worker=1e-6,
            heartbeat_period=HEARTBEAT_SECONDS,
            heartbeat_threshold=3 * HEARTBEAT_SECONDS,
            # The pool has a socket in its temporary folder.
            provider=LocalProvider(
                init_blocks=1,
                min_blocks=1,
                max_blocks=1,
                worker_init=f"export TMPDIR={server.short_temporary_folder()}",
            ),
            worker_logdir_root=folder,
        )
        self._kernel = parsl.load(
            Config([executor], run_dir=folder, strategy="none", usage_tracking=0, initialize_logging=False)
        )

    def join(self) -> None:
        """Wait for the workers."""
        self.submit(echo, range(self.engines))
        self.wait()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit one by one; threads of Parsl pickle and send."""
        submit = _app(task)
        self._pending = [submit(argument) for argument in arguments]

    def wait(self) -> list[Any]:
        """Wait for the results."""
        return [future.result() for future in self._pending]

    def stop(self) -> None:
        """End the workers and the interchange."""
        self._kernel.cleanup()
        parsl.clear()


@cache
def _app(task: Task) -> Callable[[Any], Future[Any]]:
    app: Callable[[Any], Future[Any]] = parsl.python_app(task)
    return app
