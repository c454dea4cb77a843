from functools import cache


def items(count):
    return [20_000 + number for number in range(count)]


@cache
def task(limit):
    return sum(number * number % 7 for number in range(limit))
