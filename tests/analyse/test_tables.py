"""Do the tables agree with the truth of a campaign?"""

import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from synthetic import SIZES, blocks, launched, rows

from crossover.analyse.curves.raw_files import gather, gathered, refuse_impossible
from crossover.analyse.statistics.intervals import estimate
from crossover.analyse.statistics.scale import BOUNDED
from crossover.analyse.tables.writer import TABLES, derive, join
from crossover.design.protocol import columns
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


def receipts(results, launches, **told):
    """The receipt of each launch, numbered from 1."""
    return [
        launched(results, rows(values, launch=number, **told), launch=number)
        for number, values in enumerate(launches, start=1)
    ]


def tables(folder, receipts):
    """The tables of the launches with these receipts, as lists of rows by name."""
    gather(receipts, folder)
    derive(folder)
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
def test_the_tables_have_exactly_their_schemas(tmp_path, launches):
    tables(tmp_path, receipts(tmp_path, campaign(RISING, 3)[:launches]))
    for name, schema in TABLES.items():
        stored = pq.read_table(tmp_path / f"{name}.parquet")
        assert stored.schema.remove_metadata() == schema
        assert record.metadata(stored) == {"crossover": record.VERSION}


def test_the_order_of_the_raw_files_changes_no_byte(tmp_path):
    files = receipts(tmp_path, campaign(RISING, 3))
    found = []
    for number, order in enumerate(permutations(files)):
        tables(tmp_path / str(number), list(order))
        found.append(content(tmp_path / str(number)))
    assert all(one == found[0] for one in found)


def test_deriving_again_changes_no_byte(tmp_path):
    tables(tmp_path, receipts(tmp_path, campaign(RISING, 3)))
    before = content(tmp_path)
    derive(tmp_path)
    assert content(tmp_path) == before


def test_launches_are_in_numerical_order(tmp_path):
    files = receipts(tmp_path, campaign(RISING[:2], 11), sizes=SIZES[:2])
    found = tables(tmp_path, files[::-1])
    assert column(found["launches"], "launch") == list(range(1, 12))
    assert list(dict.fromkeys(column(found["measurements"], "launch"))) == list(range(1, 12))


def test_gathering_keeps_every_block_launch_and_rank(tmp_path):
    launches = campaign(RISING, 2)
    files = receipts(tmp_path, launches)
    found = tables(tmp_path, files)
    expected = [row for number, values in enumerate(launches, start=1) for row in rows(values, launch=number)]
    assert found["measurements"] == [columns(row) | row for row in expected]
    assert column(found["launches"], "receipt") == list(map(str, files))
    assert column(found["launches"], "file") == [str(receipt.read(path).raw_file) for path in files]
    assert column(found["launches"], "outcome") == ["measured"] * 2
    ranks = [(row["experiment"], row["placement"], row["launch"], row["rank"], row["cpu"]) for row in found["ranks"]]
    assert ranks == [("zmq_throughput", "node", launch, rank, "Imaginary 9000") for launch in (1, 2) for rank in (0, 1)]


def test_ratios_and_summary_are_the_estimates_of_launch_medians(run):
    launches = campaign(RISING, 5)
    found = run(launches)
    log = {arm: np.log([values[arm] for values in launches]) for arm in ARMS}
    for arm in ARMS:
        cells = estimate(np.median(log[arm], axis=2))
        here = [[row[key] for key in ("median", "low", "high")] for row in found["summary"] if row["arm"] == arm]
        assert np.array(here) == pytest.approx(np.exp([cells.mean, cells.low, cells.high]).T)
    for arm in ARMS[1:]:
        cells = estimate(np.median(log[arm] - log["copy"], axis=2))
        here = [[row[key] for key in ("ratio", "low", "high")] for row in found["ratios"] if row["arm"] == arm]
        assert np.array(here) == pytest.approx(np.exp([cells.mean, cells.low, cells.high]).T)


def test_the_truth_is_found(run):
    found = run(campaign(RISING, 5, seed=4))
    arm = [row for row in found["ratios"] if row["arm"] == "no-copy"]
    null = [row for row in found["ratios"] if row["arm"] == "null"]
    # 4 or more of 13 intervals of 95 % coverage miss the truth with a probability of 0.3 %.
    assert sum(row["low"] <= np.exp(truth) <= row["high"] for row, truth in zip(arm, RISING, strict=True)) >= 10
    assert sum(row["low"] <= 1 <= row["high"] for row in null) >= 10
    (crossover,) = found["crossovers"]
    assert crossover["verdict"] == "one"
    assert crossover["low"] < HERE < crossover["high"]
    assert {crossover["bracket_low"], crossover["bracket_high"]} <= set(SIZES)


