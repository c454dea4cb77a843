"""Archives a run: raw samples, tables, figures, report, configuration and locked versions.

The report in the archive is rendered from the archive's own files, because names in them are replaced.
"""

import sys
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import rows, run_tables
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
- `sha256sum --check SHA256SUMS` checks that all files are whole.

In a checkout of crossover, `make report FROM=<this folder>/results` renders the tables again.
"""


WITHOUT_TEXT = """
The text of the measured file of the user is left out; its SHA-256 is in the settings of each launch.
"""
"""The addition to README without it."""

REDACTED = """
Names of hosts, users, accounts, addresses, jobs and paths are pseudonyms, such as host-1, the same in all files.
Reasons of holes, remarks of partial runs and `config/config.yaml` are withheld.
"""
"""The addition to README in a redacted bundle."""

CONFIGURATION = "config/config.yaml"


def write(results: Path, bundle: Path, redact: bool = False, own_text: bool = False) -> str:
    """Archive a run as a zip file; the same run gives the same bytes. Returns a sentence. Raises CrossoverError.

    With the text of a user's files only if `own_text`.

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
        private.render(results, folder, made_from, redact, own_text)
        held = run_files.own_files(launches, own_text)
        added = REDACTED * redact + WITHOUT_TEXT * bool(held and not own_text)
        (folder / "README.md").write_text(README + added, encoding="utf-8")
        sums = [f"{_checksum(path)}  {name}\n" for name, path in run_files.below(folder).items()]
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
        print(f"bundle: packing {len(sums) + 1} files into {bundle}", file=sys.stderr, flush=True)
        run_files.pack(folder, bundle)
    return f"Bundle: {bundle}, {len(sums) + 1} files, {bundle.stat().st_size / 1e6:.1f} MB{held}"


def _raw(results: Path, launches: Sequence[rows.Launch]) -> list[Path]:
    """The raw files of the launches. Raises CrossoverError if one is missing."""
    raw = [run_tables.raw_file(results, launch.file) for launch in launches]
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
