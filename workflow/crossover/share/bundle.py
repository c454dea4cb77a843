"""Archives a run: raw samples, tables, figures, report, configuration, locked versions, and an RO-Crate.

The report in the archive is rendered from the archive's own files, because names in them are replaced. The crate is of
RO-Crate 1.1 with the profile Process Run Crate 0.5: one action per experiment, with the recorded software and hosts.
All facts in it come from the tables; no clock is read.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import file_digest
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import record
from crossover.report.pages import renderer
from crossover.share import private, run_files

BESIDE = ("config", "requirements*.lock", "pyproject.toml", "CITATION.cff", "LICENSE", "docs/data.md")
"""Files that are archived beside the results."""

SUMS = "SHA256SUMS"
"""The file of checksums for `sha256sum --check`."""

README = """\
# Measurements by crossover

- `results/report/index.html` is the report; it opens offline.
- `results/raw` holds the samples of every launch, `results/*.parquet` the tables made from them. `docs/data.md`
  explains each column.
- `config` and `requirements.lock` are those of the checkout when it was archived. The tables hold the settings, commit,
  machine and time of each launch.
- `ro-crate-metadata.json` is the machine-readable version. `sha256sum --check SHA256SUMS` checks that all files are
whole.

In a checkout of crossover, `make report FROM=<this folder>/results` renders the tables again.
"""


REDACTED = """
Names of hosts, users, accounts, addresses, jobs and paths are pseudonyms, such as host-1, the same in all files.
Reasons of holes, messages of errors and `config/config.yaml` are withheld.
"""
"""The addition to README in a redacted bundle."""

METADATA = "ro-crate-metadata.json"
VERSION = "1.1"
CONFIGURATION = "config/config.yaml"

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"

FORMATS = {
    ".parquet": "application/vnd.apache.parquet", ".html": "text/html", ".json": "application/json",
    ".yaml": "application/yaml",
    ".csv": "text/csv", ".md": "text/markdown", ".toml": "application/toml", ".cff": "application/yaml",
}  # fmt: skip
"""Media types by file suffix."""

HOST_FACTS = ("cpu", "logical_cpus", "memory_bytes", "governor", "kernel", "os", "network", "container")
"""A rank's facts about its host; columns of `record.RANKS`."""

AUTHOR = re.compile(r"(?P<name>[^<>]+?)\s*(?:<(?:https://orcid\.org/)?(?P<orcid>\d{4}-\d{4}-\d{4}-\d{3}[\dX])>)?")

NAME_AND_VERSION = re.compile(r"(?P<name>\D+?),?\s+(?:Version:\s*)?v?(?P<version>\d[^\s,]*)")
"""Matches versions of an interpreter or an MPI library: `MPICH Version: 5.0.2, ...`, `Open MPI v5.0.11, ...`."""

Row = dict[str, Any]


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


def write(results: Path, bundle: Path, attribution: Attribution, redact: bool = False) -> str:
    """Archive a run as a zip file; the same run gives the same bytes. Returns a sentence. Raises CrossoverError.

    If `redact`, names of hosts, users, accounts, addresses, jobs and paths become pseudonyms, and texts of other
    programs are withheld.
    """
    if bundle.suffix != ".zip":
        raise CrossoverError(f"{bundle}: is not a name of a zip file; choose one that ends in .zip")
    made_from = run_files.require_fresh(results)
    if not any(launch["started_utc"] for launch in run_files.launches(results)):
        raise CrossoverError(f"{results}: has no launch, so there is nothing to archive; measure first: make report")
    try:
        return _write(results, bundle, attribution, made_from, redact)
    except OSError as error:
        raise CrossoverError(
            f"{error.filename or results}: cannot be copied ({error.strerror or error}); if {tempfile.gettempdir()} is "
            "full, set TMPDIR to another folder"
        ) from None


