"""Texts on several runs: a comparison and a history."""
