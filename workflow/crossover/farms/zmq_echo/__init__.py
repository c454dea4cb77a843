"""The least that a task farm on ZeroMQ can be: a ceiling."""

from crossover.design.farms import TaskFarm

FARM = TaskFarm(place=60, arms={"bare zmq": {}})
