"""The RO-Crate of a bundle: its files, and the machines, software and launches behind them.

RO-Crate 1.1 with the profile Process Run Crate 0.5: one action per experiment, with the recorded software and hosts.
All facts come from the tables; no clock is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from crossover.errors import CrossoverError
from crossover.records import record
from crossover.share import archive
from crossover.share.bundle import recorded_facts

METADATA = "ro-crate-metadata.json"
VERSION = "1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"

FORMATS = {
    ".parquet": "application/vnd.apache.parquet", ".html": "text/html", ".json": "application/json",
    ".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf", ".yaml": "application/yaml",
    ".csv": "text/csv", ".md": "text/markdown", ".toml": "application/toml", ".cff": "application/yaml",
}  # fmt: skip
"""Media types by file suffix."""

AUTHOR = re.compile(r"(?P<name>[^<>]+?)\s*(?:<(?:https://orcid\.org/)?(?P<orcid>\d{4}-\d{4}-\d{4}-\d{3}[\dX])>)?")


@dataclass(frozen=True)
class Attribution:
    """The licence and the authors, as the user gives them. Raises CrossoverError if they are invalid."""

    licence: str
    """The licence of the data: an SPDX identifier."""
    authors: Sequence[str] = ()
    """The authors of the data, each as `Name` or `Name <ORCID>`."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9.+-]+", self.licence):
            raise CrossoverError(f"--license {self.licence}: not an SPDX name (spdx.org/licenses) such as CC-BY-4.0")
        for author in self.authors:
            if not AUTHOR.fullmatch(author):
                raise CrossoverError(f"--author {author}: write `Name` or `Name <ORCID>`: `Ada <0000-0002-1825-0097>`")


def write(folder: Path, attribution: Attribution, project: dict[str, Any]) -> None:
    """Write the metadata of a bundle's files in `folder`. `project` is the content of CITATION.cff.

    At least one launch must have begun. Raises RecordError for unreadable tables.
    """
    results = folder / "results"
    launches, ranks = (
        record.read(results / f"{name}.parquet", schema).to_pylist()
        for name, schema in (("launches", record.LAUNCHES), ("ranks", record.RANKS))
    )
    crate = ROCrate(version=VERSION)
    authors = [_person(crate, author) for author in attribution.authors]
    _root(crate, attribution, project, launches)
    if authors:
        crate.root_dataset["author"] = recorded_facts.alone(authors)
    files = _files(crate, folder)
    software = recorded_facts.software(crate, project, launches, ranks)
    hosts = {host: recorded_facts.host(crate, host, ranks) for host in sorted({rank["host"] for rank in ranks})}
    actions = [
        _action(
            crate,
            experiment,
            [row for row in launches if row["experiment"] == experiment],
            files,
            software,
            [hosts[host] for host in sorted({rank["host"] for rank in ranks if rank["experiment"] == experiment})],
        )
        for experiment in sorted({row["experiment"] for row in launches})
    ]
    crate.root_dataset["mentions"] = recorded_facts.alone(actions)
    for action in actions if authors else []:
        action["agent"] = recorded_facts.alone(authors)
    crate.metadata.write(folder)


def _root(crate: ROCrate, attribution: Attribution, project: dict[str, Any], launches: list[dict[str, Any]]) -> None:
    root = crate.root_dataset
    begun = list(filter(_began, launches))
    began, ended = min(row["started_utc"] for row in begun), max(map(_end, begun))
    days = sorted({began[:10], ended[:10]})
    experiments = sorted({row["experiment"] for row in launches})
    root["name"] = f"Messaging measurements by crossover, {' to '.join(days)}"
    root["description"] = (
        f"{_counted(len(launches))} of {', '.join(experiments)}: the raw samples of every block, the "
        f"tables, figures and report made from them, and the configuration. {project['abstract'].strip()}"
    )
    # The day of the data, not of the bundle: the same run gives the same bytes.
    root["datePublished"] = days[-1]
    root["temporalCoverage"] = f"{began}/{ended}"
    root["keywords"] = project["keywords"]
    root["schemaVersion"] = str(record.VERSION)
    root["license"] = _licence(crate, attribution.licence)
    profile = {"@type": ["CreativeWork", "Profile"], "name": "Process Run Crate", "version": PROFILE.rpartition("/")[2]}
    root["conformsTo"] = recorded_facts.entity(crate, PROFILE, profile)


