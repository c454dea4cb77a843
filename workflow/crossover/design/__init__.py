"""What an experiment consists of: arms, axes, cells, the keys of curves, heats. Values only; every rank loads them."""
