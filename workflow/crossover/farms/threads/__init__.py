"""The thread pool of the standard library."""

from crossover.design.farms import TaskFarm

FARM = TaskFarm(
    place=26,
    arms={"threads": {}},
    one_host=True,
    in_client=True,
    snippet="""\
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(workers) as executor:
    results = list(executor.map(function, items))
""",
    is_program=True,
)
