"""The BibTeX of this program, and of a run: its machine, days, launches and software, without names of hosts."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from crossover.config.sources import SPECIAL
from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.report.text import certainty, numbers, tables

TABLES = ("launches", "ranks")
TO_ADD = "% Add an author, and a url once the run is published.\n"


def bibtex(results: Path) -> str:
    """The entries of the program and of the run in `results`. Raises CrossoverError if nothing was measured."""
    return f"{_program()}\n{TO_ADD}{_run(results)}"


def _program() -> str:
    facts = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    return _entry(
        "crossover",
        {
            "author": " and ".join(f"{{{each['name'].translate(SPECIAL)}}}" for each in facts["authors"]),
            "title": f"{{{facts['title'].translate(SPECIAL)}}}",
            "year": str(facts["date-released"])[:4],
            "howpublished": f"Software, version {facts['version']}",
        },
    )


def _run(results: Path) -> str:
    run = tables.load(results, TABLES)
    measured = [row for row in run.launches if row.outcome == "measured"]
    if not measured:
        raise CrossoverError(f"{results}: no launch was measured, so there is nothing to cite")
    days = sorted({row.started_utc[:10] for row in measured if row.started_utc})
    machines = sorted({f"{rank.cpu}, {numbers.counted(rank.logical_cpus or 0, 'core')}" for rank in run.ranks})
    hosts = numbers.counted(len({rank.host for rank in run.ranks}), "host")
    versions: dict[str, set[str]] = {}
    for rank in run.ranks:
        for name, version in {"Python": rank.python.partition(" (")[0], **(rank.libraries or {})}.items():
            if version:
                # Open MPI says behind a comma who built it, and on which host.
                versions.setdefault(name, set()).add(str(version).partition(", ")[0])
    software = ", ".join(f"{name} {' and '.join(sorted(own))}" for name, own in sorted(versions.items()))
    launches = f"{numbers.counted(len(measured), 'launch')} of tier {certainty.tier(run.launches)} on {hosts}"
    when = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "an unknown day"
    return _entry(
        f"crossover-run-{days[0]}" if days else "crossover-run",
        {
            "title": f"{{Messaging on {'; '.join(machines).translate(SPECIAL)}: a run of crossover}}",
            "year": days[-1][:4] if days else "",
            "howpublished": "Data set",
            "note": f"{launches}, measured {when}. Software: {software}".translate(SPECIAL),
        },
    )


def _entry(key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}", ""])