def _write(results: Path, bundle: Path, attribution: Attribution, made_from: dict[str, Any], redact: bool) -> str:
    with tempfile.TemporaryDirectory(prefix="crossover-") as temporary:
        folder = Path(temporary) / "bundle"
        run_files.copy(
            [*_raw(results), *(results / name for name in made_from["made_from"])], results, folder / "results"
        )
        run_files.copy([path for pattern in BESIDE for path in PROJECT.glob(pattern)], PROJECT, folder)
        if redact:
            # Its words can be any, and the tables have the settings of each launch.
            (folder / CONFIGURATION).unlink()
        waiting = private.Mask(results, PROJECT, redact).folder(folder, made_from["waiting"])
        renderer.render(folder / "results", folder / "results" / run_files.PAGE, waiting)
        (folder / "README.md").write_text(README + REDACTED * redact, encoding="utf-8")
        _write_crate(folder, attribution, yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8")))
        sums = [f"{checksum(path)}  {name}\n" for name, path in run_files.below(folder).items()]
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
        print(f"bundle: packing {len(sums) + 1} files into {bundle}", file=sys.stderr, flush=True)
        run_files.pack(folder, bundle)
    return f"Bundle: {bundle}, {len(sums) + 1} files, {bundle.stat().st_size / 1e6:.1f} MB"


def _raw(results: Path) -> list[Path]:
    """The raw files of the launches in the tables. Raises CrossoverError if one is missing."""
    raw = [run_files.raw_file(results, launch) for launch in run_files.launches(results)]
    if missing := [str(path) for path in raw if not path.is_file()]:
        raise CrossoverError(
            f"{missing[0]}: is missing ({len(missing)} of {len(raw)} raw files are); to remeasure missing launches, "
            "repeat the command that made the report, then bundle again"
        )
    return raw


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _write_crate(folder: Path, attribution: Attribution, project: Row) -> None:
    """Write the metadata of a bundle's files in `folder`. `project` is the content of CITATION.cff.

    At least one launch must have begun. Raises RecordError for unreadable tables.
    """
    launches: list[Row] = record.read(folder / "results/launches.parquet", record.LAUNCHES).to_pylist()
    ranks: list[Row] = record.read(folder / "results/ranks.parquet", record.RANKS).to_pylist()
    crate = ROCrate(version=VERSION)
    authors = [_person(crate, author) for author in attribution.authors]
    _root(crate, attribution, project, launches)
    files = run_files.below(folder)
    added = {name: crate.add_file(path, name, properties=_about(path, name)) for name, path in files.items()}
    software = _software(crate, project, launches, ranks)
    hosts = {name: _host(crate, name, ranks) for name in sorted({rank["host"] for rank in ranks})}
    actions = []
    for experiment in sorted({row["experiment"] for row in launches}):
        own = [row for row in launches if row["experiment"] == experiment]
        raw = [name for name in files if name.startswith("results/raw/") and name.split("/")[-3] == experiment]
        used = {
            "agent": authors,
            "instrument": [software[commit] for commit in _commits(own)],
            "location": [hosts[host] for host in sorted({r["host"] for r in ranks if r["experiment"] == experiment})],
            "object": [added[CONFIGURATION]] if CONFIGURATION in added else [],
            "result": [added[name] for name in raw],
        }
        actions.append(_entity(crate, f"#measuring-{experiment}", "CreateAction", **_measured(experiment, own), **used))
    for name, entities in (("author", authors), ("mentions", actions)):
        if entities:
            crate.root_dataset[name] = _alone(entities)
    crate.metadata.write(folder)


def _entity(crate: ROCrate, identifier: str, kind: str | list[str], **properties: Any) -> ContextEntity:
    """Add an entity to the crate, without the properties that are empty."""
    kept = {"@type": kind} | {name: _alone(value) for name, value in properties.items() if value}
    return crate.add(ContextEntity(crate, identifier, properties=kept))


def _alone(value: Any) -> Any:
    """The entry of a list with one entry, as the specification requires; any other value unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _slug(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text).strip("-")


def _root(crate: ROCrate, attribution: Attribution, project: Row, launches: list[Row]) -> None:
    root, licence = crate.root_dataset, attribution.licence
    began, ended = _times(launches)
    days = sorted({began[:10], ended[:10]})
    experiments = sorted({row["experiment"] for row in launches})
    root["name"] = f"Messaging measurements by crossover, {' to '.join(days)}"
    root["description"] = (
        f"{_counted(launches)} of {', '.join(experiments)}: the raw samples of every block, the "
        f"tables, figures and report made from them, and the configuration. {project['abstract'].strip()}"
    )
    # The day of the data, not of the bundle: the same run gives the same bytes.
    root["datePublished"] = days[-1]
    root["temporalCoverage"] = f"{began}/{ended}"
    root["keywords"] = project["keywords"]
    root["schemaVersion"] = str(record.VERSION)
    url = f"https://spdx.org/licenses/{licence}"
    root["license"] = _entity(crate, url, "CreativeWork", name=licence, url=url, description=f"The licence {licence}")
    root["conformsTo"] = _entity(
        crate, PROFILE, ["CreativeWork", "Profile"], name="Process Run Crate", version=PROFILE.rpartition("/")[2]
    )


def _person(crate: ROCrate, author: str) -> ContextEntity:
    found = AUTHOR.fullmatch(author)
    assert found  # checked by Attribution
    name, orcid = found["name"], found["orcid"]
    return _entity(crate, f"https://orcid.org/{orcid}" if orcid else f"#{_slug(name)}", "Person", name=name)


def _about(path: Path, name: str) -> dict[str, str]:
    parts = name.split("/")
    if name.startswith("results/raw/"):
        title = f"Raw samples: {parts[-3]}, placement {parts[-2]}, {path.stem.replace('=', ' ')}"
    elif name == "results/report/index.html":
        title = "The report"
    else:
        title = {"results": "Made from the raw samples", "config": "Configuration"}.get(parts[0], "About this bundle")
        title = f"{title}: {'/'.join(parts[1:]) or name}"
    media = FORMATS.get(path.suffix, "text/plain")
    return {"name": title, "encodingFormat": media, "contentSize": str(path.stat().st_size)}


def _measured(experiment: str, launches: list[Row]) -> dict[str, Any]:
    """The name, time and outcome of an experiment's launches."""
    measured = sum(row["outcome"] == "measured" for row in launches)
    holes = len(launches) - measured
    began, ended = _times(launches)
    reasons = {row["reason"] for row in launches if row["reason"]}
    return {
        "name": f"Measuring {experiment}",
        "description": f"{measured} of {_counted(launches)} have data"
        + (f", {holes} have the reason why not" if holes else ""),
        "startTime": began,
        "endTime": ended,
        "actionStatus": f"http://schema.org/{'Completed' if measured else 'Failed'}ActionStatus",
        "error": "" if measured else "; ".join(sorted(reasons)),
    }


def _counted(launches: list[Row]) -> str:
    return "1 launch" if len(launches) == 1 else f"{len(launches)} launches"


def _times(launches: list[Row]) -> tuple[str, str]:
    """The start of the first launch and the end of the last, as ISO 8601; empty if none began."""
    begun = [
        (row["started_utc"], timedelta(seconds=row["wall_seconds"] or 0)) for row in launches if row["started_utc"]
    ]
    ends = [(datetime.fromisoformat(start) + wall).isoformat(timespec="milliseconds") for start, wall in begun]
    return min((start for start, _ in begun), default=""), max(ends, default="")


def _commits(launches: list[Row]) -> list[str]:
    return sorted({row["commit"] or "" for row in launches})


def _software(crate: ROCrate, project: Row, launches: list[Row], ranks: list[Row]) -> dict[str, ContextEntity]:
    """crossover at each measuring commit, by commit; each requires the software that the ranks recorded."""
    kind = "SoftwareApplication"
    required = [
        _entity(crate, f"#{_slug(f'{name} {version}')}", kind, name=name, softwareVersion=version)
        for name, version in sorted({library for rank in ranks for library in _libraries(rank)})
    ]
    return {
        commit: _entity(
            crate,
            f"#crossover-{commit or 'unknown'}",
            kind,
            name="crossover",
            description=project["title"],
            softwareVersion=_version(project["version"], commit),
            license=f"https://spdx.org/licenses/{project['license']}",
            url=project.get("repository-code"),
            softwareRequirements=required,
        )
        for commit in _commits(launches)
    }


def _version(version: str, commit: str) -> str:
    if not commit:
        return f"{version}, commit not recorded"
    return f"{version}, commit {commit.rstrip('+')}" + (", with changes" if commit.endswith("+") else "")


def _libraries(rank: Row) -> Iterator[tuple[str, str]]:
    """The names and versions of the software that a rank recorded."""
    yield from json.loads(rank["libraries"] or "{}").items()
    for text in filter(None, (rank["python"], rank["mpi"])):
        found = NAME_AND_VERSION.match(text)
        yield (found["name"], found["version"]) if found else (text, "")


def _host(crate: ROCrate, name: str, ranks: list[Row]) -> ContextEntity:
    """A host with its ranks' facts about it."""
    own = [rank for rank in ranks if rank["host"] == name]
    facts = {fact: sorted({str(rank[fact]) for rank in own if rank[fact] not in (None, "")}) for fact in HOST_FACTS}
    properties = [
        _entity(crate, f"#host-{name}-{fact}", "PropertyValue", name=fact, value="; ".join(values))
        for fact, values in facts.items()
        if values
    ]
    return _entity(crate, f"#host-{name}", "Place", name=name, additionalProperty=properties)
