"""Are the sources of noise separated, and do the planned launches and rounds give the target width?"""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from synthetic import SIZES, rows

from crossover.analyse.curves.rounds import blocks
from crossover.analyse.estimators.precision import Cost, Spread, Target, half_width, needs, plan, targets
from crossover.planning.plan import SECOND_SWEEP
from crossover.records import record

FREE = Cost(np.nan, np.nan)


def told(launches, wall_seconds=None, **settings):
    """Rows of launches, with the columns that `needs` reads."""
    given = {"target_width": 0.02, "rounds": {"at_least": 10, "at_most": 200}} | settings
    return [
        {"placement": "node", "launch": number, "settings": json.dumps(given), "wall_seconds": wall_seconds}
        for number in range(1, launches + 1)
    ]


def measured(launches, *noise, **told):
    """Blocks of a campaign; see `recorded`."""
    return held(recorded(range(1, launches + 1), *noise, **told))


def held(found):
    return blocks(pa.Table.from_pylist(found, record.MEASUREMENTS))


def recorded(launches, launch_sd=0.0, round_sd=0.0, order=0.0, rounds=20, cells=8, seed=1, heavy=False):
    """Rows of a campaign with a copy, an arm and a null arm in random order; the first block of a round is slow."""
    random = np.random.default_rng(seed)
    found = []
    for launch in launches:
        places = random.permuted(np.tile(np.arange(3)[:, None, None], (1, cells, rounds)), axis=0)
        noise = random.standard_t(3, places.shape) if heavy else random.standard_normal(places.shape)
        log = launch_sd * random.standard_normal((3, cells, 1)) + round_sd * noise + order * (places == 0)
        values = dict(zip(("copy", "no-copy", "null"), 1e-6 * np.exp(log), strict=True))
        at = {
            (arm, size, number): int(places[which, cell, number])
            for which, arm in enumerate(values)
            for cell, size in enumerate(SIZES[:cells])
            for number in range(rounds)
        }
        for row in rows(values, launch=launch, sizes=SIZES[:cells]):
            position = at[row["arm"], row["x"], row["round"]]
            start_ns = (row["round"] * 3 + position) * 10_000_000
            found.append(row | {"position": position, "start_ns": start_ns})
    return found


def need(of, launches):
    (found,) = needs(of, launches)
    return found


def spread(row):
    """The variances behind a row: its shares of the noise, of a size that gives its half-width."""
    shares = row["launch_share"], row["round_share"] + row["order_share"], row["order_share"]
    expected = half_width(Spread(*shares), row["launches"], row["rounds"])
    return Spread(*(share * (np.log1p(row["half_width"]) / expected) ** 2 for share in shares))


@pytest.mark.parametrize(("launch_sd", "round_sd"), [(0.05, 0.02), (0.02, 0.1), (0.03, 0.03)])
def test_launches_and_rounds_are_told_apart(launch_sd, round_sd):
    found = spread(need(measured(20, launch_sd, round_sd), told(20)))
    # A ratio is a difference of two arms' logarithms. The median of a few rounds varies more than their mean, by a
    # factor of pi / 2 in large batches and 1.43 in those of five.
    assert found.launch == pytest.approx(2 * launch_sd**2, rel=0.25)
    assert found.round == pytest.approx(1.43 * 2 * round_sd**2, rel=0.15)
    assert found.order <= 0.02 * found.round


def test_without_launch_effects_the_rounds_are_all_there_is():
    found = spread(need(measured(10, 0, 0.05), told(10)))
    assert found.launch <= 0.03 * found.round


def test_the_order_within_a_round_is_found_and_is_part_of_the_rounds():
    quiet, biased = (spread(need(measured(6, 0.02, 0.02, order=order), told(6))) for order in (0.0, 0.05))
    # The first place adds 0.05 to one of three blocks: the arm, the reference or neither, so 2 / 3 of its square.
    share = (2 / 3 * 0.05**2) / (2 / 3 * 0.05**2 + 2 * 0.02**2)
    assert biased.order / biased.round == pytest.approx(share, abs=0.1)
    assert quiet.order / quiet.round < 0.02


def test_a_launch_of_few_rounds_has_smaller_batches():
    found = spread(need(measured(20, 0.05, 0.02, rounds=3), told(20)))
    assert found.launch == pytest.approx(2 * 0.05**2, rel=0.25)
    assert found.round == pytest.approx(2 * 0.02**2, rel=0.2)


def test_launches_of_one_round_are_planned_by_the_sum_of_both_variances():
    settings = {"fewest_rounds": 1, "target_width": 0.02}
    found = need(measured(40, 0.03, 0.03, rounds=1), told(40, 7.0, **settings))
    assert np.isnan([found["launch_share"], found["round_share"]]).all()
    assert np.log1p(found["half_width"]) == pytest.approx(half_width(Spread(4 * 0.03**2, 0, 0), 40, 1), rel=0.2)
    assert found["rounds_needed"] == 1
    assert found["seconds_needed"] == pytest.approx(7 * found["launches_needed"])


def test_one_launch_gives_no_variance_of_launches_and_no_plan():
    found = need(measured(1, 0.05, 0.02), told(1))
    assert np.isnan([found["launch_share"], found["half_width"]]).all()
    assert "launches_needed" not in found


def test_null_arms_and_ceilings_and_the_reference_need_nothing():
    assert [found["arm"] for found in needs(measured(3, 0.02, 0.02), told(3))] == ["no-copy"]


