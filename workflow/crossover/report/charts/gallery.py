"""The charts of a page as HTML: one legend for all charts of a metric, a choice of panels, the charts, a caption.

The page has the script that draws them, including Vega, and their style once.
"""

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import deflate
import vl_convert

from crossover.config import published
from crossover.errors import CrossoverError
from crossover.report.charts import arm_styles, figures, overlay
from crossover.report.charts.arm_styles import Look
from crossover.report.text import choices, claims, markup
from crossover.report.text.tables import Panel, panel_key, panel_names, slug

PACKED = "application/gzip+base64"
"""The type of script elements with the specifications of a gallery, or with all scripts; browsers ignore it."""

BEFORE, AFTER = '<script type="application/json">', "</script>"
SPECIFICATION = re.compile(f"{BEFORE}(.*?){AFTER}", re.DOTALL)
"""A chart's specification, before `framed` packs it with those of the same gallery."""

Costs = Mapping[str, Mapping[tuple[str, float], float]]
"""By the address of a curve's charts: the most that a candidate can be worse than the best, by arm and point."""

COST = "at most so many times worse than the best"
"""The heading of the costs among the numbers of a chart."""

NUMBERS = "The button Table has its numbers."

HINT = '<p class="crossover-hint"></p>'
"""The place of the words on dragging and zooming, which the style sheet has."""

HEIGHT = 210
"""The height of a chart on the page in pixels: question, answer and charts of an experiment fit a screen."""

LOADER = Path(__file__).with_name("loader.js").read_text(encoding="utf-8")
"""The script that unpacks and runs all others."""

SCRIPTS = [Path(__file__).with_name(name) for name in ("charts.js", "controls.js", "strips.js")]
STYLE_SHEETS = [Path(__file__).with_name(name) for name in ("charts.css", "strips.css")]


def gallery(
    folder: Path,
    panels: Sequence[Panel],
    datasets: Sequence[published.Dataset] = (),
    costs: Costs | None = None,
) -> str:
    """The panels of one metric, with their figures in `folder`, and the `costs` among their numbers.

    Raises CrossoverError.
    """
    names = panel_names(panels)
    own = costs or {}
    shown = "".join(
        _panel(folder, panel, names[panel_key(panel)], datasets, own.get(address(panel), {})) for panel in panels
    )
    options = {panel.title: names[panel_key(panel)] for panel in panels}
    return framed(folder.name, options, drawn(panels), f"{shown}{HINT}")


def captioned(figures: Path, panels: Sequence[Panel], datasets: Sequence[published.Dataset], costs: Costs) -> str:
    """The same as a figure with a number and a caption, in Markdown; `figures` has a folder for each experiment."""
    first = panels[0]
    charts = gallery(figures / first.experiment, panels, datasets, costs)
    return markup.figure(slug(f"{first.experiment} {first.metric}"), charts, caption(panels, datasets))


def drawn(panels: Sequence[Panel]) -> dict[str, Look]:
    """The styles of the arms that the charts of these panels show, by label; ceilings and the null arm last."""
    styles = {label: look for panel in panels for label, look in arm_styles.of(panel).items()}
    # The null arm only has ratios, a ceiling only curves.
    shown = {arm_styles.label(panel, row.arm) for panel in panels for row in [*panel.values, *panel.near_ratios]}
    looks = [(label, look) for label, look in styles.items() if label in shown]
    return dict(sorted(looks, key=lambda entry: (entry[1] == arm_styles.NULL, entry[1] in arm_styles.BOUNDING)))


def framed(group: str, options: Mapping[str, str], styles: Mapping[str, Look], shown: str) -> str:
    """Panels with a legend of these styles, and a choice of a panel by its title, if there are several.

    The choice applies to all galleries of the `group`.
    """
    entries = "".join(
        f'<option value="{html.escape(value)}">{html.escape(name)}</option>' for value, name in options.items()
    )
    select = f'<select>{entries}<option value="">all</option></select>'
    choice = f'<label class="crossover-choice">Shown: {select}</label>' if len(options) > 1 else ""
    legend = "".join(_entry(label, look) for label, look in styles.items())
    if legend:
        legend = f'<div class="crossover-legend" role="group" aria-label="Arms to show or hide">{legend}</div>'
    controls = f'<div class="crossover-controls">{choice}{legend}</div>' if choice or legend else ""
    # All in one, because charts of a gallery are alike, and compress to half of what each would alone.
    every = ",".join(SPECIFICATION.findall(shown))
    packed = f'<script type="{PACKED}">{_packed(f"[{every}]")}</script>'
    charts = SPECIFICATION.sub("", shown)
    return f'<div class="crossover-gallery" data-group="{html.escape(group)}">{controls}{charts}{packed}</div>'


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
        f'<span style="color:{arm_styles.colour_variable(look.colour)}">{symbol}</span>{name}</button>'
    )


