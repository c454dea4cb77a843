"""The settings of an experiment or of a launch, and their text."""

import json
from collections.abc import Mapping
from typing import Any

Settings = dict[str, Any]


def canonical(settings: Mapping[str, Any]) -> str:
    """Settings as JSON; equal settings give equal text."""
    return json.dumps(settings, sort_keys=True)


def read_settings(text: str | None) -> Settings:
    """Settings from JSON; empty without text, because not every launch has stored its settings."""
    settings: Settings = json.loads(text or "{}")
    return settings
