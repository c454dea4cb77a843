"""The compiled libraries of a run: ceilings in C, and builds of libzmq."""
