"""One launch: a supervisor outside MPI, the launcher it uses, and what each rank does."""
