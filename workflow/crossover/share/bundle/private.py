"""Takes this machine's folders, and its user's name in folders, out of what leaves it.

They come in by the reasons of holes, by the names of raw files and by the configuration where results lie elsewhere.
What the ranks told of their hosts stays: that is what a reader has to know.
"""

from __future__ import annotations

import getpass
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crossover.records import record

ABSOLUTE = re.compile(r"(?<![\w.~/<-])/(?!/)[^\s'\"<>,;:()]+")
"""A path from the root of a file system; neither a part of a URL nor the end of an element of HTML."""


class Mask:
    """Folders of this machine, and what to write in their place."""

    def __init__(self, results: Path, project: Path):
        home = Path.home()
        named = {str(results.resolve()): "results", str(results): "results", str(project): ".", str(home): "~"}
        # A relative name, or a root that is also another's beginning, tells nothing.
        folders = {name: other for name, other in named.items() if name.startswith("/") and len(name) > 1}
        # The longest first, because one may lie in another.
        self.folders = sorted(folders.items(), key=lambda pair: -len(pair[0]))
        self.user = f"/{_user()}/"

    def text(self, said: str) -> str:
        """A text without them."""
        for folder, other in self.folders:
            said = said.replace(folder, other)
        # Only there, because a user may have the name of anything else.
        return ABSOLUTE.sub(lambda found: f"{found[0]}/".replace(self.user, "/user/")[:-1], said)

    def file(self, path: Path) -> None:
        """Take them out of a file, which keeps its very bytes if they are not in it."""
        if path.suffix == ".parquet":
            self._parquet(path)
        elif path.suffix not in (".png", ".pdf"):
            said = path.read_bytes().decode(errors="surrogateescape")
            if (masked := self.text(said)) != said:
                path.write_bytes(masked.encode(errors="surrogateescape"))

    def _parquet(self, path: Path) -> None:
        table = pq.read_table(path, partitioning=None)
        texts = [name for name in table.column_names if pa.types.is_string(table.schema.field(name).type)]
        masked = table
        for name in texts:
            said = [text for text in pc.unique(table[name]).to_pylist() if text]
            if any(self.text(text) != text for text in said):
                column = pa.array([text and self.text(text) for text in table[name].to_pylist()], pa.string())
                masked = masked.set_column(masked.column_names.index(name), name, column)
        facts = record.metadata(table)
        told = {key: self._within(value) for key, value in facts.items()}
        if masked is not table or told != facts:
            # With the version that it has: a raw file of an earlier one may lie beside those of this run.
            record.write(masked, path, told)

    def _within(self, value: object) -> object:
        """A value of JSON with its texts masked."""
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
