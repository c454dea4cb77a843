"""Objects over MPI: the payload, and the loops of round trips."""
