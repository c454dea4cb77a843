"""Do the tables agree with the truth of a campaign?"""

import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from synthetic import SIZES, blocks, launched, rows

from crossover.analyse.estimates.intervals import BOUNDED, estimate
from crossover.analyse.tables.raw_files import gather, gathered
from crossover.analyse.tables.writer import TABLES, derive
from crossover.errors import CrossoverError
from crossover.planning import receipt
from crossover.records import record

ARMS = ("copy", "no-copy", "null")
HERE = 7000.0
RISING = 0.15 * np.log10(SIZES / HERE)
FLAT = 0 * SIZES


def campaign(truth, launches=3, seed=1, arms=ARMS, **noise):
    """Seconds per message of each launch, as {arm: (cells, rounds)}: the reference, an arm, the null arm."""
    random = np.random.default_rng(seed)
    noise = {"launch_sd": 0.01, "cell_sd": 0.01} | noise
    reference, arm = blocks(random, np.asarray(truth, float), launches, **noise)
    null = blocks(random, FLAT[: len(truth)], launches, **noise)[1]
    return [dict(zip(arms, values, strict=True)) for values in zip(reference, arm, null, strict=True)]


def receipts(results, launches, change=lambda row: row, settings="{}", **told):
    """The receipt of each launch, numbered from 1, after a change of every row."""
    return [
        launched(results, [change(row) for row in rows(values, launch=n, **told)], launch=n, settings=settings)
        for n, values in enumerate(launches, start=1)
    ]


def tables(folder, receipts):
    """The tables of the launches with these receipts, as lists of rows by name."""
    gather(receipts, folder)
    return {name: pq.read_table(folder / f"{name}.parquet").to_pylist() for name in TABLES}


def content(folder):
    """The bytes of the tables."""
    return {name: (folder / f"{name}.parquet").read_bytes() for name in TABLES}


def column(found, name, **where):
    """The values of a column in the rows that match."""
    return [row[name] for row in found if all(row[key] == value for key, value in where.items())]


@pytest.fixture
def run(tmp_path):
    """Derive the tables of launches given as {arm: (cells, rounds)}."""
    return lambda launches, **told: tables(tmp_path / "tables", receipts(tmp_path, launches, **told))


@pytest.mark.parametrize("launches", [0, 1, 3])
def test_the_tables_have_exactly_their_schemas_and_a_hole_is_only_a_row_of_launches(tmp_path, launches):
    files = receipts(tmp_path, campaign(RISING, 3)[:launches])
    without = tables(tmp_path / "without", files)
    files += [launched(tmp_path, [], launch=8 + number, hole="crashed", reason="why") for number in range(3)]
    found = tables(tmp_path, files[::-1])
    assert column(found["launches"], "launch") == [*[1, 2, 3][:launches], 8, 9, 10]
    assert {(row["hole"], row["reason"]) for row in found["launches"][launches:]} == {("crashed", "why")}
    assert all(found[name] == without[name] for name in set(TABLES) - {"launches"})
    assert launches or all(found[name] == [] for name in set(TABLES) - {"launches"})
    if launches == 1:
        assert {(row["low"], row["high"], row["launches"]) for row in found["ratios"]} == {(None, None, 1)}
        assert column(found["crossovers"], "verdict") == ["open"] and None not in column(found["ratios"], "ratio")
    for name, schema in TABLES.items():
        stored = pq.read_table(tmp_path / f"{name}.parquet")
        assert stored.schema.remove_metadata() == schema
        assert record.metadata(stored) == {"crossover": record.VERSION}


def test_neither_the_order_of_the_raw_files_nor_deriving_again_changes_a_byte(tmp_path):
    found = []
    for number, order in enumerate(permutations(receipts(tmp_path, campaign(RISING, 3)))):
        tables(tmp_path / str(number), list(order))
        found.append(content(tmp_path / str(number)))
    derive(tmp_path / "0")
    assert all(one == found[0] for one in [*found, content(tmp_path / "0")])


def test_gathering_keeps_every_launch_and_rank(tmp_path):
    files = receipts(tmp_path, campaign(RISING, 2))
    found = tables(tmp_path, files)
    assert column(found["launches"], "receipt") == list(map(str, files))
    assert column(found["launches"], "file") == [str(receipt.read(path).raw_file) for path in files]
    assert column(found["launches"], "outcome") == ["measured"] * 2
    ranks = [(row["experiment"], row["placement"], row["launch"], row["rank"], row["cpu"]) for row in found["ranks"]]
    assert ranks == [("zmq_throughput", "node", launch, rank, "Imaginary 9000") for launch in (1, 2) for rank in (0, 1)]


