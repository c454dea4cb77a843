import subprocess


def items(count):
    return list(range(count))


def task(item):
    subprocess.Popen(["sleep", "3333"])
    return sum(range(2000))
