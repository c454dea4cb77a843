"""Is a configuration completed correctly, and a wrong one refused with helpful messages?"""

from datetime import date

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crossover.config import schema, user_file, yaml_file
from crossover.design.experiments import declared
from crossover.design.settings import TIERS, Rounds
from crossover.errors import CrossoverError
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
    assert config.experiments.keys() == declared().keys() - {*user_file.experiments()}
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
        estimate.Estimate("quick", [[*plan.launches(each)]]).cost.wall_seconds for each in (config, quick)
    )
    assert smoke_seconds < quick_seconds / 2


def test_only_the_listed_experiments_run():
    assert list(schema.complete(pingpong()).experiments) == ["mpi_pingpong"]


def test_an_anchor_that_refers_to_itself_is_refused(tmp_path):
    (tmp_path / "config.yaml").write_text("experiments: &a\n  zmq_throughput: *a\n")
    with pytest.raises(CrossoverError, match=r"config\.yaml: cannot be read as YAML: Circular reference"):
        yaml_file.read_yaml(tmp_path / "config.yaml")


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


def test_a_users_entrant_joins_the_others_and_may_be_an_arm():
    mine = {"lru hwm 4": {"farm": "ipyparallel", "scheme": "lru", "hwm": 4}}
    config = schema.complete(farms(arms=["leastload", "lru hwm 4"]) | {"farms": mine})
    assert config.farms == schema.complete({}).farms | mine


def test_an_entrant_of_a_known_name_is_replaced_as_a_whole():
    config = schema.complete({"farms": {"dask": {"farm": "dask"}}})
    assert config.farms["dask"] == {"farm": "dask"}


# ---- refusing

WRONG = {
    "a tier that does not exist": {"tier": "fast"},
    "no tier": {"tier": None},
    "a key that does not exist": {"tire": "quick"},
    "a key that is no text": {1: 2},
    "no folder": {"results": ""},
    "a folder that is no text": {"results": 3},
    "a text for a flag": {"partial": "yes"},
    "no experiment": {"experiments": {}},
    "nothing under experiments": {"experiments": None},
    "a list of experiments": {"experiments": ["mpi_pingpong"]},
    "an experiment that does not exist": {"experiments": {"mpi": {}}},
    "a list of settings": {"experiments": {"mpi_pingpong": []}},
    "settings that do not exist": pingpong(launch=3, one=1),
    "a reference that does not compete": pingpong(arms=["send", "Send"], reference="persistent"),
    "no launch": pingpong(launches=0),
    "a quintillion points": pingpong(elements={"from": 1, "to": 1000, "per_decade": 10**18}),
    "an array of a yottabyte": pingpong(elements=[1, 10**24]),
    "a million engines": farms(engines=10**6),
    "more launches than numbers": {"experiments": {"zmq_latency": {"launches": 10_001}}},
    "more launches than numbers for all groups of rivals": {
        "experiments": {"task_scaling": {"launches": {"quick": 1000, "standard": 3, "paper": 417}}}
    },
    "a key of an earlier release": pingpong(refine_points={"quick": 0, "standard": 3, "paper": 3}),
    "half a launch": pingpong(launches=2.5),
    "a whole number with a point": pingpong(launches=3.0),
    "a flag for a number": pingpong(launches=True),
    "a key without a value": pingpong(launches=None),
    "a value for one tier alone": pingpong(launches={"quick": 3}),
    "an axis for one tier alone": pingpong(elements={"quick": [1, 10]}),
    "a misspelt tier": pingpong(launches={"quick": 3, "standrad": 5, "paper": 10}),
    "one arm": pingpong(arms=["send"]),
    "an arm twice": pingpong(arms=["send", "send"]),
    "an arm that does not exist": pingpong(arms=["send", "isend"]),
    "a reference that does not exist": pingpong(reference="isend"),
    "a curve that does not exist": zeromq(curves=["PUSH/PULL over udp"]),
    "no curve": zeromq(curves=[], placements=["node"]),
    "no curve within a process": zeromq(curves=["PUSH/PULL over tcp"]),
    "no curve between processes": zeromq(curves=["PUSH/PULL over inproc"], placements=["node"]),
    "no curve between hosts": zeromq(curves=["PUSH/PULL over inproc"], placements=["process", "nodes"]),
    "a placement without a budget": zeromq(budget_seconds={"node": 5}, placements=["node", "process"]),
    "a budget that is negative in one placement": zeromq(budget_seconds={"node": 5, "process": -1}),
    "too little in flight": zeromq(in_flight_bytes=10),
    "a placement that does not exist": pingpong(placements=["moon"]),
    "fewer rounds at most than at least": pingpong(rounds={"at_least": 20, "at_most": 10}),
    "rounds without an end": pingpong(rounds={"at_least": 20}),
    "an axis without points": pingpong(elements=[]),
    "a length of 0": pingpong(elements=[0, 1]),
    "an axis in words": pingpong(elements="1-100"),
    "an axis that falls": pingpong(elements={"from": 100, "to": 10, "per_decade": 3}),
    "a block of no time": pingpong(block_seconds=0),
    "an endless budget": pingpong(budget_seconds=float("inf")),
    "an arm that is no entrant": farms(arms=["leastload", "fastest"]),
    "a ceiling that is no entrant": farms(ceilings=["sky"]),
    "a ceiling that competes": farms(ceilings=["pure"]),
    "a single arm that has engines on other hosts": farms(
        arms=["concurrent.futures", "pure"], reference="concurrent.futures"
    ),
    "no rival that has engines on other hosts": farms(arms=["leastload", "leastload over ssh"]),
    "one host for several": farms(hosts=1),
    "an arm that has the null arm's name": farms(arms=["leastload", "null"]) | {"farms": {"null": {"farm": "dask"}}},
    "a farm that does not exist": {"farms": {"mine": {"farm": "funny"}}},
    "an entrant without a farm": {"farms": {"mine": {}}},
    "an entrant that is a text": {"farms": {"mine": "dask"}},
    "an entrant with an unknown option": {"farms": {"mine": {"farm": "dask", "threads": 2}}},
    "an option of another farm": {"farms": {"mine": {"farm": "dask", "hwm": 2}}},
    "an option of the wrong type": {"farms": {"mine": {"farm": "ipyparallel", "scheme": "pure", "hwm": "few"}}},
    "fewer tasks than none": {"farms": {"mine": {"farm": "ipyparallel", "scheme": "pure", "hwm": -1}}},
    "ipyparallel without a scheduler": {"farms": {"mine": {"farm": "ipyparallel"}}},
    "a scheduler that does not exist": {"farms": {"mine": {"farm": "ipyparallel", "scheme": "best"}}},
    "a share in per cent": pingpong(target_width="2%"),
    "a key below a tier's name": {"experiments": {"zmq_latency": {"quick": {"launches": 2}}}},
    "an experiment's key below a tier's name alone": {"quick": {"launches": 2}},
    "a date": {"results": date(2020, 1, 1)},
    "a point of no axis": {"at": "40q"},
}


