"""Are published points drawn in the right place, only over curves with the same conditions, or the reason given?"""

import csv
import json
from dataclasses import replace

import pytest
import yaml
from campaigns import panel, zmq

from crossover.config import published, schema
from crossover.config.sources import NOT_STATED
from crossover.design import farms
from crossover.design.arm import arms_of
from crossover.design.experiments import declared
from crossover.errors import CrossoverError
from crossover.measure.launch.driver import find
from crossover.planning import plan
from crossover.records.rows import Summary
from crossover.report.charts import figures, gallery, overlay
from crossover.report.text.tables import Panel, Tables

TIERS = ("smoke", "quick", "standard", "paper")
DATASETS = published.read()

TOLD = {
    "source": "pyzmq",
    "quote": "their words",
    "locator": "table 3",
    "experiment": "zmq_throughput",
    "where": {"pattern": "PUSH/PULL", "transport": "tcp"},
    "conditions": {"pattern": "PUSH/PULL", "transport": "tcp", "polled": "no", "machine": "not stated"},
    "x": {"column": "kilobytes", "factor": 1000},
    "arms": {"column": "copied", "names": {"yes": "copy", "no": "no-copy"}},
    "metrics": {"throughput": {"column": "per_second"}},
}
LINES = "kilobytes,copied,per_second\n1,yes,1000\n1,no,500\n1,perhaps,1\n100,no,900\n"


def measured(tier, experiment):
    """A panel for each curve and metric of an experiment in a tier, with the arms of all launches."""
    config = schema.complete({"tier": tier})
    settings = config.experiments[experiment]
    module = find(experiment)
    found: dict[tuple[str, str], set[str]] = {}
    keys = {}
    for placement in settings.placements:
        for launch in plan.turns(config, experiment, placement):
            for cell in module.cells(launch):
                here = {arm.name for arm in arms_of(launch) if cell.has(arm) and not arm.null}
                found.setdefault((cell.protocol, placement), set()).update(here)
                keys[cell.protocol] = cell.keys
    known = settings.entrants
    rows = {curve: [row(arm, **keys[curve[0]]) for arm in sorted(names)] for curve, names in found.items()}
    return [
        Panel(experiment, each.name, protocol, placement, rows[protocol, placement], [], [], entrants=known)
        for protocol, placement in found
        for each in declared()[experiment].metrics
    ]


def row(arm, **keys):
    return Summary.of({"arm": arm, "is_null_arm": False, "ceiling": False, **keys})


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.experiment)
@pytest.mark.parametrize("tier", TIERS)
def test_a_dataset_is_drawn_over_curves_with_its_conditions_or_the_page_gives_the_reason(tier, dataset):
    drawn, panels = set(), measured(tier, dataset.experiment)
    for each in panels:
        for arm in {point.arm for point in overlay.over(dataset, each)}:
            ours = overlay.conditions(each.keys, arm, each.entrants.get(arm, {}))
            stated = {key: dataset.conditions.get(key, NOT_STATED) for key in ours}
            assert ours == {key: ours[key] if stated[key] == NOT_STATED else stated[key] for key in ours}
            drawn.add(each.metric)
    assert drawn or tier != "paper"
    for name in {point.metric for point in dataset.points}:
        own = [panel for panel in panels if panel.metric == name]
        # An experiment that a tier leaves out has no section.
        assert bool(overlay.absent(dataset, own)) == (bool(own) and name not in drawn)


MAPPED = {"work": "sleep", "durations": "equal", "engines": 4, "tasks_per_engine": 16, "senders": 1, "packer": "json"}


def of_launches(arm, *entrants, **changed):
    """The panel of a map whose launches had these settings for one entrant."""
    shared = {"experiment": "task_map", "metric": "efficiency", "protocol": "", "placement": "node", "x": 1}
    launches = [
        {"experiment": "task_map", "settings": json.dumps({"entrants": {arm: entrant}} if entrant else {})}
        for entrant in entrants
    ]
    cell = {"arm": arm, "is_null_arm": False, "ceiling": False, **shared, **MAPPED, **changed}
    (panel,) = Tables.of({"summary": [cell], "launches": launches}).every_panel
    return panel


MSGPACK = {"farm": "ipyparallel", "scheme": "leastload", "packer": "msgpack"}


@pytest.mark.parametrize(
    ("arm", "entrants", "changed", "drawn"),
    [
        ("mine", [MSGPACK, MSGPACK], {}, True),
        ("mine", [MSGPACK | {"hwm": 1}], {}, False),
        ("mine", [MSGPACK | {"scheme": "pure"}], {}, False),
        # Launches that disagree, and launches without settings.
        ("mine", [MSGPACK, MSGPACK | {"packer": "json"}], {}, False),
        ("mine", [None], {}, False),
        ("mine", [MSGPACK], {"engines": 2}, False),
        ("mine", [MSGPACK], {"tasks_per_engine": 4}, False),
        ("mine", [MSGPACK], {"entrant_options": '{"mine": {"packer": "json"}}'}, False),
        ("leastload", [None], {}, False),
        ("leastload", [None], {"entrant_options": '{"leastload": {"packer": "msgpack"}}'}, True),
    ],
)
def test_an_arms_options_come_from_its_keys_and_launches_and_not_from_its_name(arm, entrants, changed, drawn):
    (dataset,) = (each for each in DATASETS if each.experiment == "task_map")
    assert bool(overlay.over(dataset, of_launches(arm, *entrants, **changed))) == drawn


