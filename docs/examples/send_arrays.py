"""A dict of arrays, such as the state of a simulation."""

import numpy as np


def message(count):
    random = np.random.default_rng(0)
    return {
        "position": random.random((count, 3)),
        "velocity": random.random((count, 3)).astype(np.float32),
        "cell": np.arange(count),
    }