def test_launches_without_settings_have_no_plan():
    found = need(measured(3, 0.02, 0.02), [{"placement": "node", "launch": 1, "settings": None, "wall_seconds": 9.0}])
    assert np.isnan(found["wanted"])
    assert "launches_needed" not in found


def test_no_blocks_need_nothing():
    assert list(needs(blocks(record.MEASUREMENTS.empty_table()), [])) == []


def test_a_round_costs_the_time_to_the_next_and_a_launch_the_rest():
    found = need(measured(3, 0.02, 0.02, rounds=20, cells=8), told(3, wall_seconds=10.0))
    # Three blocks of 10 ms in each of 8 cells; a curve's blocks change their places, so this is exact on average only.
    assert found["round_seconds"] == pytest.approx(0.24, rel=0.05)
    assert found["launch_seconds"] == pytest.approx(10 - 20 * 0.24, rel=0.05)


def test_the_cost_of_a_launch_ignores_the_second_sweep():
    first = recorded([1, 2], 0.02, 0.02, cells=8)
    second = recorded([SECOND_SWEEP + 1, SECOND_SWEEP + 2], 0.02, 0.02, cells=2)
    walls = [row | {"launch": row["launch"] + sweep} for sweep in (0, SECOND_SWEEP) for row in told(2, wall_seconds=10)]
    assert need(held(first + second), walls) == need(held(first), walls)


def test_the_half_width_is_students():
    expected = stats.t.ppf(0.975, 4) * np.sqrt((0.03**2 + 0.05**2 / 12) / 5)
    assert half_width(Spread(0.03**2, 0.05**2, 0), 5, 12) == pytest.approx(expected)


spreads = st.builds(Spread, st.floats(0, 0.01), st.floats(1e-6, 0.1), st.just(0.0))
costs = st.builds(Cost, st.floats(0.1, 100), st.floats(0.001, 10))


@given(spreads, costs, st.floats(0.005, 0.2))
def test_a_plan_gives_the_target_width_within_the_allowed_rounds(spread, cost, wanted):
    found = plan(spread, cost, Target(wanted, 10, 200))
    assert half_width(spread, found["launches_needed"], found["rounds_needed"]) <= wanted * (1 + 1e-9)
    assert 10 <= found["rounds_needed"] <= 200
    assert found["launches_needed"] >= 3
    each = cost.launch_seconds + found["rounds_needed"] * cost.round_seconds
    assert found["seconds_needed"] == pytest.approx(found["launches_needed"] * each)


@given(spreads, costs, st.floats(0.02, 0.2))
def test_no_cheaper_plan_gives_the_target_width(spread, cost, wanted):
    found = plan(spread, cost, Target(wanted, 10, 200))
    launches, rounds = np.meshgrid(np.arange(3, 40), np.arange(10, 201))
    enough = half_width(spread, launches, rounds) <= wanted * (1 - 1e-9)
    seconds = launches * (cost.launch_seconds + rounds * cost.round_seconds)
    assert found["seconds_needed"] <= seconds[enough].min(initial=np.inf) * (1 + 1e-9)


def test_costly_launches_mean_more_rounds_and_costly_rounds_more_launches():
    spread, target = Spread(0.01**2, 0.1**2, 0), Target(0.02, 10, 500)
    few, many = (plan(spread, cost, target) for cost in (Cost(100, 0.01), Cost(0.01, 1)))
    assert few["launches_needed"] < many["launches_needed"]
    assert few["rounds_needed"] > many["rounds_needed"]


def test_with_unknown_costs_the_fewest_launches_are_planned():
    found = plan(Spread(0.01**2, 0.1**2, 0), FREE, Target(0.02, 10, 500))
    assert (found["launches_needed"], np.isnan(found["seconds_needed"])) == (4, True)


def test_a_planned_run_has_the_target_width():
    pilot = need(measured(10, 0.03, 0.06, seed=3, heavy=True), told(10, target_width=0.03))
    launches, rounds = pilot["launches_needed"], pilot["rounds_needed"]
    widths = []
    for seed in range(10, 20):
        again = measured(launches, 0.03, 0.06, rounds=rounds, cells=4, seed=seed, heavy=True)
        medians = again.rows.groupby("series")["ratio"].median().to_frame().join(again.series)
        arm = again.curves.index[again.curves["arm"] == "no-copy"][0]
        cells = medians[medians["curve"] == arm].groupby("x")["ratio"]
        widths += list(stats.t.ppf(0.975, launches - 1) * cells.std() / np.sqrt(launches))
    assert np.sqrt(np.mean(np.square(widths))) == pytest.approx(np.log1p(pilot["wanted"]), rel=0.25)


def test_the_targets_are_read_from_the_launches_by_placement():
    launches = [*told(2), {"placement": "nodes", "settings": None}]
    assert targets(launches) == {"node": Target(pytest.approx(np.log(1.02)), 10, 200)}


def test_series_are_numbered_by_curve_cell_and_launch_with_their_rounds_in_order():
    found = measured(2, 0.02, 0.02, rounds=5, cells=2)
    assert found.series[["curve", "x", "launch"]].apply(tuple, axis=1).is_monotonic_increasing
    assert found.rows["series"].is_monotonic_increasing
    assert found.rows.groupby("series")["round"].apply(list).tolist() == [[0, 1, 2, 3, 4]] * len(found.series)
