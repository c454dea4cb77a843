"""The objects that are sent: their content, the number that makes each message another, and whether two are equal."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossover.experiments.array_transfer import ARRAY, ARRAYS, FRAME, TABLE

ELEMENT_BYTES = 8
ROW_BYTES = 80
"""The bytes of a row of a container: ten numbers, or eight and a string of eight letters with its place in Arrow."""

PICTURE = (1080, 1920, 3)
"""The lines, columns and colours of a camera's picture."""


class Payload(NamedTuple):
    """An object, and numbers of 8 bytes in its memory, of which each end changes the last before it sends.

    The numbers of an array are all of its memory.
    """

    object: Any
    numbers: NDArray[Any]


def sizes(kind: str, array_bytes: tuple[int, ...], container_bytes: tuple[int, ...]) -> list[int]:
    """The bytes of such an object at each point of its axis, without repetition: whole elements, or whole rows."""
    if kind == FRAME:
        return [int(np.prod(PICTURE))]
    step, wanted = (ELEMENT_BYTES, array_bytes) if kind == ARRAY else (ROW_BYTES, container_bytes)
    return list(dict.fromkeys(-(-size // step) * step for size in wanted))


def payload(end: int, kind: str, size_bytes: int) -> Payload:
    """The object of this kind that an end sends. The values of a container have the nearest size in whole rows."""
    random = np.random.default_rng(end)
    if kind == ARRAY:
        numbers = random.random(size_bytes // ELEMENT_BYTES)
        return Payload(numbers, numbers)
    if kind == FRAME:
        picture = random.integers(0, 256, PICTURE, np.uint8)
        return Payload(picture, picture.reshape(-1).view(np.int64))
    rows = max(1, round(size_bytes / ROW_BYTES))
    if kind == ARRAYS:
        arrays = {f"array {place}": random.random(rows) for place in range(10)}
        return Payload(arrays, arrays["array 9"])
    if kind == TABLE:
        return _table(random, rows)
    raise ValueError(f"no such kind of object: {kind}")


def equal(got: Any, sent: Any) -> bool:
    """Whether a received object has the values, types, shapes and names of the one that was sent."""
    if type(got) is not type(sent):
        return False
    if isinstance(sent, np.ndarray):
        return got.dtype == sent.dtype and np.array_equal(got, sent)
    if isinstance(sent, dict):
        return list(got) == list(sent) and all(equal(got[name], sent[name]) for name in sent)
    return bool(got.equals(sent) and got.dtypes.equals(sent.dtypes))


def _table(random: np.random.Generator, rows: int) -> Payload:
    # Only launches with a DataFrame load pandas, which takes half a second.
    import pandas as pd

    letters = random.integers(ord("a"), ord("z"), (rows, ELEMENT_BYTES), np.uint8).tobytes().decode()
    table = pd.DataFrame(
        {f"float {place}": random.random(rows) for place in range(5)}
        | {f"whole {place}": random.integers(0, 2**40, rows) for place in range(3)}
        | {"name": [letters[at : at + ELEMENT_BYTES] for at in range(0, len(letters), ELEMENT_BYTES)]}
    )
    # Assigning to a DataFrame takes as long as sending a small one, so the column's own memory is written.
    numbers = table["float 0"].to_numpy()
    numbers.flags.writeable = True
    return Payload(table, numbers)
