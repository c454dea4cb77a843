"""Sentences that several sections share: findings, holes, thresholds, citations, alternative texts."""
