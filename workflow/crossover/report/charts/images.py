"""The charts of a run as images for papers, as wide as a journal's column: SVG, PDF and PNG."""

import json
import re
from pathlib import Path
from typing import Any

import vl_convert

from crossover.errors import CrossoverError
from crossover.records import atomic
from crossover.report.charts.arm_styles import GROUND

WIDTH_MILLIMETRES = 89
"""One column of most journals; text then has 8 points."""
PIXELS_PER_INCH, POINTS_PER_INCH, DOTS_PER_INCH = 96, 72, 300
"""Of CSS, the unit of SVG's lengths; of PDF; of bitmaps."""

WIDTH_PIXELS = round(WIDTH_MILLIMETRES / 25.4 * PIXELS_PER_INCH)


def draw(figures: Path, folder: Path) -> int:
    """Draw every specification below the folder `figures` to the same place below `folder`.

    Returns the number of charts. Raises CrossoverError without any, and if a file cannot be written.
    """
    specifications = sorted(figures.rglob("*.vl.json"))
    if not specifications:
        raise CrossoverError(f"{figures}: there is no chart; make some: make report")
    for file in specifications:
        name = file.name.removesuffix(".vl.json")
        for ending, content in images(json.loads(file.read_text(encoding="utf-8"))).items():
            image = folder / file.parent.relative_to(figures) / f"{name}.{ending}"
            image.parent.mkdir(parents=True, exist_ok=True)
            with atomic.replacing(image, "choose another folder") as part:
                part.write_bytes(content)
    return len(specifications)


def images(specification: dict[str, Any]) -> dict[str, bytes]:
    """A chart by the ending of its format."""
    svg = vl_convert.vegalite_to_svg(
        specification
        | {"layer": [_on_paper(layer) for layer in specification["layer"]]}
        # The whole chart, including its axes, is as wide as the column.
        | {"width": WIDTH_PIXELS, "autosize": {"type": "fit-x", "contains": "padding"}, "background": GROUND.light}
    )
    # PDF takes the plain numbers of width and height as points.
    share = POINTS_PER_INCH / PIXELS_PER_INCH
    size = re.compile(r'\b(width|height)="([\d.]+)"')
    in_points = size.sub(lambda found: f'{found[1]}="{float(found[2]) * share:g}"', svg, count=2)
    return {
        "svg": svg.encode(),
        "pdf": vl_convert.svg_to_pdf(in_points),
        "png": vl_convert.svg_to_png(svg, scale=DOTS_PER_INCH / PIXELS_PER_INCH),
    }


def _on_paper(layer: dict[str, Any]) -> dict[str, Any]:
    """A layer for files, which cannot be zoomed, and whose links would lead nowhere."""
    encoding = {channel: value for channel, value in layer.get("encoding", {}).items() if channel != "href"}
    # Clipping makes bitmaps ten times slower.
    return layer | {"mark": layer["mark"] | {"clip": False}, "encoding": encoding}
