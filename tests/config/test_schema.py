"""Is a configuration completed correctly, and a wrong one refused with helpful messages?"""

import json
from datetime import date

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crossover.config import schema, yaml_file
from crossover.design.settings import TIERS, Rounds
from crossover.errors import CrossoverError
from crossover.experiments import declared
from crossover.paths import CONFIG
from crossover.planning import estimate, plan

fields = (
    *("results", "tier", "partial", "farms", "farms.a.hwm", "experiments", "experiments.zmq_throughput"),
    "experiments.zmq_throughput.launches",
    "experiments.zmq_throughput.arms",
    "experiments.zmq_throughput.rounds.at_least",
    "experiments.mpi_pingpong.budget_seconds",
)


def pingpong(**chosen):
    return {"experiments": {"mpi_pingpong": chosen}}


def zeromq(**chosen):
    return {"experiments": {"zmq_throughput": chosen}}


def farms(**chosen):
    return {"experiments": {"task_latency": chosen}}


# ---- completing


def test_an_empty_configuration_runs_every_experiment_of_the_quick_tier():
    config = schema.complete({})
    assert (config.tier, config.results, config.partial) == ("quick", "results", False)
    assert config.experiments.keys() == declared().keys()
    assert config.experiments["mpi_pingpong"].elements == (1, 10, 100, 1000, 10000, 100000, 1000000)


def test_the_shipped_configuration_is_valid_whatever_the_user_has_chosen():
    chosen = yaml.safe_load((CONFIG / "config.yaml").read_text())
    assert schema.complete(chosen).experiments.keys() == chosen["experiments"].keys()


def test_the_tiers_differ_and_the_chosen_one_counts():
    tiers = declared()["mpi_pingpong"].tiers
    assert len({tiers.at(tier).launches for tier in TIERS}) == len(TIERS)
    for tier in TIERS:
        assert schema.complete({"tier": tier}).experiments["mpi_pingpong"] == tiers.at(tier)


def test_a_value_per_tier_is_taken_from_the_chosen_tier_at_any_depth():
    config = pingpong(
        launches={"quick": 1, "standard": 2, "paper": 4},
        rounds={"at_least": 3, "at_most": {"quick": 5, "standard": 6, "paper": 7}},
    )
    paper = schema.complete(config | {"tier": "paper"}).experiments["mpi_pingpong"]
    assert (paper.launches, paper.rounds) == (4, Rounds(7, at_least=3))


def test_values_without_a_smoke_entry_are_those_of_quick():
    chosen = pingpong(launches={"quick": 7, "standard": 8, "paper": 9}) | {"tier": "smoke"}
    assert schema.complete(chosen).experiments["mpi_pingpong"].launches == 7
    config = schema.complete({"tier": "smoke"})
    quick = schema.complete({})
    smoke_seconds, quick_seconds = (
        estimate.Course(each, None).expected(list(plan.launches(each))).wall_seconds for each in (config, quick)
    )
    assert smoke_seconds < quick_seconds / 2


def test_a_plain_value_applies_to_every_tier():
    for tier in TIERS:
        assert schema.complete(pingpong(launches=7) | {"tier": tier}).experiments["mpi_pingpong"].launches == 7


def test_only_the_listed_experiments_run():
    assert list(schema.complete(pingpong()).experiments) == ["mpi_pingpong"]


def test_a_name_without_anything_beneath_it_takes_every_default():
    assert schema.complete({"experiments": {"mpi_pingpong": None}}) == schema.complete(pingpong())


