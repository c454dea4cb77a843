"""The output of a launch: passed to the terminal and the log, and searched for the reason of a hole."""

import re
import sys
from collections import deque
from contextlib import suppress
from typing import IO

_ERROR = re.compile(r"error|exception|\bfault|signal|killed|timeout", re.IGNORECASE)
_LAUNCHERS = re.compile(r"Abort\(|YOUR APPLICATION|=|\[[^\]]+:\d+\]")
"""The starts of lines by MPI and its launcher about the end of ranks; a rank's own lines are more informative."""
_NOTICE = re.compile(r"^-{40,}\n(.+?)^-{40,}$", re.MULTILINE | re.DOTALL)
"""A notice of Open MPI's launcher, between two rules."""

LOST = ", which the farm needs, has ended"
"""The end of rank 0's message about a lost server. All later messages are consequences."""


class Relay:
    """Passes lines to the log, and with `echo` to the terminal, and keeps the last ones, which contain the reason of a
    crash.

    The log is an unbuffered file. Lines that cannot be written to it are dropped, so that the ranks go on.
    """

    def __init__(self, log: IO[bytes], echo: bool = True):
        self._log = log
        self._echo = echo
        self._last: deque[str] = deque(maxlen=300)

    def __call__(self, line: str) -> None:
        """Pass on one line."""
        self._last.append(line)
        with suppress(OSError):
            self._log.write(f"{line}\n".encode())
        if self._echo:
            print(line, file=sys.stderr, flush=True)

    def names_lost_server(self) -> bool:
        """Whether rank 0 has lost a server."""
        return any(LOST in line for line in self._last)

    def last_words(self) -> str:
        """The line that most likely names the error: the first about a lost server, otherwise the last of a rank that
        reads like an error, otherwise the launcher's.
        """
        output = "\n".join(self._last)
        lines = [line.strip() for line in _NOTICE.sub("", output).splitlines() if line.strip()]
        losses = [line for line in lines if LOST in line]
        errors = [line for line in lines if _ERROR.search(line) and not line.startswith("Abort(")]
        ranks = [line for line in errors if not _LAUNCHERS.match(line)]
        # The first notice is the cause, the others are consequences; its later paragraphs give advice.
        notices = [" ".join(text.partition("\n\n")[0].split()) for text in _NOTICE.findall(output)][:1]
        return f"last words: {(losses[:1] or ranks or notices or errors or lines or ['none'])[-1]}"
