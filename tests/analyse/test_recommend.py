"""Are settings recommended only if they gain, with the right value? The campaigns have a known truth."""

import json
import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from runs import stored
from synthetic import SIZES, launched, rows

from crossover.__main__ import main
from crossover.analyse.advice.effects import gains, per_launch
from crossover.analyse.advice.recommend import FILE, READ, recommend, recommendations
from crossover.analyse.advice.rules import NO_PAIR, NOT_REPLICATED, _written, decide
from crossover.analyse.curves.curve import curves
from crossover.analyse.curves.panel import Panel, panels
from crossover.analyse.curves.raw_files import gather
from crossover.analyse.estimators.sensitivity import NO_NULL
from crossover.analyse.statistics.intervals import estimate
from crossover.analyse.statistics.outcome import verdicts
from crossover.analyse.tables.writer import FROM_CURVES, derive, join
from crossover.design.advice import Aim, Choice, Level, Onset, Setting
from crossover.planning.plan import SECOND_SWEEP
from crossover.records import record

STEPS = np.arange(len(SIZES))
STEP = 10**0.5
HALF = 3000.0
"""A place roughly half way between two cells, on a logarithmic scale."""


def setting(rule, **changes):
    told = {
        "library": "lib", "name": "option", "about": "what it is", "rule": rule, "snippet": "option = {value}\n",
        "aims": (Aim("speed", "rate", {"transport": "tcp"}, experiment="toy"),),
    }  # fmt: skip
    return Setting(**told | changes)


SIZE = setting(Onset(("new",), other="old"))
LIMITED = setting(Onset(("new",), other="old", shipped="shipped", shipped_from=65536))
BEST = setting(Choice("old", {name: name.upper() for name in ("old", "a", "b", "c", "d", "e")}))
SHARE = setting(Level(0.95, arms=("old", "new")))


def of(random, launches=5, **truth):
    """An arm for each `truth`, its logarithms on the axis; `old` and the null arm, which are equal, without one."""
    return {arm: noisy(random, 0 * SIZES + line, launches) for arm, line in ({"old": 0, "null": 0} | truth).items()}


def noisy(random, truth, launches, launch_sd=0.03, cell_sd=0.02):
    """Logarithms around `truth`, shape (launches, cells), with the noise of launches."""
    shape = (launches, len(truth))
    shift = launch_sd * random.standard_normal((launches, 1))
    return truth + shift + cell_sd * random.standard_normal(shape)


def medians(arms, reference="old", better="higher", first_launch=None, levels="[]"):
    """A table of medians from the log values {arm: (launches, cells)}; `first_launch` gives arms another than 1."""
    told = []
    for arm, values in arms.items():
        for launch, line in enumerate(values, start=(first_launch or {}).get(arm, 1)):
            for x, value in zip(SIZES, line, strict=True):
                number = launch - (first_launch or {}).get(reference, 1)
                own = 0 <= number < len(arms[reference])
                base = arms[reference][number][list(SIZES).index(x)] if own else np.nan
                told.append(
                    {
                        "experiment": "toy", "placement": "node", "protocol": "tcp", "metric": "rate", "unit": "1/s",
                        "better": better, "levels": levels, "arm": arm, "reference": reference, "null": arm == "null",
                        "ceiling": False, "axis": "message size", "axis_unit": "bytes", "x": x, "launch": launch,
                        "value": np.exp(value), "ratio": np.exp(value - base) if arm != reference else np.nan,
                        "rounds": 10, "pairs": 10, "transport": "tcp",
                    }
                )  # fmt: skip
    return pd.DataFrame(told)


def told(found, *settings, launches=None):
    """The recommendations from a table of medians."""
    every = list(curves(found)) if len(found) else []
    derived = {
        name: pd.DataFrame(FROM_CURVES[name](every), columns=READ[name].names) for name in ("thresholds", "sensitivity")
    }
    if launches is None:
        asked = json.dumps({"arms": ["old", "new", "broken"]})
        launches = pd.DataFrame([{"experiment": "toy", "outcome": "measured", "hole": None, "settings": asked}])
    whole = list(panels(every, **derived, launches=launches))
    return [row for each in settings for row in recommendations(each, whole, launches)]


def decided(arms, rule, smallest_effect=1.02):
    """The same without tables and with a known smallest effect, for tests with many campaigns."""
    better = {arm: values - arms["old"] for arm, values in arms.items()}
    launches = list(range(len(arms["old"])))
    panel = Panel({}, launches, SIZES, better, [], np.log(smallest_effect), frozenset())
    (row,) = decide(rule, panel)
    return {"recommended": False} | row


