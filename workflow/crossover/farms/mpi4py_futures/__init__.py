"""The process pool of mpi4py. Its idle workers poll, so it shares a launch with no other rival."""

from crossover.design.task_farm import TaskFarm

FARM = TaskFarm(place=30, entrants={"mpi4py.futures": {"alone": True}})
