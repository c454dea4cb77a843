"""A server process of rank 0, such as a farm's controller. It logs to a file, and ends with rank 0."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import psutil

from crossover.measure.ranks.log import LOST
from crossover.records import temporary
from crossover.records.holes import HoleKind, Refusal

START_SECONDS = 60
"""Time limit for any part of a farm to start or to end."""

TAKEN = "address already in use"
"""In the output of a server that cannot listen on its port, in lower case."""

T = TypeVar("T")


class Server:
    """A process with a private `folder`; messages call it `name`. Once it `may_end`, its end is no failure."""

    def __init__(self, name: str):
        self.name, self.may_end = name, False
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name.replace(' ', '-')}-"))
        self._log = self.folder / "server.log"
        self._watch = threading.Thread(target=self._await_end, daemon=True)

    def start(
        self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, program: str = sys.executable
    ) -> None:
        """Start `program` (Python by default) with these arguments, without waiting for it."""
        self._process = subprocess.Popen(
            # This guard ends with the rank, however the rank ends, and ends the server's children too.
            [sys.executable, "-m", "crossover.measure.ranks.ending", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._log.open("w", encoding="utf-8"),
            stderr=subprocess.STDOUT,
            env=os.environ | (environment or {}),
            start_new_session=True,
        )

    def wait_for(self, read: Callable[[], T]) -> T:
        """Call `read` until it raises no OSError or ValueError, as it does for incomplete files; returns its result.

        Raises Refusal if the server ends before that, or after the time limit. If the server ends later, this process
        ends too, because its clients would wait for ever.
        """
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                answer = read()
            except (OSError, ValueError):
                time.sleep(0.02)
                continue
            if self._watch.ident is None:
                self._watch.start()
            return answer
        raise self.refusal(f"{self.name}, which the farm needs, did not start")

    def refusal(self, reason: str) -> Refusal:
        """The refusal for this reason with the server's last words, or because a port was taken, if its log says so.

        It passes if the server still runs: then the host was too busy.
        """
        if TAKEN in self._log.read_text(errors="replace", encoding="utf-8").lower():
            return Refusal(HoleKind.DISTURBED, f"another process took a port that {self.name} was about to use")
        kind = HoleKind.DISTURBED if self._process.poll() is None else HoleKind.CRASHED
        return Refusal(kind, f"{reason}; of {self.name}, {self.last_words()}")

    def require_listening(self, port: int) -> None:
        """Raise OSError unless this server, and not a stranger, listens on a TCP port."""
        guard = psutil.Process(self._process.pid)
        for process in (guard, *guard.children(recursive=True)):
            with suppress(psutil.Error):
                if any(
                    each.laddr[1] == port and each.status == psutil.CONN_LISTEN
                    for each in process.net_connections("tcp")
                ):
                    return
        raise OSError(f"{self.name} does not listen on port {port}")

    def _await_end(self) -> None:
        self._process.wait()
        if not self.may_end:
            print(f"{self.name}, which the farm{LOST}; {self.last_words()}", file=sys.stderr, flush=True)
            os._exit(1)

    def last_words(self) -> str:
        """The last line of its output, as a clause."""
        last = self._log.read_text(errors="replace", encoding="utf-8").splitlines()[-1:]
        return f"its last words: {last[0].strip()}" if last else "it said nothing"

    def stop(self) -> None:
        """End the server and its children, and remove its folder."""
        self.may_end = True
        self._process.terminate()
        self._process.wait(START_SECONDS)
        shutil.rmtree(self.folder)


@cache
def short_temporary_folder() -> str:
    """A short path of the temporary folder."""
    return str(temporary.shortened(tempfile.gettempdir()))
