"""The settings that a run can recommend: those that experiments declare, and the task farm itself."""

from dataclasses import replace

from crossover import farms
from crossover.design.advice import Choice, Setting, Value
from crossover.experiments import aim, declared

OTHER_FARMS: dict[Value, str] = {
    next(iter(farm.entrants)): farm.snippet for farm in farms.declared().values() if farm.snippet
}

TASK_FARM = Setting(
    library="ipyparallel",
    name="task farm",
    about="the library of the task farm",
    rule=Choice("leastload", {"leastload": "ipyparallel"} | {str(farm): farm for farm in OTHER_FARMS}),
    serves=("longer tasks", "empty tasks", "tasks with arrays"),
    snippet=OTHER_FARMS,
)

DECLARED = (*(setting for experiment in declared().values() for setting in experiment.recommends), TASK_FARM)
SETTINGS = tuple(replace(setting, aims=tuple(map(aim, setting.serves))) for setting in DECLARED)
