"""The picture of the published claims: the range that each predicts, the measured interval, and the verdict.

Every claim is divided by what it expects, so that claims on rates, times and ratios share an axis.
"""

import html
import math
from collections.abc import Iterable, Sequence

from crossover.config import sources
from crossover.design import protocol
from crossover.records.rows import Claim
from crossover.report.charts import marks, strips
from crossover.report.charts.arm_styles import ARMS, NOISE, Colour
from crossover.report.text import claims, markup, numbers
from crossover.report.text.tables import grouped, slug

LOOKS: dict[str, Colour] = {"holds": ARMS[0], **dict.fromkeys(claims.DECIDED[1:], ARMS[1]), "open": NOISE}
"""The colour of each verdict."""

EDGE = math.log(1.5)
"""The distance of the ends of a range from its middle, as a logarithm, if the range has no middle by itself."""
FARTHEST = math.log(100)
"""The logarithm of the largest factor that is drawn; a claim that is farther off is drawn at the edge."""
SENTENCE = ("source", "quote", "locator", "kind", "metric", "arm", "expected_low", "expected_high")
"""The columns in which claims agree that are one sentence under several conditions: such claims share a row."""
OF_A_CURVE = ("crossover", "saturation")
"""The kinds of claims whose possible bias is that of the curve, not of their number."""
MARGIN = 1.1
"""The factor by which the axis exceeds the marks."""


def _mark(verdict: str) -> str:
    """The class of a verdict's symbol."""
    return verdict.partition(" ")[0]


CAPTION = (
    "Published claims, measured here. The axis is the measured number, divided by the claimed one, or by the middle of "
    "the expected range; a range that contains zero is drawn as if its ends were a fixed factor from its middle."
)
HINT = (
    '<p class="crossover-key"><span><i class="cell range"></i> expected</span>'
    + "".join(f'<span><i class="point {_mark(verdict)}"></i> {verdict}</span>' for verdict in LOOKS)
    + '<span><i class="cell measured"></i> interval</span><span><i class="cell bias"></i> possible bias</span></p>'
)


def judged(table: Sequence[Claim]) -> list[Claim]:
    """The claims with a measured number and an expected range, those under one heading together."""
    known = [row for row in table if row.verdict in LOOKS and row.value is not None and any(_ends(row))]
    return [row for own in _by_heading(known).values() for row in own]


def _by_heading(table: Sequence[Claim]) -> dict[str, list[Claim]]:
    groups: dict[str, list[Claim]] = {}
    for row in table:
        groups.setdefault(_heading(row.source), []).append(row)
    return groups


def picture(own: Sequence[Claim]) -> str:
    """A row for each of these claims, under the titles of their sources, as HTML."""
    reach = [end for row in own for end in _drawn(row).values() if end]
    scale = strips.Scale(min(reach) / MARGIN, max(reach) * MARGIN)
    labels = {tick: f"{tick:g}" for tick in marks.log_ticks(scale.low, scale.high)}
    decided, left = ([rows for rows in _sentences(own) if _decided(rows) is wanted] for wanted in (True, False))
    tables = []
    for chosen in filter(None, (decided, left)):
        rows = [
            (heading, [_row(rows, scale) for rows in _sentences(of_heading)])
            for heading, of_heading in _by_heading([row for rows in chosen for row in rows]).items()
        ]
        body = strips.body("measured ÷ claimed", scale, labels, rows)
        tables.append(strips.table([body], "Verdicts on published claims"))
    if len(tables) > 1:
        about = f"{numbers.counted(sum(map(len, left)), 'claim')} that this run measured and does not decide"
        tables[1] = f"<details><summary>{about}</summary>{tables[1]}</details>"
    return f'<div class="crossover-map claims">{HINT}{"".join(tables)}</div>'


def _sentences(own: Sequence[Claim]) -> Iterable[list[Claim]]:
    """The claims by their sentence: several only if each is under another condition."""
    for rows in grouped(own, *SENTENCE).values():
        apart = len({row.protocol for row in rows}) < len(rows)
        yield from [[row] for row in rows] if apart else [rows]