def test_an_anchor_that_refers_to_itself_is_refused(tmp_path):
    (tmp_path / "config.yaml").write_text("experiments: &a\n  zmq_throughput: *a\n")
    with pytest.raises(CrossoverError, match=r"config\.yaml: has an anchor that refers to itself"):
        yaml_file.read_yaml(tmp_path / "config.yaml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("results: 2020-01-01", "results: is of YAML's type date; put a text in quotes"),
        ("results: !!binary aGVsbG8=", "results: is of YAML's type bytes; put a text in quotes"),
        ("results: !!set {a}", "results: is of YAML's type set; put a text in quotes"),
        ("2020-01-01: 1", "2020-01-01: the key is of YAML's type date; put a text in quotes"),
        ("farms: {a: [{!!binary aGVsbG8=: 1}]}", "farms.a.0.b'hello': the key is of YAML's type bytes; put a text in"),
        ("tier: " + 50 * "9", "tier: has more digits than any key allows; write a smaller number"),
        (
            "tier: " + 5000 * "9",
            f"cannot be read as YAML: has '{40 * '9'}', which is no value; put a text in",
        ),
        ("tier: 0b" + 20000 * "1", "tier: has more digits than any key allows; write a smaller number"),
        ("results: 2020-13-45", "cannot be read as YAML: has '2020-13-45', which is no value; put a text in quotes in"),
        ("results: !!bool x", "cannot be read as YAML: has 'x', which is no value; put a text in quotes in"),
    ],
)
def test_what_yaml_knows_and_no_key_allows_is_refused_in_one_line(tmp_path, text, line):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(CrossoverError) as caught:
        yaml_file.read_yaml(tmp_path / "config.yaml")
    _, fault = str(caught.value).splitlines()
    assert fault.startswith(f"  {tmp_path}/config.yaml: {line}")


scalars = st.sampled_from(
    [
        *("2020-01-01", "2020-13-45", "!!binary aGVsbG8=", "!!binary '!'", "!!set {a}", "!!bool x", "!!float x"),
        *("LONG", "5e400", ".nan", "1e999", "~", "copy", "3"),
    ]
)
texts = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda parts: f"[{', '.join(parts)}]")
        | st.tuples(scalars, inner).map(lambda pair: f"{{? {pair[0]} : {pair[1]}}}")
    ),
    max_leaves=4,
)


@settings(max_examples=200)
@given(st.sampled_from(["", *fields]), texts)
def test_any_yaml_is_either_completed_or_refused(key, text):
    path = [f"{{{part}: " for part in key.split(".") if part]
    try:
        config = yaml_file.read_yaml(
            "config.yaml", "".join(path) + text.replace("LONG", "0x" + "f" * 5000) + "}" * len(path)
        )
    except CrossoverError as error:
        assert str(error).startswith("config error\n  config.yaml: ") and len(str(error)) < 1000
        return
    if isinstance(config, dict):
        accept_or_refuse(config)


def test_a_flag_can_be_given_on_the_command_line_as_in_yaml():
    assert [schema.complete({"partial": said}).partial for said in ("true", "false", True)] == [True, False, True]


def test_completing_does_not_change_its_argument():
    config = pingpong(launches={"quick": 1, "standard": 2, "paper": 4})
    before = json.dumps(config)
    schema.complete(config)
    assert json.dumps(config) == before


def test_a_users_entrant_joins_the_others_and_may_be_an_arm():
    mine = {"lru hwm 4": {"farm": "ipyparallel", "scheme": "lru", "hwm": 4}}
    config = schema.complete(farms(arms=["leastload", "lru hwm 4"]) | {"farms": mine})
    assert config.farms == schema.complete({}).farms | mine


def test_an_entrant_of_a_known_name_is_replaced_as_a_whole():
    config = schema.complete({"farms": {"dask": {"farm": "dask"}}})
    assert config.farms["dask"] == {"farm": "dask"}


# ---- parts that wait for a higher tier

FIXED = {"arms": ["copy", "no-copy"], "ceilings": ["C copy"], "placements": ["node"]}


