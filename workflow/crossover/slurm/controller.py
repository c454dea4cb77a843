"""The configuration of Slurm's controller, as `scontrol show config` writes it; the limit of jobs in its accounts."""

import getpass
import re
import subprocess
from collections.abc import Iterable

LIMIT_SECONDS = 10


def configuration() -> str:
    """Slurm's configuration; empty if Slurm does not answer or is not installed."""
    command = ["scontrol", "show", "config"]
    try:
        return subprocess.run(
            command, capture_output=True, timeout=LIMIT_SECONDS, encoding="utf-8", errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def keeps_accounts(configuration: str) -> bool:
    """Whether Slurm keeps accounts of jobs, which `sacct` needs. False for an empty configuration.

    >>> keeps_accounts("AccountingStorageType   = accounting_storage/slurmdbd")
    True
    """
    found = re.search(r"^AccountingStorageType\s*=\s*(\S+)", configuration, re.MULTILINE)
    return found is not None and found[1] not in ("accounting_storage/none", "(null)")


def remembers_seconds(configuration: str) -> int | None:
    """For how long Slurm remembers ended jobs without accounts; None for an empty configuration.

    >>> remembers_seconds("MinJobAge               = 300 sec")
    300
    """
    found = re.search(r"^MinJobAge\s*=\s*(\d+)", configuration, re.MULTILINE)
    return int(found[1]) if found else None


def most_jobs(qos: str | None) -> int | None:
    """The most jobs that this user may have in the queue, by the accounts; None without a limit or without accounts."""
    user = getpass.getuser()
    asked = (
        ["show", "associations", f"user={user}", "format=MaxSubmitJobs,GrpSubmitJobs"],
        ["show", "qos", qos or "normal", "format=MaxSubmitJobsPerUser,GrpSubmitJobs"],
    )
    return least(_accounts(*words) for words in asked)


def least(answers: Iterable[str]) -> int | None:
    """The least number in answers of `sacctmgr --parsable2`; None without any.

    >>> least(["|5\\n\\n", "2|"]), least(["", "|\\n"])
    (2, None)
    """
    return min((int(number) for answer in answers for number in re.findall(r"\d+", answer)), default=None)


def _accounts(*words: str) -> str:
    command = ["sacctmgr", "--noheader", "--parsable2", *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, encoding="utf-8", errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
