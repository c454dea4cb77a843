"""What an experiment consists of: arms, axes, cells, keys of curves, settings, launches. Every rank loads them."""
