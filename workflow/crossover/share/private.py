"""Removes this machine's folders, and the user's name in folders, from what is shared; with `redact`, all names.

They occur in reasons of holes, names of raw files, and the configuration. Facts about the hosts stay, because readers
need them. Redacted, the names of hosts, users, accounts, addresses, jobs and paths become pseudonyms, numbered in the
order in which names first appear, so no name can be computed from them. Texts of other programs, such as reasons, are
withheld, because no list of patterns recognises every name in them.
"""

import getpass
import ipaddress
import json
import re
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from crossover.errors import CrossoverError
from crossover.records import record
from crossover.share import run_files

ABSOLUTE = re.compile(r"(?<![\w.~/<-])/(?!/)[^\s'\"<>,;:()]+")
"""An absolute path, but not a part of a URL or the end of an HTML element."""

PUBLISHED = {"claim", "source", "quote", "locator", "url", "says", "snippet"}
"""Columns with published texts, or code; they name nothing of this run."""

LANGUAGE = ("docs/data.md", "config/README.md")
"""Files whose words are no names in sentences, even if a host or a user is called like one."""

SLURM = {
    **{"SLURM_JOB_USER": "user", "SLURM_JOB_UID": "user-number", "SLURM_JOB_ACCOUNT": "account"},
    **{"SLURM_JOB_ID": "job", "SLURM_JOBID": "job", "SLURM_JOB_NAME": "job-name", "SLURM_JOB_NODELIST": "hosts"},
    **{"SLURM_JOB_PARTITION": "partition", "SLURM_JOB_QOS": "qos", "SLURM_JOB_RESERVATION": "reservation"},
}
"""The kinds of names in variables of a Slurm job. All other variables but KEPT have the kind `value`."""

KEPT = {f"SLURM_JOB_{name}" for name in ("CPUS_PER_NODE", "NUM_NODES", "START_TIME", "END_TIME", "GPUS")}
"""Variables of a Slurm job that name nothing."""

COLUMNS = {"host": "hosts", "hosts": "hosts", "address": "address", "interface": "interface", "job": "job"}
"""The kinds of names in columns, and in entries of metadata."""

SPOKEN = ("host", "domain", "user", "account", "address", "interface", "job-name")
"""The kinds of names that are replaced in sentences too; names of other kinds can be any word, such as `normal`."""

COMMON = frozenset({"localhost", "root", "lo", "user"})
"""Names that every machine has."""

SYSTEM = ("/usr/", "/lib", "/bin/", "/sbin/", "/proc/", "/sys/", "/dev/", "/etc/")
"""Starts of paths that every machine has."""

PATH = re.compile(r"(?:~|(?<![\w.~/<-]))/(?!/)[^\s'\"<>,;:()]+")
"""A path in the home, or an absolute path, but not a part of a URL or the end of an HTML element."""

WHY = "why"
"""In place of the name `reason`, for the reason of a hole; reasons of claims and settings are this project's words."""

FREE = (WHY, "too_few_nodes")
"""Columns and entries with texts of other programs, which can name anything in any form."""

QUOTED = re.compile(r"(the first because of `[^:`]*):.*`", re.DOTALL)
"""The reason of a hole within that of a claim or a setting, behind its kind, as `records.holes.why` writes it."""

WITHHELD = "withheld, because it can name hosts and people"

FOLDERS = {"file": "raw/", "receipt": "launches/"}
"""Columns of paths, with the folder of each in the results."""


