"""Sentences about what this run leaves to higher tiers and to clusters, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossover.report.base import numbers


def waiting(tiers: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """What higher tiers would measure besides, given as {tier: {key: entries}}; empty if nothing."""
    sentences = []
    for tier, keys in tiers.items():
        entries = [f"{key} {numbers.listed([f'`{entry}`' for entry in keys[key]])}" for key in keys]
        sentences.append(f"Only from the tier `{tier}` on are measured: {'; '.join(entries)}.")
    return " ".join(sentences)


def hosts(placements: Mapping[str, int]) -> str:
    """What a run with more hosts would measure besides, given as {placement: hosts that it takes}; empty if nothing."""
    return " ".join(
        f"Placement `{placement}` waits for a cluster: it takes {numbers.counted(count, 'host')} (`snakemake "
        "--profile slurm`)."
        for placement, count in placements.items()
    )
