"""Machines of a test cluster: namespaces of this machine, each with a host name, an address, a /tmp and a /dev/shm.

A switch connects them: a bridge in a network namespace of its own. Nothing of this has a name in the real system, so it
disappears with its processes, and two clusters never meet. Needs root.
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
    """This process's environment, with the folders of daemons and network tools on the path; a user's may lack them."""
    return os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}


def why_not() -> str:
    """Why no machine can be made here; empty if one can."""
    if os.getuid():
        return "machines need namespaces, and these need root"
    missing = [program for program in NEEDED if shutil.which(program, path=environment()["PATH"]) is None]
    if missing:
        return f"no {', '.join(missing)}; install iproute2 and util-linux"
    tried = subprocess.run(["unshare", "--uts", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True)
    return "" if tried.returncode == 0 else f"no namespaces here: {tried.stderr.decode().strip()}"


def _group(process: psutil.Process) -> int | None:
    """The process group of a process; None if the process has ended."""
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(process.pid)
    return None


def _unshared(*flags: str, command: Sequence[str]) -> tuple[subprocess.Popen[str], int]:
    """Start a command in new namespaces and wait for its `up`; returns it and the process id of its process 1."""
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
    """The switch at the end of the machines' cables."""

    ports: int = 0

    def __post_init__(self) -> None:
        self._process, self.pid = _unshared("--net", command=["sh", "-c", "echo up; exec sleep infinity"])
        self.run("ip", "link", "add", "bridge", "type", "bridge")
        self.run("ip", "link", "set", "bridge", "up")

    def run(self, *command: str) -> None:
        """Run a command in the switch's network namespace."""
        subprocess.run(["nsenter", "--target", str(self.pid), "--net", *command], check=True, env=environment())

    def cable(self, machine: int, address: str) -> str:
        """Lay a cable to the machine with this process 1, where it is `eth0`; returns the name of the switch's end."""
        self.ports += 1
        port = f"port{self.ports}"
        self.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(machine))
        self.run("ip", "link", "set", port, "master", "bridge", "up")
        inside = ["nsenter", "--target", str(machine), "--net", "ip"]
        subprocess.run([*inside, "address", "add", f"{address}/24", "dev", "eth0"], check=True, env=environment())
        subprocess.run([*inside, "link", "set", "eth0", "up"], check=True, env=environment())
        return port

    def stop(self) -> None:
        """Remove the switch."""
        self._process.kill()
        self._process.wait()


@dataclass
class Machine:
    """One machine. It shares the folder `shared` with the others; `files` cover those of the real machine."""

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
        """Wrap a command to run on this machine, as root or `user`; if `online`, on the real system's network."""
        there = ["nsenter", "--target", str(self.pid), "--mount", "--uts", "--ipc", "--pid"]
        there += [] if online else ["--net"]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        # nsenter's --wd would mean the folder outside of the machine.
        change = ["env", f"--chdir={folder}"] if folder else []
        return [*there, "--", *become, *change, *command]

    def run(self, *command: str) -> str:
        """Run a command that must succeed on this machine; returns its output."""
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
        """This machine's processes without its process 1, with their `name` and `cmdline` in `info`.

        They may end at any time.
        """
        # Otherwise psutil confuses a new process with an old one of the same id.
        psutil.process_iter.cache_clear()
        here, every = self._namespace(self.pid), psutil.process_iter(["name", "cmdline"], ad_value=())
        return [each for each in every if each.pid != self.pid and self._namespace(each.pid) == here]

    def interrupt(self, word: str) -> None:
        """Press Ctrl-C in the terminal of the command with this word on its command line, for all its processes there.

        Except `timeout`, which would send it a second time.
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
        """Kill everything on this machine at once, by killing its process 1."""
        self._process.kill()
        self._process.wait()

    def limit(self, megabits_per_second: float) -> None:
        """Throttle the machine's cable in both directions; raises CalledProcessError if the kernel cannot."""
        self._queue("tbf", "rate", f"{megabits_per_second}mbit", "burst", "64kb", "latency", "400ms")

    def limit_towards(self, other: Machine, megabits_per_second: float, elsewhere: float) -> None:
        """Throttle what the machine sends to another one, and, less, to all others; raises RuntimeError likewise."""
        device = ("dev", "eth0")
        self.run("tc", "qdisc", "replace", *device, "root", "handle", "1:", "htb", "default", "1")
        for number, rate in ((1, elsewhere), (2, megabits_per_second)):
            shape = ("htb", "rate", f"{rate}mbit", "burst", "64kb")
            self.run("tc", "class", "add", *device, "parent", "1:", "classid", f"1:{number}", *shape)
        there = ("u32", "match", "ip", "dst", f"{other.address}/32", "flowid", "1:2")
        self.run("tc", "filter", "add", *device, "parent", "1:", "protocol", "ip", *there)

    def unlimit(self) -> None:
        """Undo `limit`."""
        self._queue("noqueue")

    def _queue(self, *discipline: str) -> None:
        self.switch.run("tc", "qdisc", "replace", "dev", self.port, "root", *discipline)
        self.run("tc", "qdisc", "replace", "dev", "eth0", "root", *discipline)

    def delay(self, seconds: float) -> None:
        """Delay every frame on the machine's cable by this time, in both directions, for good.

        Raises RuntimeError if there are no TAP devices.
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
        """Remove the machine, whatever its state."""
        for forwarding in self._forwarding:
            forwarding.kill()
            forwarding.wait()
        if self._process.poll() is None:
            self.cut_power()


def eventually(question: object, seconds: float, *, every: float = 0.05) -> bool:
    """Whether the answer becomes yes within this time."""
    assert callable(question)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if question():
            return True
        time.sleep(every)
    return False