class Mask:
    """Folders of this machine, and their replacements; if `redact`, pseudonyms for all names too."""

    def __init__(self, results: Path, project: Path, redact: bool = False):
        home = Path.home()
        named = {str(results.resolve()): "results", str(results): "results", str(project): ".", str(home): "~"}
        # A relative name or the root reveals nothing.
        folders = {name: other for name, other in named.items() if name.startswith("/") and len(name) > 1}
        # The longest first, because one folder can contain another.
        self.folders = sorted(folders.items(), key=lambda pair: -len(pair[0]))
        self.user = f"/{_user()}/"
        self.names: Pseudonyms | None = None
        if redact:
            texts = [(project / name).read_text(encoding="utf-8") for name in LANGUAGE]
            self.names = Pseudonyms(word for text in texts for word in re.findall(r"[\w-]+", text))

    def text(self, content: str) -> str:
        """The text without these folders and the user's name, or without any name."""
        for folder, other in self.folders:
            content = content.replace(folder, other)
        # Only in paths, because the user's name can be any word.
        content = ABSOLUTE.sub(lambda found: f"{found[0]}/".replace(self.user, "/user/")[:-1], content)
        return self.names.text(content) if self.names else content

    def field(self, name: str, content: str) -> str:
        """The same for a value of the column, or entry of metadata, with this name."""
        if self.names is None or name in PUBLISHED:
            return self.text(content)
        # Pseudonyms of paths and logins come after the folders of this machine are replaced.
        for folder, other in self.folders if name not in ("host", "hosts") else ():
            content = content.replace(folder, other)
        return self.names.field(name, content)

    def facts(self, value: Any, name: str = "") -> Any:
        """The same for all texts within a value of JSON; `name` is its key."""
        if isinstance(value, dict):
            return {key: self.facts(entry, _named(key, value)) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.facts(entry, name) for entry in value]
        return self.field(name, value) if isinstance(value, str) else value

    def folder(self, folder: Path, waiting: Any) -> str:
        """Mask every file in `folder`, and the page's inputs, which are returned as JSON. Raises CrossoverError."""
        files = run_files.below(folder)
        if self.names:
            self.names.of("user", _user())
            # Twice, so that a name that a later file tells is replaced in earlier ones too.
            self.facts(waiting)
            for name in sorted(files, key=lambda name: (name != "results/launches.parquet", name)):
                if files[name].suffix == ".parquet":
                    self._masked(files[name], name)
        for name, path in files.items():
            self._file(path, name)
        return json.dumps(self.facts(waiting))

    def _file(self, path: Path, name: str) -> None:
        """Mask a file; one without names keeps its exact bytes."""
        if path.suffix == ".parquet":
            self._parquet(path, name)
        else:
            content = path.read_bytes().decode(errors="surrogateescape")
            if (masked := self._content(content, path, name)) != content:
                path.write_bytes(masked.encode(errors="surrogateescape"))

    def _content(self, content: str, path: Path, name: str) -> str:
        if self.names is None:
            return self.text(content)
        names, self.names = self.names, None
        try:
            # Charts have numbers that look like anything, and the project's own files name nothing of this run.
            masked = self.text(content)
        finally:
            self.names = names
        return names.names(masked) if name.startswith("results/") else masked

    def _masked(self, path: Path, name: str) -> tuple[pa.Table, pa.Table, dict[str, Any]]:
        """A table, the same masked, and its masked metadata."""
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
            if pa.types.is_string(field.type):
                coded = table[field.name].combine_chunks().dictionary_encode()
                known = _named(field.name, table.column_names)
                told = [self.field(known, text) for text in coded.dictionary.to_pylist()]
                texts = pa.array(told, pa.string())
                if not texts.equals(coded.dictionary):
                    masked = masked.set_column(index, field.name, texts.take(coded.indices))
        return table, masked, self.facts(record.metadata(table))

    def _parquet(self, path: Path, name: str) -> None:
        table, masked, facts = self._masked(path, name)
        if masked is not table or facts != record.metadata(table):
            # The facts include the file's own version, because some raw files can be of an earlier one.
            record.write(masked, path, facts)


def _named(name: str, beside: Collection[str]) -> str:
    """The name of a column, or of an entry of metadata, from those `beside` it: a hole's reason is told from others."""
    return WHY if name == "reason" and "hole" in beside else name


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return Path.home().name


