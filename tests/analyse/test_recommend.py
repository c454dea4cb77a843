"""Does a recommended setting follow from the choices, and never cost more than it says? The truth is known."""

import json
import tomllib

import disagreeing
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import SIZES

from crossover.analyse.estimates.choice import questions
from crossover.analyse.estimates.curve import curves
from crossover.analyse.estimates.sensitivity import NO_NULL
from crossover.analyse.tables.recommend import (
    FILE,
    NOT_REPLICATED,
    _written,
    decide,
    for_program,
    recommend,
    recommendations,
)
from crossover.design.advice import Setting
from crossover.records import record
from crossover.records.outcome import KNOWN
from crossover.records.rows import Launch

HALF = 3000.0
"""A place roughly half way between two cells, on a logarithmic scale."""


def setting(*arms, beyond=(), **changes):
    told = {
        "library": "lib", "name": "option", "about": "what it is", "default": "copy",
        "values": {arm: arm.upper() for arm in arms}, "snippet": "option = {value}\n",
        "beyond": {arm: f"{arm} from {{value}}\n" for arm in beyond}, "experiment": "zmq_throughput",
    }  # fmt: skip
    return Setting(**told | changes)


SIZE = setting("new", beyond=["new"])
BEST = setting("a", "b", "c")


def noisy(random, truth, launches=5, sd=0.02):
    """Logarithms around `truth`, shape (launches, cells), with launch effects."""
    return truth + sd * (random.standard_normal((launches, 1)) + random.standard_normal((launches, len(truth))))


def medians(random, launches=5, sd=0.02, null=0.0, **truth):
    """A table of medians of arms of known `truth`, and of the reference and its null arm."""
    arms = {"copy": 0, "null": null} | truth
    values = {arm: noisy(random, 0 * SIZES + line, launches, sd) for arm, line in arms.items()}
    return pd.DataFrame(
        {
            "experiment": "zmq_throughput", "placement": "node", "protocol": "tcp", "metric": "throughput",
            "unit": "messages/s", "better": "higher", "levels": [], "arm": arm, "reference": "copy",
            "is_null_arm": arm == "null", "ceiling": False, "axis": "message size", "axis_unit": "bytes", "x": x,
            "launch": launch, "value": np.exp(value), "ratio": np.nan if arm == "copy" else np.exp(value - base),
            "rounds": 10, "pairs": 10, "transport": "tcp",
        }
        for arm, own in values.items()
        for launch, (line, bases) in enumerate(zip(own, values["copy"], strict=True), 1)
        for x, value, base in zip(SIZES, line, bases, strict=True)
    )  # fmt: skip


def asked(found, launches=()):
    return list(questions(list(curves(found)), launches))


def decided(rule, random, **truth):
    """The row of one setting, from arms of known truth."""
    (question,) = asked(medians(random, **truth))
    return {"recommended": False} | decide(rule, question)


def crossing(place=HALF, per_cell=0.3):
    return per_cell * np.log(SIZES / place) / np.log(SIZES[1] / SIZES[0])


def test_a_threshold_is_the_boundary_between_two_choices_and_its_interval_holds_the_truth():
    random, held, places = np.random.default_rng(5), [], []
    for _ in range(60):
        row = decided(SIZE, random, new=crossing())
        assert row["recommended"] and row["arm"] == "new" and row["snippet"] == f"new from {row['value']}\n"
        held.append(row["low"] <= HALF <= row["high"])
        places.append(json.loads(row["value"]))
        assert 1 < row["gain_low"] < row["gain_high"] and row["guarantee"] <= KNOWN
    row = decided(SIZE, random, other=3.0, new=0.5)
    assert row["guarantee_of_values"] <= KNOWN and row["guarantee"] > np.exp(2.4)
    assert np.mean(held) >= 0.9 and abs(np.log(np.median(places) / HALF)) < 0.2


