import multiprocessing
import os


def items(count):
    return [*range(count)]


def task(number):
    if multiprocessing.parent_process() is not None and number == 5:
        os._exit(9)
    return number
