def counted(function):
    def inner(*arguments):
        return function(*arguments)

    return inner


def items(count):
    return [*range(count)]


@counted
def task(number):
    return number
