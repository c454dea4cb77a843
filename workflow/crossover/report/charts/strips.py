"""Rows of marks along a logarithmic axis, as an HTML table: a question, its strip of marks, its answer.

Places are per cent of the axis, so that a row fits any width.
"""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crossover.report.charts.arm_styles import Colour

APART = 10
"""The least distance of two ticks with words, in per cent of the axis."""


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis from `low` to `high`."""

    low: float
    high: float

    def place(self, x: float) -> float:
        """The place of `x` in per cent; that of the nearer end if it lies beyond.

        >>> Scale(1, 100).place(10), Scale(1, 100).place(1000)
        (50.0, 100.0)
        """
        share = math.log(x / self.low) / math.log(self.high / self.low) if self.high > self.low else 0.5
        return round(100 * min(max(share, 0.0), 1.0), 2)


def table(bodies: Iterable[str], about: str) -> str:
    """The table of these bodies; `about` names it for those who do not see it."""
    # Quarto would parse it, and lose the places of the marks.
    start = f'<table class="strips" data-quarto-disable-processing="true" aria-label="{html.escape(about)}">'
    return f"{start}{''.join(bodies)}</table>"


def body(title: str, scale: Scale, labels: Mapping[float, str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Rows under one axis, whose ticks have `labels`; each heading stands above its rows. `title` names the axis."""
    ticks, last = "", -math.inf
    for tick, text in sorted(labels.items()):
        if (place := scale.place(tick)) - last >= APART:
            ticks, last = ticks + _tick(place, text), place
    head = f'<tr class="axis"><td>{html.escape(title)}</td><td class="track"><div>{ticks}</div></td><td></td></tr>'
    shown = [
        f'<tr class="heading"><th scope="rowgroup" colspan="3">{html.escape(heading)}</th></tr>{"".join(own)}'
        for heading, own in rows
    ]
    return f"<tbody>{head}{''.join(shown)}</tbody>"


def _tick(place: float, text: str) -> str:
    """The words at a place of the axis; those at an end do not reach beyond it."""
    end = " first" if place < 8 else " last" if place > 92 else ""
    return f'<span class="tick{end}" style="left:{place}%">{html.escape(text)}</span>'


def row(name: str, asked: str, marks: Iterable[str], told: str) -> str:
    """One row, which addresses call `name`, with a link to itself; `asked` and `told` are HTML."""
    strip = f'<td class="track"><div>{"".join(marks)}</div></td>'
    # Its sign is in the style sheet, so that the words of a row stay as they are.
    here = f'<a class="here" href="#{name}" title="Link to this row" aria-label="Link to this row"></a>'
    return f'<tr id="{name}"><th scope="row">{asked}{here}</th>{strip}<td class="told">{told}</td></tr>'


def cell(
    kind: str, scale: Scale, ends: tuple[float, float], tip: str, leads: bool = False, text: str = "", style: str = ""
) -> str:
    """A part of a strip, with its text if that fits, and a tip if that is not empty.

    The page's script makes a cell that `leads` a link to where the words of its row lead; arrow keys move along them.
    """
    start, end = (scale.place(x) for x in ends)
    place = f"left:{start}%;width:{round(end - start, 2)}%{';' * bool(style)}{style}"
    told = f' title="{html.escape(tip)}"' if tip else ""
    inner = f"<span>{html.escape(text)}</span>" if text else ""
    tag = "a" if leads else "i"
    return f'<{tag} class="cell {kind}" style="{place}"{told}>{inner}</{tag}>'


def point(kind: str, scale: Scale, x: float, tip: str, leads: bool = False) -> str:
    """A mark at one place, with its tip; `leads` as for a cell."""
    facts = f'class="point {kind}" style="left:{scale.place(x)}%" title="{html.escape(tip)}"'
    return f"<a {facts}></a>" if leads else f"<i {facts}></i>"


def coloured(text: str, colour: Colour) -> str:
    """Words in the colour of an arm or a verdict; a long name may break after a dot."""
    return f'<b class="{colour.name}">{html.escape(text).replace(".", ".<wbr>")}</b>'
