"""Archives a run: raw samples, tables, figures, report, configuration, locked versions, and a minimal RO-Crate 1.1.

The report in the archive is rendered from the archive's own files, because names in them are replaced. All facts in the
crate come from the tables and the user; no clock is read.
"""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import rows
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
- `ro-crate-metadata.json` lists files, licence and authors for programs. `sha256sum --check SHA256SUMS` checks that all
  files are whole.

In a checkout of crossover, `make report FROM=<this folder>/results` renders the tables again.
"""


REDACTED = """
Names of hosts, users, accounts, addresses, jobs and paths are pseudonyms, such as host-1, the same in all files.
Reasons of holes, remarks of partial runs and `config/config.yaml` are withheld.
"""
"""The addition to README in a redacted bundle."""

METADATA = "ro-crate-metadata.json"
CONFIGURATION = "config/config.yaml"

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


def write(results: Path, bundle: Path, attribution: Attribution, redact: bool = False) -> str:
    """Archive a run as a zip file; the same run gives the same bytes. Returns a sentence. Raises CrossoverError.

    If `redact`, names of hosts, users, accounts, addresses, jobs and paths become pseudonyms, and texts of other
    programs are withheld.
    """
    if bundle.suffix != ".zip":
        raise CrossoverError(f"{bundle}: is not a name of a zip file; choose one that ends in .zip")
    made_from = run_files.require_fresh(results)
    launches = run_files.launches(results)
    if not any(launch.started_utc for launch in launches):
        raise CrossoverError(f"{results}: has no launch, so there is nothing to archive; measure first: make report")
    with run_files.temporary() as folder:
        run_files.copy(_raw(results, launches), results, folder / "results")
        run_files.copy([path for pattern in BESIDE for path in PROJECT.glob(pattern)], PROJECT, folder)
        if redact:
            # Its words can be any, and the tables have the settings of each launch.
            (folder / CONFIGURATION).unlink()
        private.render(results, folder, made_from, redact)
        (folder / "README.md").write_text(README + REDACTED * redact, encoding="utf-8")
        crate = _crate(list(run_files.below(folder)), attribution, launches)
        (folder / METADATA).write_text(json.dumps(crate, indent=1), encoding="utf-8")
        sums = [f"{_checksum(path)}  {name}\n" for name, path in run_files.below(folder).items()]
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
        print(f"bundle: packing {len(sums) + 1} files into {bundle}", file=sys.stderr, flush=True)
        run_files.pack(folder, bundle)
    return f"Bundle: {bundle}, {len(sums) + 1} files, {bundle.stat().st_size / 1e6:.1f} MB"


def _raw(results: Path, launches: Sequence[rows.Launch]) -> list[Path]:
    """The raw files of the launches. Raises CrossoverError if one is missing."""
    raw = [run_files.raw_file(results, launch.file) for launch in launches]
    if missing := [str(path) for path in raw if not path.is_file()]:
        raise CrossoverError(
            f"{missing[0]}: is missing ({len(missing)} of {len(raw)} raw files are); to remeasure missing launches, "
            "repeat the command that made the report, then bundle again"
        )
    return raw


def _checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _crate(files: Sequence[str], attribution: Attribution, launches: Sequence[rows.Launch]) -> dict[str, Any]:
    """The metadata of a bundle with these files: the root, files, licence and authors."""
    days = sorted(launch.started_utc[:10] for launch in launches if launch.started_utc)
    experiments = sorted({launch.experiment for launch in launches})
    licence = {
        "@id": f"https://spdx.org/licenses/{attribution.licence}", "@type": "CreativeWork", "name": attribution.licence
    }  # fmt: skip
    authors = [_person(author) for author in attribution.authors]
    parts = [{"@id": quote(name, safe="/="), "@type": "File", "name": name} for name in files]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Messaging measurements by crossover, {' to '.join(sorted({days[0], days[-1]}))}",
        "description": f"{len(launches)} launches of {', '.join(experiments)}: raw samples, tables, figures, report.",
        # The day of the data, not of the bundle: the same run gives the same bytes.
        "datePublished": days[-1],
        "license": _references([licence])[0],
        "hasPart": _references(parts),
        **({"author": _references(authors)} if authors else {}),
    }
    about = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [about, root, licence, *authors, *parts]}


def _references(entities: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [{"@id": entity["@id"]} for entity in entities]


def _person(author: str) -> dict[str, str]:
    described = AUTHOR.fullmatch(author)
    assert described  # checked by Attribution
    name, orcid = described["name"], described["orcid"]
    return {"@id": f"https://orcid.org/{orcid}" if orcid else f"#{quote(name)}", "@type": "Person", "name": name}
