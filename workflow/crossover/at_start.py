"""Imported first by the command line: until it is loaded, Ctrl-C ends it at once, without a traceback."""

import signal
import sys
from pathlib import PurePath

if PurePath(sys.argv[0]).name in ("crossover", "__main__.py"):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
