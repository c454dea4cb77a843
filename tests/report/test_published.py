"""Are the published numbers drawn in the right place, in our units and otherwise unchanged?"""

import csv
from dataclasses import replace

import pytest
import yaml
from campaigns import Campaign, mpi, zmq

from crossover.config import published, schema
from crossover.errors import CrossoverError
from crossover.report.charts import figures, gallery, overlay
from crossover.report.text import tables

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


def dataset(folder, told=TOLD, lines=LINES):
    (folder / "theirs.csv").write_text(lines)
    (folder / "sources.yaml").write_text(yaml.safe_dump({"theirs.csv": told}))
    return published.read(folder)


def panel(curve):
    made = Campaign([curve]).tables()
    return tables.panels(made["summary"], made["ratios"], made["crossovers"])[0]


def test_points_have_our_units_and_unknown_arms_are_left_out(tmp_path):
    (theirs,) = dataset(tmp_path)
    assert [(point["arm"], point["x"], point["value"]) for point in theirs.points] == [
        ("copy", 1000, 1000),
        ("no-copy", 1000, 500),
        ("no-copy", 100000, 900),
    ]


@pytest.mark.parametrize(
    "curve",
    [
        zmq(protocol="PUSH/PULL over ipc"),
        zmq(protocol="PUSH/PULL over tcp, polled, 64 MB in flight"),
        zmq(metric="bandwidth"),
        mpi(),
        zmq(experiment="zmq_latency"),
    ],
)
def test_points_are_drawn_over_no_other_panel(tmp_path, curve):
    (theirs,) = dataset(tmp_path)
    assert len(overlay.over(theirs, panel(zmq()))) == 3
    assert overlay.over(theirs, panel(curve)) == []


def test_points_of_one_host_are_not_drawn_over_measurements_across_hosts(tmp_path):
    (theirs,) = dataset(tmp_path)
    assert overlay.over(theirs, replace(panel(zmq()), placement="nodes")) == []


def test_published_points_are_hollow_marks_within_the_axes_and_leave_the_legend_alone(tmp_path):
    theirs = dataset(tmp_path, lines=LINES + "123456,yes,123456789\n")
    plain, drawn = (figures.curve(panel(zmq()), datasets).to_dict() for datasets in ([], theirs))
    marks = [layer for layer in drawn["layer"] if layer["mark"].get("filled") is False]
    assert sum(len(layer["data"]["values"]) for layer in marks) == 4
    x = next(layer["encoding"]["x"] for layer in drawn["layer"] if layer["mark"]["type"] == "point")
    assert x["scale"]["domain"] == [100, 123456000]
    y = next(layer["encoding"]["y"] for layer in drawn["layer"] if layer["mark"]["type"] == "point")
    assert y["scale"]["domain"][1] > 123456789
    assert "open marks: published" in " ".join(drawn["title"]["subtitle"])
    assert "published" not in str(plain["title"])
    legends = [layer["encoding"]["color"] for layer in drawn["layer"] if "color" in layer["encoding"]]
    assert legends == [layer["encoding"]["color"] for layer in plain["layer"] if "color" in layer["encoding"]]


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        (TOLD | {"x": {"column": "bytes"}}, LINES),
        (TOLD, LINES.replace("900", "many")),
        ({"experiment": "zmq_throughput"}, LINES),
    ],
)
def test_a_description_that_does_not_match_its_file_is_an_error_that_names_both(tmp_path, told, lines):
    with pytest.raises(CrossoverError, match=r"theirs\.csv: does not fit its description in sources\.yaml"):
        dataset(tmp_path, told, lines)


def test_shipped_data_sets_are_complete_and_name_known_experiments_arms_and_metrics():
    experiments = schema.read_schema()["properties"]["experiments"]["properties"]
    for name, told in yaml.safe_load((published.FOLDER / published.SOURCES).read_text()).items():
        assert told["experiment"] in experiments, name
        arms = {told["arms"]} if isinstance(told["arms"], str) else set(told["arms"]["names"].values())
        items = experiments[told["experiment"]]["properties"]["arms"]["items"]
        assert arms <= set(items.get("enum", schema.read_schema()["properties"]["entrants"]["properties"])), name
    for theirs, path in zip(
        published.read(), yaml.safe_load((published.FOLDER / published.SOURCES).read_text()), strict=True
    ):
        with (published.FOLDER / path).open() as file:
            count = len(list(csv.DictReader(file)))
        assert len(theirs.points) == count * len({point["metric"] for point in theirs.points})


def test_the_caption_names_the_source_and_the_conditions(tmp_path):
    theirs = dataset(tmp_path, TOLD | {"conditions": {"transport": "tcp", "machine": "an old one"}})
    told = gallery.caption([panel(zmq())], theirs)
    words = "@pyzmq, “their words” (table 3); transport tcp; machine an old one; year 2024."
    assert f"Open marks are published numbers: {words}" in told
    assert "published" not in gallery.caption([panel(zmq(experiment="zmq_latency"))], theirs)


def test_numbers_that_no_chart_shows_are_quoted_too(tmp_path):
    (theirs,) = dataset(tmp_path, TOLD | {"conditions": {"transport": "ipc"}})
    told = overlay.absent(theirs, [panel(zmq())])
    assert told.startswith("The published numbers of @pyzmq, “their words” (table 3), are not drawn, because")
