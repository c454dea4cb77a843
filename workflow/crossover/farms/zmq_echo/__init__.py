"""The least that a task farm on ZeroMQ can be: a ceiling."""

from crossover.design.task_farm import TaskFarm

FARM = TaskFarm(place=60, arms={"bare zmq": {}})