def crossing_at(random, place, per_step=0.15, launches=5, **noise):
    """Arms `old` and `new`, and the truth; `new` gains this much per step of the axis, and crosses `old` at `place`."""
    truth = per_step * np.log(SIZES / place) / np.log(SIZES[1] / SIZES[0])
    shipped = np.where(SIZES >= 65536, truth, 0)
    true = {"old": 0 * truth, "new": truth, "shipped": shipped, "null": 0 * truth}
    return {arm: noisy(random, line, launches, **noise) for arm, line in true.items()}, truth


def test_place_and_gain_are_right_and_their_intervals_hold_the_truth():
    random = np.random.default_rng(5)
    places, held = [], []
    for _ in range(60):
        arms, truth = crossing_at(random, HALF)
        row = decided(arms, SIZE)
        assert row["recommended"], row
        value = json.loads(row["value"])
        differs = value <= SIZES
        assert (row["gain_from"], row["gain_to"]) == (SIZES[differs].min(), SIZES[differs].max())
        places.append(value)
        held.append(
            (row["low"] <= HALF <= row["high"], row["gain_low"] <= np.exp(truth[differs].mean()) <= row["gain_high"])
        )
    assert abs(np.log(np.median(places) / HALF)) < np.log(STEP) / 4
    assert np.mean(held, axis=0).min() >= 0.9


def test_the_gain_over_the_shipped_threshold_is_reported():
    arms, truth = crossing_at(np.random.default_rng(1), 4e5)
    (row,) = told(medians(arms), LIMITED)
    (effect,) = json.loads(row["effects"])
    between = (SIZES >= 65536) & (json.loads(row["value"]) > SIZES)
    assert row["recommended"] and row["default"] == "old"
    assert (effect["over"], effect["aim"], effect["says"]) == ("shipped", "speed", "better")
    assert (effect["from"], effect["to"]) == (SIZES[between].min(), SIZES[between].max())
    assert effect["low"] < np.exp(-truth[between].mean()) < effect["high"]


def test_lower_may_be_better():
    arms, _ = crossing_at(np.random.default_rng(2), HALF)
    (row,) = told(medians({arm: -values for arm, values in arms.items()}, better="lower"), SIZE)
    assert row["recommended"] and row["gain"] > 1


def test_a_shipped_threshold_within_the_interval_may_stay():
    arms, _ = crossing_at(np.random.default_rng(3), 65000, per_step=0.3)
    (row,) = told(medians(arms), LIMITED)
    assert row["low"] < 65536 < row["high"]
    assert not row["recommended"] and row["reason"].startswith("the shipped threshold may stay")


def test_better_everywhere_is_a_bound_at_the_first_measured_point():
    arms = of(np.random.default_rng(4), new=1)
    for first in (0, 1):
        arms["new"][:, :first] = np.nan
        (row,) = told(medians(arms), SIZE)
        assert (row["verdict"], row["low"], row["recommended"]) == ("always", None, True)
        assert row["x"] == row["high"] == row["gain_from"] == SIZES[first]


def test_one_open_point_does_not_move_the_threshold_above_points_that_are_decided():
    arms = of(np.random.default_rng(17), 3, new=1)
    arms["new"][:, 9] = np.array([-0.2, 0.1, 0.7])
    (row,) = told(medians(arms), SIZE)
    assert (row["verdict"], row["recommended"]) == ("at the latest", True)
    assert json.loads(row["value"]) == row["x"] == row["gain_from"] == SIZES[0]
    points = json.loads(row["points"])
    assert points == {"better": [*SIZES[:9], *SIZES[10:]], "alike": [], "open": [SIZES[9]], "worse": []}


def test_an_estimated_place_is_not_rounded_past_a_measured_point():
    place = {"x": 100_039.5, "low": 9e4, "high": 2e5}
    assert _written(place, np.array([1e4, 100_000, 1e6])) == 100_040
    assert _written(place, np.array([1e4, 1e6])) == 100_000


def test_if_only_the_end_is_significant_the_threshold_is_its_first_point():
    (row,) = told(medians(of(np.random.default_rng(17), new=np.where(STEPS < 8, 0.0, 1.0))), SIZE)
    assert (row["verdict"], row["x"], row["low"]) == ("at the latest", SIZES[8], None)
    assert json.loads(row["value"]) == row["gain_from"] == SIZES[8], "a measured point must not be rounded"


