"""Texts and charts on several runs: a comparison and a history."""
