import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--limit", required=True)
options = parser.parse_args()


def items(count):
    return [options.limit] * count


def task(limit):
    return sum(range(limit))