def test_the_median_of_the_summary_is_a_median_over_rounds_and_a_geometric_mean_over_launches(run):
    found = run([{"copy": [[1.0, 2.0, 100.0]]}, {"copy": [[8.0, 0.1, 9.0]]}], sizes=[64])
    (row,) = found["summary"]
    assert row["median"] == pytest.approx(4)
    assert (row["launches"], row["rounds"]) == (2, 6)


def test_the_ratio_is_a_median_of_ratios_and_not_a_ratio_of_medians(run):
    found = run([{"copy": [[1.0, 2.0, 4.0]], "no-copy": [[3.0, 1.0, 6.0]]}], sizes=[64])
    assert column(found["ratios"], "ratio") == pytest.approx([1.5])
    assert column(found["summary"], "median") == pytest.approx([2, 3])


def test_a_drift_over_the_rounds_that_hits_both_arms_cancels(run):
    drift = np.exp(np.linspace(0, 3, 10)) * np.ones((13, 1))
    launches = [{"copy": 1e-6 * drift, "no-copy": 1.25e-6 * drift} for _ in range(3)]
    for row in run(launches)["ratios"]:
        assert [row["ratio"], row["low"], row["high"]] == pytest.approx([1.25] * 3, rel=1e-12)


def test_a_ceiling_has_ratios_but_does_not_compete(run):
    launches = [values | {"C": values["copy"] / 3} for values in campaign(RISING)]
    found = run(launches)
    assert column(found["ratios"], "ratio", arm="C") == pytest.approx([1 / 3] * 13)
    assert {row["arm"] for name in ("summary", "ratios") for row in found[name] if row["ceiling"]} == {"C"}
    assert column(found["crossovers"], "arm") == ["no-copy"]


def test_an_arm_of_one_heat_is_judged_by_its_own_launches(run):
    first, second = campaign(RISING, 3), campaign(RISING, 3, seed=2)
    others = [{"other" if arm == "no-copy" else arm: cells for arm, cells in values.items()} for values in second]
    found = run([values for pair in zip(first, others, strict=True) for values in pair])
    alone = run(first)
    for name in ("low", "ratio", "high"):
        of_the_arm = column(found["ratios"], name, arm="no-copy")
        assert of_the_arm == pytest.approx(column(alone["ratios"], name, arm="no-copy"))
    assert set(column(found["ratios"], "launches", arm="no-copy")) == {3}
    assert set(column(found["ratios"], "launches", arm="null")) == {6}


def test_the_reference_has_no_ratio_and_the_null_arm_has_no_crossover(run):
    found = run(campaign(RISING))
    assert set(column(found["summary"], "arm")) == {"copy", "no-copy", "null"}
    assert set(column(found["ratios"], "arm")) == {"no-copy", "null"}
    assert column(found["crossovers"], "arm") == ["no-copy"]


@pytest.mark.parametrize("name", ["summary", "ratios"])
def test_only_the_null_arm_is_marked_as_such(run, name):
    found = run(campaign(RISING))[name]
    assert all(row["null"] == (row["arm"] == "null") for row in found)


def test_rows_are_sorted_by_curve_and_along_the_axis(run):
    launches = [{arm: cells[::-1] for arm, cells in values.items()} for values in campaign(-RISING)]
    found = run(launches, sizes=SIZES[::-1])
    assert column(found["ratios"], "x") == [*SIZES, *SIZES]
    assert column(found["summary"], "arm") == [arm for arm in ARMS for _ in SIZES]


