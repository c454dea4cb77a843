"""Are amounts read as people write them, and are curves chosen by their keys?"""

import pytest

from crossover.config.amount import amount
from crossover.errors import CrossoverError
from crossover.query import question
from crossover.records.rows import InPanel
from crossover.report.text import numbers

AMOUNTS = {
    "bytes": {
        "40kB": 40_000,
        "40 kB": 40_000,
        "40KiB": 40_960,
        "1e5": 1e5,
        "0.5 GB": 5e8,
        "100 B": 100,
        40_000: 40_000,
    },
    "µs": {"10ms": 10_000, "1 s": 1e6, "500us": 500, "500 µs": 500, "500": 500},
    "s": {"150 ms": 0.15, 0.15: 0.15},
    "elements": {"1,000,000": 1e6, "8 kB": 1000},
    "engines": {"1 engine": 1},
}


@pytest.mark.parametrize("unit", AMOUNTS)
def test_an_amount_is_in_the_unit_of_the_axis(unit):
    assert {text: amount(text, unit) for text in AMOUNTS[unit]} == pytest.approx(AMOUNTS[unit], rel=1e-12)


@pytest.mark.parametrize("text", ["", "kB", "40q", "40 ms", "-4", "0", "1,5", "1.2.3", "inf", "nan", "1e999", "True"])
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(CrossoverError, match=r"40kB or 40KiB|not a positive number"):
        amount(text, "bytes")


def curve(**keys):
    return InPanel.of({"placement": "node"} | keys)


CURVES = [
    curve(transport="tcp", polled=False, window_bytes=64_000_000),
    curve(transport="ipc", polled=False, window_bytes=64_000_000),
    curve(transport="ipc", polled=True, burst_seconds=0.15),
]


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ({"transport": "tcp"}, [0]),
        ({"transport": "ipc"}, [1, 2]),
        ({"polled": "no"}, [0, 1]),
        ({"polled": True}, [2]),
        ({"window_bytes": "64MB"}, [0, 1]),
        ({"window_bytes": "none"}, [2]),
        ({"burst_seconds": None}, [0, 1]),
        ({"burst_seconds": "150ms"}, [2]),
        ({"placement": "node"}, [0, 1, 2]),
    ],
)
def test_a_curve_is_chosen_by_the_type_of_its_key(where, chosen):
    assert question.matching("x", CURVES, where) == [CURVES[index] for index in chosen]


def test_a_written_point_is_read_as_it_is_printed():
    for x, unit in ((31_623.0, "bytes"), (100.0, "bytes"), (31_600.0, "µs"), (0.15, "s"), (8.0, "tasks")):
        assert amount(numbers.typed(x, unit), unit) == pytest.approx(x, rel=1e-2)
