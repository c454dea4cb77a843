def items(count):
    return [*range(count)]


def task(number):
    print("item", number)
    return number
