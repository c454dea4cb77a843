"""Checks a machine or a cluster before a run: `job` and `checks` collect facts, `conclude` judges and prints them."""
