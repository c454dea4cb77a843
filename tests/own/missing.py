from dataclasses import dataclass

import numpy as np


@dataclass
class Result:
    mean: float
    days: np.ndarray
    mixed: np.ndarray


def items(count):
    return [*range(count)]


def task(number):
    days = np.array(["2020-01-01", "NaT"], "M8[D]")
    return Result(float("nan"), days, np.array([number, "a", float("nan")], dtype=object))
