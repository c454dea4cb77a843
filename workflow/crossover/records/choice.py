"""The verdicts on a choice between arms at a point of an axis; the analysis decides them (docs/data.md, "Choices")."""

WINNER, SETTLED, OPEN = "winner", "settled", "open"
"""The choice is surely the best arm; it is at most KNOWN times worse than the best, surely; or neither is sure."""
