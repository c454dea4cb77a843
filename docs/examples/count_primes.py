"""Pure Python that holds the interpreter's lock: the primes below a limit, in about 5 ms."""


def items(count):
    return [20_000 + number for number in range(count)]


def task(limit):
    composite = bytearray(limit)
    for number in range(2, int(limit**0.5) + 1):
        for multiple in range(number * number, limit, number):
            composite[multiple] = 1
    return composite.count(0) - 2
