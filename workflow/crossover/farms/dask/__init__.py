"""Dask: a scheduler and workers. It wakes up often while idle, so it shares a launch with no other rival."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.farms import TaskFarm


@dataclass(frozen=True)
class Options:
    """Its options."""

    encrypted: Annotated[
        bool,
        "every connection is encrypted, with a certificate made for the launch (TLS). Without it, other users of the "
        "hosts could get tasks or run code, so such a farm is measured only with `unauthenticated_farms`",
    ] = True
    queued: Annotated[
        bool, "the scheduler keeps tasks back until a worker is nearly idle, as is Dask's default, or sends all at once"
    ] = True
    map: Annotated[bool, "all tasks by one `Client.map`"] = False


FARM = TaskFarm(
    place=40,
    arms={
        "dask": {"alone": True},
        "dask map": {"map": True, "alone": True},
        "dask unqueued": {"queued": False, "alone": True},
        "dask unencrypted": {"encrypted": False, "alone": True},
    },
    options=Options,
    packages=("distributed",),
    # Otherwise scheduler and workers run the code of anybody who connects to them.
    authenticates="encrypted",
    snippet="""\
from distributed import Client

with Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) as client:
    results = client.gather(client.map(function, items))
""",
)