class Pseudonyms:
    """The pseudonyms of one run, given when a name is first seen.

    `words` are words of the tables' own language: a host or user with such a name is replaced where a column names
    it, and in paths, but not in sentences.
    """

    def __init__(self, words: Iterable[str] = ()):
        self.words = COMMON | set(words)
        self._given: dict[str, dict[str, str]] = {}
        self._pattern: tuple[re.Pattern[str], dict[str, str]] | None = None

    def of(self, kind: str, name: str) -> str:
        """The pseudonym of a name, such as `host-1`."""
        if kind == "hosts":
            return ",".join(sorted(self._host(each) for each in host_names(name)))
        if kind == "host":
            return self._host(name)
        if kind in ("address", "interface") and (name == "lo" or _everywhere(name)):
            return name
        given = self._given.setdefault(kind, {})
        if name not in given:
            given[name] = f"{kind}-{len(given) + 1}"
            if kind in SPOKEN:
                self._pattern = None
        return given[name]

    def _host(self, name: str) -> str:
        short, _, domain = (name, "", "") if _address(name) else name.lower().partition(".")
        if domain:
            self.of("domain", domain)
        given = self._given.setdefault("host", {})
        if short not in given:
            given[short] = f"host-{len(given) + 1}"
            self._pattern = None
        return given[short]

    def field(self, name: str, value: str) -> str:
        """A value of the column `name`, or of an entry of metadata, with pseudonyms."""
        if not value:
            return value
        if name in COLUMNS:
            return self.of(COLUMNS[name], value)
        if name in FREE:
            return WITHHELD
        if name == "reason":
            value = QUOTED.sub(r"\1`", value)
        if name == "error":
            # An exception's type is a word of Python or of this project; its message can be any text.
            kind, _, message = value.partition(":")
            return f"{kind}: {WITHHELD}" if message and kind.isidentifier() else WITHHELD
        if name == "mpi":
            first, *others = value.split(", ")
            return ", ".join([first, *(each for each in others if each.startswith("thread level"))])
        if name == "slurm":
            return json.dumps({key: self._variable(key, each) for key, each in json.loads(value).items()})
        if name == "network":
            return json.dumps({self.of("interface", key): each for key, each in json.loads(value).items()})
        if (within := FOLDERS.get(name)) and within in value:
            # Wherever the folder of results was.
            return f"results/{within}{value.rpartition(within)[2]}"
        return self.text(value)

    def _variable(self, key: str, value: Any) -> Any:
        return value if key in KEPT or not isinstance(value, str) else self.of(SLURM.get(key, "value"), value)

    def text(self, content: str) -> str:
        """A text with pseudonyms for paths, and for all names that columns have had so far, each as a whole word."""
        return self.names(PATH.sub(self._path, content))

    def names(self, content: str) -> str:
        """A text with pseudonyms for the names seen so far, each as a whole word."""
        pattern, known = self._pattern or self._compiled()
        return pattern.sub(lambda found: known[found[0].lower()], content)

    def _compiled(self) -> tuple[re.Pattern[str], dict[str, str]]:
        """The pattern of all names that sentences can have, and their pseudonyms; kept until a name is added."""
        spoken = (self._given.get(kind, {}) for kind in SPOKEN)
        known = {name.lower(): each for names in spoken for name, each in names.items() if self._is_plain(name)}
        parts = [re.escape(name) for name in sorted(known, key=lambda name: (-len(name), name))]
        anything = "|".join(parts) or r"(?!)"
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{anything})(?![A-Za-z0-9])", re.IGNORECASE), known
        return self._pattern

    def _is_plain(self, name: str) -> bool:
        return len(name) > 1 and not name.isdigit() and name not in self.words

    def _path(self, found: re.Match[str]) -> str:
        return found[0] if found[0].startswith(SYSTEM) else self.of("path", found[0])


@cache
def _address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _everywhere(text: str) -> bool:
    """Whether this is an address that every machine has."""
    if not _address(text):
        return False
    found = ipaddress.ip_address(text)
    return found.is_loopback or found.is_unspecified


@cache
def host_names(text: str) -> tuple[str, ...]:
    """The hosts of a list as Slurm writes it.

    >>> host_names("a[01-03,7],b")
    ('a01', 'a02', 'a03', 'a7', 'b')
    """
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        if not (found := re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)):
            names.append(part)
            continue
        for each in found[2].split(","):
            first, _, last = each.partition("-")
            numbers = range(int(first), int(last or first) + 1) if (first + last).isdigit() else []
            middles = [f"{number:0{len(first)}}" for number in numbers] or [each]
            names += [name for middle in middles for name in host_names(f"{found[1]}{middle}{found[3]}")]
    return tuple(names)