# ---- ratios


WHERE = {"pattern": "PUSH/PULL", "transport": "tcp"}


def theirs(**changed):
    points = [
        published.Point(run, "throughput", arm, x, value)
        for run, arm, x, value in (
            (1, "copy", 100, 1000.0),
            (1, "copy", 100, 3000.0),
            (1, "no-copy", 100, 500.0),
            (1, "no-copy", 1000, 500.0),
            (2, "no-copy", 100, 500.0),
        )
    ]
    told = {"pattern": "PUSH/PULL", "transport": "tcp", "polled": "no", "machine": NOT_STATED}
    words = {"source": "somebody", "quote": "their *words*", "locator": "table 1", "conditions": told | changed}
    return replace(DATASETS[0], **words, experiment="zmq_throughput", where=WHERE, points=points)


def test_a_published_ratio_is_a_point_divided_by_the_references_mean_in_the_same_run():
    found = overlay.ratios_over(theirs(), panel(zmq()))
    assert [(point.run, point.arm, point.x, point.value) for point in found] == [(1, "no-copy", 100, 0.25)]
    assert overlay.ratios_over(theirs(polled="yes"), panel(zmq())) == []


def test_of_curves_with_as_few_differences_the_datasets_own_names_the_reason():
    def here(**keys):
        return Panel("zmq_throughput", "throughput", "", "node", [row("copy", **keys)], [], [])

    own = here(**WHERE, burst_seconds=0.15)
    other = here(pattern="PUSH/PULL", transport="ipc")
    told = overlay.absent(theirs(burst="1 s or longer"), [other, own])
    assert told.endswith("burst 1 s or longer instead of 0.15 s on the nearest.")


def test_the_caption_states_the_conditions_of_what_is_drawn():
    told = gallery.caption([panel(zmq())], [theirs()])
    conditions = "pattern PUSH/PULL; transport tcp; polled no; machine not stated."
    assert rf"published numbers: somebody, “their \*words\*” (table 1); {conditions}" in told


def dataset(folder, told=TOLD, lines=LINES):
    (folder / "theirs.csv").write_text(lines)
    (folder / "sources.yaml").write_text(yaml.safe_dump({"theirs.csv": told}))
    return published.read(folder)


def test_points_are_drawn_over_no_other_metric_and_not_across_hosts(tmp_path):
    (points,) = dataset(tmp_path)
    assert len(overlay.over(points, panel(zmq()))) == 3
    assert overlay.over(points, panel(zmq(metric="bandwidth"))) == []
    assert overlay.over(points, replace(panel(zmq()), placement="nodes")) == []


@pytest.mark.parametrize("kind", [figures.curve, figures.ratio])
def test_published_numbers_are_hollow_marks_within_the_axes_and_leave_the_legend_alone(tmp_path, kind):
    (points,) = dataset(tmp_path, lines=LINES + "123456,yes,123456789\n")
    theirs_too = points if kind is figures.curve else theirs()
    plain, drawn = (kind(panel(zmq()), datasets).to_dict() for datasets in ([], [theirs_too]))
    marks = [layer for layer in drawn["layer"] if layer["mark"].get("filled") is False]
    values = [point["value"] for layer in marks for point in layer["data"]["values"]]
    assert sorted(values) == ([500, 900, 1000, 123456789] if kind is figures.curve else [0.25])
    axes = next(layer["encoding"] for layer in drawn["layer"] if layer["mark"]["type"] == "point")
    low, high = axes["y"]["scale"]["domain"]
    assert low < min(values) and max(values) < high
    assert axes["x"]["scale"]["domain"] == ([100, 123456000] if kind is figures.curve else [100, 1000000])
    assert "open marks: published" in " ".join(drawn["title"]["subtitle"]) and "published" not in str(plain["title"])
    legends = [
        [layer["encoding"]["color"] for layer in chart["layer"] if "color" in layer["encoding"]]
        for chart in (drawn, plain)
    ]
    assert legends[0] == legends[1]


@pytest.mark.parametrize(
    ("told", "lines", "fault"),
    [
        (TOLD | {"x": {"column": "bytes"}}, LINES, "does not fit its description in sources.yaml"),
        (TOLD, LINES.replace("900", "many"), "does not fit its description in sources.yaml"),
        ({"experiment": "zmq_throughput"}, LINES, "sources.yaml: theirs.csv.metrics: Field required"),
    ],
)
def test_a_description_that_does_not_match_its_file_is_an_error_that_names_both(tmp_path, told, lines, fault):
    with pytest.raises(CrossoverError, match=fault):
        dataset(tmp_path, told, lines)


def test_shipped_data_sets_are_complete_and_name_known_experiments_arms_and_metrics():
    for name, told in yaml.safe_load((published.FOLDER / published.SOURCES).read_text()).items():
        assert told["experiment"] in declared(), name
        arms = {told["arms"]} if isinstance(told["arms"], str) else set(told["arms"]["names"].values())
        assert arms <= set(declared()[told["experiment"]].names("arms") or farms.arms()), name
    for theirs, path in zip(
        published.read(), yaml.safe_load((published.FOLDER / published.SOURCES).read_text()), strict=True
    ):
        with (published.FOLDER / path).open() as file:
            count = len(list(csv.DictReader(file)))
        assert len(theirs.points) == count * len({point.metric for point in theirs.points})
