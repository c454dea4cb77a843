"""What every test finds, with no environment activated: this interpreter and its programs, as in a run."""

from crossover import session

session.expose()
