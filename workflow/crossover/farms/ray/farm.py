"""Ray on the client's host: its processes start the workers, one for each engine, and keep results in shared memory.

Ray listens on all interfaces; whoever connects needs a token, which is made for the launch. It serves no web pages and
reports no usage. Its processes end with rank 0.
"""

import os
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from crossover.farms.ray import STORE_BYTES
from crossover.measure.farms import Farm, Task, server
from crossover.measure.farms.tasks import echo

# Ray reads them while it is imported.
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}

import ray


class Client(Farm):
    """One node of Ray with as many processors as there are engines."""

    def start(self) -> None:
        """Start its processes, and wait for them, because Ray does both in one call."""
        ray.init(
            num_cpus=self.engines,
            object_store_memory=STORE_BYTES,
            include_dashboard=False,
            log_to_driver=False,
            _node_ip_address=self.peers.address,
            # Its sockets have long names.
            _temp_dir=server.short_temporary_folder(),
        )

    def join(self) -> None:
        """Let every worker start: Ray starts them for its first tasks."""
        self.submit(echo, range(self.engines))
        self.wait()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit one by one."""
        submit = _remote(task)
        self._pending = [submit(argument) for argument in arguments]

    def wait(self) -> list[Any]:
        """Get the results, and release them."""
        results: list[Any] = ray.get(self._pending)
        self._pending = []
        return results

    def stop(self) -> None:
        """End all its processes."""
        ray.shutdown()


@cache
def _remote(task: Task) -> Callable[[Any], Any]:
    submit: Callable[[Any], Any] = ray.remote(task).remote
    return submit
