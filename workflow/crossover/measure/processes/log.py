"""What a launch says while it runs: to the terminal, to its log, and into the reason of a hole."""

from __future__ import annotations

import re
import sys
from collections import deque
from contextlib import suppress
from typing import IO

_TELLING = re.compile(r"error|exception|\bfault|signal|killed|timeout", re.IGNORECASE)
_LAUNCHERS = re.compile(r"Abort\(|YOUR APPLICATION|=|\[[^\]]+:\d+\]")
"""How the lines begin in which MPI and its launcher tell how the ranks ended: what a rank itself said tells more."""
_NOTICE = re.compile(r"^-{40,}\n(.+?)^-{40,}$", re.MULTILINE | re.DOTALL)
"""What Open MPI's launcher puts between two rules."""


LOST = ", which the farm needs, has ended"
"""What rank 0 says of a server that it has lost. All that is said after it comes of that."""


class Relay:
    """Passes lines to the terminal and the log, and remembers the last ones: they are a crash's reason.

    The log is an unbuffered file. One that takes no more is done without: whoever speaks must not be held up.
    """

    def __init__(self, log: IO[bytes]):
        self._log = log
        self._last: deque[str] = deque(maxlen=300)

    def __call__(self, line: str) -> None:
        """Say one line."""
        self._last.append(line)
        with suppress(OSError):
            self._log.write(f"{line}\n".encode())
        print(line, file=sys.stderr, flush=True)

    def follow(self, stream: IO[str]) -> None:
        """Relay a stream to its end."""
        for line in stream:
            self(line.rstrip("\n"))

    def last_words(self) -> str:
        """The line that most likely names the error: a loss, else the last of a rank that reads like an error, else its
        launcher's.
        """
        said = "\n".join(self._last)
        lines = [line.strip() for line in _NOTICE.sub("", said).splitlines() if line.strip()]
        losses = [line for line in lines if LOST in line]
        telling = [line for line in lines if _TELLING.search(line) and not line.startswith("Abort(")]
        ranks = [line for line in telling if not _LAUNCHERS.match(line)]
        # The first is of what happened, the others are of what came of it; its further paragraphs give advice.
        notices = [" ".join(text.partition("\n\n")[0].split()) for text in _NOTICE.findall(said)][:1]
        return f"last words: {(losses[:1] or ranks or notices or telling or lines or ['none'])[-1]}"
