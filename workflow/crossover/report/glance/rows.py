"""Charts of rows: a strip for each question, with its words beside it on a wide screen and above it on a narrow one."""

import html
import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from crossover.report.base.tables import Row
from crossover.report.charts import figures
from crossover.report.charts.colours import GRID, INK

WIDE_FROM = 620
"""The width of a chart in pixels from which the words stand beside the strips."""
LEFT, RIGHT = 256, 256
"""The pixels of the words on both sides of the strips."""
STRIP, LINE = 16, 13
"""The heights of a strip and of a line of words, in pixels."""
HEADING, BETWEEN = 25, 7
"""The height of a heading, and the space between two rows, in pixels."""
LETTERS = 40
"""The most characters of a line of words."""

WIDE = alt.param(name="wide", expr=f"width >= {WIDE_FROM}")

LINK = {"href": alt.Href("link:N"), "tooltip": alt.Tooltip("tip:N")}


class Layout:
    """The vertical places of headings and rows, from the top down; `heights` are those of both layouts in pixels.

    Each datum has `wide_y` and `narrow_y`: of words the middle of a line, of other marks the middle of the strip.
    """

    def __init__(self) -> None:
        self.heights = {"wide": 4.0, "narrow": 4.0}

    def heading(self, text: str) -> list[Row]:
        """The data of a heading."""
        places = {f"{layout}_y": height + HEADING / 2 for layout, height in self.heights.items()}
        self.heights = {layout: height + HEADING for layout, height in self.heights.items()}
        return [{"kind": "heading", "text": text, **places}]

    def row(self, question: str, answer: str, link: str, marks: Sequence[Row] = ()) -> list[Row]:
        """The data of a row: its words, of which long lines are wrapped, and its marks.

        The words lead to `link`, a part of the page, if it is not empty.
        """
        asked, told = (
            [line for part in text.split("\n") for line in textwrap.wrap(part, LETTERS)] for text in (question, answer)
        )
        beside = max(STRIP, LINE * max(len(asked), len(told)))
        above = LINE * len([*asked, *told]) + 3
        top, start = self.heights["wide"], self.heights["narrow"] + BETWEEN
        middle = {"wide_y": top + beside / 2 + BETWEEN / 2, "narrow_y": start + above + STRIP / 2}
        self.heights = {"wide": top + beside + BETWEEN, "narrow": start + above + (STRIP if marks else 0)}
        leads = {"link": link} if link else {}
        texts = [
            {"kind": kind, "text": text, "tip": " ".join(lines), **leads}
            | {"wide_y": middle["wide_y"] + LINE * (number - (len(lines) - 1) / 2)}
            | {"narrow_y": start + LINE * (number + before + 0.5)}
            for kind, lines, before in (("question", asked, 0), ("answer", told, len(asked)))
            for number, text in enumerate(lines)
        ]
        return [*texts, *(mark | middle for mark in marks)]


def position(title: str | None, domain: Sequence[float], labels: dict[float, str]) -> alt.X:
    """The logarithmic axis above the strips, with a text for each of its ticks."""
    keyed = json.dumps({_plain(tick): text for tick, text in labels.items()}, ensure_ascii=False)
    return alt.X(
        "x0:Q",
        title=title,
        scale=alt.Scale(
            type="log",
            domain=list(domain),
            nice=False,
            range=[{"expr": f"wide ? {LEFT} : 2"}, {"expr": f"wide ? width - {RIGHT} : width - 2"}],
        ),
        axis=alt.Axis(
            values=list(labels),
            labelExpr=f"({keyed})[toString(datum.value)]",
            orient="top",
            grid=True,
            domain=False,
            labelOverlap="greedy",
        ),
    )


def _plain(value: float) -> str:
    """A number as JavaScript writes it, for the ticks that occur."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def middle() -> alt.Y:
    """The middle of a row, in pixels."""
    return alt.Y("y:Q", scale=None, axis=None)


def words() -> list[alt.Chart]:
    """Headings, questions and answers: data of the kinds `heading`, `question` and `answer`."""
    return [
        # Words beyond the chart would narrow it.
        _text("heading", "0", "width", fontWeight="bold", fontSize=13),
        _text("question", "0", f"wide ? {LEFT - 6} : width"),
        _text("answer", f"wide ? width - {RIGHT - 10} : 0", f"wide ? {RIGHT - 10} : width"),
    ]


def _text(kind: str, x: str, limit: str, **style: Any) -> alt.Chart:
    links: Any = {} if kind == "heading" else LINK
    drawn = alt.Chart().transform_filter(f"datum.kind === '{kind}'")
    shown: alt.Chart = drawn.mark_text(
        align="left", baseline="middle", color=INK.light, limit={"expr": limit}, **style
    ).encode(x=alt.value({"expr": x}), y=middle(), text="text:N", **links)
    return shown


def strips(kind: str, x: alt.X, **style: Any) -> alt.Chart:
    """Rectangles from `x0` to `x1`, as high as a strip, for the data of a kind; `style` is that of the mark."""
    drawn: alt.Chart = (
        alt.Chart()
        .transform_filter(f"datum.kind === '{kind}'")
        .transform_calculate(top=f"datum.y - {STRIP / 2}", bottom=f"datum.y + {STRIP / 2}")
        .mark_rect(**style)
        .encode(x=x, x2="x1:Q", y=alt.Y("top:Q", scale=None, axis=None), y2="bottom:Q")
    )
    return drawn


def finished(
    layers: Sequence[alt.Chart],
    data: Sequence[Row],
    columns: Iterable[str],
    subtitle: str,
    layout: Layout,
) -> alt.LayerChart:
    """The layers as a chart whose height follows its layout; files for papers have the narrow one."""
    drawn = figures.finished(
        layers, [*data], [(name, name) for name in columns], "", subtitle, height=round(layout.heights["narrow"])
    )
    place = alt.CalculateTransform(calculate="wide ? datum.wide_y : datum.narrow_y", **{"as": "y"})
    drawn.transform = [*drawn.transform, place]
    drawn = drawn.add_params(WIDE)
    drawn.usermeta |= {"wide": {"from": WIDE_FROM, "height": round(layout.heights["wide"])}}
    drawn.config.axis.gridColor = GRID.light
    return drawn


def key(entries: Iterable[tuple[str, str]]) -> str:
    """A legend as HTML: symbols, which are HTML themselves, each with its text."""
    shown = "".join(f"<span>{symbol} {html.escape(text)}</span>" for symbol, text in entries)
    return f'<p class="crossover-key">{shown}</p>'


def symbol(drawn: str) -> str:
    """A symbol of a legend from SVG elements, in 22 by 14 units."""
    return f'<svg viewBox="0 0 22 14" width="22" height="14" aria-hidden="true">{drawn}</svg>'
