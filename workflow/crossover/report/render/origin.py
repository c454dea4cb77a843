"""The origin of a page, recorded in the page itself: digests of the results, and the renderer's inputs.

It has no date, so that the same results give the same page, byte for byte.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.records import record

MARK = "crossover-origin"
"""The identifier of the element with the origin; it identifies crossover's pages."""

ELEMENT = re.compile(rf'<script type="application/json" id="{MARK}">(.*?)</script>', re.DOTALL)


def of(results: Path, waiting: str = "{}") -> dict[str, Any]:
    """The origin of a page on `results`: the digest of each table and of each folder of figures."""
    # Archives and git lose empty folders, which exist if nothing was measured.
    # A killed step leaves a hidden folder.
    folders = (path for path in results.glob("figures/[!.]*") if path.is_dir())
    figures = [path for path in folders if any(_visible(path))]
    sources = sorted([*results.glob("*.parquet"), *figures])
    return {
        "crossover": record.VERSION,
        "made_from": {path.relative_to(results).as_posix(): _digest(path) for path in sources},
        "waiting": json.loads(waiting),
    }


def stamped(text: str, facts: dict[str, Any]) -> str:
    """A page with the facts in it, as unused data."""
    # In a script element, only a closing tag ends the text.
    data = json.dumps(facts, sort_keys=True, separators=(",", ":")).replace("</", "<\\/")
    body, end, rest = text.rpartition("</body>")
    element = f'<script type="application/json" id="{MARK}">{data}</script>'
    return f"{body}{element}\n{end}{rest}" if end else f"{text}{element}\n"


def read(page: Path) -> dict[str, Any]:
    """The origin that a page records. Raises CrossoverError."""
    try:
        facts: dict[str, Any] = json.loads(ELEMENT.findall(page.read_text(encoding="utf-8"))[-1])
        found = {key: facts[key] for key in ("crossover", "made_from", "waiting")}
        if not isinstance(found["made_from"], dict) or not isinstance(found["waiting"], dict):
            raise TypeError
        return found
    except OSError as error:
        raise CrossoverError(f"{page}: there is no report ({error.strerror}); make it: make report") from None
    except (IndexError, KeyError, TypeError, ValueError):
        raise CrossoverError(f"{page}: has no record of its origin; render it again: make report") from None


def _visible(folder: Path) -> Iterator[Path]:
    """The files of a folder without the hidden file that Snakemake adds to a rule's output folder."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))


def _digest(path: Path) -> str:
    content = sha256()
    for file in _visible(path) if path.is_dir() else [path]:
        content.update(file.relative_to(path).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return content.hexdigest()
