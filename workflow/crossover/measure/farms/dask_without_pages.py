"""Dask's scheduler and worker without web pages: beside an encrypted port, Dask serves pages to anybody by plain HTTP.

Another user of the host learns from them what runs, and their work slows the tasks down. Routes that are switched off
leave the server and one page, so the server is not started. As a program, `python -m ... FILE ADDRESS [CA CERT KEY]`,
this is a scheduler: it listens on an address, writes how to reach it to a file, and with these files speaks TLS.
"""

import asyncio
import sys
from typing import Any

import dask
import distributed
from distributed import Security

# Without the configuration of the user, of the host and of the environment's folder, which would change the arm.
dask.config.refresh(paths=[])


class Scheduler(distributed.Scheduler):  # type: ignore[misc]
    """A scheduler without web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do not serve pages."""


class Worker(distributed.Worker):  # type: ignore[misc]
    """A worker without web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do not serve pages."""


async def _schedule(file: str, address: str, *credentials: str) -> None:
    names = ("tls_ca_file", "tls_scheduler_cert", "tls_scheduler_key")
    security = Security(**dict(zip(names, credentials, strict=True)), require_encryption=True) if credentials else None
    protocol = "tls" if credentials else "tcp"
    scheduler = Scheduler(
        scheduler_file=file, host=address, port=0, protocol=protocol, security=security, dashboard=False
    )
    async with scheduler:
        await scheduler.finished()


if __name__ == "__main__":
    asyncio.run(_schedule(*sys.argv[1:]))
