"""Reads YAML files, and refuses faulty ones with the line at fault."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from crossover.errors import CrossoverError


def refuse(faults: Iterable[str]) -> None:
    """Raise CrossoverError if there are `faults`, each in a line and once."""
    if lines := dict.fromkeys(faults):
        raise CrossoverError("config error\n" + "\n".join(f"  {fault}" for fault in lines))


# In C, ten times as fast: every launch's process reads the configuration.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses a mapping that has a key twice, of which YAML's own loader silently drops the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value]
        for number, key in enumerate(keys):
            if key.value in [other.value for other in keys[:number]]:
                raise yaml.constructor.ConstructorError(None, None, f"has {key.value} twice", key.start_mark)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(file: str | Path, text: str | None = None) -> Any:
    """The content of a YAML file, or of its `text`.

    Raises CrossoverError with the line at fault, which Snakemake's own message lacks.
    """
    try:
        found = yaml.load(Path(file).read_text(encoding="utf-8") if text is None else text, _Loader)
        # A value that contains itself cannot be written as JSON either.
        json.dumps(found, default=str)
        return found
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            refuse([f"{file}: cannot be read as YAML: {error}"])
        refuse([f"{file}: has an anchor that refers to itself; write its content out"])
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        refuse([f"{file}: cannot be read as YAML: {' '.join(str(error).split())}"])