def test_a_wrong_configuration_is_refused_with_lines_that_name_the_key(snapshot):
    told = []
    for kind, config in WRONG.items():
        with pytest.raises(CrossoverError, match=r"^config error\n  ") as caught:
            schema.complete(config)
        told += [f"{kind}", *(fault[:160] for fault in str(caught.value).splitlines()[1:])]
    assert "\n".join(told) == snapshot


def test_arms_that_cannot_run_across_hosts_are_accepted_on_a_single_host():
    lists = {"arms": ["concurrent.futures", "pure"], "reference": "concurrent.futures"}
    config = schema.complete({"experiments": {"task_latency": lists}}, hosts=1)
    assert {launch.placement for launch in plan.launches(config)} == {"node"}
    with pytest.raises(CrossoverError, match="arms: only 'pure' can run across hosts"):
        schema.complete({"experiments": {"task_latency": lists}}, hosts=2)


def test_without_a_key_the_reference_is_the_first_of_the_arms_if_they_lack_the_declared_one():
    def reference(**keys):
        return schema.complete({"experiments": {"mpi_pingpong": keys}}).experiments["mpi_pingpong"].reference

    assert reference(arms=["Send", "send"]) == reference() == "send"
    assert reference(arms=["Send", "persistent"]) == "Send"
    assert reference(arms=["Send", "persistent"], reference="persistent") == "persistent"


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


def test_nested_keys_are_refused_on_the_command_line():
    schema.require_plain({"tier": "smoke", "partial": True})
    with pytest.raises(CrossoverError, match="experiments: --config takes one plain value per key; set nested"):
        schema.require_plain({"experiments": {"zmq_latency": {"launches": "5"}}})


def test_points_of_an_axis_may_have_a_unit():
    stated = {"zmq_throughput": {"sizes_bytes": {"quick": ["1kB", "40 kB", "1MiB"], "standard": [8], "paper": [8]}}}
    own = schema.complete({"experiments": {**stated, "task_map": {"durations_us": ["500us", "10ms"]}}}).experiments
    assert own["zmq_throughput"].sizes_bytes == (1000, 40_000, 1_048_576)
    assert own["task_map"].durations_us == (500, 10_000)
    with pytest.raises(CrossoverError, match="sizes_bytes"):
        schema.complete({"experiments": {"zmq_throughput": {"sizes_bytes": ["40 ms"]}}})


def test_one_point_replaces_every_axis_in_its_unit():
    whole, one = schema.complete({}), schema.complete({"at": "40kB"})
    axes = {name: own.axis for name, own in one.experiments.items()}
    assert axes["zmq_throughput"] == ("sizes_bytes", (40_000,)) and axes["mpi_pingpong"] == ("elements", (5_000,))
    assert axes["task_map"] == whole.experiments["task_map"].axis
