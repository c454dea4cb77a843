"""Where this package and what it is shipped with lie."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
WORKFLOW = PACKAGE.parent
"""What a process must have on its path to find this package."""

PROJECT = WORKFLOW.parent
CONFIG, PROFILES, REPORTS = (PROJECT / name for name in ("config", "profiles", "reports"))
NATIVE = WORKFLOW / "native"
