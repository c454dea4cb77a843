"""Machines of a test cluster: namespaces of this one, each with a host name, an address, a /tmp and a /dev/shm.

They hang on a switch, which is a bridge in a network namespace of its own. None of it has a name in the real system:
it is gone when its processes are, and two clusters never meet. Needs root.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

INIT = Path(__file__).with_name("init.py")
DELAY = Path(__file__).with_name("delay.py")
NEEDED = ("ip", "unshare", "nsenter", "mount")


def environment() -> dict[str, str]:
    """This process's, with those folders on the path where daemons and network tools are; a user's may lack them."""
    return os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}


def why_not() -> str:
    """Why no machine can be made here; empty where it can."""
    if os.getuid():
        return "machines are made of namespaces, which takes root"
    missing = [program for program in NEEDED if shutil.which(program, path=environment()["PATH"]) is None]
    if missing:
        return f"no {', '.join(missing)}; install iproute2 and util-linux"
    tried = subprocess.run(["unshare", "--uts", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True)
    return "" if tried.returncode == 0 else f"no namespaces here: {tried.stderr.decode().strip()}"


def _group(process: psutil.Process) -> int | None:
    """Its process group; None where it has ended."""
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(process.pid)
    return None


def _unshared(*flags: str, command: Sequence[str]) -> tuple[subprocess.Popen[str], int]:
    """A process in new namespaces, once it says `up`; and the number of its process 1 as seen from here."""
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", *flags, "--kill-child", "--fork", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment(),
    )
    assert process.stdout is not None
    if process.stdout.readline().strip() != "up":
        raise RuntimeError(f"{command} did not come up; code {process.wait()}")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return process, int(children[0])


@dataclass
class Switch:
    """What the machines' cables end in."""

    ports: int = 0

    def __post_init__(self) -> None:
        self._process, self.pid = _unshared("--net", command=["sh", "-c", "echo up; exec sleep infinity"])
        self.run("ip", "link", "add", "bridge", "type", "bridge")
        self.run("ip", "link", "set", "bridge", "up")

    def run(self, *command: str) -> None:
        """Run a command where the cables end."""
        subprocess.run(["nsenter", "--target", str(self.pid), "--net", *command], check=True, env=environment())

    def cable(self, machine: int, address: str) -> str:
        """Lay a cable to the machine whose process 1 this is, where it is `eth0`; the name of the switch's end."""
        self.ports += 1
        port = f"port{self.ports}"
        self.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(machine))
        self.run("ip", "link", "set", port, "master", "bridge", "up")
        inside = ["nsenter", "--target", str(machine), "--net", "ip"]
        subprocess.run([*inside, "address", "add", f"{address}/24", "dev", "eth0"], check=True, env=environment())
        subprocess.run([*inside, "link", "set", "eth0", "up"], check=True, env=environment())
        return port

    def stop(self) -> None:
        """Take the switch away."""
        self._process.kill()
        self._process.wait()