def _licence(crate: ROCrate, name: str) -> ContextEntity:
    url = f"https://spdx.org/licenses/{name}"
    return recorded_facts.entity(
        crate, url, {"@type": "CreativeWork", "name": name, "url": url, "description": f"The licence {name}"}
    )


def _person(crate: ROCrate, author: str) -> ContextEntity:
    found = AUTHOR.fullmatch(author)
    assert found  # checked by Attribution
    name, orcid = found["name"], found["orcid"]
    identifier = f"https://orcid.org/{orcid}" if orcid else f"#{recorded_facts.slug(name)}"
    return recorded_facts.entity(crate, identifier, {"@type": "Person", "name": name})


def _files(crate: ROCrate, folder: Path) -> dict[str, Any]:
    """Every file of the bundle, by its name."""
    return {
        name: crate.add_file(path, name, properties=_facts(path, name))
        for path in archive.files(folder)
        if (name := path.relative_to(folder).as_posix())
    }


def _facts(path: Path, name: str) -> dict[str, Any]:
    parts = name.split("/")
    if parts[:2] == ["results", "raw"]:
        title = f"Raw samples: {parts[-3]}, placement {parts[-2]}, {path.stem.replace('=', ' ')}"
    elif name == "results/report/index.html":
        title = "The report"
    else:
        title = {"results": "Made from the raw samples", "config": "Configuration"}.get(parts[0], "About this bundle")
        title = f"{title}: {'/'.join(parts[1:]) or name}"
    media = FORMATS.get(path.suffix, "text/plain")
    return {"name": title, "encodingFormat": media, "contentSize": str(path.stat().st_size)}


def _action(
    crate: ROCrate,
    experiment: str,
    launches: list[dict[str, Any]],
    files: dict[str, Any],
    software: dict[str, ContextEntity],
    hosts: list[ContextEntity],
) -> ContextEntity:
    """All launches of an experiment: time, software, hosts, settings, raw files."""
    begun = list(filter(_began, launches))
    measured = [row for row in launches if row["outcome"] == "measured"]
    raw = [name for name in sorted(files) if name.startswith("results/raw/") and name.split("/")[-3] == experiment]
    results = [files[name] for name in raw]
    state = "CompletedActionStatus" if measured else "FailedActionStatus"
    holes = len(launches) - len(measured)
    return recorded_facts.entity(
        crate,
        f"#measuring-{experiment}",
        {
            "@type": "CreateAction",
            "name": f"Measuring {experiment}",
            "description": f"{len(measured)} of {_counted(len(launches))} have data"
            + (f", {holes} have the reason why not" if holes else ""),
            "startTime": min((row["started_utc"] for row in begun), default=None),
            "endTime": max(map(_end, begun), default=None),
            "actionStatus": f"http://schema.org/{state}",
            "error": "; ".join(sorted({row["reason"] for row in launches if row["reason"]})) if not measured else None,
            "instrument": [software[commit] for commit in sorted({row["commit"] or "" for row in launches})],
            "location": hosts,
            "object": [files["config/config.yaml"]],
            "result": results,
        },
    )


def _counted(launches: int) -> str:
    return "1 launch" if launches == 1 else f"{launches} launches"


def _began(launch: dict[str, Any]) -> bool:
    return bool(launch["started_utc"])


def _end(launch: dict[str, Any]) -> str:
    """The end time of a launch that began."""
    began = datetime.fromisoformat(launch["started_utc"])
    return (began + timedelta(seconds=launch["wall_seconds"] or 0)).isoformat(timespec="milliseconds")
