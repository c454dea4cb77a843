"""Sentences that several sections share: findings, summary, citations, alternative texts."""
