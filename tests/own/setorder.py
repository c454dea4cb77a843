def items(count):
    return [f"the quick brown fox number {number} jumps over the lazy dog" for number in range(count)]


def task(text):
    return [*set(text.split())]
