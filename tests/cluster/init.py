"""Process 1 of a machine of the test cluster: sets the machine up, then reaps its processes. If it dies, all die.

Runs in new namespaces: `unshare --uts --ipc --mount --net --pid --fork python init.py <facts as JSON>`.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def private(folder: Path, common: list[Path]) -> None:
    """Mount an empty `folder` of this machine's own; those folders in `common` that are inside stay visible."""
    behind = {each: os.open(each, os.O_PATH) for each in common if each.is_relative_to(folder)}
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(folder))
    for each, opened in behind.items():
        each.mkdir(parents=True, exist_ok=True)
        # By the open file, because the new mount hides the name.
        mount("--no-canonicalize", "--rbind", f"/proc/{os.getpid()}/fd/{opened}", str(each))
        os.close(opened)


def become(name: str, shared: Path, files: dict[str, str]) -> None:
    """Become the machine `name`; `files` cover those of the real machine."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # die with the parent
    mount("--make-rprivate", "/")
    mount("-t", "proc", "proc", "/proc")
    socket.sethostname(name)
    for target, source in files.items():
        mount("--bind", source, target)
    # The project's folder stays visible, because its Python runs here.
    for folder in ("/dev/shm", "/tmp"):
        private(Path(folder), [PROJECT, shared])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def reap() -> None:
    """Reap all processes that end here; when a parent ends, its children become children of this process."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.pause()


if __name__ == "__main__":
    facts = json.loads(sys.argv[1])
    become(facts["name"], Path(facts["shared"]), facts["files"])
    print("up", flush=True)
    reap()
