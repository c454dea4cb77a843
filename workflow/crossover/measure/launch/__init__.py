"""One launch: its supervisor outside MPI, the MPI launcher, and its ranks."""
