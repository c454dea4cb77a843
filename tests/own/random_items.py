import random


def items(count):
    return [random.random() for _ in range(count)]


def task(number):
    return number + 1
