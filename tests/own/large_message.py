def message(count):
    return bytes(120_000_000)