def test_each_metric_and_protocol_is_a_curve_of_its_own(tmp_path):
    def faster(row):
        return row | {"metric": "rate", "unit": "messages/s", "better": "higher", "value": 1 / row["value"]}

    files = []
    for number, values in enumerate(campaign(RISING, 3), start=1):
        tcp = rows(values, launch=number)
        ipc = rows(values | {"no-copy": 2 * values["no-copy"]}, launch=number, protocol="ipc")
        files.append(launched(tmp_path, [*tcp, *ipc, *map(faster, tcp)], launch=number))
    found = tables(tmp_path / "tables", files)
    which = {"arm": "no-copy", "protocol": "tcp"}
    seconds = np.array(column(found["ratios"], "ratio", metric="per message", **which))
    assert column(found["ratios"], "ratio", metric="rate", **which) == pytest.approx(1 / seconds)
    assert column(found["ratios"], "ratio", arm="no-copy", protocol="ipc") == pytest.approx(2 * seconds)
    assert {row["unit"] for row in found["summary"] if row["metric"] == "rate"} == {"messages/s"}
    slow, fast = (column(found["crossovers"], "x", protocol="tcp", metric=name) for name in ("per message", "rate"))
    assert fast == pytest.approx(slow)
    assert len(found["crossovers"]) == 3


@pytest.mark.parametrize(
    ("verdict", "curve"),
    [
        ("one", "------+++++++"),
        ("none", "+++++++000000"),
        ("always", "+++++++++++++"),
        ("several", "---++++++----"),
        ("alike", "0000000000000"),
    ],
)
def test_each_curve_gives_the_right_verdict(run, verdict, curve):
    truth = [{"+": 0.3, "-": -0.3, "0": 0.0}[sign] for sign in curve]
    (row,) = run(campaign(truth, 5))["crossovers"]
    assert (row["verdict"], row["launches"]) == (verdict, 5)
    places = [row[name] for name in ("x", "low", "high", "bracket_low", "bracket_high")]
    possible = verdict in ("one", "alike", "none")
    one = verdict == "one"
    assert [place is not None for place in places] == [one, possible, possible, one, one]


def test_a_single_launch_has_numbers_but_no_interval_and_decides_nothing(run):
    found = run(campaign(RISING, 1))
    for row in [*found["summary"], *found["ratios"]]:
        assert (row["low"], row["high"], row["launches"]) == (None, None, 1)
    assert None not in column(found["ratios"], "ratio")
    assert column(found["crossovers"], "verdict") == ["open"]


def shares(values, number, levels):
    """Rows of a launch with a share as its metric, with levels, from `values` {arm: (cells, rounds)}."""
    told = {"metric": "efficiency", "unit": "", "better": "higher", "levels": levels}
    return [row | told for row in rows(values, launch=number, sizes=[1000, 10_000, 100_000])]


def farming(launches=3):
    """Efficiencies of farms with an overhead of 2 ms per task, and of one without, as {arm: (cells, rounds)}."""
    random, x = np.random.default_rng(5), np.array([[1e3], [1e4], [1e5]])
    for _ in range(launches):
        cost_us = {arm: 2000 * np.exp(0.02 * random.standard_normal((3, 10))) for arm in ("copy", "no-copy", "null")}
        yield {arm: x / (x + cost) for arm, cost in cost_us.items()} | {"C": 0.99 + 0 * cost_us["copy"]}


def test_each_level_has_a_threshold_for_every_arm_and_ceiling(tmp_path):
    files = [
        launched(tmp_path, shares(values, number, "[0.95, 0.5]"), launch=number)
        for number, values in enumerate(farming(), start=1)
    ]
    found = tables(tmp_path / "tables", files)["thresholds"]
    assert [(row["arm"], row["level"]) for row in found] == [
        (arm, level) for arm in ("C", "copy", "no-copy", "null") for level in (0.5, 0.95)
    ]
    assert {row["arm"] for row in found if row["null"]} == {"null"}
    assert {row["arm"]: row["verdict"] for row in found if row["ceiling"]} == {"C": "always"}
    for row in found:
        if row["arm"] != "C":
            truth = {0.5: 2000, 0.95: 19 * 2000}[row["level"]]
            assert (row["verdict"], row["launches"]) == ("from", 3)
            assert row["low"] < row["x"] < row["high"]
            assert row["x"] == pytest.approx(truth, rel=0.05)


def test_a_metric_without_levels_has_no_threshold(run):
    assert run(campaign(RISING))["thresholds"] == []


