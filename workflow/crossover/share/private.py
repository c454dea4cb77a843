"""Removes this machine's folders, and the user's name in folders, from what is shared; with `redact`, all names.

They occur in reasons of holes, names of raw files, and the configuration. Facts about the hosts stay, because readers
need them; redacted, the names of hosts, users, accounts, addresses, jobs and paths become pseudonyms, and the reasons
are withheld.
"""

import getpass
import json
import re
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crossover.errors import CrossoverError
from crossover.records import failure, record
from crossover.share import archive
from crossover.share.pseudonyms import WHY, Pseudonyms

ABSOLUTE = re.compile(r"(?<![\w.~/<-])/(?!/)[^\s'\"<>,;:()]+")
"""An absolute path, but not a part of a URL or the end of an HTML element."""

PUBLISHED = {"claim", "source", "quote", "locator", "url", "says", "snippet"}
"""Columns with published texts, or code; they name nothing of this run."""

LANGUAGE = ("docs/data.md", "config/schema.yaml")
"""Files whose words are no names in sentences, even if a host or a user is called like one."""


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
        files = archive.files(folder)
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
        elif path.suffix not in (".png", ".pdf"):
            content = path.read_bytes().decode(errors="surrogateescape")
            if (masked := self._content(content, path, name)) != content:
                path.write_bytes(masked.encode(errors="surrogateescape"))

    def _content(self, content: str, path: Path, name: str) -> str:
        if self.names is None:
            return self.text(content)
        if path.name == failure.FILE:
            return json.dumps(self.facts(json.loads(content)))
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
            table = pq.read_table(path, partitioning=None)
        except pa.ArrowException as error:
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


def copy(paths: Iterable[Path], root: Path, folder: Path) -> None:
    """Copy files, and folders without hidden files, from below `root` to the same places below `folder`.

    Raises CrossoverError for a link: it can lead to any file of the user, and a bundle is for others.
    """
    for path in paths:
        inside = [path, *(each for each in path.parents if each.is_relative_to(root) and each != root)]
        if link := next((each for each in (*inside, *path.rglob("*")) if each.is_symlink()), None):
            raise CrossoverError(f"{link}: is a link, and only files of the run are shared; put a copy in its place")
        copied = folder / path.relative_to(root)
        copied.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, copied, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copyfile(path, copied)


def _named(name: str, beside: Collection[str]) -> str:
    """The name of a column, or of an entry of metadata, from those `beside` it: a hole's reason is told from others."""
    return WHY if name == "reason" and "hole" in beside else name


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return Path.home().name
