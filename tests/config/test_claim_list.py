"""Are the claims read as they were meant, and wrong ones refused with the file, the key and the reason?"""

import copy
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from crossover import __main__, farms
from crossover.analyse.claims.quantities import KINDS
from crossover.config import claim_list, published, schema, sources, yaml_file
from crossover.design.settings import TIERS
from crossover.errors import CrossoverError
from crossover.experiments import declared
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

ROWS = {
    "zmq-small-penalty", "zmq-large-win", "zmq-crossover", "zmq-threshold", "zmq-small-max", "zmq-send-large",
    "zmq-send-small", "zmq-send-penalty", "zmq-send-crossover", "zmq-memcpy", "zmq-latency-penalty", "ipp-small-task",
    "ipp-large-task", "ipp-python-rate", "ipp-pure-rate", "ipp-sent-rate", "ipp-ssh", "ipp-send-flat", "ipp-saturation",
    "ipp-scaling", "vsm-gain", "vsm-compromise", "sched-pure", "sched-python-3x", "sched-twisted", "sched-flat",
    "mpi-speedup", "mpi-alloc", "zmq-large-only", "vsm-faster-still", "vsm-pack-references", "vsm-size-penalty",
    "vsm-union", "sched-flat-lru", "sched-flat-weighted",
}  # fmt: skip
"""Claims that the project must judge."""


@pytest.fixture
def claims_file(tmp_path):
    def write(text):
        (tmp_path / "claims.yaml").write_text(text)
        return tmp_path / "claims.yaml"

    return write


def test_a_claim_is_one_block(claims_file):
    (claim,) = claim_list.read(claims_file(ONE))
    assert claim == {
        "claim": "mine",
        "source": "tutorial",
        "quote": "Send is ~3-9 times faster",
        "locator": "last text",
        "url": sources.read()["tutorial"].url,
        "says": "One is faster.",
        "test": None,
        "unlike": None,
        "derived": False,
        "contradicts": [],
        "quantity": yaml.safe_load(ONE)["claims"]["mine"]["quantity"] | {"placement": "node"},
        "low": 2,
        "high": 8,
        "equivalent": False,
        "published": 4,
        "claimed_low": 4,
        "claimed_high": 4,
    }


@pytest.mark.parametrize(
    ("expected", "low", "high", "equivalent"),
    [
        ("low: 3", 3, math.inf, False),
        ("high: 3", -math.inf, 3, False),
        ("low: 3, high: 9", 3, 9, False),
        ("within: 0.25", 0.8, 1.25, True),
        ("gain: 0.5", 1.25, 2, False),
        ("about: {low: 3, high: 9}", 1.5, 18, False),
        ("about: {low: 4}", 2, math.inf, False),
        ("about: {high: 4}", -math.inf, 8, False),
        ("gain: {low: 0.2, high: 0.4}", 1.1, 1.8, False),
    ],
)
def test_a_range_may_be_open_or_mean_equivalence(claims_file, expected, low, high, equivalent):
    (claim,) = claim_list.read(claims_file(ONE.replace("about: 4", expected)))
    published = 1.5 if expected == "gain: 0.5" else None
    assert (claim["low"], claim["high"], claim["equivalent"], claim["published"]) == (low, high, equivalent, published)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("says:", "say:", "claims.mine.say: unknown key; known here: source, quote, locator, says"),
        ("    locator: last text\n", "", "claims.mine: 'locator' is a required property"),
        ("quote: Send is ~3-9 times faster", 'quote: ""', "claims.mine.quote: '' should be non-empty"),
        (
            "source: tutorial",
            "source: them",
            "claims.mine.source: 'them' is not in config/sources.yaml, which has pyzmq, ",
        ),
        ("kind: ratio", "kind: rate", "claims.mine.quantity.kind: 'rate' is not one of value, ratio"),
        ("over: Send, ", "", "claims.mine.quantity.over: is missing; a ratio needs it"),
        ("at: 10", "at: 10, peak: {}", "a ratio needs exactly one of at, each, mean, slope, peak; here is at, peak"),
        (", at: 10", "", "a ratio needs exactly one of at, each, mean, slope, peak; here is none"),
        ("at: 10", "at: 10, share: 0.5", "claims.mine.quantity.share: has no meaning for a ratio, which takes over"),
        ("at: 10", "at: ten", "claims.mine.quantity.at: 'ten' is not of type number"),
        ("arm: send, ", "", "claims.mine.quantity: 'arm' is a required property"),
        (
            "about: 4",
            "about: 4, low: 1",
            "about and low do not go together; give low, high or both, or about, or gain, or within",
        ),
        ("about: 4", "low: 4, high: 1", "claims.mine.expected: low (4) must be less than high (1)"),
        ("about: 2", "about: 1", "about: 1 is less than or equal to the minimum of 1"),
        ("says: One", "says: [One", "cannot be read as YAML"),
    ],
)
def test_a_wrong_block_is_refused_with_the_key_the_reason_and_a_remedy(claims_file, capsys, old, new, fault):
    assert old in ONE
    file = claims_file(ONE.replace(old, new, 1))
    assert __main__.main(["claims", str(file.parent), "--claims", str(file)]) == 1
    said = capsys.readouterr().err
    assert fault in said
    assert str(file) in said
    assert "Traceback" not in said


