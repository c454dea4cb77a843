"""Do all views of a run give one verdict on each point, and does no recommended setting choose a loss?"""

import json
import re
from functools import partial

import disagreeing
import outcomes
import pytest
import simulated_runs
from runs import stored
from test_overview import Read, sides

from crossover.experiments import leads
from crossover.query.run import Run
from crossover.records.outcome import ALIKE, BETTER, KNOWN, OPEN, VERDICTS, WORSE, Outcome
from crossover.report.base import numbers
from crossover.report.base.tables import SCHEMAS, grouped, load
from crossover.report.glance import overview
from crossover.report.sections import crossovers
from crossover.report.sentences import findings
from crossover.report.sentences.winners import outcome, pairs

LEADS = leads()
SEEDS = (1, 3, 6, 8, 10, 11, 19, 38)
"""Of runs with recommendations; in 11 and 38, the largest gain comes with a loss at single points."""
RUNS = {f"quick {number}": partial(stored, number) for number in (1, 2)}
RUNS |= {f"simulated {seed}": partial(simulated_runs.write, seed) for seed in SEEDS}
RUNS |= {"disagreeing": disagreeing.write, "patterns": simulated_runs.patterns}


@pytest.fixture(scope="module", params=RUNS)
def results(request, tmp_path_factory):
    return RUNS[request.param](tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def told(results):
    """The tables; a stored run has not all of them."""
    return load(results, {path.stem for path in results.glob("*.parquet")} & {*SCHEMAS})


@pytest.fixture
def every(told):
    return pairs(told.all_leading(LEADS))


def winners(pair):
    """The better arm, or ALIKE or OPEN, at each point, from the verdicts in the table."""
    sides = {BETTER: pair.arm, WORSE: pair.panel.reference}
    return [sides.get(cell["verdict"], cell["verdict"]) for cell in pair.cells]


def words(pair):
    """The word for each verdict in sentences and tables."""
    better, worse = numbers.comparatives(pair.panel.unit)
    return {BETTER: better, WORSE: worse, ALIKE: ALIKE, OPEN: OPEN}


def test_every_rival_has_a_verdict_that_its_numbers_and_its_crossover_agree_with(results, every):
    frame = Run(results).ratios()
    rivals = frame[~(frame["null"] | frame["ceiling"])]
    assert set(rivals["verdict"]) <= {*VERDICTS} and frame["verdict"].notna().sum() == len(rivals)
    for pair in every:
        for found in map(Outcome.of, pair.cells):
            assert found.least > 1 or not found.is_decided
            assert found.most <= KNOWN or found.verdict != ALIKE
        assert pair.verdict == outcomes.crossover([cell["verdict"] for cell in pair.cells])


def test_the_map_has_each_winner(told):
    found = told.all_leading(LEADS)
    known = {BETTER: "rival", WORSE: "reference"}
    rows = {row["id"]: [cell["kind"] for cell in sides(row)] for row in Read(overview.picture(found)).rows}
    every = pairs(found)
    assert len(rows) == len(every) > 0
    for pair in every:
        verdicts = [cell["verdict"] for cell in pair.cells]
        assert rows[overview.address(pair)] == [known.get(verdict, verdict) for verdict in verdicts]


def test_the_findings_name_each_point_with_its_verdict(every):
    for pair in every:
        text, every_word = findings.parts(pair.panel, pair.arm), "|".join(words(pair).values())
        _, *found = re.split(rf"\b({every_word})(?: than `[^`]+`)? at ", text)
        shown = {word: re.sub(r"(,| and) $", "", places) for word, places in zip(found[::2], found[1::2], strict=True)}
        x, unit = [cell["x"] for cell in pair.cells], pair.panel.facts["axis_unit"]
        own = grouped([cell | {"word": words(pair)[cell["verdict"]]} for cell in pair.cells], "word")
        assert shown == {word: numbers.runs([cell["x"] for cell in cells], x, unit) for (word,), cells in own.items()}


def test_the_table_of_crossovers_has_the_winners(every):
    for pair in every:
        text, own = outcome(pair), [who for who, _ in pair.runs]
        # A crossover with its interval stands for all between its two winners.
        named, own = (text.split(" | ")[::2], own[:: len(own) - 1]) if "[" in text else (text.split(" | "), own)
        assert all(f"{part} ".startswith(f"{who} ") for part, who in zip(named, own, strict=True))
        line = next(line for line in crossovers.lines(pair.panel) if line["arms"].startswith(f"`{pair.arm}` /"))
        if pair.verdict in ("always", "none"):
            shown = {*line["verdict"].split()} - {"always", "or"}
            assert shown == {words(pair)[cell["verdict"]] for cell in pair.cells}


def test_an_answer_has_the_verdict_of_its_point(results, every):
    run, asked = Run(results), 0
    for panel in {id(pair.panel): pair.panel for pair in every}.values():
        others = {key: None for other in run._panels(panel.experiment, panel.metric) for key in other.keys}
        keys = others | panel.keys | {"placement": panel.placement}
        for x in sorted({cell["x"] for cell in panel.ratios}):
            here = {cell["arm"]: cell["verdict"] for cell in panel.ratios if cell["x"] == x}
            for answer in run.ask(panel.experiment, x, metric=panel.metric, **keys).to_dict("records"):
                asked += answer["arm"] in here
                assert answer["verdict"] == here.get(answer["arm"], answer["verdict"])
    assert asked == sum(len(pair.cells) for pair in every) > 20


def test_no_recommended_setting_chooses_an_arm_that_is_worse(told):
    for row in told.recommendations:
        points = {place: verdict for verdict, own in json.loads(row["points"] or "{}").items() for place in own}
        names = ("experiment", "metric", "protocol", "placement", "arm")
        own = [cell for cell in told.ratios if all(cell[name] == row[name] for name in names)]
        if points and own and own[0]["reference"] == row["default"]:
            assert points == {cell["x"]: cell["verdict"] for cell in own}
        start = float(row["value"]) if row["recommended"] and row["x"] is not None else 0
        losses = [verdict for x, verdict in points.items() if verdict == (WORSE if x >= start else BETTER)]
        assert not (row["recommended"] and losses)