def test_the_truth_is_found(run):
    launches = [{arm: cells[::-1] for arm, cells in values.items()} for values in campaign(RISING, 5, seed=4)]
    found = run([values | {"C": values["copy"] / 3} for values in launches], sizes=SIZES[::-1])
    assert column(found["ratios"], "x") == [*SIZES] * 3 and column(found["ratios"], "ratio", arm="C") == pytest.approx(
        [1 / 3] * 13
    )
    for name, arms in (("summary", {*ARMS, "C"}), ("ratios", {"no-copy", "null", "C"}), ("crossovers", {"no-copy"})):
        assert set(column(found[name], "arm")) == arms
    assert all(
        (row["ceiling"], row["is_null_arm"]) == (row["arm"] == "C", row["arm"] == "null") for row in found["ratios"]
    )
    arm = [row for row in found["ratios"] if row["arm"] == "no-copy"]
    null = [row for row in found["ratios"] if row["arm"] == "null"]
    # 4 or more of 13 intervals of 95 % coverage miss the truth with a probability of 0.3 %.
    assert sum(row["low"] <= np.exp(truth) <= row["high"] for row, truth in zip(arm, RISING, strict=True)) >= 10
    assert sum(row["low"] <= 1 <= row["high"] for row in null) >= 10
    assert found["thresholds"] == []
    (crossover,) = found["crossovers"]
    assert crossover["arm"] == "no-copy"
    assert crossover["verdict"] == "one"
    assert crossover["low"] < HERE < crossover["high"]
    assert {crossover["bracket_low"], crossover["bracket_high"]} <= set(SIZES)


def test_efficiencies_have_thresholds_and_intervals_of_the_launches_that_measured_each_cell(tmp_path):
    """Farms with an overhead of 2 ms per task; of each three launches, one measured each number of engines."""
    random, x = np.random.default_rng(5), np.array([[1e3], [1e4], [1e5]])
    whole, parts = [], []
    for number in range(6):
        cost_us = {arm: 2000 * np.exp(0.02 * random.standard_normal((3, 10))) for arm in ARMS}
        whole.append({arm: x / (x + cost) for arm, cost in cost_us.items()} | {"C": np.full((3, 10), 0.99)})
        only = np.where(np.arange(3)[:, np.newaxis] == number % 3, 1, np.nan)
        parts.append({arm: only * cells for arm, cells in whole[-1].items()})
    farm = {"metric": "efficiency", "unit": "", "better": "higher", "levels": [0.95, 0.5]}
    found, gaps = (
        tables(tmp_path / name, receipts(tmp_path / name, launches, lambda row: row | farm, sizes=x[:, 0]))
        for name, launches in (("whole", whole), ("parts", parts))
    )
    levels = {(row["arm"], row["level"]): row for row in found["thresholds"]}
    assert list(levels) == [(arm, level) for arm in ("C", "copy", "no-copy", "null") for level in (0.5, 0.95)]
    for (arm, level), row in levels.items():
        assert (row["is_null_arm"], row["ceiling"]) == (arm == "null", arm == "C")
        assert (row["verdict"], row["launches"]) == ("always" if arm == "C" else "from", 6)
        if arm != "C":
            assert row["low"] < row["x"] < row["high"]
            assert row["x"] == pytest.approx({0.5: 2000, 0.95: 19 * 2000}[level], rel=0.05)
    for cell, row in enumerate(row for row in gaps["summary"] if row["arm"] == "no-copy"):
        logs = np.array([[np.median(np.log(values["no-copy"][cell]))] for values in parts[cell::3]])
        own = estimate(BOUNDED.of_log(logs))
        interval = BOUNDED.value(np.array([own.mean[0], own.low[0], own.high[0]]))
        assert [row["median"], row["low"], row["high"]] == pytest.approx(interval)
        assert row["launches"] == 2


def test_a_block_without_a_value_is_left_out_with_its_ratio_and_the_references_with_all_ratios(run):
    launches = campaign(RISING, 3)
    launches[1]["no-copy"][4, 7] = np.nan
    launches[0]["copy"][0, 0] = np.nan
    found = run(launches)
    for arm, fewer in (("null", [29] + [30] * 12), ("no-copy", [29, 30, 30, 30, 29] + [30] * 8)):
        assert column(found["ratios"], "rounds", arm=arm) == fewer
    assert [column(found["summary"], "rounds", arm=arm)[0] for arm in ARMS] == [29, 30, 30]
    lost = [
        (row["arm"], row["x"], row["measurements"], row["valid"])
        for row in found["validities"]
        if row["validity"] != "ok"
    ]
    assert lost == [("copy", SIZES[0], 1, 0), ("no-copy", SIZES[4], 1, 0)]
    sums = [sum(column(found["validities"], name)) for name in ("cells", "measurements", "valid")]
    assert sums == [3 * 13, 3 * 13 * 3 * 10, 3 * 13 * 3 * 10 - 2]
    logs = [np.nanmedian(np.log(values["no-copy"][4] / values["copy"][4])) for values in launches]
    assert column(found["ratios"], "ratio", arm="no-copy")[4] == pytest.approx(np.exp(np.mean(logs)))
    launches[2]["no-copy"][6] = np.nan
    for values in launches:
        values["no-copy"][3] = np.nan
    kept = [row for row in run(launches)["ratios"] if row["arm"] == "no-copy"]
    assert column(kept, "x") == [x for x in SIZES if x != SIZES[3]]
    assert column(kept, "launches") == [3] * 5 + [2] + [3] * 6 and None not in column(kept, "low")
    for values in launches:
        values["copy"][:] = np.nan
    found = run(launches)
    assert found["ratios"] == found["crossovers"] == [] and {row["arm"] for row in found["summary"]} == {
        "no-copy",
        "null",
    }


