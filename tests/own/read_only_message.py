import numpy as np


def message(count):
    return np.frombuffer(b"abc" * count, dtype="S3")
