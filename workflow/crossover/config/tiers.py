"""The tiers at which experiments are measured."""

from crossover.config import schema
from crossover.planning import plan


def first(experiment: str) -> str:
    """The lowest tier at which an experiment of the schema has launches on one host by default; empty without one."""
    if experiment not in schema.read_schema()["properties"]["experiments"]["properties"]:
        return ""
    for tier in schema.TIERS[1:]:
        run = schema.complete({"tier": tier, "experiments": {experiment: {}}}) | {"hosts": 1}
        if any(True for _ in plan.launches(run)):
            return tier
    return ""
