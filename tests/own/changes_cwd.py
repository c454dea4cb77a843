import os

os.chdir("/")


def items(count):
    return list(range(count))


def task(item):
    os.chdir("/")
    return sum(range(2000))
