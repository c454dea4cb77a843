"""Whole programs: a script with the lines to paste of a farm, in a process of its own, from no pool to its end."""

import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from crossover.design import farms
from crossover.errors import CrossoverError
from crossover.measure.farms.user_code import with_remedy
from crossover.measure.ranks.ending import die_with_parent
from crossover.measure.sampling.contract import DAMAGED, Block

METRIC = "whole program"
LIMIT_SECONDS = 100
"""A program that takes longer is ended, before the launch itself would be."""
LATE = "did not end within"

# Workers import the script too, by another name; so all but the import is in its last part, as in a user's program.
SCRIPT = """\
from {module} import items as arguments_of, task as function

if __name__ == "__main__":
    import sys
    from time import perf_counter

    items, workers = arguments_of({count}), {workers}
    began = perf_counter()
{lines}
    ended = perf_counter()
    import pickle

    with open(sys.argv[1], "wb") as file:
        pickle.dump((began, ended, results), file)
        file.flush()
        pickle.dump(perf_counter(), file)
"""

OF_RANK = ("PMI_", "PMIX_", "MPI_LOCAL", "OMPI_")
"""Variables that make a process a rank."""


def arms_of(arms: Sequence[str]) -> tuple[str, ...]:
    """Those of these arms whose lines are a program."""
    return tuple(farms.programs(arms))


class ProgramError(CrossoverError):
    """A program failed, or did not end in time; the reason in one line."""


def block(file: str, arm: str, count: int, workers: int, n: int, are_right: Callable[[list[Any]], bool]) -> Block:
    """Run an arm's program `n` times, for so many items of a file that can be imported.

    The value of METRIC is in seconds: see `run`. A program that fails has a fault with the reason.
    """
    seconds = 0.0
    for _ in range(n):
        try:
            own, results = run(file, arm, count, workers)
        except ProgramError as error:
            return Block(0.0, fault=str(error))
        seconds += own
        if not are_right(results):
            return Block(seconds, fault=DAMAGED)
    return Block(seconds, {METRIC: seconds / n})


def run(file: str, arm: str, count: int, workers: int, limit_seconds: float = math.inf) -> tuple[float, list[Any]]:
    """The seconds of an arm's program from before the imports of the pool's library until its process has ended.

    Without the time to make the items, and to hand the results to us: `perf_counter` is the same clock for all
    processes of a host. Returns the results too. Raises ProgramError.
    """
    lines = textwrap.indent(farms.programs([arm])[arm], "    ")
    text = SCRIPT.format(module=Path(file).stem, count=count, workers=workers, lines=lines)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OF_RANK)}
    limit = min(limit_seconds, LIMIT_SECONDS)
    with tempfile.TemporaryDirectory(prefix="program-") as folder:
        script, output, log = (Path(folder, name) for name in ("program.py", "results", "log"))
        script.write_text(text, encoding="utf-8")
        # No pipe, which a worker that lives on would keep open.
        with log.open("wb") as errors:
            started = subprocess.Popen(
                [sys.executable, str(script), str(output)],
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        try:
            started.wait(limit)
            gone = perf_counter()
        except subprocess.TimeoutExpired:
            raise ProgramError(f"as a whole program, it {LATE} {limit:.0f} s") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        if started.returncode:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["no message"]
            raise ProgramError(with_remedy(f"as a whole program, it ended with {' '.join(said[-1].split())[:200]}"))
        with output.open("rb") as stored:
            began, ended, results = pickle.load(stored)
            return ended - began + gone - pickle.load(stored), results