def test_no_claim_that_must_be_judged_is_missing():
    assert {claim["claim"] for claim in claim_list.read()} >= ROWS


def test_every_kind_of_quantity_is_described_and_used():
    kinds = yaml_file.read_yaml(claim_list.SCHEMA)["kinds"]
    assert list(kinds) == list(KINDS)
    assert all(kind["means"].endswith(".") for kind in kinds.values())
    assert {claim["quantity"]["kind"] for claim in claim_list.read()} == set(KINDS)


def test_every_published_data_set_has_a_source_with_a_claim():
    claiming = {claim["source"] for claim in claim_list.read()}
    assert {dataset.source for dataset in published.read()} <= claiming
    assert claiming == set(sources.read())


def test_every_document_claim_and_data_set_has_a_location_and_conditions():
    conditions = {"engines", "packer", "transport", "machine"}
    for document in claim_list.documented().values():
        assert document.url.startswith("https://") and document.title and document.authors and document.year
        assert conditions <= set(document.conditions)
    for claim in claim_list.read():
        assert claim["quote"] and claim["locator"] and claim["url"]
    for dataset in published.read():
        assert dataset.locator and conditions | {"year"} <= set(dataset.conditions)


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("sources.yaml", "    machine: a fast 8-core machine\n", "", "ipyparallel.conditions: 'machine' is a required"),
        ("sources.yaml", "year: 2024", "year: soon", "pyzmq.year: 'soon' is not of type integer"),
        ("sources.yaml", "url: https://lists", "url: lists", "vsm.url: 'lists.zeromq.org"),
        (
            "published/sources.yaml",
            "  locator: the five lists",
            "  place: the five lists",
            "zeromq_vsm_inproc.csv.place: unknown",
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
        claim_list.documented(tmp_path / "config/sources.yaml", tmp_path / "config/published")


def test_the_bibliography_has_an_entry_for_each_document_and_escapes_bibtexs_markup():
    known = sources.read()
    text = sources.bibliography(known)
    assert re.findall(r"^@misc\{(.+),$", text, re.M) == list(known)
    odd = replace(known["vsm"], title="50 % of A & B_c")
    assert r"title = {{50 \% of A \& B\_c}}" in sources.bibliography({"vsm": odd})


@pytest.mark.parametrize("claim", claim_list.read(), ids=lambda claim: claim["claim"])
def test_every_claim_is_about_an_experiment_placement_curve_and_arms_that_exist(claim):
    quantity = claim["quantity"]
    other = quantity.get("against", {}) | (quantity["over"] if isinstance(quantity.get("over"), dict) else {})
    for part in (quantity, quantity | other):
        known = declared()[part["experiment"]]
        assert part["placement"] in known.names("placements")
        over = part.get("over", [])
        named = [part["arm"], *(over if isinstance(over, list) else [over] if isinstance(over, str) else [])]
        arms = {*(known.names("arms") or farms.arms()), *known.names("ceilings")}
        assert {*named, part.get("of", part["arm"])} <= arms


def test_additions_of_higher_tiers_are_known_by_arms_and_ends_of_the_axis():
    higher = schema.higher({"tier": "quick"})
    assert [tier["tier"] for tier in higher["mpi_pingpong"]] == ["standard", "paper"]
    standard, paper = higher["task_latency"]
    assert "leastload over ssh" in standard["arms"]
    adds = higher["mpi_pingpong"][0]["adds"]
    assert {"thread_level": "single"} in adds and {"object": "bytes", "re_sent": False} in adds
    assert {"player": "engine"} not in adds and all(adds)
    assert (paper["low"], paper["high"]) == (8, 1024)
    assert schema.higher({"tier": "paper"}) == {}


def test_the_shipped_file_is_where_the_workflow_looks_for_it():
    assert Path("config/claims.yaml") == claim_list.FILE.relative_to(claim_list.FILE.parents[1])


# ---- the curves that a claim names

CLAIM = next(claim for claim in claim_list.read() if claim["quantity"]["experiment"] == "zmq_throughput")


def test_every_claim_of_the_project_is_about_what_is_measured():
    claim_list.require(claim_list.read())


@pytest.mark.parametrize(
    ("key", "name", "available"),
    [
        ("experiment", "zmq", "zmq_throughput, zmq_latency"),
        ("arm", "no_copy", "copy, no-copy"),
        ("metric", "speed", "throughput, bandwidth"),
        ("placement", "moon", "node"),
    ],
)
def test_what_does_not_exist_is_named_with_what_there_is(key, name, available):
    claim = copy.deepcopy(CLAIM)
    claim["quantity"][key] = name
    with pytest.raises(CrossoverError) as refused:
        claim_list.require([claim])
    [fault] = [fault for fault in str(refused.value).splitlines() if f".{key}: " in fault]
    assert f"claims.{claim['claim']}.quantity.{key}: {name!r} does not exist; available: " in fault
    assert available in fault


def of_experiment(experiment):
    return copy.deepcopy(next(one for one in claim_list.read() if one["quantity"]["experiment"] == experiment))


def test_the_metrics_of_an_experiment_without_a_refinement_are_known():
    claim = of_experiment("task_scaling")
    claim["quantity"]["metric"] = "submission"
    with pytest.raises(CrossoverError, match="'submission' does not exist; available: round trip, efficiency"):
        claim_list.require([claim])


@pytest.mark.parametrize(
    ("experiment", "where", "fault"),
    [
        ("zmq_throughput", {"patern": "PUSH/PULL"}, "where: 'patern' does not exist; available: pattern, transport, "),
        ("zmq_throughput", {"transport": "udp"}, "where.transport: 'udp' does not exist; available: tcp, ipc, inproc"),
        ("zmq_throughput", {"polled": "no"}, "where.polled: 'no' does not exist; available: false, true"),
        ("zmq_throughput", {"polled": 0}, "where.polled: 0 does not exist; available: false, true"),
        ("zmq_throughput", {"window_bytes": "64 MB"}, "where.window_bytes: '64 MB' is no whole number"),
        ("mpi_pingpong", {"transport": "ipc"}, "where: 'transport' does not exist; available: object, re_sent, "),
        ("task_latency", {"work": "full"}, "where.work: 'full' does not exist; available: empty"),
        ("task_latency", {"engines": True}, "where.engines: True is no whole number"),
        ("task_map", {"durations": "any"}, "where.durations: 'any' does not exist; available: equal, skewed"),
    ],
)
def test_a_key_or_a_value_that_no_curve_has_is_named_with_what_there_is(experiment, where, fault):
    claim = of_experiment(experiment)
    claim["quantity"]["where"] = where
    with pytest.raises(CrossoverError) as refused:
        claim_list.require([claim])
    assert any(f"claims.{claim['claim']}.quantity.{fault}" in told for told in str(refused.value).splitlines())


@pytest.mark.parametrize("kind", claim_list.OF_RATES)
def test_a_time_is_not_inverted(kind):
    quantity = {
        "kind": kind,
        "experiment": "async_cost",
        "where": {},
        "metric": "round trip",
        "arm": "asyncio",
        "at": 100,
    }
    with pytest.raises(CrossoverError, match=r"quantity\.metric: 'round trip' is a time already"):
        claim_list.require([{"claim": "slow", "quantity": quantity}])
    claim_list.require([{"claim": "slow", "quantity": quantity | {"metric": "throughput"}}])


def test_a_fault_in_the_other_side_of_a_comparison_is_named():
    (claim,) = (copy.deepcopy(one) for one in claim_list.read() if one["claim"] == "zmq-latency-penalty")
    claim["quantity"]["against"]["where"]["polled"] = False
    with pytest.raises(CrossoverError, match=r"quantity.against.where: 'polled' does not exist"):
        claim_list.require([claim])


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
