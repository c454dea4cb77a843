import sys


def items(count):
    return [*range(count)]


def task(number):
    if number == 5:
        sys.exit("no reads left")
    return number
