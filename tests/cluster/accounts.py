"""The accounts of a test cluster: slurmdbd, and the MariaDB to which it writes, both on the login node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import machines
from machines import Machine, eventually

PROGRAMS = ("slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb-install-db")
ACCOUNT = "project"
LINES = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=login
AccountingStoragePass={folder}/munge/socket
AccountingStorageEnforce=associations,limits,qos
MinJobAge=2"""
"""With the least age, the controller forgets a job within seconds of its end, so that only the accounts know it."""

CONFIGURATION = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=login
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
# The socket's path is in the environment; MariaDB knows root by it, without a password.
StorageHost=localhost
StorageUser=root
StorageLoc=accounts
"""


def why_not() -> str:
    """Why no accounts can be kept here, even if a Slurm can run; empty if they can."""
    path = machines.environment()["PATH"]
    missing = [program for program in PROGRAMS if shutil.which(program, path=path) is None]
    return f"no {', '.join(missing)}; on Debian and Ubuntu: apt install slurmdbd mariadb-server" if missing else ""


def lines(folder: Path, keep: bool) -> str:
    """The lines of slurm.conf that say whether to keep accounts; `folder` is that of the daemons."""
    return LINES.format(folder=folder) if keep else "AccountingStorageType=accounting_storage/none"


def start(login: Machine, folder: Path, users: tuple[str, ...]) -> None:
    """Start the accounts of the cluster whose daemons have this folder; these users may charge ACCOUNT.

    Needs munge, and must come before slurmctld.
    """
    written = folder / "slurm/slurmdbd.conf"
    written.touch(mode=0o600)
    written.write_text(CONFIGURATION.format(folder=folder))
    socket = _start_database(login, folder / "database")
    login.start("env", f"MYSQL_UNIX_PORT={socket}", "slurmdbd", "-D", log=folder / "slurmdbd.said")
    if not eventually(lambda: _answers(login), 30):
        raise RuntimeError(f"slurmdbd does not answer; see {folder}/slurmdbd.log")
    change(login, "add", "cluster", "test")
    change(login, "add", "account", ACCOUNT)
    change(login, "add", "user", ",".join(users), f"account={ACCOUNT}", f"defaultaccount={ACCOUNT}")


def change(login: Machine, *words: str) -> None:
    """Change the accounts by `sacctmgr`, without its question."""
    login.run("sacctmgr", "--immediate", *words)


def _start_database(login: Machine, folder: Path) -> Path:
    """Start a MariaDB on no network; returns its socket."""
    data = f"--datadir={folder / 'data'}"
    folder.mkdir()
    login.run("mariadb-install-db", "--no-defaults", data, "--user=root", "--skip-test-db")
    socket = folder / "socket"
    options = (data, f"--socket={socket}", f"--pid-file={folder / 'pid'}", "--user=root", "--skip-networking")
    login.start("mariadbd", "--no-defaults", *options, log=folder / "said")
    if not eventually(socket.exists, 30):
        raise RuntimeError(f"mariadbd does not come up: {(folder / 'said').read_text()}")
    return socket


def _answers(login: Machine) -> bool:
    asked = login.command("sacctmgr", "--noheader", "show", "cluster")
    return subprocess.run(asked, capture_output=True, env=machines.environment()).returncode == 0
