import numpy as np


def message(count):
    return np.array([[f"ä{number}", ""] for number in range(count)])
