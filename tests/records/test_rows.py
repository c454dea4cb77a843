"""Are rows read from a table as they were written?"""

import pytest

from crossover.design.protocol import KEYS
from crossover.records import record
from crossover.records.rows import Choice, Launch, Median


def test_json_is_parsed_and_a_missing_text_is_empty_while_another_missing_value_is_none():
    columns = {
        "experiment": "zmq_latency",
        "launch": 3,
        "settings": '{"arms": ["copy"]}',
        "job": None,
        "exclusive": None,
    }
    launch = Launch.of(columns)
    assert (launch.name, launch.settings) == (("zmq_latency", "", 3), {"arms": ["copy"]})
    assert (launch.job, launch.exclusive, launch.phases) == ("", None, None)


def test_a_row_has_the_keys_of_its_curve_only():
    columns = dict.fromkeys(KEYS) | {"transport": "tcp", "engines": 4.0, "placement": "node"}
    assert Choice.of(columns).conditions == {"transport": "tcp", "engines": 4, "placement": "node"}


@pytest.mark.parametrize("name", record.TABLES)
def test_every_table_has_a_column_for_each_field_and_key(name):
    kind = record.TABLES[name]
    assert set(kind.schema().names) == {*kind.kinds, *(KEYS if kind.has_keys else ())}


def test_the_types_of_columns_are_those_of_the_fields():
    types = {column.name: str(column.type) for kind in (Median, Launch, Choice) for column in kind.schema()}
    assert (types["x"], types["launch"], types["is_null_arm"]) == ("double", "int64", "bool")
    assert (types["levels"], types["phases"]) == ("list<item: double>", "map<string, double>")
    assert types["settings"] == "string"
    assert types["candidates"] == "list<item: struct<arm: string, guarantee: double>>"
