"""A reconstruction of how IPython farmed out tasks before it used ZeroMQ."""

from crossover.design.farms import TaskFarm

FARM = TaskFarm(place=50, arms={"twisted": {}}, packages=("foolscap", "twisted"))
