"""Do all views of a run give one verdict on each point, and does no recommended setting choose a loss?"""

from functools import partial
from itertools import product

import disagreeing
import numpy as np
import pytest
from campaigns import Campaign, crossover, steps
from runs import stored
from surfaces import BETTER, EQUAL, UNSURE, WORSE
from synthetic import SIZES, blocks, launched, rows
from test_overview import Read, cells

from crossover.design.experiments import leads
from crossover.query.run import Run
from crossover.records.outcome import ALIKE, KNOWN, OPEN, VERDICTS, Outcome
from crossover.report.charts import overview
from crossover.report.pages import terminal
from crossover.report.text import choices
from crossover.report.text.tables import NAMES, load

LEADS = leads()

MEASURED = [
    ("zmq_throughput", "PUSH/PULL over tcp, 64 MB in flight", ("copy", "no-copy", "default", "null"), "throughput"),
    ("mpi_pingpong", "float64 array, thread level multiple", ("send", "Send", "pkl5.send", "null"), "round trip"),
    ("task_latency", "empty tasks, engines: 2", ("leastload", "pure", "lru", "null"), "round trip"),
]
"""Experiment, protocol, arms and leading metric of a simulated run."""
UNITS = {"zmq_throughput": "bytes", "mpi_pingpong": "elements", "task_latency": "tasks"}


def simulated(seed, folder):
    """A run whose arms differ by random slopes and steps, with few launches and loud noise, so that much is open."""
    random, receipts = np.random.default_rng(seed), {}
    for experiment, protocol, arms, metric in MEASURED:
        launches, sd = int(random.integers(2, 7)), random.uniform(0.002, 0.06)
        sizes = SIZES[:: int(random.integers(2, 4))]
        seconds = {}
        for arm in arms:
            tilt, shift = random.choice([0, 0.05, 0.2], 2) * random.standard_normal(2)
            truth = shift + tilt * np.linspace(-3, 3, len(sizes)) if arm not in (arms[0], "null") else 0 * sizes
            seconds[arm] = blocks(random, truth, launches, rounds=4, launch_sd=sd, cell_sd=sd, block_sd=sd)[1]
        facts = {"metric": metric, "unit": "s", "axis_unit": UNITS[experiment]}
        receipts[experiment] = []
        for number in range(1, launches + 1):
            own = {arm: values[number - 1] for arm, values in seconds.items()}
            measured = [row | facts for row in rows(own, experiment, protocol, number, sizes)]
            receipts[experiment].append(launched(folder, measured, experiment, number, settings="{}"))
    return disagreeing.finish(folder, receipts)


def patterns(folder):
    """A run with every order of three standings, and some of five."""
    standings = (WORSE, UNSURE, EQUAL, BETTER)
    orders = [*product(standings, repeat=3), *list(product(standings, repeat=5))[::31]]
    curves = [steps(*own, protocol=f"PUSH/PULL over tcp, {size} MB in flight") for size, own in enumerate(orders, 1)]
    return Campaign(curves).write_tables(folder)


SEEDS = (11, 38, 1, 3, 6, 8, 10, 19)
"""Of runs with recommendations; in 11 and 38, the largest gain comes with a loss at single points."""
RUNS = {f"quick {number}": partial(stored, number) for number in (1, 2)}
RUNS |= {"disagreeing": disagreeing.write, "patterns": patterns}
RUNS |= {f"simulated {seed}": partial(simulated, seed) for seed in SEEDS}
GATE = [*RUNS][:6]


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[] if name in GATE else pytest.mark.long) for name in RUNS]
)
def results(request, tmp_path_factory):
    return RUNS[request.param](tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def told(results):
    """The tables; a stored run has not all of them."""
    return load(results, {path.stem for path in results.glob("*.parquet")} & {*NAMES})


@pytest.fixture
def every(told):
    """Each rival's panel, its name, and its cells."""
    panels = [panel for name in told.experiments for panel in told.leading(name, LEADS.get(name))]
    return [(panel, arm, panel.ratios_of(arm)) for panel in panels for arm in panel.compared]


def test_every_rival_has_a_verdict_that_its_numbers_and_its_crossover_agree_with(results, every):
    frame = Run(results).ratios()
    rivals = frame[~(frame["is_null_arm"] | frame["ceiling"])]
    assert set(rivals["verdict"]) <= {*VERDICTS} and frame["verdict"].notna().sum() == len(rivals)
    for panel, arm, ratios in every:
        for found in map(Outcome.of, ratios):
            assert found.least > 1 or not found.is_decided
            assert found.most <= KNOWN or found.verdict != ALIKE
        row = panel.crossover_of(arm)
        assert row is None or row.verdict == crossover([cell.verdict for cell in ratios])


def test_map_terminal_command_and_python_have_the_choice_of_each_point(results, told):
    run, rows = Run(results), {row["id"]: row for row in Read(overview.picture(told)).rows}
    lines = " ".join(" ".join(map(str, terminal.answer(told, results, choices.asked(told), 99))).split())
    seen = 0
    for question in choices.curves(told):
        panel = question.panel
        keys = {key: None for other in told.panels(panel.experiment) for key in other.keys}
        keys |= panel.keys | {"placement": panel.placement}
        drawn = cells(rows[overview.address(question)])
        assert [cell["kind"] for cell in drawn] == [OPEN if row.verdict == OPEN else "chosen" for row in question.rows]
        assert choices.plain(question.words).partition(", ")[0] in lines
        for row, cell in zip(question.rows, drawn, strict=True):
            seen += 1
            assert f": {row.choice}, " in cell["tip"]
            (found,) = run.choose(panel.experiment, row.x, metric=panel.metric, **keys).to_dict("records")
            assert (found["choice"], found["verdict"], found["guarantee"]) == (
                row.choice, row.verdict, row.guarantee,
            )  # fmt: skip
            (one,) = run.chosen(run.find(panel.experiment, row.x, panel.metric, keys))
            assert row.choice in one.head
    assert seen == len(told.choices)


def test_an_answer_has_the_verdict_of_its_point(results, told, every):
    run, asked = Run(results), 0
    for panel in {id(panel): panel for panel, _, _ in every}.values():
        others = {key: None for other in told.panels(panel.experiment) for key in other.keys}
        keys = others | panel.keys | {"placement": panel.placement}
        for x in sorted({cell.x for cell in panel.ratios}):
            here = {cell.arm: cell.verdict or None for cell in panel.ratios if cell.x == x}
            for answer in run.ask(panel.experiment, x, metric=panel.metric, **keys).to_dict("records"):
                asked += answer["arm"] in here
                assert answer["verdict"] == here.get(answer["arm"], answer["verdict"])
    assert asked == sum(len(ratios) for _, _, ratios in every) > 20


def test_a_recommended_setting_is_the_choice_wherever_its_arms_have_it(told):
    """At no point of its question does it lose more than its guarantee."""
    choices_of = {}
    for row in told.choices:
        choices_of.setdefault(row.curve, {})[row.x] = row
    for row in (row for row in told.recommendations if row.recommended and row.for_program):
        for found in (each for each in told.choices if {row.default, "no-copy"} <= {*each.costs}):
            assert found.costs["no-copy" if found.x >= row.value else row.default] <= row.guarantee
    for row in (row for row in told.recommendations if row.recommended and not row.for_program):
        points = {x: arm for arm, own in row.points.items() for x in own}
        start = float(row.value) if row.low is not None else 0
        for x, found in choices_of[row.experiment, row.protocol, row.placement, row.metric].items():
            arm = row.arm if x >= start else row.default
            if x in points:
                assert found.costs[arm] <= row.guarantee
