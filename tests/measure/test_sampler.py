"""Does the sampler give correct results on a simulated machine?"""

import math
import statistics
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulated import ARMS, CELL, Machine, sampling

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.measure.sampling import sampler
from crossover.measure.sampling.contract import Block
from crossover.measure.sampling.sampler import MANY_CELLS, SELDOM, SETTLED, Observation, Sampler, deal, unsettled

SECONDS = {"plain": 1e-5, "fancy": 1.4e-5}
PLAIN, FANCY, NULL = ARMS
BROKEN, CEILING = Arm("broken", "broken"), Arm("in C", "in C", ceiling=True)
DRIFTING = dict(seconds=SECONDS, drift=0.3, scatter=0.03, interrupted=0.05)

FEWEST_ROUNDS = 3


def noisy(seed=1, **more):
    return Machine(random=Random(seed), **({"seconds": SECONDS, "scatter": 0.05, "interrupted": 0.02} | more))


def values(observations, name):
    """The values of one arm by round."""
    return {seen.round: seen.block.values["time"] for seen in observations if seen.arm.name == name}


def ratio(observations):
    """The median over the rounds of an arm's value divided by the reference's."""
    ours, theirs = values(observations, "fancy"), values(observations, "plain")
    return statistics.median(ours[at] / theirs[at] for at in ours)


def rounds(sample):
    return 1 + max(seen.round for seen in sample.observations)


# ---- interleaving


@pytest.mark.parametrize("seed", range(5))
def test_a_drift_of_30_percent_does_not_change_the_ratio(seed):
    machine = Machine(drift_seconds=100 * 3 * 0.0115, random=Random(seed), **DRIFTING)
    (sample,) = machine.launch(sampling(), seed=seed)
    slowed = statistics.median(list(values(sample.observations, "plain").values())[-10:]) / SECONDS["plain"]
    assert slowed > 1.2, "the machine must have drifted"
    assert ratio(sample.observations) == pytest.approx(1.4, rel=0.02)


def test_every_round_has_every_arm_once_and_each_is_first_second_and_third_about_equally_often():
    (sample,) = noisy().launch(sampling(at_least=300, at_most=300))
    for number in range(rounds(sample)):
        taken = [seen for seen in sample.observations if seen.round == number]
        assert sorted(seen.arm.name for seen in taken) == sorted(arm.name for arm in ARMS)
        assert [seen.position for seen in taken] == [0, 1, 2]
        assert [seen.start_ns for seen in taken] == sorted({seen.start_ns for seen in taken})
    places = Counter((seen.arm.name, seen.position) for seen in sample.observations)
    assert len(places) == 9
    # 100 of 300 are expected. A fixed order would give 0 or 300; chance stays within 5 standard errors.
    assert all(60 < count < 140 for count in places.values())
    firsts = [seen.arm.name for seen in sample.observations if seen.position == 0]
    assert len(set(pairwise(firsts))) == 9


def test_every_cell_is_measured_once_in_an_order_that_follows_from_the_seed():
    cells = [Cell({}, x) for x in range(1, 9)]
    launches = [noisy().launch(sampling(at_most=3), cells, seed=seed) for seed in (5, 5, 6, 7, 8)]
    orders = [[sample.cell for sample in samples] for samples in launches]
    arms = [[[seen.arm.name for seen in sample.observations] for sample in samples] for samples in launches]
    assert all(sorted(order, key=cells.index) == cells for order in orders)
    assert orders[0] == orders[1] != orders[2] and sum(order == cells for order in orders) <= 1
    assert arms[0] == arms[1] != arms[2]


# ---- calibration


@pytest.mark.parametrize("fancy", [1e-8, 1e-5, 3e-3, 0.5, 1.0])
def test_a_block_of_every_arm_lasts_the_block_time_and_hardly_longer(fancy):
    (sample,) = Machine({"plain": 1e-5, "fancy": fancy}).launch(sampling(at_most=5, budget=1e9))
    for seen in sample.observations:
        assert 0.01 <= seen.block.seconds < max(0.02, 1.01 * fancy * (seen.arm == FANCY))


