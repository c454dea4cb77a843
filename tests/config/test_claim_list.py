"""Are the claims read as they were meant, and wrong ones refused with the file, the key and the reason?"""

import math
import re
import shutil
from dataclasses import replace

import pytest

from crossover import __main__
from crossover.analyse.claims import quantities
from crossover.config import claim_list, published, schema, sources
from crossover.design import farms
from crossover.design.experiments import declared
from crossover.design.settings import TIERS
from crossover.errors import CrossoverError
from crossover.measure.launch import driver
from crossover.planning import plan
from crossover.report.charts import ladder

ONE = """
about: 2
claims:
  mine:
    source: tutorial
    quote: Send is ~3-9 times faster
    locator: last text
    says: One is faster.
    quantity: {kind: ratio, experiment: mpi_pingpong, where: {}, metric: round trip, arm: send, over: Send, at: 10}
    expected: {about: 4}
"""


PINGPONG = "mpi_pingpong, where: {}"


@pytest.fixture
def claims_file(tmp_path):
    def write(text):
        (tmp_path / "claims.yaml").write_text(text)
        return tmp_path / "claims.yaml"

    return write


@pytest.mark.parametrize(
    ("expected", "range_", "claimed"),
    [
        ("about: 4", (2, 8), (4, 4)),
        ("low: 3", (3, math.inf), (None, None)),
        ("high: 3", (-math.inf, 3), (None, None)),
        ("low: 3, high: 9", (3, 9), (None, None)),
        ("within: 0.25", (0.8, 1.25), (None, None)),
        ("gain: 0.5", (1.25, 2), (1.5, 1.5)),
        ("about: {low: 3, high: 9}", (1.5, 18), (3, 9)),
        ("about: {low: 4}", (2, math.inf), (4, None)),
        ("about: {high: 4}", (-math.inf, 8), (None, 4)),
        ("gain: {low: 0.2, high: 0.4}", (1.1, 1.8), (1.2, 1.4)),
    ],
)
def test_a_range_may_be_open_or_mean_equivalence(claims_file, expected, range_, claimed):
    (claim,) = claim_list.read(claims_file(ONE.replace("about: 4", expected)))
    assert (claim.name, claim.range, claim.claimed) == ("mine", range_, claimed)
    assert claim.published == (claimed[0] if claimed[0] == claimed[1] else None)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("says:", "say:", "claims.mine.say: unknown key"),
        ("    locator: last text\n", "", "claims.mine.locator: Field required"),
        ("quote: Send is ~3-9 times faster", 'quote: ""', "claims.mine.quote: String should have at least 1 character"),
        ("source: tutorial", "source: them", "claims.mine.source: 'them' is not in config/sources.yaml, which has pyz"),
        ("kind: ratio", "kind: rate", "claims.mine.quantity.kind: Input should be 'value', 'ratio'"),
        ("over: Send, ", "", "claims.mine.quantity.over: is missing; a ratio needs it"),
        ("at: 10", "at: 10, peak: {}", "a ratio needs exactly one of at, each, mean, slope, peak; here is at, peak"),
        (", at: 10", "", "a ratio needs exactly one of at, each, mean, slope, peak; here is none"),
        ("at: 10", "at: 10, share: 0.5", "claims.mine.quantity.share: has no meaning for a ratio, which takes over"),
        ("at: 10", "at: 10, from: 5", "claims.mine.quantity.from: has no meaning for a ratio"),
        ("at: 10", "peak: {form: 5}", "claims.mine.quantity.peak.form: unknown key"),
        ("at: 10", "at: ten", "claims.mine.quantity.at: Input should be a valid number (here: 'ten')"),
        ("arm: send, ", "", "claims.mine.quantity.arm: Field required"),
        ("about: 4", "about: 4, low: 1", "give low, high or both, or about, or gain, or within; here is about and low"),
        ("about: 4", "low: 4, high: 1", "claims.mine.expected: low (4) must be less than high (1)"),
        ("about: 2", "about: 1", "about: Input should be greater than 1 (here: 1)"),
        ("says: One", "says: [One", "cannot be read as YAML"),
        # What no experiment measures:
        (
            "experiment: mpi_pingpong",
            "experiment: mpi",
            "quantity.experiment: 'mpi' does not exist; available: zmq_thr",
        ),
        ("arm: send", "arm: sends", "claims.mine.quantity.arm: 'sends' does not exist; available: send, Send, "),
        ("metric: round trip", "metric: speed", "quantity.metric: 'speed' does not exist; available: round trip"),
        ("where: {}", "placement: moon, where: {}", "claims.mine.quantity.placement: Input should be 'node', "),
        ("where: {}", "placement: process, where: {}", "placement: 'process' does not exist; available: node, nodes"),
        ("where: {}", "where: {object: any}", "quantity.where.object: 'any' does not exist; available: "),
        ("where: {}", "where: {re_sent: 0}", "quantity.where.re_sent: 0 does not exist; available: false, true"),
        ("where: {}", "where: {transport: ipc}", "where: 'transport' does not exist; available: object, re_sent, "),
        ("over: Send", "over: {where: {polled: true}}", "quantity.over.where: 'polled' does not exist"),
        (PINGPONG, "task_latency, where: {work: full}", "quantity.where.work: 'full' does not exist; available: empty"),
        (PINGPONG, "task_latency, where: {engines: true}", "quantity.where.engines: True is not of type int"),
        *(("ratio", kind, "quantity.metric: 'round trip' is a time already") for kind in claim_list.OF_RATES),
    ],
)
def test_a_wrong_block_is_refused_with_the_key_and_the_reason(claims_file, capsys, old, new, fault):
    assert old in ONE
    file = claims_file(ONE.replace(old, new, 1))
    assert __main__.main(["claims", str(file.parent), "--claims", str(file)]) == 1
    said = capsys.readouterr().err
    assert fault in said
    assert str(file) in said
    assert "Traceback" not in said


