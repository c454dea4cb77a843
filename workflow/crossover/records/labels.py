"""The labels of curves in stored tables: a reader makes them anew from the keys, so their words may change."""

from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from crossover.design.protocol import KEYS, known, label


def renewed(table: pa.Table) -> pa.Table:
    """The table with the protocols that its keys have today. A protocol stays if its rows have no keys."""
    names = [name for name in KEYS if name in table.column_names]
    if "protocol" not in table.column_names or not names:
        return table
    place, column = table.column_names.index("protocol"), table["protocol"].cast(pa.string())
    old = [each for each in column.unique().to_pylist() if each is not None]
    # The rows of a label share their keys, so the first one tells.
    first = table.select(names).take(pa.array([pc.index(column, each).as_py() for each in old], pa.int64())).to_pylist()
    new = [_label(each, keys) for each, keys in zip(old, map(known, first), strict=True)]
    # Two curves must not become one, where a file of an earlier release tells only some of their keys.
    new = [each if new.count(each) == 1 else before for before, each in zip(old, new, strict=True)]
    if new == old:
        return table
    found = pc.index_in(column, pa.array(old, pa.string()))
    return table.set_column(place, "protocol", pa.array(new, pa.string()).take(found.combine_chunks()))


def _label(old: str, keys: dict[str, object]) -> str:
    # A file from elsewhere may hold anything.
    with suppress(KeyError, ValueError, TypeError, AttributeError):
        return label(keys) or old
    return old