def test_the_search_starts_from_the_number_at_the_next_larger_x():
    cells = [Cell({}, 10**power) for power in range(4)]
    together, alone = Machine({"plain": 1e-7, "fancy": 1e-6}), Machine({"plain": 1e-7, "fancy": 1e-6})
    together.launch(sampling(at_most=3, budget=0), cells)
    for cell in cells:
        alone.launch(sampling(at_most=3, budget=0), [cell])
    rounds_only = len(cells) * len(ARMS) * FEWEST_ROUNDS
    assert len(together.ran) - rounds_only < 0.7 * (len(alone.ran) - rounds_only)
    # An arm of one curve tells nothing about another arm, or about another curve.
    assert {n for _, arm, n, _ in together.ran if arm == FANCY} != {n for _, arm, n, _ in together.ran if arm == PLAIN}
    other = [Cell({"pattern": "PUSH/PULL", "transport": name}, x) for name, x in (("tcp", 1000), ("ipc", 1))]
    machine = Machine({"plain": 1e-7, "fancy": 1e-6})
    machine.launch(sampling(at_most=3, budget=0), other)
    assert min(n for cell, _, n, _ in machine.ran if cell.x == 1) == 1


def test_a_cell_whose_repetition_surely_lasts_a_block_is_not_calibrated():
    machine = Machine({"plain": 0.5, "fancy": 0.6})
    (sample,) = machine.launch(sampling(at_most=5, budget=0), [Cell({}, 1, least_seconds=0.4)])
    assert len(machine.ran) == len(sample.observations) == len(ARMS) * FEWEST_ROUNDS
    assert {seen.n for seen in sample.observations} == {1}


@given(st.floats(1e-9, 1), st.floats(1e-4, 1), st.floats(0, 0.3), st.integers(0, 10**6))
def test_calibration_grows_by_at_most_16_per_step_and_ends_long_enough(seconds, block_seconds, scatter, seed):
    machine = Machine({"plain": seconds}, scatter=scatter, random=Random(seed))
    n, _ = Sampler(machine, sampling(block_seconds), Random(seed), machine.clock).calibrate(CELL, PLAIN)
    asked = [n for _, _, n, _ in machine.ran]
    assert asked[0] == 1
    assert all(then <= 16 * now or then == now + 1 for now, then in pairwise(asked))
    assert asked[-1] == n
    assert machine.ran[-1][3] >= block_seconds
    assert n * seconds < 16 * block_seconds * math.exp(6 * scatter) or n == 1


@pytest.mark.parametrize("seconds", [1e-7, 3e-5, 0.004, 0.5])
def test_a_near_block_tells_the_repetitions_and_the_cost_of_a_whole_one(seconds):
    machine, whole = (Machine({"plain": seconds}, untimed=0.001) for _ in range(2))
    n, cost = Sampler(machine, sampling(0.1), Random(1), machine.clock).calibrate(CELL, PLAIN, near=sampler.NEAR)
    assert 0.1 <= n * seconds <= max(0.1 * 16, seconds)
    assert cost == pytest.approx(n * seconds + 0.001, rel=0.01)
    Sampler(whole, sampling(0.1), Random(1), whole.clock).calibrate(CELL, PLAIN)
    assert machine.now <= whole.now


@pytest.mark.parametrize(
    ("slow_one", "pause_seconds", "budget"), [*((number, 0.05, 1000.0) for number in range(12)), (0, 10, 2)]
)
def test_one_interrupted_block_does_not_end_the_calibration_too_early(slow_one, pause_seconds, budget):
    class Hesitant(Machine):
        def run(self, cell, arm, n):
            block = super().run(cell, arm, n)
            pause = pause_seconds * (len(self.ran) == slow_one + 1)
            self.now += pause
            return Block(block.seconds + pause, block.values)

    (sample,) = Hesitant(SECONDS).launch(sampling(at_most=5, budget=budget))
    assert min(seen.n * SECONDS[seen.arm.runs] for seen in sample.observations) >= 0.01


def test_calibration_ends_at_once_if_every_block_is_faulty():
    machine = Machine({"plain": 0.0, "fancy": 0.0}, untimed=1e-5, fault=lambda *_: "lost", at_most=2000)
    (sample,) = machine.launch(sampling(at_most=5))
    assert {seen.validity for seen in sample.observations} == {"lost"}


