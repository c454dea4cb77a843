"""Sentences about what this run's tier leaves to higher ones, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossover.report import quantities


def waiting(tiers: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """What higher tiers would measure besides, given as {tier: {key: entries}}; empty if nothing."""
    sentences = []
    for tier, keys in tiers.items():
        entries = [f"{key} {quantities.listed([f'`{entry}`' for entry in keys[key]])}" for key in keys]
        sentences.append(f"Only from the tier `{tier}` on are measured: {'; '.join(entries)}.")
    return " ".join(sentences)
