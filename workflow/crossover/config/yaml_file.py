"""Reads YAML files, checks them by a JSON schema, and refuses faulty ones with the line or the key at fault."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from crossover.errors import CrossoverError


def refuse(faults: Iterable[str]) -> None:
    """Raise CrossoverError if there are `faults`, each in a line and once."""
    if lines := dict.fromkeys(faults):
        raise CrossoverError("config error\n" + "\n".join(f"  {fault}" for fault in lines))


# In C, ten times as fast: every launch's process reads the configuration.
class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses a mapping that has a key twice, of which YAML's own loader silently drops the first."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError):
            raise yaml.constructor.ConstructorError(
                None, None, f"has {str(node.value)[:40]!r}, which is no value; put a text in quotes", node.start_mark
            ) from None

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
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        refuse([f"{file}: cannot be read as YAML: {' '.join(str(error).split())}"])
    try:
        refuse(f"{file}: {fault}" for fault in foreign(found))
    except RecursionError:
        refuse([f"{file}: has an anchor that refers to itself; write its content out"])
    return found


def foreign(value: object, where: str = "") -> Iterator[str]:
    """The faults of keys and values that YAML has and JSON does not, or that no key of ours can have."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            # Python does not print numbers of thousands of digits.
            name = where + (str(key)[:40] if not isinstance(key, int) or key.bit_length() <= 128 else "a number")
            if fault := _foreign(key):
                yield f"{name}: the key {fault}"
            yield from foreign(entry, f"{name}.")
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from foreign(entry, f"{where}{number}.")
    elif fault := _foreign(value):
        yield f"{where.removesuffix('.') or 'the file'}: {fault}"


def _foreign(value: object) -> str:
    if isinstance(value, int):
        return "has more digits than any key allows; write a smaller number" if value.bit_length() > 128 else ""
    if isinstance(value, str | float | None):
        return ""
    return f"is of YAML's type {type(value).__name__}; put a text in quotes"


def forbidden(schema: Mapping[str, Any], value: Any) -> list[str]:
    """The faults of `value` by a JSON schema, each as `key: fault and remedy`."""
    found = _Validator(schema).iter_errors(value)
    return [_sentence(error) for error in sorted(found, key=lambda error: list(map(str, error.path)))]


def _whole(_: Any, value: Any) -> bool:
    """JSON Schema accepts 3.0 as an integer, but `range` does not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(_: Any, value: Any) -> bool:
    """YAML allows .inf and .nan."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _whole, "number": _finite})
_Validator = cast(Any, extend)(Draft202012Validator, type_checker=_TYPES)


def _sentence(error: ValidationError) -> str:
    """One error of the validator, as `key: fault and remedy`."""
    path = [str(step) for step in error.absolute_path]
    where = ".".join(path) or "the file"
    value: Any = error.instance
    wanted: Any = error.validator_value
    match error.validator:
        case "additionalProperties":
            known = list(cast(Mapping[str, Any], error.schema)["properties"])
            unknown = [key for key in value if key not in known]
            return "; ".join(
                f"{'.'.join([*path, key])}: unknown key; known here: {', '.join(known)}" for key in map(str, unknown)
            )
        case "enum":
            return f"{where}: {value!r} is not one of {', '.join(map(str, wanted))}"
        case "type":
            kinds = " or ".join([wanted] if isinstance(wanted, str) else wanted)
            return f"{where}: {value!r} is not of type {kinds}"
        case "minItems" | "minProperties":
            return f"{where}: is empty or too short; give at least {wanted}"
        case _:
            return f"{where}: {error.message}"