def test_missing_parts_of_a_tier_wait_for_the_first_tier_that_has_them():
    tcp, ipc = "PUSH/PULL over tcp", "PUSH/PULL over ipc"
    chosen = zeromq(**FIXED, curves={"quick": [tcp], "standard": [tcp], "paper": [ipc, tcp]})
    assert schema.waiting(chosen) == {"zmq_throughput": {"paper": {"curves": [ipc]}}}
    assert schema.waiting(chosen | {"tier": "paper"}) == {}


def test_values_that_apply_to_all_tiers_do_not_wait():
    assert schema.waiting(zeromq(**FIXED, curves=["PUSH/PULL over tcp"])) == {}


# ---- refusing

AXIS = (
    "is neither a list of distinct whole numbers from 1 to a trillion, nor {from: ..., to: ..., per_decade: 1 to 100}"
)
WRONG = {
    "a tier that does not exist": ({"tier": "fast"}, "tier: 'fast' is not one of smoke, quick, standard, paper"),
    "no tier": ({"tier": None}, "tier: None is not one of"),
    "a key that does not exist": ({"tire": "quick"}, "tire: unknown key; known here: tier, results, "),
    "a key that is no text": ({1: 2}, "1: unknown key"),
    "no folder": ({"results": ""}, "results: is empty or too short; give at least 1"),
    "a folder that is no text": ({"results": 3}, "results: 3 is not a text"),
    "a text for a flag": ({"partial": "yes"}, "partial: 'yes' is not true or false"),
    "no experiment": ({"experiments": {}}, "experiments: {} is not a block of keys, one for each experiment"),
    "nothing under experiments": ({"experiments": None}, "experiments: None is not a block of keys"),
    "a list of experiments": (
        {"experiments": ["mpi_pingpong"]},
        "experiments: ['mpi_pingpong'] is not a block",
    ),
    "an experiment that does not exist": (
        {"experiments": {"mpi": {}}},
        "experiments.mpi: unknown key; known here: zmq_throughput, zmq_latency, zmq_bursts, zmq_message_size, ",
    ),
    "a list of settings": (
        {"experiments": {"mpi_pingpong": []}},
        "experiments.mpi_pingpong: [] is not a block",
    ),
    "a setting that does not exist": (
        pingpong(launch=3),
        "experiments.mpi_pingpong.launch: unknown key; known here: elements, objects, ",
    ),
    "no launch": (pingpong(launches=0), "experiments.mpi_pingpong.launches: 0 is less than 1"),
    "a quintillion points": (
        pingpong(elements={"from": 1, "to": 1000, "per_decade": 10**18}),
        "experiments.mpi_pingpong.elements: {'from': 1, 'to': 1000, 'per_decade': 1000000000000000000} is neither",
    ),
    "an array of a yottabyte": (
        pingpong(elements=[1, 10**24]),
        "experiments.mpi_pingpong.elements: [1, 1000000000000000000000000] is neither a list of distinct whole numbers",
    ),
    "a million engines": (
        farms(engines=10**6),
        "experiments.task_latency.engines: 1000000 is greater than 10000",
    ),
    "more launches than numbers": (
        {"experiments": {"zmq_latency": {"launches": 10_001}}},
        "experiments.zmq_latency.launches: 10001 is too many; this experiment can have 10000 of each group, because",
    ),
    "more launches than numbers for all groups of rivals": (
        {"experiments": {"task_scaling": {"launches": {"quick": 1000, "standard": 3, "paper": 417}}}},
        "experiments.task_scaling.launches: 417 is too many; this experiment can have 416 of each group, because",
    ),
    "half a launch": (pingpong(launches=2.5), "experiments.mpi_pingpong.launches: 2.5 is not a whole number"),
    "a whole number with a point": (
        pingpong(launches=3.0),
        "experiments.mpi_pingpong.launches: 3.0 is not a whole",
    ),
    "a flag for a number": (pingpong(launches=True), "experiments.mpi_pingpong.launches: True is not a whole number"),
    "a key without a value": (pingpong(launches=None), "experiments.mpi_pingpong.launches: has no value for one of"),
    "a value for one tier alone": (
        pingpong(launches={"quick": 3}),
        "experiments.mpi_pingpong.launches: has no value for one of the tiers smoke, quick, standard, paper",
    ),
    "an axis for one tier alone": (
        pingpong(elements={"quick": [1, 10]}),
        "experiments.mpi_pingpong.elements: has no value for one of the tiers",
    ),
    "a misspelt tier": (
        pingpong(launches={"quick": 3, "standrad": 5, "paper": 10}),
        "experiments.mpi_pingpong.launches: {'quick': 3, 'standrad': 5, 'paper': 10} is not a whole number",
    ),
    "one arm": (pingpong(arms=["send"]), "experiments.mpi_pingpong.arms: is empty or too short; give at least 2"),
    "an arm twice": (
        pingpong(arms=["send", "send"]),
        "experiments.mpi_pingpong.arms: ['send', 'send'] has an entry",
    ),
    "an arm that does not exist": (
        pingpong(arms=["send", "isend"]),
        "experiments.mpi_pingpong.arms.1: 'isend' is not one of send, Send",
    ),
    "a reference that does not exist": (
        pingpong(reference="isend"),
        "experiments.mpi_pingpong.reference: 'isend' is not one of send, Send",
    ),
    "a curve that does not exist": (
        zeromq(curves=["PUSH/PULL over udp"]),
        "experiments.zmq_throughput.curves.0: 'PUSH/PULL over udp' is not one of PUSH/PULL over tcp, ",
    ),
    "no curve": (zeromq(curves=[], placements=["node"]), "experiments.zmq_throughput.curves: is empty or too short"),
    "no curve within a process": (
        zeromq(curves=["PUSH/PULL over tcp"]),
        "experiments.zmq_throughput.curves: none is over inproc, so placement process has nothing to",
    ),
    "no curve between processes": (
        zeromq(curves=["PUSH/PULL over inproc"], placements=["node"]),
        "experiments.zmq_throughput.curves: none is between processes, so placement node has nothing to",
    ),
    "no curve between hosts": (
        zeromq(curves=["PUSH/PULL over inproc"], placements=["process", "nodes"]),
        "experiments.zmq_throughput.curves: none is between processes, so placement nodes has nothing to",
    ),
    "a placement without a budget": (
        zeromq(budget_seconds={"node": 5}, placements=["node", "process"]),
        "experiments.zmq_throughput.budget_seconds: has no value for placement process",
    ),
    "a budget that is negative in one placement": (
        zeromq(budget_seconds={"node": 5, "process": -1}),
        "experiments.zmq_throughput.budget_seconds.process: -1 is not greater than 0",
    ),
    "too little in flight": (
        zeromq(in_flight_bytes=10),
        "experiments.zmq_throughput.in_flight_bytes: 10 is less than",
    ),
    "a placement that does not exist": (
        pingpong(placements=["moon"]),
        "experiments.mpi_pingpong.placements.0: 'moon' is not one of",
    ),
    "fewer rounds at most than at least": (
        pingpong(rounds={"at_least": 20, "at_most": 10}),
        "experiments.mpi_pingpong.rounds: at_most (10) is less than at_least (20)",
    ),
    "rounds without an end": (
        pingpong(rounds={"at_least": 20}),
        "experiments.mpi_pingpong.rounds.at_most: is missing",
    ),
    "an axis without points": (pingpong(elements=[]), f"experiments.mpi_pingpong.elements: [] {AXIS}"),
    "a length of 0": (pingpong(elements=[0, 1]), f"experiments.mpi_pingpong.elements: [0, 1] {AXIS}"),
    "an axis in words": (pingpong(elements="1-100"), f"experiments.mpi_pingpong.elements: '1-100' {AXIS}"),
    "an axis that falls": (
        pingpong(elements={"from": 100, "to": 10, "per_decade": 3}),
        "experiments.mpi_pingpong.elements: {'from': 100, 'to': 10, 'per_decade': 3} ends before it begins",
    ),
    "a block of no time": (
        pingpong(block_seconds=0),
        "experiments.mpi_pingpong.block_seconds: 0 is not greater than 0",
    ),
    "an endless budget": (
        pingpong(budget_seconds=float("inf")),
        "experiments.mpi_pingpong.budget_seconds: inf is not a number",
    ),
    "an arm that is no entrant": (
        farms(arms=["leastload", "fastest"]),
        "experiments.task_latency.arms: unknown task farm 'fastest'; available: leastload, leastload hwm 1, ",
    ),
    "a ceiling that is no entrant": (
        farms(ceilings=["sky"]),
        "experiments.task_latency.ceilings: unknown task farm 'sky'; available: leastload, ",
    ),
    "a ceiling that competes": (
        farms(ceilings=["pure"]),
        "experiments.task_latency.ceilings: 'pure' is an arm too; remove it from one of the two",
    ),
    "a reference that has no engines on other hosts": (
        farms(arms=["concurrent.futures", "pure"], reference="concurrent.futures"),
        "experiments.task_latency.reference: 'concurrent.futures' cannot run across hosts; remove nodes",
    ),
    "no rival that has engines on other hosts": (
        farms(arms=["leastload", "leastload over ssh"]),
        "experiments.task_latency.arms: only 'leastload' can run across hosts; remove nodes from the",
    ),
    "one host for several": (farms(hosts=1), "experiments.task_latency.hosts: 1 is less than 2"),
    "an arm that has the null arm's name": (
        farms(arms=["leastload", "null"]) | {"farms": {"null": {"farm": "dask"}}},
        "experiments.task_latency.arms: 'null' is the name of the null arm; rename the task farm",
    ),
    "a farm that does not exist": (
        {"farms": {"mine": {"farm": "funny"}}},
        "farms.mine.farm: unknown farm 'funny'; available: concurrent_futures, dask, interpreters, ",
    ),
    "an entrant without a farm": ({"farms": {"mine": {}}}, "farms.mine.farm: is missing"),
    "an entrant that is a text": ({"farms": {"mine": "dask"}}, "farms.mine: 'dask' is not a block of keys"),
    "an entrant with an unknown option": (
        {"farms": {"mine": {"farm": "dask", "threads": 2}}},
        "farms.mine.threads: unknown key; known here: farm, alone",
    ),
    "an option of another farm": (
        {"farms": {"mine": {"farm": "dask", "hwm": 2}}},
        "farms.mine.hwm: unknown key; known here: farm, alone",
    ),
    "an option of the wrong type": (
        {"farms": {"mine": {"farm": "ipyparallel", "scheme": "pure", "hwm": "few"}}},
        "farms.mine.hwm: 'few' is not a whole number",
    ),
    "fewer tasks than none": (
        {"farms": {"mine": {"farm": "ipyparallel", "scheme": "pure", "hwm": -1}}},
        "farms.mine.hwm: -1 is less than 0",
    ),
    "ipyparallel without a scheduler": (
        {"farms": {"mine": {"farm": "ipyparallel"}}},
        "farms.mine.scheme: is missing; ipyparallel needs one",
    ),
    "a scheduler that does not exist": (
        {"farms": {"mine": {"farm": "ipyparallel", "scheme": "best"}}},
        "farms.mine.scheme: 'best' is not one of leastload, lru, weighted, plainrandom, twobin, pure",
    ),
    "a share in per cent": (
        pingpong(target_width="2%"),
        "experiments.mpi_pingpong.target_width: '2%' is not a number",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_configuration_is_refused_with_one_line_that_names_the_key(kind):
    config, line = WRONG[kind]
    with pytest.raises(CrossoverError) as caught:
        schema.complete(config)
    first, *faults = str(caught.value).splitlines()
    assert (first, len(faults)) == ("config error", 1)
    assert faults[0].startswith(f"  {line}")


def test_all_faults_of_all_tiers_are_reported_at_once():
    config = {
        "results": "",
        "experiments": {
            "zmq_throughput": {"launches": {"quick": 1, "standard": 0, "paper": -1}, "no_such_key": 1},
            "mpi_pingpong": {"rounds": {"at_least": 9, "at_most": 5}},
            "task_latency": {"engines": 0},
        },
    }
    with pytest.raises(CrossoverError) as caught:
        schema.complete(config)
    told = [fault.strip().partition(":")[0] for fault in str(caught.value).splitlines()[1:]]
    assert sorted(told) == [
        "experiments.mpi_pingpong.rounds",
        "experiments.task_latency.engines",
        "experiments.zmq_throughput.launches",
        "experiments.zmq_throughput.launches",
        "experiments.zmq_throughput.no_such_key",
        "results",
    ]


def test_several_unknown_keys_are_each_named():
    with pytest.raises(CrossoverError, match=r"(?s)mpi_pingpong\.one: unknown key.*mpi_pingpong\.two: unknown key"):
        schema.complete(pingpong(one=1, two=2))


def test_a_reference_that_does_not_compete_is_refused():
    with pytest.raises(CrossoverError, match=r"reference: 'persistent' is not among the arms send, Send"):
        schema.complete(pingpong(arms=["send", "Send"], reference="persistent"))


def test_the_paper_tier_has_the_points_of_the_published_figure():
    published = [int(10 ** (3 + 3 * step / 20) + 1e-9) for step in range(21)]
    points = schema.complete({"tier": "paper"}).experiments["mpi_pingpong"].elements
    assert set(published) <= set(points)


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10) | st.floats() | st.sampled_from(["quick", "copy", "", "ipc"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["quick", "standard", "paper", "at_least", "at_most", "from", "to", "per_decade", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
keys = ["sizes_bytes", "arms", "reference", "curves", "launches", "rounds", "placements", "budget_seconds", "other"]


@settings(max_examples=50)
@given(st.fixed_dictionaries({}, optional={"tier": junk, "results": junk, "partial": junk, "experiments": junk}))
def test_any_configuration_is_either_completed_or_refused(config):
    accept_or_refuse(config)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(keys), junk, max_size=3))
def test_any_settings_are_either_completed_or_refused(chosen):
    accept_or_refuse(zeromq(**chosen))


def accept_or_refuse(config):
    try:
        complete = schema.complete(config)
    except CrossoverError as error:
        assert str(error).startswith("config error\n  ") and ": " in str(error)
        return
    for launch in plan.launches(complete):
        assert launch.settings.limit_seconds > 0


@pytest.mark.parametrize("results", ["x" * 256, "x/" * 2000, "a\0b", "é" * 128])
def test_a_folder_that_cannot_exist_is_refused(results):
    with pytest.raises(CrossoverError, match=r"^config error\n  results: is no possible path; choose one of"):
        schema.complete({"results": results})


def test_a_date_on_the_command_line_is_refused():
    with pytest.raises(CrossoverError, match="results: is of YAML's type date; put a text in quotes"):
        schema.complete({"results": date(2020, 1, 1)})


def test_nested_keys_are_refused_on_the_command_line():
    schema.require_plain({"tier": "smoke", "partial": True})
    with pytest.raises(CrossoverError, match="experiments: --config takes one plain value per key; set nested"):
        schema.require_plain({"experiments": {"zmq_latency": {"launches": "5"}}})


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"experiments": {"zmq_latency": {"quick": {"launches": 2}}}}, "experiments.zmq_latency.quick"),
        ({"quick": {"launches": 2}}, "quick"),
    ],
)
def test_a_key_below_a_tiers_name_is_refused(config, key):
    with pytest.raises(
        CrossoverError, match=rf"{key}: no key stands below a tier's name; .* launches: {{quick: \.\.\.}}"
    ):
        schema.complete(config)
