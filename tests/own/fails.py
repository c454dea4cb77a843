LIMITS = {0: 1}


def items(count):
    return [*range(1, count + 1)]


def task(number):
    return LIMITS[number]
