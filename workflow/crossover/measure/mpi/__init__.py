"""Objects over MPI: what is sent, and the loops of round trips."""
