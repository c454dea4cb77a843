"""Archives a run: raw samples, tables, figures, report, configuration, locked versions, and an RO-Crate.

The report in the archive is rendered from the archive's own files, because names in them are replaced.
"""

import sys
import tempfile
from hashlib import file_digest
from pathlib import Path
from typing import Any

import yaml

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.report.render import renderer
from crossover.share import archive, crate, freshness, private

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


def write(results: Path, bundle: Path, attribution: crate.Attribution, redact: bool = False) -> str:
    """Archive a run as a zip file; the same run gives the same bytes. Returns a sentence. Raises CrossoverError.

    If `redact`, names of hosts, users, accounts, addresses, jobs and paths become pseudonyms, and texts of other
    programs are withheld.
    """
    if bundle.suffix != ".zip":
        raise CrossoverError(f"{bundle}: is not a name of a zip file; choose one that ends in .zip")
    made_from = freshness.require(results)
    if not any(launch["started_utc"] for launch in freshness.launches(results)):
        raise CrossoverError(f"{results}: has no launch, so there is nothing to archive; measure first: make report")
    try:
        return _write(results, bundle, attribution, made_from, redact)
    except OSError as error:
        raise CrossoverError(
            f"{error.filename or results}: cannot be copied ({error.strerror or error}); if {tempfile.gettempdir()} is "
            "full, set TMPDIR to another folder"
        ) from None


def _write(results: Path, bundle: Path, attribution: crate.Attribution, made_from: dict[str, Any], redact: bool) -> str:
    with tempfile.TemporaryDirectory(prefix="crossover-") as temporary:
        folder = Path(temporary) / "bundle"
        private.copy(
            [*_raw(results), *(results / name for name in made_from["made_from"])], results, folder / "results"
        )
        private.copy([path for pattern in BESIDE for path in PROJECT.glob(pattern)], PROJECT, folder)
        if redact:
            # Its words can be any, and the tables have the settings of each launch.
            (folder / crate.CONFIGURATION).unlink()
        waiting = private.Mask(results, PROJECT, redact).folder(folder, made_from["waiting"])
        renderer.render(folder / "results", folder / "results" / freshness.PAGE, waiting)
        (folder / "README.md").write_text(README + REDACTED * redact, encoding="utf-8")
        crate.write(folder, attribution, yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8")))
        sums = [f"{checksum(path)}  {name}\n" for name, path in archive.files(folder).items()]
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
        print(f"bundle: packing {len(sums) + 1} files into {bundle}", file=sys.stderr, flush=True)
        archive.write(folder, bundle)
    return f"Bundle: {bundle}, {len(sums) + 1} files, {bundle.stat().st_size / 1e6:.1f} MB"


def _raw(results: Path) -> list[Path]:
    """The raw files of the launches in the tables. Raises CrossoverError if one is missing."""
    raw = [freshness.raw_file(results, launch) for launch in freshness.launches(results)]
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
