import numpy as np


def message(count):
    return np.ma.masked_array(np.arange(float(count)), mask=[True] * count)
