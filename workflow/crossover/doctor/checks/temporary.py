"""Is the temporary folder on the node itself, and is there enough space in it and in /dev/shm?"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from crossover.doctor import file_systems
from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair

MEMORY = Path("/dev/shm")
ELSEWHERE = "set the environment variable TMPDIR to a folder on the node's own disk, then repeat the command"
FREE_BYTES = {"folder": 100 << 20, "memory": 256 << 20}
"""The space that a launch may need: for its task farms' files; for messages of MPI and ceilings in shared memory."""


def look(pair: Pair) -> dict[str, Any]:
    """Facts of each rank's folders, and whether the second rank sees a file in the first rank's folder."""
    folder = Path(tempfile.gettempdir())
    found: dict[str, Any] = {"hosts": pair.both({"folder": _facts(folder), "memory": _facts(MEMORY)})}
    if not pair.apart or any(host["folder"]["error"] for host in found["hosts"]):
        return found
    if not pair.first:
        pair.tell(Path(pair.hear()).exists())
        return found
    with tempfile.NamedTemporaryFile(prefix="crossover-doctor-", dir=folder) as mark:
        pair.tell(mark.name)
        return found | {"seen_by_other": pair.hear()}


def _facts(folder: Path) -> dict[str, Any]:
    try:
        # A test write, because a quota does not show in the free space.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0" * 4096)
            file.flush()
        error = ""
    except OSError as reason:
        error = reason.strerror or str(reason)
    return {
        "path": str(folder),
        "error": error,
        "free_bytes": shutil.disk_usage(folder).free if folder.exists() else 0,
        "file_system": file_systems.kind(folder),
    }


def judge(seen: Seen) -> Finding:
    """A folder that cannot be written to is a problem; a shared or nearly full one is a warning."""
    facts, apart = seen.pair("temporary")
    if not facts:
        return NO_PAIR
    mount = "ask the site to mount /dev/shm on its nodes, because MPI needs it"
    for host in facts["hosts"]:
        for name, each in host.items():
            if each["error"]:
                step = ELSEWHERE if name == "folder" else mount
                return Finding(Verdict.PROBLEM, f"{each['path']} cannot be written to: {each['error']}", step=step)
    fullest = {
        name: min((host[name] for host in facts["hosts"]), key=lambda each: each["free_bytes"]) for name in FREE_BYTES
    }
    text, folder = "; ".join(map(_space, fullest.values())), fullest["folder"]
    networked = folder["file_system"].startswith(file_systems.NETWORKED)
    if facts.get("seen_by_other") or networked:
        why = "both hosts see the same files in it" if facts.get("seen_by_other") else "on a network file system"
        return Finding(Verdict.WARNING, f"{text}; {folder['path']} is shared: {why}", step=ELSEWHERE)
    for name, each in fullest.items():
        if each["free_bytes"] < FREE_BYTES[name]:
            step = ELSEWHERE if name == "folder" else "remove files there, or measure on other nodes"
            return Finding(Verdict.WARNING, f"{text}; {each['path']} has too little free space", step=step)
    own = "each host has its own" if apart else "checking whether hosts share it needs a second host"
    return Finding(Verdict.OK, f"{text}; {own}")


def _space(facts: dict[str, Any]) -> str:
    kind = f" ({facts['file_system']})" if facts["file_system"] else ""
    return f"{facts['path']}{kind} has {facts['free_bytes'] / (1 << 30):.1f} GiB free"