def test_if_each_launch_measured_one_cell_a_cells_interval_uses_its_own_launches(tmp_path):
    """For example, launches that each have one number of engines."""
    files, logs = [], {}
    for number, values in enumerate(farming(6), start=1):
        cell = number % 3
        kept = {arm: np.where(np.arange(3)[:, None] == cell, series, np.nan) for arm, series in values.items()}
        logs.setdefault(cell, []).append(np.median(np.log(values["no-copy"][cell])))
        files.append(launched(tmp_path, shares(kept, number, "[0.5]"), launch=number))
    found = tables(tmp_path / "tables", files)
    for row, cell in zip([row for row in found["summary"] if row["arm"] == "no-copy"], range(3), strict=True):
        own = estimate(BOUNDED.of_log(np.array(logs[cell])[:, np.newaxis]))
        interval = [own.mean[0], own.low[0], own.high[0]]
        assert [row["median"], row["low"], row["high"]] == pytest.approx(BOUNDED.value(np.array(interval)))
        assert row["launches"] == 2


def sized(tmp_path, launches):
    """Raw files on an axis of bytes; the launches have their target width and their wall time."""
    settings = '{"target_width": 0.02, "rounds": {"at_least": 10, "at_most": 200}}'
    return [
        launched(
            tmp_path,
            [row | {"axis_unit": "bytes"} for row in rows(values, launch=number)],
            launch=number,
            settings=settings,
        )
        for number, values in enumerate(launches, start=1)
    ]


def test_every_arm_has_its_lines_of_time_over_size(tmp_path):
    random = np.random.default_rng(1)
    line = 5e-6 + SIZES / 1e9
    launches = [
        {arm: line[:, None] * slower * np.exp(0.01 * random.standard_normal((13, 10))) for arm, slower in ARMS_SLOWER}
        for _ in range(4)
    ]
    found = tables(tmp_path / "tables", sized(tmp_path, launches))["fits"]
    assert [(row["arm"], row["segments"], row["segment"], row["launches"], row["cells"]) for row in found] == [
        (arm, 1, 1, 4, 13) for arm in ("copy", "no-copy", "null")
    ]
    for row, (_, slower) in zip(found, ARMS_SLOWER, strict=True):
        assert row["latency_seconds"] == pytest.approx(5e-6 * slower, rel=0.03)
        assert row["rate_bytes"] == pytest.approx(1e9 / slower, rel=0.03)
        assert row["latency_seconds_low"] < row["latency_seconds"] < row["latency_seconds_high"]
        assert row["rate_bytes_low"] < row["rate_bytes"] < row["rate_bytes_high"]
        assert (row["first_bytes"], row["last_bytes"], row["break_bytes"]) == (100, 1e6, None)


ARMS_SLOWER = (("copy", 1.0), ("no-copy", 1.5), ("null", 1.0))


@pytest.mark.parametrize(
    ("metric", "axis", "bytes_each", "fitted"),
    [
        ({"unit": "messages/s", "better": "higher"}, "bytes", 1, True),
        ({"unit": "s"}, "elements", 8, True),
        ({"unit": "MB/s", "better": "higher"}, "bytes", 1, False),
        ({"unit": "s"}, "tasks", 1, False),
    ],
)
def test_rates_are_inverted_elements_become_bytes_and_other_axes_have_no_fit(
    tmp_path, metric, axis, bytes_each, fitted
):
    seconds = np.tile((5e-6 + bytes_each * SIZES / 1e9)[:, None], (1, 10))
    values = {"copy": seconds if metric["unit"] == "s" else 1 / seconds}
    files = [
        launched(tmp_path, [row | metric | {"axis_unit": axis} for row in rows(values, launch=n)], launch=n)
        for n in (1, 2)
    ]
    found = tables(tmp_path / "tables", files)["fits"]
    assert len(found) == fitted
    for row in found:
        assert row["latency_seconds"] == pytest.approx(5e-6)
        assert row["rate_bytes"] == pytest.approx(1e9)
        assert row["last_bytes"] == bytes_each * 1e6


def test_one_launch_has_a_row_without_lines_and_a_need_without_a_plan(tmp_path):
    found = tables(tmp_path / "tables", sized(tmp_path, campaign(RISING, 1)))
    assert {(row["segments"], row["segment"], row["launches"], row["latency_seconds"]) for row in found["fits"]} == {
        (0, None, 1, None)
    }
    (need,) = found["needs"]
    unknown = ("launch_share", "round_share", "order_share", "half_width", "launches_needed", "rounds_needed")
    assert {need[name] for name in unknown} == {None}
    assert need["wanted"] == pytest.approx(0.02)


