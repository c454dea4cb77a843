"""The title of a report, its finding; and the subtitle, the circumstances of its run."""

import json
import re
from contextlib import suppress
from pathlib import Path

from crossover.records import record
from crossover.report.glance import finding
from crossover.report.text import certainty, markup, numbers
from crossover.report.text.tables import Row, Tables, load


def titled(source: str, results: Path) -> str:
    """The text of a `.qmd` with the finding and the circumstances of the run in `results` as title and subtitle.

    Unchanged if the tables cannot be read; the page then gives the reason.
    """
    with suppress(record.RecordError):
        tables = load(results, TABLES)
        said = {"title": finding.title(tables), "subtitle": subtitle(tables)}
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
        no_claims = not tables.claims
        unused = {"sec-ladder": len(tables.experiments) < 2, "sec-claims": no_claims, "sec-told": no_claims}
        for name in (name for name, is_unused in unused.items() if is_unused):
            source = re.sub(rf"^# [^\n]*{{#{name}}}\n.*?(?=^# )", "", source, flags=re.MULTILINE | re.DOTALL)
    return source


def subtitle(tables: Tables) -> str:
    """Processors, days, tier, launches and their time, in Markdown: names of hosts can hold any character."""
    kinds = dict.fromkeys((rank["cpu"] or "unknown processor", rank["logical_cpus"]) for rank in tables.ranks)
    processors = [f"{cpu}, {numbers.counted(cores, 'core')}" if cores else cpu for cpu, cores in kinds]
    measured = [row for row in tables.launches if row["outcome"] == "measured"]
    spent = numbers.duration(sum(row["wall_seconds"] or 0 for row in measured))
    of = f" of {len(tables.launches)}" if len(measured) < len(tables.launches) else ""
    parts = [
        "; ".join(processors),
        _hosts(tables.ranks),
        _days(tables.launches),
        f"tier {certainty.tier(tables.launches)}: {len(measured)}{of} launches in {spent}" if measured else "",
    ]
    return markup.verbatim(" · ".join(filter(None, parts)))


def _hosts(ranks: list[Row]) -> str:
    """The number of hosts, if there are several."""
    hosts = {rank["host"] for rank in ranks}
    return numbers.counted(len(hosts), "host") if len(hosts) > 1 else ""


def _days(launches: list[Row]) -> str:
    days = sorted({row["started_utc"][:10] for row in launches if row["started_utc"]})
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
