"""One launch: the supervisor outside MPI, the MPI launcher, and the ranks."""
