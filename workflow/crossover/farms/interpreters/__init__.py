"""The pool of interpreters of the standard library, from Python 3.14 on."""

from crossover.design.farms import TaskFarm

FARM = TaskFarm(
    place=28,
    # Below 3.14 its launches are holes, and cost no other arm.
    arms={"interpreters": {"alone": True}},
    one_host=True,
    in_client=True,
    snippet="""\
from concurrent.futures import InterpreterPoolExecutor

with InterpreterPoolExecutor(workers) as executor:
    results = list(executor.map(function, items))
""",
    is_program=True,
)