def test_a_need_has_shares_that_add_up_and_a_plan(tmp_path):
    (need,) = tables(tmp_path / "tables", sized(tmp_path, campaign(RISING, 5)))["needs"]
    assert need["launch_share"] + need["round_share"] + need["order_share"] == pytest.approx(1)
    assert (need["arm"], need["launches"], need["rounds"], need["cells"]) == ("no-copy", 5, 10, 13)
    assert need["launches_needed"] >= 3
    assert 10 <= need["rounds_needed"] <= 200


def test_a_block_without_a_value_is_left_out_with_its_ratio(run):
    launches = campaign(RISING, 3)
    launches[1]["no-copy"][4, 7] = np.nan
    found = run(launches)
    assert set(column(found["ratios"], "rounds", arm="null")) == {30}
    assert column(found["ratios"], "rounds", arm="no-copy") == [30] * 4 + [29] + [30] * 8
    assert set(column(found["summary"], "rounds", arm="copy")) == {30}
    logs = [np.nanmedian(np.log(values["no-copy"][4] / values["copy"][4])) for values in launches]
    assert column(found["ratios"], "ratio", arm="no-copy")[4] == pytest.approx(np.exp(np.mean(logs)))


def test_without_the_references_value_a_round_has_no_ratios(run):
    launches = campaign(RISING, 3)
    launches[0]["copy"][0, 0] = np.nan
    found = run(launches)
    assert [column(found["ratios"], "rounds", arm=arm)[0] for arm in ("no-copy", "null")] == [29, 29]
    assert [column(found["summary"], "rounds", arm=arm)[0] for arm in ARMS] == [29, 30, 30]


def test_a_disturbed_block_keeps_its_value_and_counts(tmp_path):
    def disturbed(values, number):
        return [row | {"validity": "steal time" if row["round"] < 5 else "ok"} for row in rows(values, launch=number)]

    launches = list(enumerate(campaign(RISING, 3), start=1))
    plain = [launched(tmp_path / "plain", rows(values, launch=n), launch=n) for n, values in launches]
    marked = [launched(tmp_path / "marked", disturbed(values, n), launch=n) for n, values in launches]
    found, expected = tables(tmp_path / "marked", marked), tables(tmp_path / "plain", plain)
    assert column(found["measurements"], "validity").count("steal time") == 3 * 3 * 13 * 5
    for name in ("summary", "ratios", "crossovers"):
        assert found[name] == expected[name]


def test_a_cell_that_one_launch_lacks_uses_the_others(run):
    launches = campaign(RISING, 3)
    for arm in ARMS:
        launches[2][arm][6] = np.nan
    found = run(launches)
    assert column(found["ratios"], "launches", arm="no-copy") == [3] * 6 + [2] + [3] * 6
    assert column(found["ratios"], "rounds", arm="no-copy") == [30] * 6 + [20] + [30] * 6
    two = [np.median(np.log(values["no-copy"][6] / values["copy"][6])) for values in launches[:2]]
    assert column(found["ratios"], "ratio", arm="no-copy")[6] == pytest.approx(np.exp(np.mean(two)))
    assert None not in column(found["ratios"], "low")
    assert column(found["crossovers"], "launches") == [3]


def test_a_cell_that_no_launch_measured_has_no_row(run):
    launches = campaign(RISING, 3)
    for values in launches:
        values["no-copy"][3] = np.nan
    found = run(launches)
    assert SIZES[3] not in column(found["ratios"], "x", arm="no-copy")
    assert SIZES[3] in column(found["ratios"], "x", arm="null")


def test_a_hole_is_only_a_row_of_launches(tmp_path):
    files = receipts(tmp_path, campaign(RISING, 3))
    without = tables(tmp_path / "without", files)
    hole = launched(tmp_path, [], launch=4, hole="timed out", reason="not finished after 162 s")
    found = tables(tmp_path / "with", [hole, *files])
    assert column(found["launches"], "outcome") == ["measured"] * 3 + ["hole"]
    assert column(found["launches"], "hole") == [None] * 3 + ["timed out"]
    assert found["launches"][3]["reason"] == "not finished after 162 s"
    assert all(found[name] == without[name] for name in set(TABLES) - {"launches"})


