"""Starts the two ranks of a job by a launcher, and by others where it does not bring them up together."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from crossover.doctor.rank import MARK, RANKS
from crossover.measure.death import GRACE_SECONDS

LIMIT_SECONDS = 20
"""What two ranks may take: they start in one or two, and the looks wait ten at most for a file."""


@dataclass
class Attempt:
    """What a launcher did: who came up together, as each of them told."""

    mpi: str
    worlds: list[dict[str, Any]] = field(default_factory=list)
    """For each world that came up: its `size` and its ranks' `hosts`."""
    said: str = ""
    """Its last words, or why it could not be started."""

    def works(self, hosts: int) -> bool:
        """Whether both ranks came up together, on so many hosts."""
        return len(self.worlds) == 1 and self.worlds[0]["size"] == RANKS and len(set(self.worlds[0]["hosts"])) == hosts


def attempts(
    mpi: str, hosts: int, shared: Path, say: Callable[[str], None]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Try the launcher `mpi`, then others until one works; each attempt, and what the ranks of that one saw."""
    found = [_attempt(mpi, shared, say)]
    if not found[0].works(hosts):
        for other in _others(mpi):
            found.append(_attempt(other, shared, say))
            if found[-1].works(hosts):
                break
    pair = next((each.worlds[0] for each in found if each.works(hosts)), {}).get("pair", {})
    for each in found:
        for world in each.worlds:
            world.pop("pair", None)
    return [asdict(each) for each in found], pair


def _attempt(mpi: str, shared: Path, say: Callable[[str], None]) -> Attempt:
    found = Attempt(mpi)
    ranks = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.rank", "--shared", str(shared)]
    # The guard ends whatever the launcher leaves behind.
    guarded = [sys.executable, "-m", "crossover.measure.death", *shlex.split(mpi), "-n", str(RANKS), *ranks]
    say(f"doctor: trying {mpi}")
    process = subprocess.Popen(
        guarded,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdout is not None
    relay = threading.Thread(target=_sort, args=(process.stdout, found, say), daemon=True)
    relay.start()
    try:
        code = process.wait(LIMIT_SECONDS)
        relay.join(GRACE_SECONDS)
        if code and not found.said:
            found.said = f"ended with code {code}"
    except subprocess.TimeoutExpired:
        found.worlds.clear()
        found.said = f"not finished after {LIMIT_SECONDS} s"
    finally:
        process.terminate()
        process.wait()
    return found


def _sort(lines: IO[str], found: Attempt, say: Callable[[str], None]) -> None:
    """Tell what the ranks saw from what else is said."""
    for line in lines:
        before, mark, told = line.rstrip("\n").partition(MARK)
        if mark:
            found.worlds.append(json.loads(told))
        elif before.strip():
            found.said = before.strip()
            say(before)


def _others(mpi: str) -> list[str]:
    """Other launchers that may work here: Slurm's, by the protocols that it lists, and MPI's own."""
    own, *options = shlex.split(mpi)
    kept = [option for option in options if not option.startswith("--mpi")] if Path(own).name == "srun" else []
    slurm = [shlex.join(["srun", f"--mpi={protocol}", *kept]) for protocol in _protocols()]
    return [other for other in [*slurm, "mpiexec"] if other != mpi]


def _protocols() -> list[str]:
    """What `srun --mpi=list` names, without `none`; nothing where there is no srun."""
    try:
        asked = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, timeout=LIMIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return []
    # Versions of a plugin, such as pmix_v4, follow it after "specific pmix plugin versions available:".
    listed = re.sub(r"^.*:", "", asked.stdout + asked.stderr, flags=re.MULTILINE)
    return [name for name in re.findall(r"\bpm\w+|\bcray\w*", listed) if "_v" not in name]
