"""Masks this machine's folders, and the user's name in paths, in files to share; with `redact`, all names.

Redacted, each column, and each entry of metadata, is treated by its kind. Names of hosts, users, accounts, addresses,
jobs and paths become pseudonyms, numbered in the order in which they first appear, so no name can be computed from
them. Texts of other programs, such as reasons of holes, are withheld, because no list of patterns recognises every name
in them; so is everything without a kind.
"""

import getpass
import json
import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import record
from crossover.report.pages import renderer
from crossover.share import run_files

PATH = re.compile(r"(?:~|(?<![\w.~/<-]))/(?!/)[^\s'\"<>,;:()\\]+")
"""A path in the home, or an absolute path, but not a part of a URL or the end of an HTML element."""

SYSTEM = ("/usr/", "/lib", "/bin/", "/sbin/", "/proc/", "/sys/", "/dev/", "/etc/")
"""Starts of paths that every machine has."""

MEASURED = ("launches", "ranks", "changes", "unpaired", "differences")
"""The tables with facts about machines and jobs; all texts in other tables are this project's, but those of NAMES."""

WORDS = {
    *(column for name, row in record.TABLES.items() if name not in MEASURED for column in row.schema().names),
    *("outcome", "hole", "started_utc", "settings", "code", "commit", "run", "phases"),
    *("cpu", "affinity", "governor", "os", "python", "tuning"),
}
"""Columns that name nothing but paths."""

NAMES = {
    **{"host": "host", "hosts": "host", "address": "address", "interface": "interface", "job": "job"},
    **{"container": "container", "other": "host", "network": "interface"},
}
"""Columns of names, or of lists of names, with the kind of each."""

MAPS = {each.name for row in record.TABLES.values() for each in row.schema() if pa.types.is_map(each.type)}
"""Columns of maps, whose texts are of the column's kind."""

OF_VARIABLES = ("slurm", "variables")
"""Those whose keys are names of variables."""

FOLDERS = {"file": "raw/", "receipt": "launches/"}
"""Columns of paths, with the folder of each in the results."""

EVERYWHERE = re.compile(
    r"lo|127\.[\d.]+|::1?|0\.0\.0\.0|docker|podman|libpod|kubepods|containerd|crio|lxc|oci|systemd-nspawn|machine\.slice"
)
"""Interfaces and addresses that every machine has, and programs for containers."""

JOB = {"SLURM_JOB_ID": "job", "SLURM_JOBID": "job"}
"""Variables of a Slurm job whose values are in the column `job` too."""

KEPT = {f"SLURM_JOB_{name}" for name in ("CPUS_PER_NODE", "NUM_NODES", "START_TIME", "END_TIME", "GPUS")}
"""Variables of a Slurm job that name nothing."""

PLAIN = re.compile(r"\d{1,4}|set|true|false|yes|no|on|off", re.IGNORECASE)
"""Values of other variables that name nothing."""

KERNEL = re.compile(r"\d+([.-]\d+)*")
"""The number of a kernel; whoever builds one chooses the rest."""

WHY = "why"
"""In place of the name `reason`, for the reason of a hole; reasons of claims and settings are this project's words."""

QUOTED = re.compile(r"(the first because of `[^:`]*):.*`", re.DOTALL)
"""The reason of a hole within that of a claim or a setting, behind its kind, as `records.holes.why` writes it."""

WITHHELD = "withheld, because it can name hosts and people"

INPUTS = {"hosts": None, "withheld": None, "too_few_nodes": WITHHELD, "partial": [WITHHELD]}
"""The page's inputs, with what replaces those that are texts of other programs."""


