"""Imported first by the command line: once it is loaded, Ctrl-C ends it at once, without a traceback."""

import signal
import sys

# No module for paths: until the line below is reached, Python answers Ctrl-C with a traceback.
if sys.argv[0].endswith(("/crossover", "__main__.py")):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
