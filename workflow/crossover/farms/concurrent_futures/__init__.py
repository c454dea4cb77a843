"""The process pool of the standard library."""

from crossover.design.task_farm import TaskFarm

FARM = TaskFarm(place=20, entrants={"concurrent.futures": {}}, one_host=True)