def render(
    results: Path,
    folder: Path,
    made_from: dict[str, Any],
    redact: bool,
    own_text: bool = False,
    published: Path | None = None,
) -> None:
    """Copy what a page is made from to `results` in `folder`, mask all files in `folder`, and render the page there.

    `made_from` is the page's origin, `own_text` that of Mask. A `published` page that has been rendered from the same
    masked files is copied instead. Raises CrossoverError, and OSError if a file cannot be copied.
    """
    run_files.copy([results / name for name in made_from["made_from"]], results, folder / "results")
    waiting = Mask(results, redact, own_text).folder(folder, made_from["waiting"])
    page = folder / "results" / run_files.PAGE
    if published and _is_of(published, results / run_files.PAGE, renderer.origin(folder / "results", waiting)):
        page.parent.mkdir(exist_ok=True)
        shutil.copyfile(published, page)
    else:
        renderer.render(folder / "results", page, waiting)


def _is_of(published: Path, page: Path, origin: dict[str, Any]) -> bool:
    """Whether a published page has this origin, and is no older than the run's `page`.

    The run renders its page again when the code of pages has changed.
    """
    with suppress(CrossoverError, OSError):
        return published.stat().st_mtime >= page.stat().st_mtime and renderer.recorded_origin(published) == origin
    return False