@dataclass
class Machine:
    """One machine. `shared` is the folder that it has in common with the others; `files` lie over the real ones."""

    name: str
    address: str
    switch: Switch
    shared: Path
    files: Mapping[str, Path] = field(default_factory=dict)
    _forwarding: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = {target: str(source) for target, source in self.files.items()}
        facts = {"name": self.name, "shared": str(self.shared), "files": files}
        self._process, self.pid = _unshared(
            *("--uts", "--ipc", "--mount", "--net", "--pid"), command=[sys.executable, str(INIT), json.dumps(facts)]
        )
        self.port = self.switch.cable(self.pid, self.address)

    def command(
        self, *command: str, user: str | None = None, folder: Path | None = None, online: bool = False
    ) -> list[str]:
        """What runs a command on this machine, as root or as `user`; `online` on the real system's network."""
        there = ["nsenter", "--target", str(self.pid), "--mount", "--uts", "--ipc", "--pid"]
        there += [] if online else ["--net"]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        # Not by --wd of nsenter, which would be the folder as it is seen outside.
        change = ["env", f"--chdir={folder}"] if folder else []
        return [*there, "--", *become, *change, *command]

    def run(self, *command: str) -> str:
        """What a command said that must succeed on this machine."""
        done = subprocess.run(self.command(*command), text=True, capture_output=True, timeout=60, env=environment())
        if done.returncode:
            raise RuntimeError(f"{self.name}: {command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *command: str, log: Path) -> subprocess.Popen[bytes]:
        """Start a daemon on this machine."""
        with log.open("ab") as said:
            return subprocess.Popen(
                self.command(*command),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                env=environment(),
            )

    def processes(self) -> list[psutil.Process]:
        """What runs on this machine, its process 1 left out; with its `name` and `cmdline` in `info`.

        Any of it may have ended by the time that it is looked at.
        """
        # From its cache it would give a process that took over a number the identity of the one before it.
        psutil.process_iter.cache_clear()
        here, every = self._namespace(self.pid), psutil.process_iter(["name", "cmdline"], ad_value=())
        return [each for each in every if each.pid != self.pid and self._namespace(each.pid) == here]

    def interrupt(self, word: str) -> None:
        """Press Ctrl-C in the terminal of what has this word on its command line: all that it started there hears it.

        But `timeout`, which would pass it on a second time.
        """
        running = self.processes()
        groups = {_group(each) for each in running if word in each.info["cmdline"]} - {None}
        for each in running:
            if _group(each) in groups and each.info["name"] != "timeout":
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.send_signal(signal.SIGINT)

    @staticmethod
    def _namespace(pid: int) -> str:
        with contextlib.suppress(OSError):
            return str(Path(f"/proc/{pid}/ns/pid").readlink())
        return ""  # it has ended

    def cut_power(self) -> None:
        """Kill everything on this machine at once: what holds its process 1 takes that along."""
        self._process.kill()
        self._process.wait()

    def limit(self, megabits_per_second: float) -> None:
        """Let no more through the machine's cable, either way; raises CalledProcessError where the kernel cannot."""
        self._queue("tbf", "rate", f"{megabits_per_second}mbit", "burst", "64kb", "latency", "400ms")

    def unlimit(self) -> None:
        """Let everything through the cable, as at first."""
        self._queue("noqueue")

    def _queue(self, *discipline: str) -> None:
        self.switch.run("tc", "qdisc", "replace", "dev", self.port, "root", *discipline)
        self.run("tc", "qdisc", "replace", "dev", "eth0", "root", *discipline)

    def delay(self, seconds: float) -> None:
        """Let all that passes the machine's cable take so much longer, either way. It stays so.

        Raises RuntimeError where there are no TAP devices.
        """
        _, card = self.run("ip", "-oneline", "link", "show", "dev", "eth0").split("link/ether ")
        self.switch.run("ip", "link", "delete", self.port)
        ends = json.dumps({self.port: self.switch.pid, "eth0": self.pid})
        forwarding = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, str(DELAY), ends, str(seconds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._forwarding.append(forwarding)
        assert forwarding.stdout is not None
        if forwarding.stdout.readline().strip() != "up":
            raise RuntimeError(f"no delayed cable; code {forwarding.wait()}")
        self.switch.run("ip", "link", "set", self.port, "master", "bridge", "up")
        self.run("ip", "link", "set", "eth0", "address", card.split()[0])
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")

    def stop(self) -> None:
        """Take the machine away, whatever its state."""
        for forwarding in self._forwarding:
            forwarding.kill()
            forwarding.wait()
        if self._process.poll() is None:
            self.cut_power()


def eventually(question: object, seconds: float, *, every: float = 0.05) -> bool:
    """Whether the answer is yes before so many seconds have passed."""
    assert callable(question)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if question():
            return True
        time.sleep(every)
    return False
