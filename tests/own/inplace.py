import numpy as np


def items(count):
    return [np.random.default_rng(number).random(2_000) for number in range(count)]


def task(values):
    sorted_before = bool((values[:-1] <= values[1:]).all())
    values.sort()
    return sorted_before
