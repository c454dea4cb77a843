import signal


def items(count):
    return [*range(count)]


def task(number):
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        return number
    finally:
        signal.signal(signal.SIGALRM, before)
