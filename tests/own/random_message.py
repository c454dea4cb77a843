import random


def message(count):
    return [random.random() for _ in range(count)]
