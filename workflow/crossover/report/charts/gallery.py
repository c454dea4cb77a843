"""The charts of a page, as HTML: one legend for all charts of a metric, a choice of panels, the charts themselves.

`charts.js` draws the charts, `controls.js` runs the controls. Everything is inside the page; nothing is fetched.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import deflate
import vl_convert

from crossover.config import published
from crossover.errors import CrossoverError
from crossover.records import failure
from crossover.records.failure import Failure
from crossover.report.base import markup
from crossover.report.base.tables import Panel
from crossover.report.charts import arm_styles, colours, figures
from crossover.report.charts.arm_styles import Look
from crossover.report.sentences import alternatives

SCRIPTS = [Path(__file__).with_name(name) for name in ("charts.js", "controls.js")]
STYLE = Path(__file__).with_name("charts.css")

PACKED = "application/gzip+base64"
"""The type of script elements with a chart's specification; browsers ignore it."""

HINT = '<p class="crossover-hint">Drag to move the axes, scroll with Ctrl or ⌘ to zoom, double-click to reset.</p>'


def script() -> str:
    """The part that a page needs once: the script that draws the charts, including Vega, and their style."""
    bundle = vl_convert.javascript_bundle("\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS))
    style = colours.style() + STYLE.read_text(encoding="utf-8")
    # A module, because otherwise the bundle's one-letter names would clash with other scripts'.
    return markup.raw(f'<style>{style}</style><script type="module">{bundle}</script>')


def gallery(folder: Path, panels: Sequence[Panel], datasets: Sequence[published.Dataset] = ()) -> str:
    """The panels of one metric, with their figures in `folder`. Raises CrossoverError."""
    choice = _choice(panels) if len(panels) > 1 else ""
    shown = "".join(_panel(folder, panel, datasets) for panel in panels)
    return _framed(folder, choice, drawn(panels), f"{shown}{HINT}")


def alone(folder: Path, name: str, subtitle: str, description: str, styles: Mapping[str, Look]) -> str:
    """One chart by itself, with a legend of the arms in `styles`. Raises CrossoverError."""
    return _framed(folder, "", styles, chart(folder, name, subtitle, description))


def drawn(panels: Sequence[Panel]) -> dict[str, Look]:
    """The styles of the arms that the charts of these panels show, by label; ceilings and the null arm last."""
    styles = {label: look for panel in panels for label, look in arm_styles.of(panel).items()}
    shown = {label: look for label, look in styles.items() if any(label in _labels(panel) for panel in panels)}
    return dict(sorted(shown.items(), key=lambda entry: (entry[1] == arm_styles.NULL, entry[1] in arm_styles.BOUNDING)))


def _framed(folder: Path, choice: str, styles: Mapping[str, Look], shown: str) -> str:
    legend = "".join(_entry(label, look) for label, look in styles.items())
    if legend:
        legend = f'<div class="crossover-legend" role="group" aria-label="Arms to show or hide">{legend}</div>'
    controls = f'<div class="crossover-controls">{choice}{legend}</div>' if choice or legend else ""
    return f'<div class="crossover-gallery" data-group="{html.escape(folder.name)}">{controls}{shown}</div>'


def _labels(panel: Panel) -> list[str]:
    """The labels of drawn arms: the null arm only has ratios, a ceiling only curves."""
    arms = {row["arm"] for row in [*panel.values, *panel.near_ratios]}
    return [arm_styles.label(panel, arm) for arm in panel.arms if arm in arms]


def _choice(panels: Sequence[Panel]) -> str:
    options = "".join(f"<option>{html.escape(panel.title)}</option>" for panel in panels)
    options += '<option value="">all</option>'
    return f'<label class="crossover-choice">Shown: <select>{options}</select></label>'


def _entry(label: str, look: Look) -> str:
    """A button of the legend, with a piece of the arm's line and its mark."""
    dash = " ".join(map(str, look.dash))
    symbol = (
        '<svg viewBox="0 0 36 14" width="36" height="14" aria-hidden="true">'
        f'<path d="M1,7L35,7" stroke="currentColor" stroke-width="2" stroke-dasharray="{dash}"/>'
        f'<path d="{look.shape}" fill="currentColor" transform="translate(18 7) scale(5)"/></svg>'
    )
    name = html.escape(label)
    return (
        f'<button type="button" aria-pressed="true" data-arm="{name}">'
        f'<span style="color:{colours.variable(look.colour)}">{symbol}</span>{name}</button>'
    )


def _panel(folder: Path, panel: Panel, datasets: Sequence[published.Dataset]) -> str:
    charts = []
    if panel.values:
        description = alternatives.curve(panel)
        charts.append(chart(folder, panel.name, figures.curve_subtitle(panel, datasets), description))
    if panel.near_ratios:
        description = alternatives.ratio(panel)
        charts.append(chart(folder, f"{panel.name}-ratio", figures.ratio_subtitle(panel, datasets), description))
    title = html.escape(panel.title)
    return (
        f'<div class="crossover-panel" data-panel="{title}"><p class="crossover-title">{title}</p>'
        f'<div class="crossover-pair">{"".join(charts)}</div></div>'
    )


def chart(folder: Path, name: str, subtitle: str, description: str) -> str:
    """A chart as the page's script expects it: alternative text, files, specification.

    For a chart that could not be drawn, the reason. Raises CrossoverError.
    """
    path = folder / f"{name}.vl.json"
    try:
        specification = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        for failed in failure.of(folder):
            if failed.name in ("", name):
                return _failed(subtitle, failed)
        raise CrossoverError(
            f"{path}: the figure is missing ({error.strerror}); to draw it, run Snakemake again"
        ) from error
    compact = json.dumps(specification, separators=(",", ":"), ensure_ascii=False)
    stem = html.escape(f"{folder.name}-{name}")
    files = "".join(
        f'<button type="button" data-file="{stem}.{ending}" aria-label="{text} of this chart">{text}</button>'
        for ending, text in (("csv", "Data"), ("svg", "SVG"))
    )
    return (
        f'<div class="crossover-chart"><p class="crossover-subtitle">{html.escape(subtitle)}</p>'
        f'<div class="crossover-canvas" role="img" aria-label="{html.escape(description)}" '
        f'style="--chart-height:{specification["height"]}px"></div>'
        f'<p class="crossover-files">{files}</p>'
        f'<script type="{PACKED}">{_packed(colours.on_page(compact))}</script></div>'
    )


def _failed(subtitle: str, failed: Failure) -> str:
    text = f"This figure could not be drawn: {failed.error}" + (f" ({failed.place})" if failed.place else "")
    return (
        f'<div class="crossover-chart-failed"><p class="crossover-subtitle">{html.escape(subtitle)}</p>'
        f"<p>{html.escape(text)}</p></div>"
    )


def _packed(text: str) -> str:
    """Text compressed to a fifth, for `charts.js` to unpack, so that a page with hundreds of charts loads quickly.

    A bundle's page must be the same, byte for byte, on every machine. So this uses a fixed library instead of Python's
    zlib, which differs between machines.
    """
    return base64.b64encode(deflate.gzip_compress(text.encode())).decode()
