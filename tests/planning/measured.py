"""Launches on disk, as their supervisor leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crossover.design.settings import canonical
from crossover.planning import receipt, second_sweep
from crossover.records import record

SOFTWARE = {"libzmq": "4.3.5", "python": "CPython 3.12.1", "distributed": "2025.1"}
RANKS = [{"libraries": '{"libzmq": "4.3.5", "distributed": "2024.9"}', "python": SOFTWARE["python"]}]


def measure(
    config: dict[str, Any],
    launch: dict[str, Any],
    turn: int = 0,
    facts: dict[str, Any] | None = None,
    ranks: Any = RANKS,
    **changed: Any,
) -> Path:
    """Write the raw file and the receipt of a launch of this run; `changed` are other settings. Returns the receipt."""
    settings = second_sweep.settings_of(config, launch) | changed
    file = Path(receipt.path(config, launch, receipt.digest(settings), turn))
    whole = {"outcome": "measured", "code": "", "wall_seconds": 1800.0} | (facts or {})
    ranks = (ranks or RANKS) if whole["outcome"] == "measured" else []
    raw = receipt.next_raw(file)
    write(raw, launch | {"settings": canonical(settings)} | whole, ranks)
    receipt.write(file, raw, whole, ranks)
    return file


def write(raw: Path, facts: dict[str, Any], ranks: list[dict[str, Any]] | None = None) -> Path:
    """Write a raw file without rows."""
    raw.parent.mkdir(parents=True, exist_ok=True)
    record.write(record.MEASUREMENTS.empty_table(), raw, {"launch": facts, "ranks": ranks or []})
    return raw
