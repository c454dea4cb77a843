"""Signals that end a run: what happens is said at once, jobs are cancelled, and the process ends within seconds.

Snakemake itself says nothing, waits for all jobs after SIGTERM, and for its next look at the queue after Ctrl-C.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

INTERRUPTED = threading.Event()
"""Set once a signal has ended a run with jobs in a batch system."""

LIMIT_SECONDS = 8.0
"""How long Snakemake has for its own end."""


def on_signals(say: Callable[[str], None], cancel: Callable[[], None], conclude: Callable[[], object]) -> None:
    """End a run with jobs in a batch system at SIGTERM and Ctrl-C; `cancel` cancels jobs that Snakemake has missed.

    `conclude` prints the end of a run that Snakemake does not end in time. To be called once Snakemake has set its own
    handlers.
    """

    def end(number: int, _: object) -> None:
        # Only the first signal counts: a second must not interrupt the clean-up.
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)
        INTERRUPTED.set()
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        say(f"{name}: the jobs are cancelled; finished launches are kept, and the same command resumes")
        threading.Thread(target=_clean_up, args=(cancel, conclude), daemon=True).start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)


def say_on_signals(say: Callable[[str], None]) -> None:
    """Say at SIGTERM what Snakemake does with a run on this machine."""
    before = signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: Any) -> None:
        say(
            "SIGTERM: the run ends after the launch under way; finished launches are kept, and the same command resumes"
        )
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGTERM, end)


def _clean_up(cancel: Callable[[], None], conclude: Callable[[], object]) -> None:
    limit = time.monotonic() + LIMIT_SECONDS
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            child.terminate()
    cancel()
    time.sleep(max(0.0, limit - time.monotonic()))
    # A job that was being submitted.
    cancel()
    conclude()
    os._exit(1)
