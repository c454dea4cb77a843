"""Launches on disk, as their supervisor leaves them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from crossover.design.config import Config
from crossover.design.launch import Launch
from crossover.design.settings import canonical
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import record

SOFTWARE = {"libzmq": "4.3.5", "python": "CPython 3.12.1", "distributed": "2025.1"}
RANKS = [{"libraries": {"libzmq": "4.3.5", "distributed": "2024.9"}, "python": SOFTWARE["python"]}]


def measure(
    config: Config,
    launch: Launch,
    turn: int = 0,
    facts: dict[str, Any] | None = None,
    ranks: Any = RANKS,
    **changed: Any,
) -> Path:
    """Write the raw file and the receipt of a launch of this run; `changed` are other settings. Returns the receipt."""
    own = replace(launch, settings=replace(launch.settings, **changed))
    files = Files.of(config.results, config.tier, own, turn)
    whole = {"outcome": "measured", "code": "", "wall_seconds": 1800.0} | (facts or {})
    ranks = (ranks or RANKS) if whole["outcome"] == "measured" else []
    raw = files.next_raw()
    write(raw, own.identity | {"settings": canonical(own.settings.stored)} | whole, ranks)
    receipt.write(files, raw, whole, ranks)
    return files.path


def write(raw: Path, facts: dict[str, Any], ranks: list[dict[str, Any]] | None = None) -> Path:
    """Write a raw file without rows."""
    raw.parent.mkdir(parents=True, exist_ok=True)
    record.write(record.MEASUREMENTS.empty_table(), raw, {"launch": facts, "ranks": ranks or []})
    return raw
