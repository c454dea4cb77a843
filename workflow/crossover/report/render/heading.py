"""The title and subtitle of a report: the machine and the date of its run."""

import json
import re
from contextlib import suppress
from pathlib import Path

from crossover.records import record
from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row, rows


def titled(source: str, results: Path) -> str:
    """The text of a `.qmd` with the machine and the date of the run in `results` as title and subtitle.

    Unchanged if nothing was launched, or if the tables cannot be read; the page then gives the reason.
    """
    with suppress(record.RecordError):
        launches, ranks = (rows(results, name) for name in ("launches", "ranks"))
        if launches and ranks:
            for name, text in {"title": title(launches, ranks), "subtitle": subtitle(ranks)}.items():
                # JSON is YAML. Renderers read it as Markdown, and names of hosts can hold any character.
                line = f"{name}: {json.dumps(markup.verbatim(text), ensure_ascii=False)}"
                before, found, after = re.split(rf"^({name}: .*)$", source, maxsplit=1, flags=re.MULTILINE)
                source = source if not found else f"{before}{line}{after}"
    return source


def title(launches: list[Row], ranks: list[Row]) -> str:
    """Hosts and days of a run."""
    hosts = sorted({str(rank["host"]) for rank in ranks})
    where = numbers.listed(hosts) if len(hosts) < 4 else numbers.counted(len(hosts), "host")
    days = sorted({row["started_utc"][:10] for row in launches if row["started_utc"]})
    dates = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
    return ", ".join(filter(None, [f"Ways to exchange messages on {where}", dates]))


def subtitle(ranks: list[Row]) -> str:
    """Processors of a run."""
    kinds = dict.fromkeys((rank["cpu"] or "unknown processor", rank["logical_cpus"]) for rank in ranks)
    found = [f"{cpu}, {numbers.counted(cores, 'logical processor')}" if cores else cpu for cpu, cores in kinds]
    return f"{'; '.join(found)}. Measured by crossover"
