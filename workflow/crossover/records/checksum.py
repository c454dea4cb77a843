"""The checksum of a table's rows and metadata, stored in its metadata."""

import hashlib
import json
from collections.abc import Mapping

import pyarrow as pa

KEY = b"digest"
"""The key of the checksum."""


def of(stored: Mapping[bytes, bytes], table: pa.Table) -> bytes:
    """The checksum of a table with this metadata, as stored."""
    own = sorted((key, value) for key, value in stored.items() if is_ours(key))
    found = hashlib.sha256(repr((own, table.schema.names, list(map(str, table.schema.types)))).encode())
    for column in table.columns:
        values = column.combine_chunks()
        found.update(values.is_valid().to_numpy(zero_copy_only=False))
        if pa.types.is_string(values.type):
            # A hundred times as fast as a list of all texts, because few differ.
            coded = values.dictionary_encode()
            found.update(repr(coded.dictionary.to_pylist()).encode())
            values = coded.indices
        if not pa.types.is_null(values.type):
            # Whatever a file holds in place of a missing value.
            numbers = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
            found.update(numbers.to_numpy(zero_copy_only=False))
    return json.dumps(found.hexdigest()).encode()


def is_wrong(stored: Mapping[bytes, bytes], table: pa.Table) -> bool:
    """Whether a table has a wrong checksum, or none."""
    return stored.get(KEY) != of(stored, table)


def is_ours(key: bytes) -> bool:
    """Whether an entry of the metadata is part of the checksum."""
    return key not in (b"pandas", KEY)
