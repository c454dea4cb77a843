import multiprocessing
import time


def items(count):
    return [*range(count)]


def task(number):
    if multiprocessing.parent_process():
        time.sleep(1000)
    return number