@pytest.mark.parametrize(
    ("truth", "verdict", "why"),
    [
        (0 * SIZES - 1, "never", "worse than `old` at every measured point"),
        (1 - STEPS / 6, "up to", "better than `old` only below a point"),
        (np.where(STEPS < 3, -1, 0.0), "not yet", "no gain passes the test"),
        (np.where((STEPS > 3) & (STEPS < 8), -1, 1.0), "several", "cross several times"),
        (0 * SIZES, "open", "are alike at every measured point"),
    ],
)
def test_without_a_threshold_the_reason_describes_the_data(truth, verdict, why):
    (row,) = told(medians(of(np.random.default_rng(6), new=truth)), SIZE)
    assert not row["recommended"] and "x" not in row
    assert row["verdict"] == verdict and why in row["reason"]


def test_the_second_sweep_locates_the_threshold_but_is_not_part_of_the_mean_gain():
    inner = np.geomspace(SIZES[6], SIZES[7], 4)[1:3]
    x = np.sort(np.append(SIZES, inner))
    truth = 0.3 * np.log(x / inner.mean())
    d = noisy(np.random.default_rng(18), truth, 6, launch_sd=0.005, cell_sd=0.005)
    d[:3, np.isin(x, inner)] = np.nan
    d[3:, (x < SIZES[6]) | (x > SIZES[7])] = np.nan
    launches = [1, 2, 3, *range(SECOND_SWEEP + 1, SECOND_SWEEP + 4)]
    panel = Panel({}, launches, x, {"old": 0 * d, "new": d}, [], 0.01, frozenset())
    (row,) = decide(SIZE, panel)
    assert row["recommended"] and inner[0] < row["x"] < inner[1]
    assert (row["gain_from"], row["gain_to"]) == (SIZES[7], SIZES[-1])


def alternatives(random, launches=5, **truth):
    return of(random, launches, **dict.fromkeys("abcde", 0) | truth)


def test_the_best_is_chosen_and_its_interval_holds_the_truth():
    random = np.random.default_rng(7)
    held = []
    for _ in range(60):
        row = decided(alternatives(random, b=0.3, d=0.5), BEST)
        assert row["recommended"] and row["arm"] == "d" and row["value"] == '"D"'
        assert row["snippet"] == 'option = "D"\n'
        held.append(row["gain_low"] <= np.exp(0.5) <= row["gain_high"])
    assert np.mean(held) >= 0.95


@pytest.mark.parametrize("launches", [3, 5])
def test_between_equal_arms_even_the_best_of_five_is_hardly_ever_recommended(launches):
    random = np.random.default_rng(8)
    size = setting(Onset(("a",), other="old"))
    campaigns = [alternatives(random, launches) for _ in range(200)]
    wrong = [[decided(arms, rule, smallest_effect=1.0)["recommended"] for rule in (BEST, size)] for arms in campaigns]
    # Only gains are recommended, so half of the 5 %, plus a margin for chance.
    assert np.mean(wrong, axis=0).max() <= 0.04


def test_the_correction_counts_all_arms_that_were_tried():
    random = np.random.default_rng(9)
    numbers = noisy(random, np.array([0.2]), 5)
    (alone,) = gains(numbers, 0.0)
    among = gains(np.hstack([numbers, noisy(random, np.zeros(4), 5)]), 0.0)[0]
    assert (alone.tried, among.tried) == (1, 5)
    assert among.mean == alone.mean and among.low < alone.low and among.p == pytest.approx(5 * alone.p)


def test_an_alternative_without_a_common_launch_with_the_default_is_not_tried():
    random = np.random.default_rng(10)
    arms = alternatives(random)
    rule = setting(Choice("a", {"a": "A", "b": "B", "c": "C"}))
    reference = {"old": np.concatenate([arms["old"], arms["null"]]), "a": arms["a"], "null": arms["null"]}
    apart = medians(reference | {"b": arms["b"]}, first_launch={"b": 6})
    (row,) = told(apart, rule)
    assert (row["recommended"], row["reason"]) == (False, NO_PAIR)
    (row,) = told(medians(reference | {"b": arms["b"], "c": arms["c"]}, first_launch={"b": 6}), rule)
    assert json.loads(row["arms"]) == ["a", "c"] and row["tried"] == 1