def test_the_arms_are_warmed_up_before_the_first_round_if_that_is_cheap():
    machine = Machine(SECONDS)
    (sample,) = machine.launch(sampling(at_most=5))
    n = {seen.arm: seen.n for seen in sample.observations}
    before = machine.ran[: -len(sample.observations)]
    assert [(arm, times) for _, arm, times, _ in before[-4:]] == [(arm, n[arm]) for arm in (PLAIN, PLAIN, FANCY, FANCY)]
    costly = Machine(SECONDS)
    costly.launch(sampling(at_most=5, budget=0.01))
    assert len(costly.ran) == len(machine.ran) - 4 - (5 - FEWEST_ROUNDS) * 3


# ---- stop rules


@pytest.mark.parametrize(
    ("scatter", "plan", "arms", "stop", "count"),
    [
        (0.001, {"width": 0.02}, ARMS, "width", 10),
        (0.05, {"at_most": 11}, ARMS, "rounds", 11),
        (0.05, {"at_most": 40}, ARMS, "rounds", 40),
        (0.05, {"at_least": 2, "at_most": 2, "width": 1}, ARMS, "width", FEWEST_ROUNDS),
        # An arm without sane rounds has no width to stop for.
        (0.001, {"width": 0.5, "at_most": 30}, (*ARMS, BROKEN), "rounds", 30),
    ],
)
def test_a_cell_stops_for_its_width_from_the_least_to_the_most_rounds(scatter, plan, arms, stop, count):
    machine = Machine(SECONDS | {"broken": 1e-5}, scatter=scatter, fault=lambda cell, arm: "lost" * (arm == BROKEN))
    (sample,) = machine.launch(sampling(**plan), arms=arms)
    assert (sample.stop, rounds(sample)) == (stop, count)


@pytest.mark.parametrize("fewest", [1, FEWEST_ROUNDS])
def test_a_cell_gets_the_fewest_rounds_even_if_the_budget_is_spent(fewest):
    samples = noisy().launch(sampling(budget=1e-9, fewest=fewest), [Cell({}, x) for x in range(1, 20)])
    assert {(rounds(sample), sample.stop) for sample in samples} == {(fewest, "budget")}


def test_the_unspent_time_of_quiet_cells_goes_to_later_ones():
    quiet = []

    class Uneven(Machine):
        def run(self, cell, arm, n):
            self.scatter = 0.0 if cell in quiet else 0.1
            return super().run(cell, arm, n)

    cells = [Cell({}, x) for x in range(1, 5)]
    plan = sampling(at_most=10**6, budget=8, width=1e-5)
    everywhere_noisy = Uneven(SECONDS).launch(plan, cells)
    machine = Uneven(SECONDS)
    quiet += [sample.cell for sample in everywhere_noisy[:3]]
    relieved = machine.launch(plan, cells)
    assert [sample.stop for sample in relieved] == ["width", "width", "width", "budget"]
    assert rounds(relieved[3]) > 3 * rounds(everywhere_noisy[3])
    assert machine.now == pytest.approx(8, rel=0.1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("x", "budget", "fewest", "ratios"), [(25_000, 40, 6, (2, 12)), (100_000, 17, 3, (2, 40))])
def test_a_costly_cell_gets_fewer_rounds_but_no_cell_is_starved(seed, x, budget, fewest, ratios):
    machine = noisy(seed, scatter=0.02, interrupted=0)
    cells = [Cell({}, size) for size in (1, 2, 3, x)]
    samples = {s.cell.x: s for s in machine.launch(sampling(at_most=10**6, budget=budget), cells, seed=seed)}
    costly = rounds(samples.pop(x))
    assert costly == fewest if fewest == FEWEST_ROUNDS else costly >= fewest
    # At the first x, a round costs about 25 times as much, so by the square root it gets 5 times fewer rounds.
    assert all(ratios[0] < rounds(sample) / costly < ratios[1] for sample in samples.values())
    assert machine.now == pytest.approx(budget, rel=0.1)


@given(st.floats(0, 1e4), st.lists(st.floats(1e-4, 1e3), min_size=1, max_size=8))
def test_shares_follow_the_root_of_the_cost_and_allow_the_fewest_rounds(seconds, costs):
    shares = deal(seconds, costs)
    floors = [FEWEST_ROUNDS * cost for cost in costs]
    assert sum(shares) == pytest.approx(max(seconds, sum(floors)))
    free = [share / math.sqrt(cost) for share, cost, floor in zip(shares, costs, floors, strict=True) if share > floor]
    assert all(unit == pytest.approx(free[0]) for unit in free)