@pytest.mark.parametrize(
    ("truth", "reason"),
    [
        (0.02, "keep `copy`"),
        (-1.0, "keep `copy`"),
        (
            np.where(SIZES < HALF, 1.0, -1.0),
            "no single value is surely within 1.25 times of the best at every measured point",
        ),
        (np.where((SIZES > 1e3) & (SIZES < 1e5), 1.0, -1.0), "no single value is surely within"),
    ],
)
def test_without_a_recommendation_the_reason_describes_the_choices(truth, reason):
    row = decided(SIZE, np.random.default_rng(6), new=truth)
    assert not row["recommended"] and row["reason"].startswith(reason)
    assert sorted(x for own in row["points"].values() for x in own) == list(SIZES)


def test_noise_a_biased_null_arm_or_one_launch_leaves_it_open():
    random = np.random.default_rng(13)
    assert decided(SIZE, random, new=0.3, sd=0.5)["reason"].startswith("open: ")
    assert decided(SIZE, random, new=0.3, null=0.5)["reason"].startswith("open: ")
    assert decided(SIZE, random, new=0.3, launches=1)["reason"] == NOT_REPLICATED
    (question,) = asked(medians(random, new=0.3).query("arm != 'null'"))
    assert decide(SIZE, question)["reason"] == NO_NULL


def test_the_best_of_several_is_taken_and_missing_ones_are_named():
    row = decided(BEST, np.random.default_rng(7), a=0.3, b=0.9, c=0.3)
    assert (row["arm"], row["value"], row["guarantee"], row["guarantee_of_values"]) == ("b", '"B"', 1, 1)
    assert "x" not in row and row["snippet"] == 'option = "B"\n'
    measured = medians(np.random.default_rng(14))
    launch = {"experiment": "zmq_throughput", "outcome": "measured", "hole": None, "settings": '{"arms": ["new"]}'}
    hole = launch | {"outcome": "hole", "hole": "timed out", "reason": "too slow"}
    for rule, table, launches, reason in (
        (SIZE, measured, [launch], "`new` has no value here"),
        (BEST, measured, [launch], "`a` or `b` or `c` is not among the arms of this run's configuration"),
        (SIZE, measured.iloc[:0], [hole], "all its launches are holes, the first because of `timed out: too slow`"),
    ):
        (row,) = recommendations(rule, asked(table), [*map(Launch.of, launches)])
        assert row["reason"] == f"not measured: {reason}"


def test_no_recommendation_is_worse_than_it_says_in_more_than_one_run_of_twenty():
    """Steady, crossing and bent curves of three arms, with three to five launches and much noise."""
    random = np.random.default_rng(31)
    steps = np.arange(len(SIZES))
    rule, exceeded, recommended = setting("new", "other", beyond=["new", "other"]), 0, 0
    for _ in range(300):
        bends = random.choice([0, 0.1], 2)[:, np.newaxis] * random.standard_normal((2, len(SIZES)))
        truth = random.normal(0, 0.3, (2, 1)) + random.normal(0, 0.1, (2, 1)) * steps + bends
        arms = {"copy": 0 * SIZES, "new": truth[0], "other": truth[1]}
        noise = {"launches": int(random.integers(3, 6)), "sd": random.choice([0.01, 0.05])}
        row = decided(rule, random, new=truth[0], other=truth[1], **noise)
        if row["recommended"]:
            recommended += 1
            start = json.loads(row["value"]) if "low" in row else 0
            used = np.where(start <= SIZES, arms[row["arm"]], arms["copy"])
            exceeded += bool((np.max([*arms.values()], axis=0) - used > np.log(row["guarantee"]) + 1e-9).any())
    assert recommended > 60 and exceeded <= 0.05 * recommended