def test_a_launch_without_a_cell_has_no_number():
    d = np.array([[1.0, 3.0, np.nan], [1.0, np.nan, np.nan]])
    assert per_launch(d).tolist() == pytest.approx([2.0, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("overhead", "verdict", "x"), [(150.0, "from", 2850.0), (0.1, "always", SIZES[0]), (1e9, "never", None)]
)
def test_the_point_of_a_level_is_that_in_the_thresholds(overhead, verdict, x):
    share = np.log(SIZES / (SIZES + overhead))
    random = np.random.default_rng(11)
    arms = {"old": noisy(random, share, 5, launch_sd=0.001, cell_sd=0.0005)}
    (row,) = told(medians(arms, levels="[0.95]"), SHARE)
    assert (row["verdict"], row["recommended"]) == (verdict, x is not None)
    assert row.get("x") == (x and pytest.approx(x, rel=0.1))
    assert "gain" not in row, "without a default there is no gain"
    if x is not None:
        assert json.loads(row["value"]) == pytest.approx(row["x"], rel=0.01)


def losses(row, cells):
    """The measured points at which a value chooses the arm that is worse, by the verdicts of `cells`."""
    chosen = {cell["x"]: row.get("x") is None or cell["x"] >= json.loads(row["value"]) for cell in cells}
    return [cell["x"] for cell in cells if cell["verdict"] == ("worse" if chosen[cell["x"]] else "better")]


def test_no_value_chooses_an_arm_that_the_table_shows_to_be_worse():
    """A thousand runs: steady, crossing, bent and noisy curves, with two to five launches."""
    random = np.random.default_rng(31)
    recommended = 0
    for _ in range(1000):
        launches = int(random.integers(2, 6))
        slope, height, wobble = random.normal(0, 0.15), random.normal(0, 0.5), random.choice([0, 0.1, 0.4])
        truth = height + slope * STEPS + wobble * random.standard_normal(len(SIZES))
        noise = random.choice([0.01, 0.05, 0.2])
        arms = {"old": 0 * SIZES, "new": truth, "a": truth / 2}
        arms = {arm: noisy(random, line, launches, noise, noise) for arm, line in arms.items()}
        for row in (decided(arms, rule) for rule in (SIZE, BEST)):
            if row["recommended"]:
                recommended += 1
                cells = estimate(arms[row["arm"]] - arms["old"]).with_bias(np.log(1.02))
                ends = zip(SIZES, verdicts(cells), strict=True)
                assert not losses(row, [{"x": x, "verdict": verdict} for x, verdict in ends]), row
    assert recommended > 300


@pytest.mark.parametrize("run", [1, 2])
def test_no_value_of_a_stored_run_chooses_an_arm_that_its_table_shows_to_be_worse(run, tmp_path):
    """Quick runs of a machine with two cores."""
    stored(run, tmp_path)
    table = record.read(tmp_path / "recommendations.parquet", record.RECOMMENDATIONS).to_pylist()
    every = record.read(tmp_path / "ratios.parquet", record.RATIOS).to_pylist()
    checked = 0
    for row in table:
        names = ("experiment", "placement", "protocol", "metric", "arm")
        cells = [cell for cell in every if all(cell[name] == row[name] for name in names)]
        if row["recommended"] and row["default"] and cells and cells[0]["reference"] == row["default"]:
            checked += 1
            assert not losses(row, cells), row
    assert checked


def test_one_launch_recommends_nothing():
    arms, _ = crossing_at(np.random.default_rng(12), HALF, launches=1)
    single = medians(arms | {"a": arms["new"]}, levels="[0.95]")
    assert {row["reason"] for row in told(single, SIZE, BEST, SHARE)} == {NOT_REPLICATED}


def test_a_gain_smaller_than_the_null_arms_is_none():
    random = np.random.default_rng(13)
    arms = {"old": noisy(random, 0 * SIZES, 5, 0.002, 0.002), "new": noisy(random, 0 * SIZES + 0.05, 5, 0.002, 0.002)}
    quiet, loud = (arms | {"null": noisy(random, 0 * SIZES + bias, 5, 0.002, 0.002)} for bias in (0.0, 0.1))
    assert [row["recommended"] for found in (quiet, loud) for row in told(medians(found), SIZE)] == [True, False]
    (row,) = told(medians(arms), SIZE)
    assert row["reason"] == NO_NULL


def test_a_missing_arm_is_named_with_the_reason():
    arms, _ = crossing_at(np.random.default_rng(14), HALF)
    del arms["new"]
    (row,) = told(medians(arms), SIZE)
    assert row["reason"] == "not measured: `new` has no value here"
    (row,) = told(medians(arms), BEST)
    assert row["reason"].endswith("or `e` is not among the arms of this run's configuration")


def test_a_setting_that_is_not_recommended_has_a_row_with_the_reason():
    nothing = medians({"old": np.zeros((2, len(SIZES)))}).iloc[:0]
    hole = {"experiment": "toy", "outcome": "hole", "hole": "timed out", "reason": "too slow", "settings": "{}"}
    (absent,) = told(nothing, SIZE, launches=pd.DataFrame([hole | {"experiment": "other"}]))
    (holes,) = told(nothing, SIZE, launches=pd.DataFrame([hole, hole]))
    absence = "`toy` has no launch in this run; list it in config/config.yaml, and run it"
    assert absent["reason"] == f"not measured: {absence}"
    why = "not measured: all its launches are holes, the first because of `timed out: too slow`"
    assert holes["reason"] == why
    arms, _ = crossing_at(np.random.default_rng(15), HALF)
    (other,) = told(
        medians(arms), setting(SIZE.rule, aims=(Aim("speed", "rate", {"transport": "ipc"}, experiment="toy"),))
    )
    assert other["reason"].startswith("not measured: none of the curves")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of three launches. Lending pays from about 3 kB on, and gains far more there than it costs below."""
    folder = tmp_path_factory.mktemp("results")
    random = np.random.default_rng(16)
    receipts = []
    for launch in (1, 2, 3):
        seconds = {
            arm: 1e-6 * np.exp(noisy(random, truth, 10, 0.005, 0.005).T)
            for arm, truth in {
                "copy": 0 * SIZES,
                "no-copy": 0.4 * np.log(HALF / SIZES),
                "default": np.where(SIZES >= 65536, 0.4 * np.log(HALF / SIZES), 0),
                "null": 0 * SIZES,
            }.items()
        }
        measured = rows(seconds, protocol="PUSH/PULL over tcp, 2000 messages or 64 MB in flight", launch=launch)
        for row in measured:
            row["metric"] = "throughput"
        receipts.append(launched(folder, measured, launch=launch, settings="{}"))
    gather(receipts, folder / "experiments" / "zmq_throughput")
    derive(folder / "experiments" / "zmq_throughput")
    join([folder / "experiments" / "zmq_throughput"], folder)
    assert main(["recommend", str(folder)]) == 0
    return folder


def test_from_raw_files_to_a_recommended_threshold(folder):
    table = record.read(folder / "recommendations.parquet", record.RECOMMENDATIONS).to_pylist()
    (row,) = [row for row in table if row["recommended"]]
    assert (row["setting"], row["arms"], row["aims"]) == ("copy_threshold", '["no-copy", "copy"]', '["throughput"]')
    assert row["low"] < HALF < row["high"] and row["gain_low"] > row["smallest_effect"]
    assert f"copy_threshold = {row['value']}" in row["snippet"]
    assert [effect["over"] for effect in json.loads(row["effects"])] == ["default"]
    left = [row for row in table if not row["recommended"]]
    assert all(row["reason"] and row["value"] is None for row in left)


def test_the_toml_file_agrees_with_the_table_and_both_are_the_same_again(folder):
    table = pa.Table.to_pylist(record.read(folder / "recommendations.parquet", record.RECOMMENDATIONS))
    said = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))
    entries = [*said["recommended"], *said["no_recommendation"]]
    expected = sorted(table, key=lambda row: not row["recommended"])
    for entry, row in zip(entries, expected, strict=True):
        assert all(entry.get(name) == row[name] for name in ("setting", "reason", "snippet"))
        assert entry.get("value") == (json.loads(row["value"]) if row["value"] else None)
        assert entry.get("gain", {}).get("low") == row["gain_low"]
        assert entry.get("place", {}).get("high") == row["high"]
        assert entry["measured_by"]["experiment"] == row["experiment"]
        assert entry["aims"] == json.loads(row["aims"])
        known = [{k: v for k, v in effect.items() if v is not None} for effect in json.loads(row["effects"] or "[]")]
        assert entry.get("effects", []) == known
        assert entry.get("holds_for", {}).get("protocol") == row["protocol"]
    before = [(folder / name).read_bytes() for name in ("recommendations.parquet", FILE)]
    recommend(folder)
    assert [(folder / name).read_bytes() for name in ("recommendations.parquet", FILE)] == before


def test_a_missing_table_is_named_with_the_next_step(tmp_path, capsys):
    assert main(["recommend", str(tmp_path)]) == 1
    assert "medians.parquet: cannot be read as parquet" in capsys.readouterr().err