def observed(number, arm, **metrics):
    return Observation(CELL, arm, number, 0, 1, 0, Block(1.0, metrics), "ok")


def with_ratios(logs):
    """Observations with one of these logarithms of a ratio in each round."""
    seen = [observed(at, PLAIN, time=1.0) for at in range(len(logs))] + [observed(0, NULL, time=1.0)]
    return seen + [observed(at, FANCY, time=math.exp(value)) for at, value in enumerate(logs)]


def test_the_width_is_that_of_the_widest_arm_and_metric():
    def both(steady, scattered):
        seen = []
        for at in range(20):
            seen.append(observed(at, PLAIN, time=1.0, rate=1.0))
            seen.append(observed(at, NULL, time=1 + at % 3, rate=1.0))
            seen.append(observed(at, FANCY, time=2 + steady * (at % 2), rate=2 + scattered * (at % 2)))
        return unsettled(seen, settled=0)

    assert both(0, 0) == 0, "the null arm must not count"
    assert 0 < both(0, 0.1) < both(0, 0.5) == both(0.1, 0.5) == both(0.5, 0)


def test_the_width_is_the_interval_of_a_median_under_normal_noise():
    random = Random(2)
    logs = [random.gauss(0, 0.1) for _ in range(4001)]
    assert unsettled(with_ratios(logs)) == pytest.approx(
        1.96 * math.sqrt(math.pi / 2) * 0.1 / math.sqrt(4001), rel=0.05
    )


@pytest.mark.parametrize("settled, stop", [(SETTLED, "width"), (0, "rounds")])
def test_a_ratio_far_from_1_gets_fewer_rounds(settled, stop):
    machine = Machine({"plain": 1e-5, "fancy": 6e-5}, scatter=0.05)
    (sample,) = machine.launch(sampling(), settled=settled)
    assert sample.stop == stop
    assert rounds(sample) < 40 or stop == "rounds"


@given(st.integers(2, 40), st.floats(-2, 2), st.floats(0.001, 0.3), st.integers(0, 1000))
def test_settled_ratios_are_those_with_an_interval_far_from_1(count, distance, scatter, seed):
    random = Random(seed)
    logs = [random.gauss(distance, scatter) for _ in range(count)]
    seen = with_ratios(logs)
    whole = unsettled(seen, settled=0)
    assert unsettled(seen) == (0 if whole <= SETTLED * abs(statistics.median(logs)) else pytest.approx(whole))


def test_the_phases_are_the_whole_time_of_a_launch():
    machine = Machine(SECONDS | {"in C": 1e-5}, untimed=0.001)
    samples = machine.launch(sampling(at_most=12), cells=[CELL, Cell({}, 2)], arms=(*ARMS, CEILING))
    spent = machine.phases.seconds
    assert set(spent) == {"calibration", "warm-up", "arms", "null arm", "ceilings", "around blocks"}
    assert sum(spent.values()) == pytest.approx(machine.now)
    blocks = [seen for sample in samples for seen in sample.observations]
    assert spent["around blocks"] == pytest.approx(0.001 * len(blocks))
    assert spent["null arm"] == pytest.approx(sum(seen.block.seconds for seen in blocks if seen.arm.null))


def test_a_cell_runs_only_its_own_arms():
    picky = Cell({"payload": "picky"}, 1, arms=("plain", "in C"))
    machine = Machine(SECONDS | {"in C": 1e-6})
    samples = machine.launch(sampling(at_most=12), cells=[picky, CELL], arms=(*ARMS, CEILING))
    arms = {sample.cell: {seen.arm.name for seen in sample.observations} for sample in samples}
    assert arms == {picky: {"plain", "null", "in C"}, CELL: {"plain", "fancy", "null", "in C"}}
    assert {arm.name for cell, arm, *_ in machine.ran if cell == picky} == {"plain", "null", "in C"}
    positions = [seen.position for sample in samples if sample.cell == picky for seen in sample.observations]
    assert Counter(positions) == {0: 12, 1: 12, 2: 12 / SELDOM}