def _decided(rows: Sequence[Claim]) -> bool:
    return any(row.verdict in claims.DECIDED for row in rows)


def _row(rows: Sequence[Claim], scale: strips.Scale) -> str:
    """One sentence, under each condition that was measured."""
    first = rows[0]
    told = "<br>".join(_told(row, len(rows) > 1) for row in rows)
    asked = f'<a href="#{claims.address(first)}" title="{html.escape(_says(first))}">{html.escape(first.claim)}</a>'
    marks = [_range(first, scale), *(mark for row in rows for mark in _marks(row, scale))]
    return strips.row(slug(f"verdict {first.claim}"), asked, marks, told)


def _told(row: Claim, several: bool) -> str:
    verdict = strips.coloured(row.verdict, LOOKS[row.verdict])
    if not several:
        return verdict
    condition = html.escape(protocol.topic(row.keys, row.protocol))
    return f'{verdict}, <a href="#{claims.address(row)}">{condition}</a>'


def _range(row: Claim, scale: strips.Scale) -> str:
    places = _drawn(row)
    end = "" if places["from"] and places["to"] else " upward" if places["from"] else " downward"
    return strips.cell(f"range{end}", scale, (places["from"] or scale.low, places["to"] or scale.high), "")


def _marks(row: Claim, scale: strips.Scale) -> Iterable[str]:
    places, tip = _drawn(row), words(row)
    colour = LOOKS[row.verdict].name
    yield strips.cell(f"bias {colour}", scale, (places["least"], places["most"]), "")
    yield strips.cell(f"measured {colour}", scale, (places["low"], places["high"]), "")
    yield strips.point(_mark(row.verdict), scale, places["place"], tip, leads=True)


def _drawn(row: Claim) -> dict[str, float]:
    """The places of a claim: its range `from` and `to`, 0 for an open end; its value, its interval, and how far that
    reaches with the possible bias (`least` and `most`)."""
    ends = [0.0 if end is None else scaled(row, end) for end in _ends(row)]
    assert row.value is not None, "as in judged"
    value = row.value
    low, high = (value if end is None else end for end in (row.low, row.high))
    bias = None if row.kind in OF_A_CURVE else row.smallest_effect
    least, most = low, high
    if bias is not None:
        least, most = (low / bias, high * bias) if row.scale == "log" else (low - bias, high + bias)
    values = {"place": value, "low": low, "high": high, "least": least, "most": most}
    return {"from": ends[0], "to": ends[1]} | {name: scaled(row, value) for name, value in values.items()}


def words(row: Claim) -> str:
    """A claim, its verdict and the reason, without Markdown."""
    told = f"{row.verdict}: {claims.measured(row)}, expected {claims.expected(row)}"
    why = f" ({markup.plain(row.reason)})" if row.reason else ""
    return f"{_says(row)}: {told}{why}."


def _says(row: Claim) -> str:
    words = markup.plain(" ".join(row.says.split())).rstrip(".")
    return f"{words} ({row.differs})" if row.differs else words


def _ends(row: Claim) -> tuple[float | None, float | None]:
    return row.expected_low, row.expected_high


def scaled(row: Claim, value: float) -> float:
    """A number in the unit of a claim, as a factor of what the claim expects."""
    low, high = _ends(row)
    known = [end for end in (low, high) if end is not None]
    if min(known) > 0:
        middle = row.published or math.sqrt(min(known) * max(known))
        place = math.log(value / middle) if value > 0 else -FARTHEST
    elif low is not None and high is not None:
        place = EDGE * (2 * value - low - high) / (high - low)
    else:
        place = value - known[0]
    return math.exp(min(max(place, -FARTHEST), FARTHEST))


def _heading(source: str) -> str:
    """The heading of a document's claims; only its key if this project does not list it."""
    known = sources.read().get(source)
    return known.heading if known else source
