"""Ray, which is not part of the set-up: `make env EXTRA=ray`."""

from crossover.design.farms import TaskFarm

STORE_BYTES = 2_000_000_000
"""The shared memory for arguments and results, taken as needed. The largest flood of any tier needs about half. A flood
that needs more is slower by several times, because Ray moves objects to files in its folder."""

FARM = TaskFarm(
    place=42,
    arms={"ray": {"alone": True}},
    packages=("ray",),
    extra="ray",
    one_host=True,
    # Its processes listen on every interface of the host. They demand a token, but Ray can be told no interface.
    authenticates=False,
    snippet="""\
import ray

ray.init()
results = ray.get([ray.remote(function).remote(item) for item in items])
""",
)