def test_a_ceiling_that_cannot_run_does_not_make_a_costly_cell_look_cheap():
    without = Machine({"plain": 1.0, "fancy": 1.0})
    without.launch(sampling(budget=10))
    machine = Machine({"plain": 1.0, "fancy": 1.0, "in C": 0.0}, fault=lambda cell, arm: "no compiler" * arm.ceiling)
    machine.launch(sampling(budget=10), arms=(*ARMS, CEILING))
    assert [arm for _, arm, *_ in machine.ran if not arm.ceiling] and len(machine.ran) == len(without.ran) + 2


def test_a_rival_whose_blocks_take_far_longer_than_the_references_runs_in_every_third_round():
    machine = Machine({"plain": 0.02, "fancy": 0.5})
    short, long = machine.launch(sampling(at_least=9, at_most=9), cells=[Cell({}, 1), Cell({}, 40)])
    for sample in sorted((short, long), key=lambda sample: sample.cell.x):
        assert sorted(values(sample.observations, "fancy")) == [0, 3, 6]
        assert len(values(sample.observations, "null")) == len(values(sample.observations, "plain")) == 9
    same = Machine({"plain": 0.5, "fancy": 0.02}).launch(sampling(at_least=9, at_most=9))
    assert Counter(seen.arm.name for seen in same[0].observations) == {"plain": 9, "fancy": 9, "null": 9}


def test_after_a_round_with_all_arms_a_cheaper_one_still_fits():
    machine = Machine({"plain": 0.1, "fancy": 1.0})
    (sample,) = machine.launch(sampling(at_least=9, at_most=9, budget=4.5))
    assert len(values(sample.observations, "plain")) > 2 * len(values(sample.observations, "fancy"))


# ---- few rounds, and what an earlier launch tells


def test_with_one_round_a_third_of_the_cells_have_ceilings():
    machine, cells = Machine(SECONDS | {"in C": 1e-6}), [Cell({}, x) for x in range(1, MANY_CELLS)]
    samples = machine.launch(sampling(budget=0, fewest=1), cells, (*ARMS, CEILING))
    present = [{seen.arm.name for seen in sample.observations} for sample in samples]
    assert len(cells) / 5 < sum("in C" in names for names in present) < len(cells) / 2
    assert all("null" in names for names in present)


def test_with_many_cells_every_third_round_has_a_null_arm():
    cells = [Cell({}, x) for x in range(1, MANY_CELLS + 1)]
    samples = Machine(SECONDS).launch(sampling(at_least=9, at_most=9), cells)
    assert {tuple(sorted(values(sample.observations, "null"))) for sample in samples} == {(0, 3, 6)}
    once = Machine(SECONDS).launch(sampling(budget=0, fewest=1), cells)
    assert MANY_CELLS / 6 < sum(any(seen.arm.null for seen in sample.observations) for sample in once) < MANY_CELLS / 2


@pytest.mark.parametrize("factor", [0.1, 1.0, 10.0])
def test_paces_of_an_earlier_launch_save_the_calibration_and_those_of_another_machine_do_no_harm(factor):
    machine = Machine(SECONDS)
    cells = [Cell({}, 10**power) for power in range(4)]
    paces = {
        sampler.place(cell, runs): sampler.Pace(factor * each * cell.x, 0.0)
        for cell in cells
        for runs, each in SECONDS.items()
    }
    samples = machine.launch(sampling(budget=0, at_most=3), cells, paces=paces)
    every = [seen for sample in samples for seen in sample.observations]
    assert len(every) == 4 * 3 * FEWEST_ROUNDS
    assert min(seen.block.seconds for seen in every) >= (0.01 if factor == 1 else sampler.SHORT * 0.01)
    # Only blocks that turn out to be short are calibrated again.
    assert (machine.phases.seconds["calibration"] > 0) == (len(machine.ran) > len(every)) == (factor > 1)
    for seen in every:
        assert seen.block.seconds == pytest.approx(seen.n * SECONDS[seen.arm.runs] * seen.cell.x)


# ---- faults, disturbances, progress


def test_a_faulty_block_has_no_value_and_its_fault_outweighs_a_disturbance():
    faults = Random(3)
    machine = Machine(SECONDS, fault=lambda cell, arm: "lost" * (arm == FANCY and faults.random() < 0.5))
    (sample,) = machine.launch(sampling(at_most=40), disturbance=lambda: "swapped")
    assert all((seen.validity == "lost") != ("time" in seen.block.values) for seen in sample.observations)
    assert {(seen.arm == FANCY, seen.validity) for seen in sample.observations} == {
        (True, "lost"),
        (True, "swapped"),
        (False, "swapped"),
    }


