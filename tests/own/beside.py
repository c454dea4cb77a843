from pathlib import Path

DATA = Path(__file__).parent / "places.csv"


def items(count):
    return [*range(count)]


def task(number):
    return DATA.read_text().count(",")
