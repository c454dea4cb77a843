"""NumPy that releases the lock, and has threads of its own: a system of linear equations."""

import numpy as np


def items(count):
    return [np.random.default_rng(number).random((400, 400)) for number in range(count)]


def task(matrix):
    return np.linalg.solve(matrix, np.ones(len(matrix)))


def same(got, expected):
    return np.allclose(got, expected)
