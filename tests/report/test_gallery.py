"""Do the page's charts have their controls and descriptions, and stay whole with any text in them?"""

import base64
import gzip
import json
import re

import pytest
from campaigns import Campaign, mpi

from crossover.errors import CrossoverError
from crossover.report.charts import arm_styles, gallery
from crossover.report.text import tables


def shown(results, experiment, metric):
    panels = [panel for panel in tables.load(results).panels(experiment) if panel.metric == metric]
    return panels, gallery.gallery(results / "figures" / experiment, panels)


def specifications(page):
    """The specifications that the page's script unpacks, one per chart."""
    packed = re.findall(rf'<script type="{re.escape(gallery.PACKED)}">([^<]*)</script>', page)
    return [gzip.decompress(base64.b64decode(text)).decode() for text in packed]


def test_a_missing_figure_is_named(tmp_path):
    with pytest.raises(CrossoverError, match=r"round-trip\.vl\.json: the figure is missing"):
        gallery.chart(tmp_path, "round-trip", "lower is better", "a chart")


def test_charts_have_no_fixed_colours_so_that_they_follow_the_page(results):
    _, many = shown(results, "zmq_throughput", "throughput")
    drawn = "".join(specifications(many))
    assert not [colour for colour in arm_styles.COLOURS if colour.light in many + drawn]
    assert arm_styles.colour_variable(arm_styles.ARMS[0]) in drawn


def test_a_name_with_markup_in_it_stays_text(tmp_path):
    results = Campaign([mpi(arm="</script><b>")]).write(tmp_path)
    _, one = shown(results, "mpi_pingpong", "round trip")
    assert "</script><b>" not in one
    inside = specifications(one)
    assert len(inside) == 2 and all(json.loads(each)["layer"] and "</script><b>" in each for each in inside)


def test_a_packed_chart_has_no_time_stamp(results):
    (_, one), (_, again) = (shown(results, "mpi_pingpong", "round trip") for _ in range(2))
    assert one == again
    (packed, *_) = re.findall(rf'<script type="{re.escape(gallery.PACKED)}">([^<]*)</script>', one)
    assert base64.b64decode(packed)[4:8] == bytes(4), "RFC 1952: no time stamp is available"
