"""Failed parts of the analysis or the report; everything else is still made.

A failure is kept in the file that lacks the part: in the metadata of a parquet file, in a JSON file, in the page. The
page shows it in place of the part, and the run ends with exit code 1.
"""

import json
import re
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import PACKAGE
from crossover.records import atomic, record

KEY = "failures"
"""The key of the failures in the metadata of a parquet file, in a JSON file, and in a page."""

FILE = f"{KEY}.json"
"""The JSON file in a folder of figures; it exists only if one failed."""

ELEMENT = re.compile(rf'<script type="application/json" id="crossover-{KEY}">(.*?)</script>', re.DOTALL)
"""The element of a page with its failures."""

LONGEST = 300
"""The most characters of an error's message in a failure; the log has the whole message."""


@dataclass(frozen=True)
class Failure:
    """One part that failed."""

    kind: str
    """`table`, `claim`, `setting`, `figure`, `section`, `refinement`."""
    name: str
    experiment: str
    """Empty for a part of the whole run."""
    error: str
    """The exception's type and message."""
    place: str
    """The line of this package that raised the error, or called the code that did; empty if unknown."""


class InputError(Exception):
    """The failure of a table that a part needs; `caught` turns it into a failure of the part."""

    def __init__(self, cause: Failure):
        super().__init__(cause.error)
        self.cause = cause


@contextmanager
def caught(kind: str, name: str, experiment: str = "") -> Iterator[list[Failure]]:
    """Catch an exception of a part, so that the step goes on. The exception becomes the only failure in the list.

    The traceback goes to standard error, and so to the step's log. A CrossoverError is not caught, because the user can
    correct its cause.
    """
    found: list[Failure] = []
    try:
        yield found
    except InputError as error:
        found.append(replace(error.cause, kind=kind, name=name, experiment=experiment))
    except CrossoverError:
        raise
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        found.append(Failure(kind, name, experiment, _named(error), _place(error)))


def words(error: Exception) -> str:
    """An exception in one line: its type, its message, and the line of this package."""
    place = _place(error)
    return _named(error) + (f" ({place})" if place else "")


def _named(error: Exception) -> str:
    text = " ".join(str(error).split())
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
    return f"{type(error).__name__}: {short}" if short else type(error).__name__


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE) and frame.filename != __file__]
    if not own:
        return ""
    return f"{Path(own[-1].filename).relative_to(PACKAGE).as_posix()}, line {own[-1].lineno}"


# ---- beside a result


def stored(failures: Iterable[Failure]) -> dict[str, Any]:
    """The entry of a file with its failures; empty if there are none."""
    kept = [asdict(each) for each in dict.fromkeys(failures)]
    return {KEY: kept} if kept else {}


def write(failures: Iterable[Failure], folder: Path) -> None:
    """Write FILE to a folder of figures, or remove an old one if nothing failed."""
    if kept := stored(failures):
        (folder / FILE).write_text(json.dumps(kept, indent=1), encoding="utf-8")
    else:
        (folder / FILE).unlink(missing_ok=True)


def stamped(page: str, failures: Iterable[Failure]) -> str:
    """A page with its failures in it, as data."""
    if not (kept := stored(failures)):
        return page
    data = json.dumps(kept, sort_keys=True, separators=(",", ":")).replace("</", "<\\/")
    body, end, rest = page.rpartition("</body>")
    element = f'<script type="application/json" id="crossover-{KEY}">{data}</script>'
    return f"{body}{element}\n{end}{rest}" if end else f"{page}{element}\n"


def of(path: Path) -> list[Failure]:
    """The failures in a file or a folder of figures; none if it is missing or unreadable."""
    try:
        if path.is_dir():
            return of(path / FILE)
        if path.suffix == ".parquet":
            kept = json.loads(record.stored(path).get(KEY.encode(), b"[]"))
        else:
            text = atomic.regular(path).read_text(encoding="utf-8")
            if path.suffix == ".html":
                text = next(iter(ELEMENT.findall(text)), "{}")
            kept = json.loads(text).get(KEY, [])
        return [Failure(**each) for each in kept]
    except (*record.DAMAGE, AttributeError):
        return []


def within(results: Path) -> list[Failure]:
    """The failures in a folder of results: in its joined tables and its figures."""
    paths = [*sorted(results.glob("*.parquet")), *sorted(results.glob("figures/[!.]*"))]
    return list(dict.fromkeys(each for path in paths for each in of(path)))


# ---- in words


def require(failures: Iterable[Failure], experiments: Collection[str], tables: Collection[str]) -> None:
    """Raise InputError if one of these tables of these experiments failed."""
    for each in failures:
        if each.kind == "table" and each.experiment in experiments and each.name in tables:
            raise InputError(each)


def reason(of: Failure) -> str:
    """The reason why a part is missing, as a clause in Markdown."""
    error = of.error.replace("`", "'")
    return f"`{error}`" + (f", raised in `{of.place}`" if of.place else "")


def grouped(failures: Sequence[Failure]) -> dict[Failure, list[Failure]]:
    """Failures grouped by cause: {first failure: all failures with this cause}."""
    found: dict[tuple[str, str, str], list[Failure]] = {}
    for each in dict.fromkeys(failures):
        found.setdefault((each.error, each.place, each.experiment), []).append(each)
    return {group[0]: group for group in found.values()}


def names(group: Sequence[Failure], quote: str = "") -> str:
    """The failed parts of one experiment, such as `tables medians, ratios of toy`, each name between quotes."""
    kinds: dict[str, list[str]] = {}
    for each in group:
        kinds.setdefault(each.kind, []).append(f"{quote}{each.name}{quote}" if each.name else "")
    parts = [
        " ".join(filter(None, [f"{kind}s" if len(members) > 1 else kind, ", ".join(filter(None, members))]))
        for kind, members in kinds.items()
    ]
    experiment = group[0].experiment
    return "; ".join(parts) + (f" of {quote}{experiment}{quote}" if experiment else "")
