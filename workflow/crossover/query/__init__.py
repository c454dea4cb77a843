"""Questions to a finished run, in Python and in the terminal. Measures nothing and writes nothing."""
