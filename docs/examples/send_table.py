"""A pandas DataFrame with numbers and strings."""

import numpy as np
import pandas as pd


def message(count):
    values = np.random.default_rng(0).random((2, count))
    names = [f"sensor {number % 50}" for number in range(count)]
    return pd.DataFrame({"time": values[0], "value": values[1], "name": names})