def test_only_holes_give_empty_tables(tmp_path):
    files = [launched(tmp_path, [], launch=number, hole="crashed") for number in (1, 2)]
    found = tables(tmp_path, files)
    assert column(found["launches"], "launch") == [1, 2]
    assert all(found[name] == [] for name in set(TABLES) - {"launches"})
    for name, schema in TABLES.items():
        assert pq.read_schema(tmp_path / f"{name}.parquet").remove_metadata() == schema


def test_launches_without_a_valid_block_give_empty_results(run):
    found = run([{arm: np.full((13, 10), np.nan) for arm in ARMS}] * 2)
    assert len(found["measurements"]) == 2 * 3 * 13 * 10
    assert found["summary"] == found["ratios"] == found["crossovers"] == []


def test_without_a_valid_reference_there_is_a_summary_but_no_ratio(run):
    found = run([values | {"copy": np.full((13, 10), np.nan)} for values in campaign(RISING)])
    assert len(found["summary"]) == 2 * 13
    assert found["ratios"] == found["crossovers"] == []


def launch_on(*hosts, placement="nodes", values=(1.5, None)):
    """The blocks of a launch, and its ranks on these hosts."""
    return pa.table({"value": values, "placement": [placement] * len(values)}), [{"host": host} for host in hosts]


def test_a_multi_node_file_whose_ranks_shared_a_host_is_refused(tmp_path):
    with pytest.raises(record.RecordError, match=r"a\.parquet: is of placement nodes, but every rank ran on here"):
        refuse_impossible(tmp_path / "a.parquet", *launch_on("here", "here"))


@pytest.mark.parametrize(
    "blocks_and_ranks",
    [
        launch_on("here", "there"),
        launch_on("here", "here", placement="node"),
        launch_on(values=pa.array([], pa.float64())),
    ],
    ids=["two hosts", "one node asked for", "a hole"],
)
def test_a_file_without_contradictions_is_accepted(tmp_path, blocks_and_ranks):
    refuse_impossible(tmp_path / "a.parquet", *blocks_and_ranks)


def hole_of(files, folder):
    """The reason of the only hole among the launches of `files`, a file that cannot be read."""
    gather(files, folder)
    launches = record.read(folder / "launches.parquet", record.LAUNCHES).to_pylist()
    [hole] = [row for row in launches if row["outcome"] == "hole"]
    assert hole["hole"] == "unreadable file"
    return hole["reason"]


@pytest.mark.parametrize("value", [0.0, -1e-6, float("nan"), float("inf")])
def test_a_file_with_an_impossible_value_is_a_hole(tmp_path, value):
    files = receipts(tmp_path, campaign(RISING, 2))
    wrong = rows(campaign(RISING)[0], launch=3)
    wrong[17]["value"] = value
    files.append(launched(tmp_path, wrong, launch=3))
    assert hole_of(files, tmp_path / "tables") == f"the file has the impossible value {value}"


def test_a_second_receipt_of_the_same_launch_is_refused_with_both_names(tmp_path):
    (first,) = receipts(tmp_path, campaign(RISING, 1))
    second = Path(shutil.copy(first, first.with_stem(first.stem.replace(".0", ".1"))))
    with pytest.raises(record.RecordError, match=r"\.1\.json: is of the same launch as .*\.0\.json"):
        gather([first, second], tmp_path / "tables")


def test_a_file_without_its_launch_is_a_hole(tmp_path):
    path = launched(tmp_path, [])
    record.write(record.MEASUREMENTS.empty_table(), receipt.read(path).raw_file)
    assert (
        hole_of([path], tmp_path / "tables") == "the file is of launch None None None, and not of that of its receipt"
    )


