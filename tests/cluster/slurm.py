"""A real Slurm on this machine, for tests: a controller, which is the login node too, and nodes, each a machine.

`python tests/cluster/slurm.py -- COMMAND` brings one up, runs the command on its login node and takes it away.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import machines
from machines import Machine, Switch, eventually

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "srun", "squeue", "scontrol", "scancel")
USER = "stranger"
USER_ID = 4242
CONFIGURATION = """\
ClusterName=test
SlurmctldHost=login
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdSpoolDir=/tmp/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
# Nodes say that they have more processors than this machine, so that they hold as many tasks as real ones.
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=5
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
NodeName={nodes} CPUs=64 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=single Nodes={first} MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Why there can be no Slurm here; empty where there can."""
    missing = [
        program
        for program in (*DAEMONS, *CLIENTS)
        if shutil.which(program, path=machines.environment()["PATH"]) is None
    ]
    if missing:
        return f"no {', '.join(missing)}; on Debian and Ubuntu: apt install slurmctld slurmd slurm-client munge"
    return machines.why_not()


@dataclass(frozen=True)
class Cluster:
    """A Slurm that is up. `shared` is the file system that its machines have in common."""

    login: Machine
    nodes: tuple[Machine, ...]
    shared: Path
    folder: Path
    """Where the daemons keep what is theirs."""

    @property
    def home(self) -> Path:
        """The home of USER."""
        return self.folder / "home"

    def states(self) -> dict[str, str]:
        """Slurm's word on each node."""
        told = self.login.run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%N %t").split()
        return dict(zip(told[::2], told[1::2], strict=True))

    def jobs(self) -> list[str]:
        """Jobs that wait or run."""
        return self.login.run("squeue", "--noheader", "--format=%i %T").splitlines()

    def start_controller(self) -> subprocess.Popen[bytes]:
        """Start slurmctld and wait until it answers."""
        found = self.login.start("slurmctld", "-D", log=self.folder / "slurmctld.said")
        if not eventually(lambda: self._answers(), 20):
            raise RuntimeError(f"slurmctld does not answer; see {self.folder}/slurmctld.log")
        return found

    def stop_controller(self) -> None:
        """End slurmctld."""
        [controller] = [each for each in self.login.processes() if each.info["name"] == "slurmctld"]
        controller.terminate()
        controller.wait(20)

    def _answers(self) -> bool:
        return subprocess.run(self.login.command("scontrol", "ping"), capture_output=True).returncode == 0

    def start_node(self, node: Machine) -> subprocess.Popen[bytes]:
        """Start a node's slurmd."""
        return node.start("slurmd", "-D", "-N", node.name, log=self.folder / f"slurmd.{node.name}.said")


@contextmanager
def cluster(shared: Path, count: int = 3) -> Iterator[Cluster]:
    """Bring up a Slurm of `count` nodes around the folder `shared`, and take it away."""
    with ExitStack() as undo:
        folder = Path(tempfile.mkdtemp(prefix="slurm-", dir=shared))
        folder.chmod(0o755)
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        names = [f"node{number}" for number in range(1, count + 1)]
        files = _files(folder, names)
        switch = Switch()
        undo.callback(switch.stop)
        hosts = []
        for number, name in enumerate(["login", *names], 1):
            hosts.append(Machine(name, f"10.77.0.{number}", switch, shared, files))
            undo.callback(hosts[-1].stop)
        found = Cluster(hosts[0], tuple(hosts[1:]), shared, folder)
        _start_munge(found)
        found.start_controller()
        for node in found.nodes:
            found.start_node(node)
        if not eventually(lambda: set(found.states().values()) == {"idle"}, 30):
            raise RuntimeError(f"nodes do not come up: {found.states()}; see {folder}")
        yield found


def _files(folder: Path, nodes: Sequence[str]) -> dict[str, Path]:
    """What lies over the real system's files on every machine."""
    addresses = "".join(f"10.77.0.{number} {name}\n" for number, name in enumerate(["login", *nodes], 1))
    home = folder / "home"
    home.mkdir()
    os.chown(home, USER_ID, USER_ID)
    slurm = folder / "slurm"
    slurm.mkdir()
    (folder / "state").mkdir()
    written = {
        "/etc/hosts": "127.0.0.1 localhost\n" + addresses,
        "/etc/passwd": Path("/etc/passwd").read_text() + f"{USER}:x:{USER_ID}:{USER_ID}::{home}:/bin/bash\n",
        "/etc/group": Path("/etc/group").read_text() + f"{USER}:x:{USER_ID}:\n",
    }
    found = {}
    for target, text in written.items():
        found[target] = folder / Path(target).name
        found[target].write_text(text)
    (slurm / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, nodes=",".join(nodes), first=nodes[0]))
    return found | {"/etc/slurm": slurm}


def _start_munge(found: Cluster) -> None:
    """One munge for all machines: they share its socket. It speaks for users that this cluster alone knows."""
    munge = found.folder / "munge"
    munge.mkdir()
    key = munge / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    options = [f"--{name}={munge / name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
    found.login.start("munged", "--foreground", "--force", f"--key-file={key}", *options, log=munge / "said")
    if not eventually((munge / "socket").exists, 20):
        raise RuntimeError(f"munged does not come up: {(munge / 'said').read_text()}")


def main() -> int:
    """Bring a Slurm up, run a command on its login node, take it away; the command's exit code."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=3, help="so many nodes (3)")
    parser.add_argument("--user", help=f"run the command as this user; {USER} is one that only the cluster knows")
    parser.add_argument("--shared", type=Path, default=Path.cwd(), help="the folder that all share (this one)")
    parser.add_argument("command", nargs="*", default=["bash"], help="what to run on the login node (a shell)")
    asked = parser.parse_args()
    if reason := why_not():
        print(f"no Slurm can be brought up: {reason}", file=sys.stderr)
        return 1
    with cluster(asked.shared.resolve(), asked.nodes) as found:
        command = found.login.command(*asked.command, user=asked.user, folder=Path.cwd())
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
