"""Parsl, which is not part of the set-up: `make env EXTRA=parsl`."""

from crossover.design.farms import TaskFarm

FARM = TaskFarm(
    place=44,
    arms={"parsl": {"alone": True}},
    packages=("parsl",),
    extra="parsl",
    one_host=True,
    snippet="""\
import parsl

with parsl.load():
    results = [future.result() for future in [parsl.python_app(function)(item) for item in items]]
""",
)
