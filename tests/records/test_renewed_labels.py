"""Do stored files work on after the words of a label have changed?"""

from dataclasses import replace

import pyarrow as pa
import pytest

from crossover.design.protocol import KEYS, identity, label, named
from crossover.records import labels, record

IPC, TCP = ({"pattern": "REQ/REP", "transport": transport, "legacy": False} for transport in ("ipc", "tcp"))


def rows(*every, words=None):
    """A table of curves with these keys, labelled by `words` or by today's."""
    named = [dict.fromkeys(KEYS) | keys | {"protocol": (words or label)(keys)} for keys in every]
    return pa.Table.from_pylist([row | {"x": 1.0} for row in named])


@pytest.fixture
def other_words(monkeypatch):
    """Another word in every label of a pattern."""
    monkeypatch.setitem(KEYS, "pattern", replace(KEYS["pattern"], words=lambda keys: f"sockets {keys['transport']}"))


def test_a_reader_makes_the_labels_anew(other_words):
    table = rows(IPC, TCP, IPC, words=lambda keys: f"old {keys['transport']}")
    assert labels.renewed(table)["protocol"].to_pylist() == ["sockets ipc", "sockets tcp", "sockets ipc"]


def test_a_table_with_todays_labels_is_the_same_object():
    table = rows(IPC, TCP)
    assert labels.renewed(table) is table


def test_rows_without_keys_and_foreign_values_keep_their_label():
    strange = {"pattern": "REQ/REP", "entrant_options": "no JSON"}
    table = rows({}, strange, words=lambda keys: "as it was" if keys else "of an earlier release")
    assert labels.renewed(table)["protocol"].to_pylist() == ["of an earlier release", "as it was"]
    assert labels.renewed(pa.table({"x": [1.0]})).column_names == ["x"]


def test_a_stored_raw_file_has_the_new_label(tmp_path, other_words):
    names = {field.name: None for field in record.MEASUREMENTS}
    row = names | IPC | {"protocol": "REQ/REP over ipc", "experiment": "zmq_latency", "placement": "node", "launch": 1}
    file = tmp_path / "raw.parquet"
    record.write(record.from_rows([row], record.MEASUREMENTS), file)
    assert record.read(file, record.MEASUREMENTS)["protocol"].to_pylist() == ["sockets ipc"]


def test_the_identity_of_a_curve_has_no_words_of_its_label(other_words):
    assert identity(IPC) == '{"legacy": false, "pattern": "REQ/REP", "transport": "ipc"}'
    assert named(identity(IPC)) == "sockets ipc"
    assert identity({"protocol": "of an earlier release"}) == named("of an earlier release") == "of an earlier release"


def test_curves_that_only_their_labels_tell_apart_stay_apart():
    keys = [{"pattern": "REQ/REP", "transport": "ipc"}] * 2
    words = iter(("REQ/REP over ipc, once", "REQ/REP over ipc, twice"))
    told = labels.renewed(rows(*keys, words=lambda _: next(words)))["protocol"].to_pylist()
    assert told == ["REQ/REP over ipc, once", "REQ/REP over ipc, twice"]
