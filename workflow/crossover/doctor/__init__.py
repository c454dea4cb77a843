"""Checks a machine or a cluster before a run: jobs gather `facts`; `conclude` draws findings and prints them."""
