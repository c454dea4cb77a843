"""Frames of a camera, each of 6 MB, in one array."""

import numpy as np


def message(count):
    return np.random.default_rng(0).integers(0, 256, (count, 1080, 1920, 3), np.uint8)
