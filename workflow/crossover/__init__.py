"""Measures where one way of moving Python messages starts to beat another."""

__version__ = "0.1.0"
