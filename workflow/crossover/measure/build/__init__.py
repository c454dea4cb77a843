"""Compiled parts of a run: ceilings in C, and builds of libzmq."""
