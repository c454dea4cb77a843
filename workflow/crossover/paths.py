"""Paths of this package and of the project's folders."""

from pathlib import Path

PACKAGE = Path(__file__).parent
WORKFLOW = PACKAGE.parent
"""The folder on Python's path from which this package is imported."""

CHECKOUT = WORKFLOW.parent if (WORKFLOW.parent / "Snakefile").is_file() else None
"""The checkout that this package is in; None if it is installed from a wheel."""

PROJECT = CHECKOUT or PACKAGE / "project"
"""The project's folders: the checkout, or the copy in the wheel (setup.py)."""

CONFIG, PROFILES, REPORTS = (PROJECT / name for name in ("config", "profiles", "reports"))
NATIVE = PROJECT / "workflow" / "native"
SITE = "profiles/slurm/site.yaml"
"""The file of a cluster's facts, as messages name it."""
