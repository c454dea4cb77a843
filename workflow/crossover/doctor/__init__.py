"""Looks at a machine or a cluster before anything is measured on it, and tells what works and what to set.

Two jobs of the same kind as a launch, on one host and on two, and a few looks where Snakemake runs, write down what
they saw; `conclude` reads that, judges it and prints it. The doctor looks into every wing, and no wing knows it.
"""
