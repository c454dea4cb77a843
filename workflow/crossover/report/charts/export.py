"""A chart as files: its specification, and files for papers, as wide as a journal's column."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from crossover.records import atomic, failure
from crossover.records.failure import Failure
from crossover.report.charts.colours import GROUND

WIDTH_MILLIMETRES = 89
"""One column of most journals; text then has 8 points."""
PIXELS_PER_INCH, POINTS_PER_INCH, DOTS_PER_INCH = 96, 72, 300
"""Of CSS, the unit of SVG's lengths; of PDF; of bitmaps."""

WIDTH_PIXELS = round(WIDTH_MILLIMETRES / 25.4 * PIXELS_PER_INCH)


def draw(
    charts: Mapping[str, Callable[[], alt.LayerChart]],
    folder: Path,
    experiment: str = "",
    failures: Sequence[Failure] = (),
) -> None:
    """Save the `charts`, by name, to `folder`, which keeps earlier `failures` and those of charts that fail.

    The folder appears when it is whole, so that a killed step leaves no half of it.
    """
    kept = [*failures]
    with atomic.replacing_folder(folder) as part:
        for name, chart in charts.items():
            with failure.caught("figure", name, experiment) as failed:
                save(chart(), part, name)
            kept += failed
        failure.write(kept, part)


def save(chart: alt.LayerChart, folder: Path, name: str) -> None:
    """Write a chart to `folder` as {name}.vl.json, .svg, .pdf and .png."""
    # Tests check that charts are valid, because that takes longer than drawing them.
    specification: dict[str, Any] = chart.to_dict(validate=False)
    svg = vl_convert.vegalite_to_svg(
        specification
        | {"layer": [_on_paper(layer) for layer in specification["layer"]]}
        # The whole chart, including its axes, is as wide as the column.
        | {"width": WIDTH_PIXELS, "autosize": {"type": "fit-x", "contains": "padding"}, "background": GROUND.light}
    )
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    # PDF takes the plain numbers of width and height as points.
    share = POINTS_PER_INCH / PIXELS_PER_INCH
    size = re.compile(r'\b(width|height)="([\d.]+)"')
    in_points = size.sub(lambda found: f'{found[1]}="{float(found[2]) * share:g}"', svg, count=2)
    (folder / f"{name}.pdf").write_bytes(vl_convert.svg_to_pdf(in_points))
    (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=DOTS_PER_INCH / PIXELS_PER_INCH))
    # Last, so a chart with a specification has all files.
    (folder / f"{name}.vl.json").write_text(
        json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False), encoding="utf-8"
    )


def _on_paper(layer: dict[str, Any]) -> dict[str, Any]:
    """A layer for files, which cannot be zoomed, and whose links would lead nowhere."""
    encoding = {channel: value for channel, value in layer.get("encoding", {}).items() if channel != "href"}
    # Clipping makes bitmaps ten times slower.
    return layer | {"mark": layer["mark"] | {"clip": False}, "encoding": encoding}
