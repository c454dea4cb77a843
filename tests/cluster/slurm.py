"""A real Slurm on this machine, for tests: nodes, and a controller that is also the login node.

`python tests/cluster/slurm.py -- COMMAND` starts one, runs the command on its login node and stops it.
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

import accounts
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
# Nodes claim more processors than this machine has, so that they take as many tasks as real ones.
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=5
MpiDefault=none
# A job that requests no memory gets 20 MB for each processor, not the whole node.
DefMemPerCPU=20
{accounting}
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
# Jobs of the partition `urgent` end those of the others.
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName={nodes} CPUs={processors} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=brief Nodes=ALL MaxTime=6 State=UP
PartitionName=single Nodes={first} MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=ALL MaxTime=INFINITE PriorityTier=10 State=UP
"""


def why_not() -> str:
    """Why no Slurm can run here; empty if one can."""
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
    """A running Slurm. `shared` is the file system that its machines share."""

    login: Machine
    nodes: tuple[Machine, ...]
    shared: Path
    folder: Path
    """The daemons' own files."""

    @property
    def home(self) -> Path:
        """The home of USER."""
        return self.folder / "home"

    def states(self) -> dict[str, str]:
        """Slurm's state of each node."""
        told = self.login.run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%N %t").split()
        return dict(zip(told[::2], told[1::2], strict=True))

    def jobs(self) -> list[str]:
        """Jobs that are waiting or running."""
        return self.login.run("squeue", "--noheader", "--format=%i %T").splitlines()

    def start_controller(self) -> subprocess.Popen[bytes]:
        """Start slurmctld and wait until it answers."""
        found = self.login.start("slurmctld", "-D", log=self.folder / "slurmctld.said")
        if not eventually(lambda: self._answers(), 20):
            raise RuntimeError(f"slurmctld does not answer; see {self.folder}/slurmctld.log")
        return found

    def stop_controller(self) -> None:
        """Stop slurmctld."""
        [controller] = [each for each in self.login.processes() if each.info["name"] == "slurmctld"]
        controller.terminate()
        controller.wait(20)

    def _answers(self) -> bool:
        return subprocess.run(self.login.command("scontrol", "ping"), capture_output=True).returncode == 0

    def start_node(self, node: Machine) -> subprocess.Popen[bytes]:
        """Start a node's slurmd."""
        return node.start("slurmd", "-D", "-N", node.name, log=self.folder / f"slurmd.{node.name}.said")


@contextmanager
def cluster(shared: Path, count: int = 3, processors: int = 64, *, keep_accounts: bool = False) -> Iterator[Cluster]:
    """A running Slurm of `count` nodes that share the folder `shared`; each claims to have this many processors.

    If it keeps accounts of jobs, root and USER have one, and its limits hold.
    """
    with ExitStack() as undo:
        folder = Path(tempfile.mkdtemp(prefix="slurm-", dir=shared))
        folder.chmod(0o755)
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        names = [f"node{number}" for number in range(1, count + 1)]
        files = _files(folder, names, processors, accounts.lines(folder, keep_accounts))
        switch = Switch()
        undo.callback(switch.stop)
        hosts = []
        for number, name in enumerate(["login", *names], 1):
            hosts.append(Machine(name, f"10.77.0.{number}", switch, shared, files))
            undo.callback(hosts[-1].stop)
        found = Cluster(hosts[0], tuple(hosts[1:]), shared, folder)
        _start_munge(found)
        if keep_accounts:
            accounts.start(found.login, folder, ("root", USER))
        found.start_controller()
        for node in found.nodes:
            found.start_node(node)
        if not eventually(lambda: set(found.states().values()) == {"idle"}, 30):
            raise RuntimeError(f"nodes do not come up: {found.states()}; see {folder}")
        yield found


def _files(folder: Path, nodes: Sequence[str], processors: int, accounting: str) -> dict[str, Path]:
    """Write the files that cover those of the real system on every machine."""
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
    names = ",".join(nodes)
    (slurm / "slurm.conf").write_text(
        CONFIGURATION.format(folder=folder, nodes=names, first=nodes[0], processors=processors, accounting=accounting)
    )
    return found | {"/etc/slurm": slurm}


def _start_munge(found: Cluster) -> None:
    """Start one munge, whose socket all machines share. It also knows the cluster's own users."""
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
    """Start a Slurm, run a command on its login node, stop it; returns the command's exit code."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=3, help="the number of nodes (3)")
    parser.add_argument("--user", help=f"the user who runs the command; {USER} is one that only the cluster knows")
    parser.add_argument("--shared", type=Path, default=Path.cwd(), help="the folder that all share (the current one)")
    parser.add_argument("command", nargs="*", default=["bash"], help="the command to run on the login node (a shell)")
    asked = parser.parse_args()
    if reason := why_not():
        print(f"cannot start a Slurm: {reason}", file=sys.stderr)
        return 1
    with cluster(asked.shared.resolve(), asked.nodes) as found:
        command = found.login.command(*asked.command, user=asked.user, folder=Path.cwd())
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
