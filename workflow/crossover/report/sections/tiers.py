"""Sentences about measurements that need a higher tier or a cluster, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossover.report.base import numbers


def waiting(tiers: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The additional measurements of higher tiers, given as {tier: {key: entries}}; empty if there are none."""
    sentences = []
    for tier, keys in tiers.items():
        entries = [f"{key} {numbers.listed([f'`{entry}`' for entry in keys[key]])}" for key in keys]
        sentences.append(f"The `{tier}` tier also measures {'; '.join(entries)}.")
    return " ".join(sentences)


def hosts(placements: Mapping[str, int]) -> str:
    """The placements that need more hosts, given as {placement: hosts needed}; empty if there are none."""
    return " ".join(
        f"Placement `{placement}` needs a cluster with {numbers.counted(count, 'host')} (`snakemake --profile slurm`)."
        for placement, count in placements.items()
    )
