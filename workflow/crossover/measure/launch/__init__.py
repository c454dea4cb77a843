"""One launch: a supervisor outside MPI, the launcher, the ranks, their log, and how all of them end."""
