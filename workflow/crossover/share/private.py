"""Removes this machine's folders, and the user's name in folders, from a bundle.

They occur in reasons of holes, names of raw files, and the configuration. Facts about the hosts stay, because readers
need them.
"""

import getpass
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crossover.records import record

ABSOLUTE = re.compile(r"(?<![\w.~/<-])/(?!/)[^\s'\"<>,;:()]+")
"""An absolute path, but not a part of a URL or the end of an HTML element."""


class Mask:
    """Folders of this machine, and their replacements."""

    def __init__(self, results: Path, project: Path):
        home = Path.home()
        named = {str(results.resolve()): "results", str(results): "results", str(project): ".", str(home): "~"}
        # A relative name or the root reveals nothing.
        folders = {name: other for name, other in named.items() if name.startswith("/") and len(name) > 1}
        # The longest first, because one folder can contain another.
        self.folders = sorted(folders.items(), key=lambda pair: -len(pair[0]))
        self.user = f"/{_user()}/"

    def text(self, content: str) -> str:
        """The text without these folders and the user's name."""
        for folder, other in self.folders:
            content = content.replace(folder, other)
        # Only in paths, because the user's name can be any word.
        return ABSOLUTE.sub(lambda found: f"{found[0]}/".replace(self.user, "/user/")[:-1], content)

    def file(self, path: Path) -> None:
        """Remove them from a file; a file without them keeps its exact bytes."""
        if path.suffix == ".parquet":
            self._parquet(path)
        elif path.suffix not in (".png", ".pdf"):
            content = path.read_bytes().decode(errors="surrogateescape")
            if (masked := self.text(content)) != content:
                path.write_bytes(masked.encode(errors="surrogateescape"))

    def _parquet(self, path: Path) -> None:
        table = pq.read_table(path, partitioning=None)
        masked = table
        for index, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                coded = table[field.name].combine_chunks().dictionary_encode()
                texts = pa.array([self.text(text) for text in coded.dictionary.to_pylist()], pa.string())
                if not texts.equals(coded.dictionary):
                    masked = masked.set_column(index, field.name, texts.take(coded.indices))
        facts = record.metadata(table)
        masked_facts = {key: self._within(value) for key, value in facts.items()}
        # Files of earlier releases have no checksum; in a bundle every file has one, so that none can be removed.
        undigested = record.DIGEST not in (table.schema.metadata or {})
        if masked is not table or masked_facts != facts or undigested:
            # The facts include the file's own version, because some raw files can be of an earlier one.
            record.write(masked, path, masked_facts)

    def _within(self, value: object) -> object:
        if isinstance(value, dict):
            return {key: self._within(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._within(entry) for entry in value]
        return self.text(value) if isinstance(value, str) else value


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return Path.home().name
