"""A short item and a result of 2 MB: a frame, made and blurred in about 30 ms."""

import numpy as np


def items(count):
    return list(range(count))


def task(seed):
    frame = np.random.default_rng(seed).random((512, 512))
    for _ in range(8):
        frame = (frame + np.roll(frame, 1, 0) + np.roll(frame, 1, 1)) / 3
    return frame
