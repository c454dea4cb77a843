"""The text on a comparison of two runs."""
