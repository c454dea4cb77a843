"""Renders the report of a bundle again, and says whether it came out as the one in the bundle."""

from __future__ import annotations

import json
from pathlib import Path

from crossover.records.failure import Failure
from crossover.report.render import origin, renderer
from crossover.share import freshness
from crossover.share.bundle import unpack


def report(bundle: Path, page: Path) -> tuple[str, list[Failure]]:
    """Render a bundle's report to `page`: how it compares with the bundle's, and what failed. Raises CrossoverError."""
    with unpack.opened(bundle) as folder:
        results = folder / "results"
        theirs = results / freshness.PAGE
        waiting = origin.read(theirs)["waiting"]
        failures = renderer.render(results, page, json.dumps(waiting))
        same = page.read_bytes() == theirs.read_bytes()
    if same:
        return f"The report: {page}, the same bytes as in {bundle}", failures
    said = (
        f"The report: {page}, from the same results as the one in {bundle} but not the same bytes: another version of "
        "crossover or of its libraries, or Quarto on one side alone, rendered that one"
    )
    return said, failures