@pytest.mark.parametrize("value", [0.0, -1e-6, float("nan"), float("inf")])
def test_a_file_with_an_impossible_value_is_a_hole_and_the_rest_goes_on(tmp_path, value):
    wrong = rows(campaign(RISING)[0], launch=3)
    wrong[17]["value"] = value
    files = receipts(tmp_path, campaign(RISING, 2))
    without = tables(tmp_path / "without", files)
    found = tables(tmp_path / "tables", [*files, launched(tmp_path, wrong, launch=3)])
    assert column(found["launches"], "hole") == [None, None, "unreadable file"]
    assert found["launches"][2]["reason"] == f"the file has the impossible value {value}"
    assert all(found[name] == without[name] for name in set(TABLES) - {"launches"})


def test_a_second_receipt_of_the_same_launch_is_refused_with_both_names(tmp_path):
    (first,) = receipts(tmp_path, campaign(RISING, 1))
    second = Path(shutil.copy(first, first.with_stem(first.stem.replace(".0", ".1"))))
    with pytest.raises(record.RecordError, match=r"\.1\.json: is of the same launch as .*\.0\.json"):
        gather([first, second], tmp_path / "tables")


def contradicting(tmp_path, how):
    """The receipt of a launch whose raw file belongs to another, or was edited with a right checksum."""
    if how == "ranks on one host":
        measured = [row | {"placement": "nodes"} for row in rows(campaign(RISING)[0])]
        return launched(tmp_path, measured, placement="nodes", hosts=("alpha", "alpha"))
    values = campaign(RISING, 2)
    path, other = receipts(tmp_path, values)
    raw = receipt.read(path).raw_file
    table = record.read(raw, record.MEASUREMENTS)
    stored, others = record.metadata(table), record.read(receipt.read(other).raw_file, record.MEASUREMENTS)
    latency = [row | {"experiment": "zmq_latency"} for row in table.to_pylist()]
    content = raw.read_bytes()
    match how:
        case "truncated":
            raw.write_bytes(content[: len(content) // 2])
        case "flipped bits":
            raw.write_bytes(content[:60] + bytes(byte ^ 8 for byte in content[60:70]) + content[70:])
        case "no parquet":
            raw.write_bytes(b"no parquet")
        case "of another launch":
            shutil.copy(receipt.read(other).raw_file, raw)
        case "of another experiment":
            shutil.copy(receipt.read(launched(tmp_path, latency, experiment="zmq_latency")).raw_file, raw)
        case "without a launch":
            record.write(record.MEASUREMENTS.empty_table(), raw)
        case "other settings":
            stored["launch"]["settings"] = '{"placement": "node", "block_seconds": 1.0}'
            record.write(table, raw, stored)
        case "rows of another launch":
            record.write(others, raw, stored)
        case "rows of another experiment":
            record.write(record.from_rows(latency, record.MEASUREMENTS), raw, stored)
    return path


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("truncated", "cannot be read as parquet"),
        ("flipped bits", "the file "),
        ("no parquet", "cannot be read as parquet"),
        ("of another launch", "of launch zmq_throughput node 2, and not of that of its receipt"),
        ("of another experiment", "of launch zmq_latency node 1, and not of that of its receipt"),
        ("without a launch", "of launch None None None, and not of that of its receipt"),
        ("other settings", "other settings than those in the name of its receipt"),
        ("rows of another launch", "rows of another launch"),
        ("rows of another experiment", "rows of another experiment"),
        ("ranks on one host", "of placement nodes, but every rank ran on alpha"),
    ],
)
def test_a_raw_file_that_contradicts_its_receipt_is_a_hole(tmp_path, how, fault):
    found = gathered([contradicting(tmp_path, how)])
    (launch,) = found["launches"].to_pylist()
    assert found["medians"].num_rows == found["validities"].num_rows == 0
    assert (launch["launch"], launch["outcome"], launch["hole"]) == (1, "hole", "unreadable file")
    assert fault in launch["reason"] and "delete" not in launch["reason"]


def test_launches_that_loaded_different_libraries_are_not_pooled(tmp_path):
    versions = ("MPICH 5.0.2", "MPICH 5.0.2", "Open MPI v4.1.4")
    files = [
        launched(tmp_path, rows(values, launch=n), launch=n, libraries={"MPI library": version, "mpich": "5.0.2"})
        for n, (values, version) in enumerate(zip(campaign(RISING, 3), versions, strict=True), start=1)
    ]
    with pytest.raises(CrossoverError) as refused:
        gathered(files)
    for part in ("zmq_throughput, placement node", "launch 1, 2 with MPI library MPICH 5.0.2", "launch 3 with MPI l"):
        assert part in str(refused.value)
    assert "--config remeasure" in str(refused.value) and "mpich" not in str(refused.value)
    assert gathered(files[:2])["launches"].num_rows == 2