class Mask:
    """Folders of this machine, and their replacements; if `redact`, pseudonyms for all names too.

    Unless `own_text`, the text of a user's files becomes its checksum.
    """

    def __init__(self, results: Path, redact: bool = False, own_text: bool = False):
        home = Path.home()
        named = {str(results.resolve()): "results", str(results): "results", str(PROJECT): ".", str(home): "~"}
        # A relative name or the root reveals nothing.
        folders = {name: other for name, other in named.items() if name.startswith("/") and len(name) > 1}
        # The longest first, because one folder can contain another.
        self.folders = sorted(folders.items(), key=lambda pair: -len(pair[0]))
        self.user = f"/{_user()}/"
        self.redact, self.own_text = redact, own_text
        self._given: dict[str, dict[str, str]] = {}

    def text(self, content: str) -> str:
        """The text without these folders, and without the user's name in paths."""
        for folder, other in self.folders:
            content = content.replace(folder, other)
        # Only in paths, because the user's name can be any word.
        return PATH.sub(lambda path: f"{path[0]}/".replace(self.user, "/user/")[:-1], content)

    def field(self, name: str, content: str, key: str = "") -> str:
        """The same for a value of the column, or entry of metadata, with this name; in a map, for that of `key`."""
        if name == "settings" and not self.own_text:
            content = _without_text(content)
        content = self.text(content)
        return self._redacted(name, content, key) if self.redact and content else content

    def facts(self, value: Any, name: str = "") -> Any:
        """The same for all texts within a value of JSON or of a nested column; `name` is its key."""
        if name in MAPS and isinstance(value, str):
            # As earlier releases wrote it.
            return json.dumps(self.facts(json.loads(value), name))
        if name in MAPS and isinstance(value, dict):
            own = {key: self.field(name, it, key) if isinstance(it, str) else it for key, it in value.items()}
            return {self.text(key) if name in OF_VARIABLES else self.field(name, key): it for key, it in own.items()}
        if isinstance(value, dict):
            return {key: self.facts(entry, _named(key, value)) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.facts(entry, name) for entry in value]
        return self.field(name, value) if isinstance(value, str) else value

    def folder(self, folder: Path, waiting: dict[str, Any]) -> str:
        """Mask every file in `folder`, and the page's inputs, which are returned as JSON. Raises CrossoverError."""
        files = run_files.below(folder)
        for name in sorted(files, key=lambda name: (name != "results/launches.parquet", name)):
            self._file(files[name], name)
        if self.redact:
            return json.dumps({name: INPUTS[name] or waiting[name] for name in INPUTS if waiting.get(name)})
        return json.dumps(self.facts(waiting))

    def _file(self, path: Path, name: str) -> None:
        """Mask a file; one without names keeps its exact bytes."""
        if path.suffix == ".parquet":
            self._parquet(path, name)
        else:
            # Charts and the project's own files have no column of names.
            content = path.read_bytes().decode(errors="surrogateescape")
            if (masked := self.text(content)) != content:
                path.write_bytes(masked.encode(errors="surrogateescape"))

    def _parquet(self, path: Path, name: str) -> None:
        try:
            with record.opened(path) as file:
                table = file.read()
        except record.DAMAGE as error:
            why = " ".join(str(error).split())
            raise CrossoverError(
                f"{name}: cannot be read ({why}); remeasure it (snakemake ... -R {name}), then repeat the command"
            ) from None
        masked = table
        for index, field in enumerate(table.schema):
            if "string" in str(field.type):
                column, kind = table[field.name].combine_chunks(), _named(field.name, table.column_names)
                coded = column.dictionary_encode() if pa.types.is_string(field.type) else None
                own = column if coded is None else coded.dictionary
                found = pa.array([self.facts(each, kind) for each in own.to_pylist(maps_as_pydicts="lossy")], own.type)
                if not found.equals(own):
                    masked = masked.set_column(index, field, found if coded is None else found.take(coded.indices))
        facts = self.facts(record.metadata(table))
        if masked is not table or facts != record.metadata(table):
            # The facts include the file's own version, because some raw files can be of an earlier one.
            record.write(masked, path, facts)

    def _redacted(self, name: str, content: str, key: str) -> str:
        if name in NAMES:
            return ",".join(sorted(self._pseudonym(NAMES[name], each) for each in content.split(",")))
        if name in FOLDERS:
            # Wherever the folder of results was.
            _, within, inside = content.rpartition(FOLDERS[name])
            return f"results/{within}{inside}" if within else WITHHELD
        match name:
            case "slurm" | "variables" if key:
                return self._variable(key, content)
            case "libraries" | "mpi":
                return _release(content)
            case "kernel":
                return number[0] if (number := KERNEL.match(content)) else WITHHELD
            case "reason":
                content = QUOTED.sub(r"\1`", content)
        return PATH.sub(self._path, content) if name in WORDS else WITHHELD

    def _pseudonym(self, kind: str, name: str) -> str:
        """The pseudonym of a name, such as `host-1`; of a host, whether with its domain or without."""
        if kind == "host" and not re.fullmatch(r"[\d.]+|.*:.*", name):
            name = name.lower().partition(".")[0]
        if kind in ("address", "interface", "container") and EVERYWHERE.fullmatch(name):
            return name
        given = self._given.setdefault(kind, {})
        return given.setdefault(name, f"{kind}-{len(given) + 1}")

    def _variable(self, key: str, value: str) -> str:
        if key in KEPT or (not key.startswith("SLURM") and PLAIN.fullmatch(value)):
            return value
        return self._pseudonym(JOB.get(key, key.removeprefix("SLURM_JOB_").lower()), value)

    def _path(self, path: re.Match[str]) -> str:
        return path[0] if path[0].startswith(SYSTEM) else self._pseudonym("path", path[0])


def _named(name: str, beside: Collection[str]) -> str:
    """The name of a column or an entry of metadata. The names `beside` it show whether a reason is a hole's."""
    return WHY if name == "reason" and "hole" in beside else name


def _without_text(settings: str) -> str:
    """Settings as JSON, with checksums in place of the text of a user's files."""
    if '"sources"' not in settings:
        return settings
    told = json.loads(settings)
    texts = {name: sha256(text.encode(errors="surrogateescape")) for name, text in told["sources"].items()}
    kept = {name: f"# not shared; its SHA-256 is {each.hexdigest()}\n" for name, each in texts.items()}
    return json.dumps(told | {"sources": kept}, sort_keys=True)


def _release(version: str) -> str:
    """The name and version of a library, without the user and host that built it, as Open MPI says them."""
    first, *others = version.split(", ")
    return ", ".join([first, *(each for each in others if each.startswith("thread level"))])


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return Path.home().name
