"""More launches than configured: a file beside the raw files says how many each experiment has by now.

The file {results}/raw/{tier}/launches.json holds {experiment: launches}. `crossover more` writes it; runs read it.
So a plain run keeps the launches that were added, and repeats those that were not finished.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Le

from crossover.design.config import Config
from crossover.design.launch import MOST_LAUNCHES
from crossover.errors import CrossoverError
from crossover.planning import plan
from crossover.records import atomic, json_text

FILE = "{results}/raw/{tier}/launches.json"


def wanted(results: str, tier: str) -> dict[str, int]:
    """The launches of each experiment that has more than configured. Raises CrossoverError if they cannot be read."""
    path = Path(FILE.format(results=results, tier=tier))
    try:
        content = atomic.regular(path).read_bytes()
        found: dict[str, int] = json_text.read(content, dict[str, Annotated[int, Ge(1), Le(MOST_LAUNCHES)]])
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as reason:
        raise CrossoverError(
            f"{path}: cannot be read ({reason}); delete it to have as many launches as configured"
        ) from None


def replicated(config: Config) -> Config:
    """The complete configuration, with the `launches` of each experiment raised to those that are wanted."""
    more = wanted(config.results, config.tier)
    experiments = {
        name: replace(own, launches=max(own.launches, more.get(name, 0))) for name, own in config.experiments.items()
    }
    raised = replace(config, experiments=experiments)
    for name in experiments:
        for fault in plan.too_many(experiments[name]):
            path = FILE.format(results=config.results, tier=config.tier)
            raise CrossoverError(f"{path}: {name}.{fault}")
    return raised


def want(results: str, tier: str, launches: Mapping[str, int]) -> None:
    """Store that these experiments have at least so many launches."""
    held = wanted(results, tier)
    whole = held | {name: max(count, held.get(name, 0)) for name, count in launches.items()}
    with atomic.replacing(Path(FILE.format(results=results, tier=tier))) as part:
        part.write_text(json.dumps(whole, indent=1, sort_keys=True), encoding="utf-8")
