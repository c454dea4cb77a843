"""A chart as files: its specification, and what a paper takes, as wide as a journal's column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from crossover.records import failure
from crossover.records.failure import Failure
from crossover.report.charts.colours import GROUND

WIDTH_MILLIMETRES = 89
"""One column of most journals; letters are then of 8 points."""
PIXELS_PER_INCH = 96
"""Of CSS, which is what SVG's lengths are in."""
POINTS_PER_INCH = 72
"""Of PDF."""
DOTS_PER_INCH = 300

WIDTH_PIXELS = round(WIDTH_MILLIMETRES / 25.4 * PIXELS_PER_INCH)


def draw(
    charts: Mapping[str, Callable[[], alt.LayerChart]],
    folder: Path,
    experiment: str = "",
    failures: Sequence[Failure] = (),
) -> None:
    """Save to `folder` each of the `charts`, by name. One that fails is left out.

    The folder keeps the reason for it, and the `failures` before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kept = [*failures]
    for name, chart in charts.items():
        with failure.caught("figure", name, experiment) as failed:
            save(chart(), folder, name)
        kept += failed
    failure.write(kept, folder)


def save(chart: alt.LayerChart, folder: Path, name: str) -> None:
    """Write a chart to `folder` as {name}.vl.json, .svg, .pdf and .png.

    The specification comes last, so a chart that has one has all.
    """
    # That charts are valid is for tests to ask: it takes longer than drawing them.
    specification: dict[str, Any] = chart.to_dict(validate=False)
    svg = vl_convert.vegalite_to_svg(
        specification
        # Nobody zooms here, and what is clipped takes ten times as long to become a bitmap.
        | {"layer": [layer | {"mark": layer["mark"] | {"clip": False}} for layer in specification["layer"]]}
        # Whole and with its axes it is as wide as the column.
        | {"width": WIDTH_PIXELS, "autosize": {"type": "fit-x", "contains": "padding"}, "background": GROUND.light}
    )
    (folder / f"{name}.svg").write_text(svg)
    (folder / f"{name}.pdf").write_bytes(vl_convert.svg_to_pdf(_in_points(svg)))
    (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=DOTS_PER_INCH / PIXELS_PER_INCH))
    (folder / f"{name}.vl.json").write_text(json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False))


def _in_points(svg: str) -> str:
    """The same drawing, its width and height counted in points: a PDF takes the number as it stands."""
    share = POINTS_PER_INCH / PIXELS_PER_INCH
    return re.sub(
        r'\b(width|height)="([\d.]+)"', lambda found: f'{found[1]}="{float(found[2]) * share:g}"', svg, count=2
    )
