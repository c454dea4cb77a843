"""Checks a machine or a cluster before a run: `job` gathers `facts`; `conclude` draws findings and prints them."""
