"""Reads YAML files, checks them by types of pydantic, and refuses faulty ones with the line or the key at fault."""

import json
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from crossover.errors import CrossoverError
from crossover.records import json_text

STRICT: Any = {"extra": "forbid", "allow_inf_nan": False}
"""What pydantic refuses in all values: unknown keys, and numbers that are not finite."""


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
        # What JSON lacks, such as dates and anchors that refer to themselves, no key takes.
        json.dumps(found)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, yaml.YAMLError) as error:
        refuse([f"{file}: cannot be read as YAML: {' '.join(str(error).split())}"])
    return found


def validated(kind: Any, value: Any, file: str | Path) -> Any:
    """A YAML value as a `kind`, a type that pydantic knows.

    Raises CrossoverError with every fault, each with the file and the path of the key.
    """
    refuse(f"{file}: {fault}" for fault in faults_of(kind, value))
    return _read(kind, value)


def faults_of(kind: Any, value: Any) -> list[str]:
    """The faults of a YAML value that is no `kind`, each as `key: fault (value)`."""
    # Takes a tenth of a second, and a process that measures does not need it.
    from pydantic import ValidationError

    try:
        _read(kind, value)
    except ValidationError as error:
        faults = [(_path(fault, value), fault) for fault in error.errors(include_url=False)]
        # Each type of a union has its fault; one with a longer path is about the type that the user meant.
        return [
            f"{path or 'the file'}: {_words(fault)}"
            for path, fault in faults
            if not any(other.startswith(f"{path}.") for other, _ in faults)
        ]
    except (TypeError, ValueError) as error:
        return [f"the configuration: {error}; put a text in quotes"]
    return []


def _read(kind: Any, value: Any) -> Any:
    # Only from JSON does the strict mode take a list for a tuple, and a mapping for a dataclass.
    return json_text.adapter(kind).validate_json(json.dumps(value), strict=True)


def _words(fault: Any) -> str:
    # pydantic has one message for a model, and one for a dataclass.
    unknown = fault["type"] in ("extra_forbidden", "unexpected_keyword_argument")
    told = "" if fault["type"] == "missing" else f" (here: {reprlib.repr(fault['input'])})"
    return f"{'unknown key' if unknown else fault['msg']}{told}"


def _path(fault: Any, value: Any) -> str:
    """The path of the key at fault in `value`, without the names that pydantic gives the types of a union."""
    path = []
    for step in map(str, fault["loc"]):
        entries = dict(enumerate(value)) if isinstance(value, list) else value if isinstance(value, Mapping) else {}
        inner = {str(key): entry for key, entry in entries.items()}
        if step in inner or (step == str(fault["loc"][-1]) and fault["type"] == "missing"):
            path.append(step)
            value = inner.get(step)
    return ".".join(path)
