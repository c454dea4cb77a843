"""The head of a report: the finding as its title, the circumstances of the run, cards, and what to do in sentences.

The finding is the largest settled gain over what programs use by default.
"""

import html
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crossover.design import protocol
from crossover.records import record
from crossover.records.rows import Claim, Launch, Rank, Threshold
from crossover.report.charts import arm_styles, strips
from crossover.report.text import certainty, choices, claims, markup, numbers
from crossover.report.text.choices import Question
from crossover.report.text.findings import Gain
from crossover.report.text.tables import Tables, competes, load

SMOKE = "A smoke run: its numbers mean little"
EMPTY = "Nothing was measured"

CARDS = 2
"""The most findings among the cards."""

NOTHING_TO_CHOOSE = (
    "Nothing to choose: no arms could be compared with an interval. More `launches` in `config/config.yaml` give one."
)

METHOD = "@sec-method explains the method, @sec-machine lists the hardware and software."


def titled(source: str, results: Path) -> str:
    """The text of a `.qmd` with the finding and the circumstances of the run in `results` as title and subtitle.

    Unchanged if the tables cannot be read; the page then gives the reason.
    """
    with suppress(record.RecordError):
        tables = load(results, TABLES)
        said = {"title": title(tables), "subtitle": subtitle(tables)}
        for name, text in said.items():
            # JSON is YAML, and renderers read its text as Markdown.
            line = f"{name}: {json.dumps(text, ensure_ascii=False)}"
            before, found, after = re.split(rf"^({name}: .*)$", source, maxsplit=1, flags=re.MULTILINE)
            source = source if not found else f"{before}{line}{after}"
    return source


TABLES = ("launches", "ranks", "summary", "ratios", "crossovers", "choices")


def reduced(source: str, results: Path) -> str:
    """The text of a `.qmd` without the sections that a run of one experiment, or one without claims, has no use for."""
    with suppress(record.RecordError):
        tables = load(results, (*TABLES, "claims"))
        unused = {"sec-ladder": len(tables.experiments) < 2, "sec-claims": not tables.claims}
        for name in (name for name, is_unused in unused.items() if is_unused):
            source = re.sub(rf"^# [^\n]*{{#{name}}}\n.*?(?=^# )", "", source, flags=re.MULTILINE | re.DOTALL)
    return source


def subtitle(tables: Tables) -> str:
    """Processors, days, tier, launches and their time, in Markdown: names of hosts can hold any character."""
    kinds = dict.fromkeys((rank.cpu or "unknown processor", rank.logical_cpus) for rank in tables.ranks)
    processors = [f"{cpu}, {numbers.counted(cores, 'core')}" if cores else cpu for cpu, cores in kinds]
    measured = [row for row in tables.launches if row.outcome == "measured"]
    spent = numbers.duration(sum(row.wall_seconds or 0 for row in measured))
    of = f" of {len(tables.launches)}" if len(measured) < len(tables.launches) else ""
    parts = [
        "; ".join(processors),
        _hosts(tables.ranks),
        _days(tables.launches),
        f"tier {certainty.tier(tables.launches)}: {len(measured)}{of} launches in {spent}" if measured else "",
    ]
    return markup.verbatim(" · ".join(filter(None, parts)))


def _hosts(ranks: Sequence[Rank]) -> str:
    """The number of hosts, if there are several."""
    hosts = {rank.host for rank in ranks}
    return numbers.counted(len(hosts), "host") if len(hosts) > 1 else ""


def _days(launches: Sequence[Launch]) -> str:
    days = sorted({row.started_utc[:10] for row in launches if row.started_utc})
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""


def title(tables: Tables) -> str:
    """The largest gain, and a second one, in a sentence in Markdown; otherwise why there is none."""
    if not tables.launches or not any(row.outcome == "measured" for row in tables.launches):
        return EMPTY
    if certainty.is_smoke(tables.launches):
        return SMOKE
    return choices.headline(tables, lambda arm: f"`{markup.verbatim(arm)}`")


def cards(tables: Tables) -> str:
    """Up to four numbers as HTML: the largest gains, the size of a setting, the published claims.

    A smoke run has none.
    """
    if certainty.is_smoke(tables.launches):
        return ""
    shown = [_gain(question, question.gain) for question in choices.gaining(tables)[:CARDS] if question.gain]
    shown += [_level(row) for row in _levels(tables)[:1]]
    shown += [_claims(tables.claims)] if any(row.verdict in claims.DECIDED for row in tables.claims) else []
    return f'<div class="crossover-cards">{"".join(shown)}</div>' if shown else ""


def _gain(question: Question, gain: Gain) -> str:
    number, _, meaning = gain.factor.partition(" times ")
    looks = arm_styles.of(question.panel)
    arm, default = (strips.coloured(name, looks[name].colour) for name in (gain.arm, gain.default))
    about = f"{meaning} ({gain.rows[0].metric}): {arm} instead of the default {default}"
    return _card(f"{number.replace(' to ', '–')}×", about, f"{question.first_name}, {gain.place}")


def _card(number: str, meaning: str, validity: str) -> str:
    return f"<div><strong>{html.escape(number)}</strong><p>{meaning}</p><small>{html.escape(validity)}</small></div>"


def _levels(tables: Tables) -> list[Threshold]:
    """The places from which an arm reaches the highest level of its metric, the nearest first."""
    known = [(-row.level, row.x, row) for row in tables.thresholds if row.x is not None and competes(row)]
    return [row for *_, row in sorted(known, key=lambda entry: entry[:2])]


def _level(row: Threshold) -> str:
    assert row.x is not None, "as in _levels"
    x, unit = row.x, row.axis_unit
    _, _, ends = numbers.position(x, row.low, row.high, unit).partition(" [")
    interval = f", {ends.rstrip(']').replace(', ', ' to ')}" if ends else ""
    meaning = f"{row.axis} from which {row.metric} reaches {numbers.percent(row.level)}"
    # With the kind of tasks: those that sleep reach a level long before those that work.
    validity = f"{row.arm}, {protocol.topic(row.keys, row.protocol)}{interval}"
    return _card(f"about {numbers.quantity(x, unit, 2)}", html.escape(meaning), validity)


def _claims(judged: Sequence[Claim]) -> str:
    verdicts = [row.verdict for row in judged]
    holds, decided = verdicts.count("holds"), sum(map(verdicts.count, claims.DECIDED))
    rest = [f"{verdicts.count(each)} {each}" for each in claims.VERDICTS if each != "holds" and each in verdicts]
    return _card(f"{holds} of {decided}", "decided published claims hold", ", ".join(rest))


def summary(tables: Tables, partial: bool = False) -> str:
    """A paragraph on the data, in Markdown.

    The page of a `partial` run uses the launches that exist.
    """
    if not tables.launches:
        return "Nothing was launched."
    asked = choices.asked(tables)
    taken = "This page is partial: @sec-holes lists the launches that it leaves out." if partial else ""
    said = [
        "" if asked else NOTHING_TO_CHOOSE,
        _coverage(tables),
        taken,
        certainty.busy(tables.launches, tables.ranks),
        certainty.bias(tables),
        choices.settled(asked),
        METHOD,
    ]
    return " ".join(filter(None, said))


def _coverage(tables: Tables) -> str:
    measured = [row for row in tables.launches if row.outcome == "measured"]
    total = numbers.counted(len(tables.launches), "launch")
    count = numbers.counted(len(tables.holes()), "hole")
    gaps = f"; {count} {'is' if len(tables.holes()) == 1 else 'are'} listed in @sec-holes" if tables.holes() else ""
    return f"{len(measured)} of {total} have data{gaps}."