def test_every_kind_of_quantity_is_described_and_used():
    assert list(claim_list.KINDS) == list(quantities.KINDS)
    assert {claim.quantity.kind for claim in claim_list.read()} == set(claim_list.KINDS)


def test_every_published_data_set_has_a_source_with_a_claim():
    claiming = {claim.source for claim in claim_list.read()}
    assert {dataset.source for dataset in published.read()} <= claiming
    assert claiming == set(sources.read())


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        (
            "sources.yaml",
            "    machine: a fast 8-core machine\n",
            "",
            "ipyparallel.conditions: Value error, 'machine' is missing",
        ),
        ("sources.yaml", "year: 2024", "year: soon", "pyzmq.year: Input should be a valid integer"),
        ("sources.yaml", "url: https://lists", "url: lists", "vsm.url: String should match pattern"),
        (
            "published/sources.yaml",
            "  locator: the five lists",
            "  place: the five lists",
            "zeromq_vsm_inproc.csv.place: unknown key",
        ),
        ("published/sources.yaml", "  source: vsm", "  source: mail", "zeromq_vsm_inproc.csv.source: 'mail' is not in"),
    ],
)
def test_an_incomplete_document_or_data_set_is_refused_with_its_key(tmp_path, file, old, new, fault):
    shutil.copytree(claim_list.FILE.parent, tmp_path / "config")
    changed = tmp_path / "config" / file
    assert old in changed.read_text()
    changed.write_text(changed.read_text().replace(old, new, 1))
    with pytest.raises(CrossoverError, match=re.escape(f"{changed}: {fault}")):
        sources.read(tmp_path / "config/sources.yaml")
        published.read(tmp_path / "config/published")


def test_the_bibliography_has_an_entry_for_each_document_and_escapes_bibtexs_markup():
    known = sources.read()
    text = sources.bibliography(known)
    assert re.findall(r"^@misc\{(.+),$", text, re.M) == list(known)
    odd = replace(known["vsm"], title="50 % of A & B_c")
    assert r"title = {{50 \% of A \& B\_c}}" in sources.bibliography({"vsm": odd})


# ---- the curves that a claim names


def test_every_claim_of_the_project_is_about_what_is_measured():
    claim_list.read(entrants=farms.arms())
    with pytest.raises(CrossoverError, match="'leastload' does not exist; available: mine"):
        claim_list.read(entrants=["mine"])


def test_published_numbers_and_the_ladder_select_curves_by_keys_that_there_are():
    selections = [(each.experiment, each.where) for each in published.read()]
    selections += [(experiment, rung.where) for rung, experiment in ladder.LAYERS]
    for name, where in selections:
        assert list(claim_list.strangers(where, declared()[name].keys)) == []


@pytest.mark.parametrize("tier", TIERS)
def test_declarations_name_the_keys_of_the_drivers_curves_with_their_values(tier):
    config = schema.complete({"tier": tier})
    for name, own in config.experiments.items():
        for placement in own.placements:
            for cell in driver.find(name).cells(plan.launch(config, name, placement, 1).settings):
                assert list(claim_list.strangers(cell.keys, declared()[name].keys)) == []
