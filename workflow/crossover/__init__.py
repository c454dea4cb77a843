"""Measures where one way of moving Python messages starts to beat another."""