def _panel(
    folder: Path,
    panel: Panel,
    words: str,
    datasets: Sequence[published.Dataset],
    costs: Mapping[tuple[str, float], float],
) -> str:
    charts = []
    if panel.values:
        description = f"Chart of {panel.metric} against {panel.facts.axis}, {panel.title}. {NUMBERS}"
        charts.append(chart(folder, panel.name, figures.curve_subtitle(panel, datasets), description, costs))
    if panel.near_ratios:
        description = f"Chart of {panel.metric} relative to {panel.reference}, {panel.title}. {NUMBERS}"
        charts.append(chart(folder, f"{panel.name}-ratio", figures.ratio_subtitle(panel, datasets), description))
    about = f'<p class="crossover-subtitle">{html.escape(panel.title)}</p>'
    return framed_panel(address(panel), panel.title, words, about, charts)


def framed_panel(address: str, title: str, words: str, about: str, charts: Sequence[str]) -> str:
    """Charts of one panel, below its short name and HTML `about` it."""
    return (
        f'<div class="crossover-panel" id="{address}" data-panel="{html.escape(title)}">'
        f'<p class="crossover-title">{html.escape(words)}</p>{about}'
        f'<div class="crossover-pair">{"".join(charts)}</div></div>'
    )


def address(panel: Panel) -> str:
    """The address of a panel's charts."""
    return slug(f"curve {panel.experiment} {panel.name}")


def chart(
    folder: Path, name: str, subtitle: str, description: str, costs: Mapping[tuple[str, float], float] | None = None
) -> str:
    """A chart as the page's script expects it, with `costs` among its numbers.

    Raises CrossoverError if it is missing.
    """
    path = folder / f"{name}.vl.json"
    try:
        specification = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CrossoverError(
            f"{path}: the figure is missing ({error.strerror}); to draw it, run Snakemake again"
        ) from error
    if costs:
        specification["usermeta"]["columns"].append([COST, "cost"])
        for point in specification["data"]["values"]:
            cost = costs.get((point["arm"], point["x"]))
            point |= {} if cost is None or "value" not in point else {"cost": choices.bound(cost)}
    specification["height"] = HEIGHT
    return embedded(specification, f"{folder.name}-{name}", subtitle, description)


def embedded(specification: Mapping[str, Any], stem: str, subtitle: str, description: str) -> str:
    """A chart for `framed` by its specification; `stem` is that of the files that a reader saves."""
    compact = arm_styles.with_colour_variables(json.dumps(specification, separators=(",", ":"), ensure_ascii=False))
    # A name with markup in it stays text.
    compact = compact.replace("</", r"<\/")
    return (
        f'<div class="crossover-chart"><p class="crossover-subtitle">{html.escape(subtitle)}</p>'
        f'<div class="crossover-canvas" role="img" aria-label="{html.escape(description)}" '
        f'style="--chart-height:{float(specification["height"]):g}px"></div>'
        f'<p class="crossover-files" data-stem="{html.escape(stem)}"></p>'
        f"{BEFORE}{compact}{AFTER}</div>"
    )


def _packed(text: str) -> str:
    # Compressed to a third and less, so that a page with hundreds of charts loads quickly. Not by Python's zlib, which
    # differs between machines: a bundle's page must be the same, byte for byte, on every machine.
    return base64.b64encode(deflate.gzip_compress(text.encode())).decode()


def caption(panels: Sequence[Panel], datasets: Sequence[published.Dataset]) -> str:
    """The contents of the charts, and the published numbers in them."""
    first = panels[0]
    compared = [panel for panel in panels if panel.reference]
    reference = compared[0].reference if compared else ""
    parts = [f"{first.metric.capitalize()} of each arm ({figures.of_unit(first)}{first.facts.better} is better)"]
    if compared:
        parts[0] += f", and its ratio to `{reference}`"
    for each in datasets:
        if any(overlay.over(each, panel) for panel in panels):
            words = f"{claims.authors(each.source)}, {claims.quoted(each.quote, each.locator)}"
            parts.append(f"Open marks are published numbers: {words}; {claims.measured_under(each.conditions)}")
    return " ".join(f"{sentence}." for sentence in parts)


def script() -> str:
    """Our scripts and Vega in one."""
    return vl_convert.javascript_bundle("\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS))


def script_element() -> str:
    """The part that a page needs once, as Markdown."""
    style = arm_styles.style_sheet() + "".join(path.read_text(encoding="utf-8") for path in STYLE_SHEETS)
    # A module, because otherwise the bundle's one-letter names would clash with other scripts'.
    packed = f'<script type="{PACKED}" id="crossover-scripts">{_packed(script())}</script>'
    return markup.raw(f'<style>{style}</style>{packed}<script type="module">{LOADER}</script>')
