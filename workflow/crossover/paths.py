"""Paths of this package and of the project's folders."""

from pathlib import Path

PACKAGE = Path(__file__).parent
WORKFLOW = PACKAGE.parent
"""The folder on Python's path from which this package is imported."""

PROJECT = WORKFLOW.parent
CONFIG, PROFILES, REPORTS = (PROJECT / name for name in ("config", "profiles", "reports"))
NATIVE = WORKFLOW / "native"
SITE = "profiles/slurm/site.yaml"
"""The file of a cluster's facts, as messages name it."""
