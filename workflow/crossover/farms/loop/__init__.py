"""No farm: a loop in the client."""

from crossover.design.farms import TaskFarm

FARM = TaskFarm(
    place=20,
    arms={"loop": {}},
    one_host=True,
    in_client=True,
    snippet="results = [function(item) for item in items]\n",
    is_program=True,
)
