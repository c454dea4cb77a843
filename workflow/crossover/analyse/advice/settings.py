"""The settings that a run can recommend: those that experiments declare, and the task farm itself."""

from dataclasses import replace

from crossover import farms
from crossover.design.advice import Setting
from crossover.experiments import declared

OTHER_FARMS = {next(iter(farm.entrants)): farm.snippet for farm in farms.declared().values() if farm.snippet}

TASK_FARM = Setting(
    library="ipyparallel",
    name="task farm",
    about="the library of the task farm",
    default="leastload",
    values={str(farm): farm for farm in OTHER_FARMS},
    snippet=OTHER_FARMS,
    experiment=next(name for name, experiment in declared().items() if experiment.farming),
)

DECLARED = [replace(setting, experiment=name) for name, own in declared().items() for setting in own.recommends]
SETTINGS = (*DECLARED, TASK_FARM)
