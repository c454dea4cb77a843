"""The script that draws a page's charts, including Vega, and their style."""

from pathlib import Path

import vl_convert

from crossover.report.charts import colours
from crossover.report.text import markup

SOURCES = [Path(__file__).with_name(name) for name in ("charts.js", "controls.js", "strips.js")]
STYLES = [Path(__file__).with_name(name) for name in ("charts.css", "strips.css")]


def bundle() -> str:
    """Our scripts and Vega in one."""
    return vl_convert.javascript_bundle("\n".join(path.read_text(encoding="utf-8") for path in SOURCES))


def element() -> str:
    """The part that a page needs once, as Markdown."""
    style = colours.style() + "".join(path.read_text(encoding="utf-8") for path in STYLES)
    # A module, because otherwise the bundle's one-letter names would clash with other scripts'.
    return markup.raw(f'<style>{style}</style><script type="module">{bundle()}</script>')
