"""A user's file with everything that experiments on one can measure; every way of plain data carries its object."""


def items(count):
    return [2_000 + number for number in range(count)]


def task(limit):
    return sum(range(limit))


def message(count):
    return [{"name": f"sensor {number}", "value": number / 7} for number in range(count)]
