"""Checks a machine or a cluster before a run, and reports what works and which keys to set.

Two jobs like a launch, on one host and on two, and a few checks where Snakemake runs, write facts to files; `conclude`
reads, judges and prints them.
"""
