"""Pickles whose buffers are apart, as protocol 5 allows (PEP 574)."""

import pickle
from collections.abc import Sequence
from typing import Any


def out_of_band(value: Any) -> list[Any]:
    """The pickle of an object, then its buffers, which are not copied."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return [pickled, *(buffer.raw() for buffer in buffers)]


def from_out_of_band(parts: Sequence[Any]) -> Any:
    """The object; its buffers are those given."""
    return pickle.loads(parts[0], buffers=parts[1:])
