"""Whole runs of random truth, from blocks to recommendations, and one of chosen standings."""

from itertools import product

import disagreeing
import numpy as np
from campaigns import Campaign, steps
from synthetic import SIZES, blocks, launched, rows

MEASURED = [
    ("zmq_throughput", "PUSH/PULL over tcp, 64 MB in flight", ("copy", "no-copy", "default", "null"), "throughput"),
    ("mpi_pingpong", "float64 array, thread level multiple", ("send", "Send", "pkl5.send", "null"), "round trip"),
    ("task_latency", "empty tasks, engines: 2", ("leastload", "pure", "lru", "null"), "round trip"),
]
"""Experiment, protocol, arms and leading metric of a simulated run."""
UNITS = {"zmq_throughput": "bytes", "mpi_pingpong": "elements", "task_latency": "tasks"}


def write(seed, folder):
    """A run whose arms differ by random slopes and steps, with few launches and loud noise, so that much is open."""
    random, receipts = np.random.default_rng(seed), {}
    for experiment, protocol, arms, metric in MEASURED:
        launches, sd = int(random.integers(2, 7)), random.uniform(0.002, 0.06)
        sizes = SIZES[:: int(random.integers(2, 4))]
        seconds = {}
        for arm in arms:
            tilt, shift = random.choice([0, 0.05, 0.2], 2) * random.standard_normal(2)
            truth = shift + tilt * np.linspace(-3, 3, len(sizes)) if arm not in (arms[0], "null") else 0 * sizes
            seconds[arm] = blocks(random, truth, launches, rounds=4, launch_sd=sd, cell_sd=sd, block_sd=sd)[1]
        facts = {"metric": metric, "unit": "s", "axis_unit": UNITS[experiment]}
        receipts[experiment] = []
        for number in range(1, launches + 1):
            own = {arm: values[number - 1] for arm, values in seconds.items()}
            measured = [row | facts for row in rows(own, experiment, protocol, number, sizes)]
            receipts[experiment].append(launched(folder, measured, experiment, number, settings="{}"))
    return disagreeing.finish(folder, receipts)


STANDINGS = ((0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2))
"""The intervals of a point whose arm is worse, open, alike and better."""


def patterns(folder):
    """A run with every order of three standings, and some of five."""
    orders = [*product(STANDINGS, repeat=3), *list(product(STANDINGS, repeat=5))[::31]]
    curves = [steps(*own, protocol=f"PUSH/PULL over tcp, {size} MB in flight") for size, own in enumerate(orders, 1)]
    return Campaign(curves).write_tables(folder)
