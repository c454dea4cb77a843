"""More launches than configured: a file beside the raw files says how many each experiment has by now.

The file {results}/raw/{tier}/launches.json holds {experiment: launches}. `crossover more` writes it; runs read it.
So a plain run keeps the launches that were added, and repeats those that were not finished.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le

from crossover.errors import CrossoverError
from crossover.planning import second_sweep
from crossover.planning.plan import SECOND_SWEEP
from crossover.records import atomic, json_text

FILE = "{results}/raw/{tier}/launches.json"


def wanted(results: str, tier: str) -> dict[str, int]:
    """The launches of each experiment that has more than configured. Raises CrossoverError if they cannot be read."""
    path = Path(FILE.format(results=results, tier=tier))
    try:
        found: dict[str, int] = json_text.read(path.read_bytes(), dict[str, Annotated[int, Ge(1), Le(SECOND_SWEEP)]])
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as reason:
        raise CrossoverError(
            f"{path}: cannot be read ({reason}); delete it to have as many launches as configured"
        ) from None


def replicated(config: dict[str, Any]) -> dict[str, Any]:
    """The complete configuration, with the `launches` of each experiment raised to those that are wanted."""
    more = wanted(config["results"], config["tier"])
    experiments = {
        name: own | {"launches": max(own["launches"], more.get(name, 0))} for name, own in config["experiments"].items()
    }
    path = FILE.format(results=config["results"], tier=config["tier"])
    for name, own in experiments.items():
        for fault in second_sweep.overlap(name, own | {"entrants": config["entrants"]}):
            raise CrossoverError(f"{path}: {name}.{fault}")
    return config | {"experiments": experiments}


def want(results: str, tier: str, launches: Mapping[str, int]) -> None:
    """Store that these experiments have at least so many launches."""
    held = wanted(results, tier)
    whole = held | {name: max(count, held.get(name, 0)) for name, count in launches.items()}
    with atomic.replacing(Path(FILE.format(results=results, tier=tier))) as part:
        part.write_text(json.dumps(whole, indent=1, sort_keys=True), encoding="utf-8")