def contradicting(tmp_path, how):
    """The receipt of a launch whose raw file belongs to another, or was edited with a right checksum."""
    values = campaign(RISING, 2)
    path, other = receipts(tmp_path, values)
    raw = receipt.read(path).raw_file
    match how:
        case "names the raw file of another launch":
            shutil.copy(receipt.read(other).raw_file, raw)
        case "names that of another experiment":
            own = [row | {"experiment": "zmq_latency"} for row in rows(values[0], launch=1)]
            shutil.copy(receipt.read(launched(tmp_path, own, experiment="zmq_latency")).raw_file, raw)
        case "has other settings":
            table = record.read(raw, record.MEASUREMENTS)
            stored = record.metadata(table)
            stored["launch"]["settings"] = '{"placement": "node", "block_seconds": 1.0}'
            record.write(table, raw, stored)
        case "has rows of another launch":
            stored = record.metadata(record.read(raw, record.MEASUREMENTS))
            record.write(record.read(receipt.read(other).raw_file, record.MEASUREMENTS), raw, stored)
        case "has rows of another experiment":
            table = record.read(raw, record.MEASUREMENTS)
            named = [row | {"experiment": "zmq_latency"} for row in table.to_pylist()]
            record.write(record.from_rows(named, record.MEASUREMENTS), raw, record.metadata(table))
    return path


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("names the raw file of another launch", "the file is of launch zmq_throughput node 2, and not of that of its"),
        (
            "names that of another experiment",
            "the file is of launch zmq_latency node 1, and not of that of its receipt",
        ),
        ("has other settings", "the file has other settings than those in the name of its receipt"),
        ("has rows of another launch", "the file has rows of another launch than its receipt"),
        ("has rows of another experiment", "the file has rows of another experiment than its receipt"),
    ],
)
def test_a_raw_file_that_contradicts_its_receipt_is_a_hole(tmp_path, how, fault):
    found = gathered([contradicting(tmp_path, how)])
    (launch,) = found["launches"].to_pylist()
    assert found["measurements"].num_rows == 0
    assert (launch["launch"], launch["hole"]) == (1, "unreadable file") and launch["reason"].startswith(fault)


def test_launches_that_loaded_different_libraries_are_not_pooled(tmp_path):
    versions = ("MPICH 5.0.2", "MPICH 5.0.2", "Open MPI v4.1.4")
    files = [
        launched(tmp_path, rows(values, launch=n), launch=n, libraries={"MPI library": version, "mpich": "5.0.2"})
        for n, (values, version) in enumerate(zip(campaign(RISING, 3), versions, strict=True), start=1)
    ]
    with pytest.raises(CrossoverError) as refused:
        gathered(files)
    assert (
        "launches of zmq_throughput, placement node, loaded different libraries and are not pooled: "
        "launch 1, 2 with MPI library MPICH 5.0.2; launch 3 with MPI library Open MPI v4.1.4; add --config remeasure"
    ) in str(refused.value)
    assert gathered(files[:2])["launches"].num_rows == 2


def test_a_launch_on_several_nodes_whose_ranks_shared_one_is_a_hole(tmp_path):
    measured = [row | {"placement": "nodes"} for row in rows(campaign(RISING)[0])]
    path = launched(tmp_path, measured, placement="nodes", hosts=("alpha", "alpha"))
    assert hole_of([path], tmp_path / "tables").startswith(
        "the file is of placement nodes, but every rank ran on alpha"
    )


def test_joining_combines_the_rows_of_all_experiments(tmp_path):
    parts = {}
    for seed, name in enumerate(("mpi_pingpong", "zmq_throughput")):
        files = [
            launched(tmp_path, rows(values, experiment=name, launch=number), experiment=name, launch=number)
            for number, values in enumerate(campaign(RISING, 3, seed=seed), start=1)
        ]
        parts[name] = tables(tmp_path / "experiments" / name, files)
    folders = [tmp_path / "experiments" / name for name in parts]
    join(folders, tmp_path / "results")
    join(folders[::-1], tmp_path / "reversed")
    assert content(tmp_path / "results") == content(tmp_path / "reversed")
    for name, schema in TABLES.items():
        whole = pq.read_table(tmp_path / "results" / f"{name}.parquet")
        assert whole.schema.remove_metadata() == schema
        assert whole.to_pylist() == [*parts["mpi_pingpong"][name], *parts["zmq_throughput"][name]]


def test_joining_an_experiment_with_only_holes_adds_its_launches(tmp_path):
    tables(tmp_path / "a", receipts(tmp_path, campaign(RISING, 2)))
    tables(tmp_path / "b", [launched(tmp_path, [], experiment="task_latency", hole="crashed")])
    join([tmp_path / "a", tmp_path / "b"], tmp_path / "results")
    launches = pq.read_table(tmp_path / "results" / "launches.parquet").to_pylist()
    # Folders are joined in the order of their names, which may differ from the experiments' names.
    assert column(launches, "experiment") == ["zmq_throughput", "zmq_throughput", "task_latency"]
