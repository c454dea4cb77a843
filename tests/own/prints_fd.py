import os


def items(count):
    return list(range(count))


def task(item):
    while True:
        os.write(1, b"y" * 65536)
