"""JSON from files that may be damaged, or written by somebody else: read as a value of a type, or refused.

Types are checked strictly, with their bounds, and the depth of nesting is limited.
"""

from functools import cache
from types import UnionType
from typing import Annotated, Any

from annotated_types import Ge, Lt, MaxLen
from pydantic_core import from_json

Seconds = Annotated[float, Ge(0), Lt(1e12)]
"""A time, or a point in time; neither infinite nor NaN."""

Whole = Annotated[int, Ge(0), Lt(2**63)]

Text = Annotated[str, MaxLen(1_000_000)]


def parse(text: str | bytes, kind: type | UnionType = object) -> Any:
    """The value in JSON, of this kind, such as `dict`. Raises ValueError, whose message names the fault in one line."""
    value = from_json(text)
    if not isinstance(value, kind):
        raise ValueError(f"holds a {type(value).__name__} instead of a {getattr(kind, '__name__', kind)}")
    return value


def read(text: str | bytes, kind: Any) -> Any:
    """The same, of any type that pydantic knows, such as a dataclass; numbers and texts are not converted."""
    try:
        if (b"\\u0000" if isinstance(text, bytes) else "\\u0000") in text:  # type: ignore[operator]
            # No path and no command can have one.
            raise ValueError("has a text with a null character")
        return adapter(kind).validate_json(text, strict=True)
    except ValueError as error:
        # pydantic's own message has several lines.
        faults = error.errors(include_url=False, include_input=False) if hasattr(error, "errors") else ()
        for fault in faults:
            raise ValueError(": ".join([*map(str, fault["loc"]), fault["msg"]])) from None
        raise


@cache
def adapter(kind: Any) -> Any:
    """pydantic's validator of a type."""
    # Takes a tenth of a second, and a process that measures does not need it.
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