@given(st.floats(1, 1e9), st.lists(st.integers(1, 10**9), min_size=1, max_size=6, unique=True))
def test_a_written_place_is_a_whole_number_that_passes_no_measured_point(x, cells):
    cells = np.sort(cells)
    value = _written(x, cells)
    assert value >= 1 and np.array_equal(cells >= value, cells >= x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Lending improves streams over tcp from 200 kB on, and nothing over inproc; it returns sooner from 17 kB on."""
    return disagreeing.write(tmp_path_factory.mktemp("results"))


def table(folder):
    return record.read(folder / "recommendations.parquet", record.RECOMMENDATIONS).to_pylist()


def test_from_raw_files_to_thresholds_that_are_the_boundaries_of_the_choices(folder):
    choices = record.read(folder / "choices.parquet", record.CHOICES).to_pylist()
    begins = {row["protocol"]: row for row in choices if row["begins"] is not None}
    recommended = {row["protocol"]: row for row in table(folder) if row["recommended"] and row["protocol"]}
    assert set(recommended) == set(begins) and len(recommended) == 4
    for protocol, row in recommended.items():
        assert [row[name] for name in ("x", "low", "high")] == [
            begins[protocol][name] for name in ("begins", "begins_low", "begins_high")
        ]
        place = disagreeing.PASSES[row["experiment"], row["metric"]][row["transport"]]
        assert row["low"] < place < row["high"] and f"copy_threshold = {row['value']} " in row["snippet"]


def test_a_call_that_returns_sooner_is_no_reason_for_a_setting(folder):
    assert {row["metric"] for row in table(folder)} & {"send rate", "peak memory"} == set()
    (refused,) = [row for row in table(folder) if row["transport"] == "inproc"]
    assert not refused["recommended"] and refused["reason"] == "keep `copy`"


def test_the_toml_file_agrees_with_the_table_and_both_are_the_same_again(folder):
    said = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))
    entries = [*said["recommended"], *said["no_recommendation"]]
    expected = sorted(table(folder), key=lambda row: not row["recommended"])
    for entry, row in zip(entries, expected, strict=True):
        assert all(
            entry.get(name) == row[name]
            for name in ("setting", "reason", "snippet", "guarantee", "guarantee_of_values")
        )
        assert entry.get("value") == (json.loads(row["value"]) if row["value"] else None)
        assert entry.get("gain", {}).get("low") == row["gain_low"]
        assert entry.get("place", {}).get("high") == row["high"]
        assert entry["measured_by"].get("protocol") == row["protocol"]
    before = [(folder / name).read_bytes() for name in ("recommendations.parquet", FILE)]
    recommend(folder)
    assert [(folder / name).read_bytes() for name in ("recommendations.parquet", FILE)] == before


def test_one_value_for_a_program_costs_least_at_the_worst_point_of_all_questions():
    """Lending wins from 700 B on over tcp, and from 300 kB on over ipc; the library's own threshold is 10 kB."""
    rule = setting("shipped", "new", beyond=["new"], program_wide=True, values={"shipped": 10_000, "new": 0})
    random = np.random.default_rng(3)
    early, late = (medians(random, new=crossing(place, 0.15)) for place in (700.0, 300_000.0))
    own = asked(pd.concat([early, late.assign(protocol="ipc", transport="ipc")]))
    assert len(own) == 2
    row = for_program(rule, own)
    assert (row["arm"], row["value"], row["recommended"]) == ("shipped", "10000", True)
    costs = [
        cell.costs["new" if x >= 10_000 else "copy"]
        for question in own
        for x, cell in zip(question.x, question.choices, strict=True)
    ]
    assert row["guarantee"] == row["guarantee_of_values"] == pytest.approx(max(costs))
    others = [
        max(cell.costs["new" if x >= start else "copy"] for q in own for x, cell in zip(q.x, q.choices, strict=True))
        for start in (0, *SIZES, 1e12)
    ]
    assert max(costs) <= KNOWN * min(others)
    # Without an own threshold of the library, the best one is taken; a default that is nearly as good stays.
    assert for_program(SIZE, own)["guarantee"] == pytest.approx(min(others))
    assert "recommended" not in for_program(rule, asked(medians(random, new=0 * SIZES)))


def test_a_smoke_run_recommends_nothing(tmp_path):
    receipt = "results/launches/smoke/zmq_throughput/node/1-0123abcd.0.json"
    for name, schema in record.schemas("medians launches").items():
        rows = [{"experiment": "zmq_throughput", "receipt": receipt}] if name == "launches" else []
        record.write(pa.Table.from_pylist(rows, schema=schema), tmp_path / f"{name}.parquet")
    recommend(tmp_path)
    assert {row["reason"] for row in table(tmp_path)} == {
        "a smoke run tests the workflow; it has too few launches for advice"
    }
