"""Do the charts agree with the tables: values, intervals, the null arm, the line of no difference?"""

import base64
import gzip
import json
import re
import struct
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from campaigns import Campaign, mpi, panel, zmq
from hypothesis import given
from hypothesis import strategies as st

from crossover.__main__ import main
from crossover.errors import CrossoverError
from crossover.report.charts import arm_styles, figures, gallery, images, marks
from crossover.report.text.tables import Tables, load


def layers(chart, mark):
    return [layer for layer in chart["layer"] if layer["mark"]["type"] == mark]


def values(chart, layer):
    data = layer.get("data") or chart["data"]
    return data["values"] if "values" in data else chart["datasets"][data["name"]]


def axis(chart, channel):
    return next(layer["encoding"][channel] for layer in layers(chart, "point"))


def test_many_arms_look_different_and_their_legend_has_several_rows():
    made = Campaign([zmq()]).tables()
    for name in ("summary", "ratios"):
        rival = next(row for row in made[name] if row["arm"] == "no-copy")
        made[name] += [dict(rival, arm=f"rival {number}") for number in range(14)]
    shown = Tables.of({name: made[name] for name in ("summary", "ratios", "crossovers")}).every_panel[0]
    styles = list(arm_styles.of(shown).values())
    assert len(styles) == len(set(styles)) == 17
    chart = figures.curve(shown).to_dict()
    assert 1 < axis(chart, "color")["legend"]["columns"] == axis(chart, "shape")["legend"]["columns"] < 17


def test_the_wide_interval_of_a_ceiling_does_not_stretch_the_axis():
    made = Campaign([zmq()]).tables()["summary"]
    bound = [
        row | {"arm": "in C", "ceiling": True, "low": row["median"] / 40, "high": row["median"] * 40} for row in made
    ]
    with_bound, without = (Tables.of({"summary": rows}).every_panel[0] for rows in (made + bound, made))
    domains = [axis(figures.curve(shown).to_dict(), "y")["scale"]["domain"] for shown in (with_bound, without)]
    assert domains[0] == domains[1]


def test_all_marks_are_inside_the_axes_and_an_open_interval_ends_at_the_end():
    shown = panel(zmq())
    shown.crossovers[0] = replace(shown.crossovers[0], high=None)
    chart = figures.ratio(shown).to_dict()
    low, high = axis(chart, "y")["scale"]["domain"]
    for point in values(chart, layers(chart, "point")[0]):
        assert low < point["low"] and point["high"] < high
    assert low < 1 < high
    assert [mark["high"] for mark in values(chart, layers(chart, "rect")[0])] == [1_000_000]


def test_each_panel_has_a_specification_and_images_for_papers(results, tmp_path, capsys):
    stem = "round-trip-float64-array-thread-level-multiple"
    kinds = [f"{stem}{part}" for part in ("-ratio", "")]
    assert sorted(path.name for path in (results / "figures/mpi_pingpong").iterdir()) == [
        f"{kind}.vl.json" for kind in kinds
    ]
    assert list((results / "figures/task_latency").iterdir()) == [], "it has only holes"
    assert main(["images", str(results), "--to", str(tmp_path / "images")]) == 0
    assert f"each as SVG, PDF and PNG: {tmp_path / 'images'}" in capsys.readouterr().out
    folder = tmp_path / "images" / "mpi_pingpong"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        f"{kind}.{ending}" for kind in kinds for ending in ("svg", "pdf", "png")
    )
    for path in folder.glob("*.svg"):
        image = ElementTree.parse(path).getroot()
        assert image.tag.endswith("svg") and float(image.get("width")) == images.WIDTH_PIXELS
        assert sum(element.tag.endswith("path") for element in image.iter()) > 10
    for path in folder.glob("*.pdf"):
        content = path.read_bytes()
        assert content.startswith(b"%PDF-")
        width_points = float(re.search(rb"/MediaBox \[0 0 ([\d.]+)", content)[1])
        assert width_points == pytest.approx(images.WIDTH_MILLIMETRES / 25.4 * 72, abs=1)
    for path in folder.glob("*.png"):
        content = path.read_bytes()
        width, _ = struct.unpack(">II", content[16:24])
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        assert width == pytest.approx(images.WIDTH_MILLIMETRES / 25.4 * images.DOTS_PER_INCH, abs=4)


def test_a_folder_without_charts_is_refused(tmp_path, capsys):
    assert main(["images", str(tmp_path)]) == 1
    assert f"{tmp_path / 'figures'}: there is no chart; make some: make report" in capsys.readouterr().err


@given(st.floats(1e-9, 1e9), st.floats(1.02, 1e12))
def test_an_axis_has_ticks_inside_its_range_and_not_too_many(low, span):
    ticks = marks.log_ticks(low, low * span)
    assert 4 <= len(ticks) <= 20
    assert all(low <= tick <= low * span for tick in ticks)
    assert ticks == sorted(ticks)


# ---- on the page


def shown(results, experiment, metric):
    panels = [panel for panel in load(results).panels(experiment) if panel.metric == metric]
    return gallery.gallery(results / "figures" / experiment, panels)


def specifications(page):
    """The specifications that the page's script unpacks, one per chart."""
    packed = re.findall(rf'<script type="{re.escape(gallery.PACKED)}">([^<]*)</script>', page)
    return [each for text in packed for each in json.loads(gzip.decompress(base64.b64decode(text)))]


def test_a_missing_figure_is_named(tmp_path):
    with pytest.raises(CrossoverError, match=r"round-trip\.vl\.json: the figure is missing"):
        gallery.chart(tmp_path, "round-trip", "lower is better", "a chart")


def test_a_name_with_markup_in_it_stays_text(tmp_path):
    results = Campaign([mpi(arm="</script><b>")]).write(tmp_path)
    one = shown(results, "mpi_pingpong", "round trip")
    assert "</script><b>" not in one
    inside = specifications(one)
    assert len(inside) == 2 and all(each["layer"] and "</script><b>" in json.dumps(each) for each in inside)
