"""Renders the report of a bundle again, and compares it with the one in the bundle."""

from __future__ import annotations

import json
from pathlib import Path

from crossover.records.failure import Failure
from crossover.report.render import origin, renderer
from crossover.share import freshness
from crossover.share.bundle import unpack


def report(bundle: Path, page: Path) -> tuple[str, list[Failure]]:
    """Render the report from a bundle to the file `page`. Returns a comparison with the bundle's own, and failures.

    Raises CrossoverError.
    """
    with unpack.opened(bundle) as folder:
        results = folder / "results"
        theirs = results / freshness.PAGE
        waiting = origin.read(theirs)["waiting"]
        failures = renderer.render(results, page, json.dumps(waiting))
        same = page.read_bytes() == theirs.read_bytes()
    if same:
        return f"Report: {page}, the same bytes as in {bundle}", failures
    message = (
        f"Report: {page}, from the same results as the report in {bundle}, but with other bytes, because versions of "
        "crossover or its libraries differ, or only one of them was rendered by Quarto"
    )
    return message, failures
