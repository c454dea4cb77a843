"""The leading metric of each experiment, which stands for it in summaries."""

from collections.abc import Mapping
from typing import Any

from crossover.config import schema


def leads() -> dict[str, str]:
    """The leading metric by experiment: that of its second sweep, otherwise its first."""
    return {name: _lead(own) for name, own in schema.read_schema()["properties"]["experiments"]["properties"].items()}


def _lead(described: Mapping[str, Any]) -> str:
    settings = described["properties"]
    return str(settings["refine_metric"]["default"] if "refine_metric" in settings else described["x-metrics"][0])