def test_a_disturbance_marks_exactly_the_blocks_of_its_round():
    heard = iter(["before the first round", "ok", "steal time", "ok", "throttled", *["ok"] * 1000])
    (sample,) = Machine(SECONDS).launch(sampling(at_most=6), disturbance=lambda: next(heard))
    marks = [{seen.validity for seen in sample.observations if seen.round == at} for at in range(6)]
    assert marks == [{"ok"}, {"steal time"}, {"ok"}, {"throttled"}, {"ok"}, {"ok"}]


def test_progress_is_reported_at_each_visit_with_the_time_spent_and_left():
    cells = [Cell({}, x) for x in (1, 2, 3, 4)]
    told, machine = [], noisy()
    samples = machine.launch(
        sampling(at_most=10**6, budget=20), cells, progress=lambda *words: told.append((*words, machine.now))
    )
    assert [(done, of) for done, of, *_ in told] == [(visit, 12) for visit in range(1, 13)]
    assert [sample for _, _, sample, *_ in told if sample.stop] == samples
    assert [sample.cell.x for _, _, sample, *_ in told[:4]] != [1, 2, 3, 4]
    assert all({sample.cell.x for _, _, sample, *_ in told[at : at + 4]} == {1, 2, 3, 4} for at in (0, 4, 8))
    assert [gone for _, _, _, gone, _, _ in told] == [now for *_, now in told]
    assert all(left == pytest.approx(20 - gone) for _, _, _, gone, left, _ in told[:-1])
    assert told[-1][4] == 0


def test_the_time_left_is_enough_for_the_fewest_rounds():
    cells, told = [Cell({}, x) for x in (20_000, 20_001, 20_002)], []
    Machine(SECONDS).launch(sampling(budget=0.001), cells, progress=lambda *words: told.append(words))
    lefts = [left for *_, left in told]
    assert sorted(lefts, reverse=True) == lefts and lefts[-1] == 0 < lefts[-2]
    # 3 arms, 0.2 s to 0.28 s per repetition; the last cell lacks a round.
    assert lefts[-2] == pytest.approx(3 * 0.2, rel=0.2)


# ---- any parameters


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(
    seconds=st.lists(st.floats(1e-7, 10), min_size=2, max_size=4),
    xs=st.lists(st.integers(1, 1000), min_size=1, max_size=3, unique=True),
    plan=st.builds(
        sampling,
        block_seconds=st.floats(1e-4, 1),
        at_least=st.integers(2, 20),
        at_most=st.integers(2, 40),
        width=st.floats(1e-4, 1),
        budget=st.floats(1e-3, 1e3),
    ),
    scatter=st.floats(0, 0.5),
    faulty=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_every_launch_ends_with_enough_rounds_of_every_arm_in_every_cell(seconds, xs, plan, scatter, faulty, seed):
    names = [f"arm{number}" for number in range(len(seconds))]
    at_least, at_most = plan.rounds.at_least, max(FEWEST_ROUNDS, plan.rounds.at_most)
    arms = [*(Arm(name, name) for name in names), Arm("null", "arm0")]
    random = Random(seed)
    machine = Machine(
        dict(zip(names, seconds, strict=True)),
        scatter=scatter,
        fault=lambda cell, arm: "lost" * (random.random() < faulty),
        random=random,
        at_most=len(xs) * len(arms) * (at_most + 60),
    )
    samples = machine.launch(plan, [Cell({}, x) for x in xs], arms, seed)
    assert sorted(sample.cell.x for sample in samples) == sorted(xs)
    for sample in samples:
        count = rounds(sample)
        seen = Counter(seen.arm for seen in sample.observations)
        # Blocks of a rival that takes far longer than the reference.
        assert {*seen} == {*arms} and {*seen.values()} <= {count, math.ceil(count / SELDOM)}
        assert seen[arms[0]] == seen[arms[-1]] == count
        assert FEWEST_ROUNDS <= count <= at_most
        assert sample.stop in ("width", "budget", "rounds")
        assert sample.stop != "width" or count >= at_least
        assert sample.stop != "rounds" or count == at_most
