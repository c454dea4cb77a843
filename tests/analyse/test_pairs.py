"""Are slow hosts and slow links named, and no others, from a tournament in pairs?"""

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import launched

from crossover.analyse.estimates.pairs import fit, over_launches, pairs, plays
from crossover.analyse.tables.raw_files import gather
from crossover.records import record
from crossover.records.rows import Launch, Median, Pair, Rank

FACTS = {
    "placement": "nodes",
    "protocol": "Send/Recv",
    "reference": "together",
    "axis": "message size",
    "axis_unit": "B",
    "levels": lambda frame: [[]] * len(frame),
    "validity": "ok",
    "position": 0,
    "n": 100,
    "start_ns": 0,
    "block_seconds": 0.01,
    "stop": "rounds",
    "ceiling": False,
}
"""Columns of the measurements that all rows here share."""

CURVE = {"metric": "latency", "unit": "s", "better": "lower", "x": 8.0}

NOISE = 0.08
"""Standard deviation of a play; Student's t with 3 degrees of freedom has that of 3 ** 0.5."""


def drawn(random, hosts, rounds):
    """The two numbers of every pair in some rounds of a drawn order, shape (pairs, 2); a host plays once in each."""
    circle = hosts - 1 + hosts % 2
    turn, order = np.arange(1, (circle + 1) // 2), random.permutation(circle)[:rounds, np.newaxis]
    first = np.hstack([np.full_like(order, circle), (order + turn) % circle]).ravel()
    second = np.hstack([order, (order - turn) % circle]).ravel()
    ends = np.stack([first, second], axis=1)
    # With an odd number of hosts, the opponent of the last number has a break.
    return random.permutation(hosts)[ends[(ends < hosts).all(axis=1)]]


def played(random, hosts, plays=3, slow=(), link=(), factor=1.2, noise=NOISE):
    """The two numbers of each play of a launch, shape (plays, 2), and the logarithms of its times."""
    ends = np.sort(np.tile(drawn(random, hosts, 15), (plays, 1)), axis=1)
    is_slow = np.isin(ends, slow).any(axis=1) | (np.isin(ends, link).all(axis=1) & bool(link))
    shift = np.log(factor) * is_slow + 0.03 * random.standard_normal()
    return ends, shift + noise * random.standard_t(3, len(ends)) / 3**0.5


class Runs:
    """Synthetic runs, each as an experiment of its own. The slower end of a pair decides."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.frames, self.launches, self.ranks = [], [], []

    def play(self, hosts=16, launches=3, plays=3, slow=(), link=(), factor=1.2, noise=NOISE, arms=None, **facts):
        """Add a run: each number in `slow` is a slow host, `link` has the two of a slow link; `arms` and what runs."""
        facts = {"experiment": f"run {len(self.launches)}"} | CURVE | facts
        for launch in range(1, launches + 1):
            name = {"experiment": facts["experiment"], "placement": "nodes", "launch": launch}
            for arm, runs in (arms or {"together": "together"}).items():
                ends, log = played(self.random, hosts, plays, slow, link, factor, noise)
                values = 1e-6 * np.exp(log if facts["better"] == "lower" else -log)
                columns = {
                    "first_rank": ends[:, 0],
                    "second_rank": ends[:, 1],
                    "value": values,
                    "round": range(len(ends)),
                }
                arm_facts = {"arm": arm, "runs": runs, "is_null_arm": arm == "null", "launch": launch}
                self.frames.append(pd.DataFrame(columns | facts | arm_facts))
            self.launches.append(Launch.of(name | {"outcome": "measured"}))
            self.ranks += [Rank.of(name | {"rank": rank, "host": f"n{rank:04}"}) for rank in range(hosts)]
        return self

    @property
    def table(self):
        frame = pd.concat(self.frames).assign(**FACTS).reindex(columns=record.MEASUREMENTS.names)
        return pa.Table.from_pandas(frame, record.MEASUREMENTS, preserve_index=False)

    def judged(self):
        return judge(self.table, self.launches, self.ranks)


def judge(table, launches, ranks):
    """The rows of pairs, from the plays of each launch by itself."""
    hosts = record.from_rows([asdict(rank) for rank in ranks], record.RANKS)
    each = [table.filter(pc.equal(table["launch"], number)) for number in pc.unique(table["launch"]).to_pylist()]
    return list(pairs([plays(own, hosts) for own in each], launches))


def worse(judged, links=False):
    """The names of those that are called worse, with their experiment."""
    named = [row for row in judged if row["verdict"] == "worse" and bool(row["other"]) == links]
    return {(row["experiment"], row["host"], *([row["other"]] if links else [])) for row in named}


def estimated(random, count, hosts, slow=(), **noise):
    """The estimates of all hosts in each of `count` runs of three launches."""
    for _ in range(count):
        launches = []
        for _ in range(3):
            ends, log = played(random, hosts, slow=slow, **noise)
            medians = pd.Series(log).groupby([ends[:, 0], ends[:, 1]]).median()
            first, second = (medians.index.get_level_values(level).to_numpy() for level in (0, 1))
            launches.append(fit(first, second, medians.to_numpy(), hosts, np.log(1.05))[0])
        yield over_launches(np.stack(launches))


@pytest.mark.parametrize(("hosts", "count", "slow"), [(16, 120, [3, 9]), (1000, 8, range(40))])
def test_intervals_of_slow_hosts_and_of_others_hold_the_truth(hosts, count, slow):
    truth = np.log(1.2) * np.isin(np.arange(hosts), slow)
    every = estimated(np.random.default_rng(2), count, hosts, slow, plays=3 if hosts == 16 else 1)
    within = np.stack([(each.low <= truth) & (truth <= each.high) for each in every])
    assert 0.93 <= within[:, truth == 0].mean() <= 0.97
    # There are few slow ones, so chance moves their share more.
    assert 0.92 <= within[:, truth > 0].mean() <= 0.985


def test_five_slow_hosts_among_a_thousand_are_named():
    runs, slow, count = Runs(1), range(5), 3
    for _ in range(count):
        runs.play(hosts=1000, plays=1, slow=slow)
    judged = runs.judged()
    true = {(experiment, f"n{number:04}") for experiment in {row["experiment"] for row in judged} for number in slow}
    named = worse(judged)
    assert len(named & true) >= 0.95 * len(true)
    assert len(named - true) <= 0.05 * len(named)
    assert not worse(judged, links=True) and all(np.isnan(row["p"]) for row in judged if row["other"])


@pytest.mark.parametrize("hosts", [4, 16])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_slow_host_is_named_and_none_of_its_links(hosts, better):
    runs, count = Runs(3), 20
    for _ in range(count):
        runs.play(hosts, slow=[1], factor=1.4, better=better)
    judged = runs.judged()
    assert {host for _, host in worse(judged)} == {"n0001"} and len(worse(judged)) >= 0.95 * count
    assert not worse(judged, links=True)
    assert 1.35 < np.median([row["factor"] for row in judged if row["host"] == "n0001" and not row["other"]]) < 1.45


@pytest.mark.parametrize("hosts", [4, 16])
def test_a_slow_link_is_named_and_no_host(hosts):
    runs, count = Runs(4), 20
    for _ in range(count):
        runs.play(hosts, link=[0, 2], factor=1.5, noise=0.04)
    judged = runs.judged()
    assert not worse(judged)
    assert {row[1:] for row in worse(judged, links=True)} == {("n0000", "n0002")}
    assert len(worse(judged, links=True)) >= 0.95 * count


def test_nothing_is_named_where_all_are_alike():
    runs, count = Runs(5), 30
    for number in range(count):
        runs.play([4, 5, 16][number % 3], noise=0.2)
    judged = runs.judged()
    named = {each[0] for each in worse(judged) | worse(judged, links=True)}
    assert len(named) <= 0.05 * count


def test_a_host_that_was_slow_in_one_launch_is_open():
    random = np.random.default_rng(6)
    d = random.normal(0, 0.01, (3, 100))
    d[1, 7] += 0.5
    estimate, others = over_launches(d), np.arange(100) != 7
    assert estimate.low[7] < 0 < np.log(1.05) < estimate.mean[7]
    assert np.all(estimate.error[others] < 0.01)


@pytest.mark.parametrize(("hosts", "launches"), [(16, 1), (3, 3)])
def test_one_launch_or_three_hosts_name_nothing(hosts, launches):
    judged = Runs(7).play(hosts, launches, slow=[1], factor=3).judged()
    assert {row["verdict"] for row in judged} == {"open"}
    assert all(np.isnan([row["low"], row["high"], row["p"]]).all() for row in judged)
    assert len(judged) == hosts * (hosts + 1) / 2 and all(row["launches"] == launches for row in judged)


def test_of_three_regular_hosts_none_is_named_because_of_their_link():
    runs = Runs(8).play(4, slow=(1,), factor=1.8, noise=0.01)
    for frame in runs.frames:
        frame.loc[(frame["first_rank"] == 0) & (frame["second_rank"] == 3), "value"] *= 0.85
    judged = runs.judged()
    assert worse(judged) == {("run 0", "n0001")}
    assert next(row for row in judged if row["host"] == "n0002" and not row["other"])["low"] > 1.05


def test_pairs_without_a_value_cost_only_themselves():
    runs = Runs(8).play(slow=[1], factor=1.4)
    whole = runs.judged()
    for frame in runs.frames:
        frame.loc[(frame["first_rank"] == 4) & (frame["second_rank"] == 5), "value"] = np.nan
    judged = runs.judged()
    assert len(judged) == len(whole) - 1 and not any(
        row["other"] == "n0005" and row["host"] == "n0004" for row in judged
    )
    assert worse(judged) == worse(whole) == {("run 0", "n0001")}
    assert not np.isnan([row["factor"] for row in judged]).any()
    assert {row["rounds"] for row in judged if row["host"] == "n0004" and not row["other"]} == {14 * 9}


def test_launches_on_other_hosts_share_the_hosts_that_played_in_several():
    runs = Runs(9).play(hosts=8, slow=[1], factor=1.4)
    # In the second launch, rank 1 is on another host, and rank 2 on the slow one.
    names = {1: "m0001", 2: "n0001"}
    moved = [replace(each, host=names.get(each.rank, each.host)) if each.launch == 2 else each for each in runs.ranks]
    frame = runs.frames[1]
    frame["first_rank"], frame["second_rank"] = (
        frame[end].replace({1: 2, 2: 1}) for end in ("first_rank", "second_rank")
    )
    judged = judge(runs.table, runs.launches, moved)
    assert worse(judged) == {("run 0", "n0001")}
    launches = {row["host"]: row["launches"] for row in judged if not row["other"]}
    assert launches["m0001"] == 1 and launches["n0002"] == 2 and launches["n0001"] == launches["n0000"] == 3


def test_the_null_arm_plays_for_its_reference():
    arms = {"together": "together", "alone": "alone", "null": "together"}
    judged = Runs(10).play(hosts=4, arms=arms).judged()
    assert {(row["arm"], row["rounds"]) for row in judged if row["other"]} == {("together", 18), ("alone", 9)}


def test_the_minimum_effect_is_a_setting():
    runs = Runs(11).play(slow=[1], factor=1.4)
    runs.launches = [replace(each, settings={"minimum_effect": 0.6}) for each in runs.launches]
    judged = runs.judged()
    assert {row["verdict"] for row in judged} == {"alike"} and {row["smallest_effect"] for row in judged} == {1.6}


@settings(max_examples=8, deadline=None)
@given(order=st.permutations(range(6)), constant=st.floats(1e-3, 1e6))
def test_names_and_the_unit_of_time_do_not_matter(order, constant):
    runs = Runs(12).play(hosts=6, slow=[1], link=[3, 4])
    renamed = [replace(each, host=f"n{order[each.rank]:04}") for each in runs.ranks]
    before, table = runs.judged(), runs.table
    column = table.schema.get_field_index("value")
    scaled = table.set_column(column, table.schema.field(column), pc.multiply(table["value"], constant))
    names = {"": ""} | {f"n{rank:04}": f"n{name:04}" for rank, name in enumerate(order)}
    after = {(row["host"], row["other"] or ""): row for row in judge(scaled, runs.launches, renamed)}
    for row in before:
        ends = sorted((names[row["host"]], names[row["other"] or ""]), key=lambda name: (name == "", name))
        other = after[tuple(ends)]
        assert other["verdict"] == row["verdict"]
        assert [other[name] for name in ("factor", "low", "high")] == pytest.approx(
            [row[name] for name in ("factor", "low", "high")]
        )
        assert other["value"] == pytest.approx(constant * row["value"])


def test_the_table_names_a_slow_host_and_medians_ignore_its_rows(tmp_path):
    runs = Runs(13).play(hosts=4, slow=[1], factor=1.5, noise=0.02, experiment="zmq_throughput")
    receipts = []
    for launch, frame in enumerate(runs.frames, 1):
        block = frame.iloc[:1].assign(first_rank=None, second_rank=None, value=1e-6)
        rows = pd.concat([block.astype(object), frame.astype(object)]).assign(**FACTS).to_dict("records")
        hosts = [f"n{rank:04}" for rank in range(4)]
        receipts.append(launched(tmp_path, rows, launch=launch, hosts=hosts, placement="nodes"))
    gather(receipts, tmp_path / "tables")
    judged = record.rows_of(tmp_path / "tables/pairs.parquet", Pair)
    assert [(row.host, row.other, row.verdict) for row in judged if row.verdict == "worse"] == [("n0001", "", "worse")]
    assert len(judged) == 10 and [row.other for row in judged[:4]] == ["n0001", "n0002", "n0003", ""]
    medians = record.rows_of(tmp_path / "tables/medians.parquet", Median)
    assert [(row.value, row.rounds) for row in medians] == [(pytest.approx(1e-6), 1)] * 3
