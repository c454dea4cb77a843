def message(count):
    return [lambda: count]
