"""The configuration of Slurm's controller, as `scontrol show config` writes it."""

import re
import subprocess

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
