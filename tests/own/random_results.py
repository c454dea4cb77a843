import random


def items(count):
    return [*range(count)]


def task(number):
    return random.random()
