"""What is compiled for a run: ceilings in C, and builds of libzmq."""
