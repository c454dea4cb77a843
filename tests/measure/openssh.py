"""Whether tests that need an SSH server can run on this machine."""

import os
import shutil
from pathlib import Path

import pytest

from crossover.measure.farms.ssh_tunnel import WHERE_SERVERS_ARE


def _why_not() -> str:
    if shutil.which("sshd", path=os.pathsep.join([os.environ["PATH"], *WHERE_SERVERS_ARE])) is None:
        return "no sshd; install OpenSSH's server"
    if os.getuid() == 0 and not Path("/run/sshd").is_dir():
        return "sshd run by root needs the folder /run/sshd; make it"
    return ""


WHY_NO_SSHD = _why_not()
"""Why a test cannot start an SSH server; empty if it can."""
needs_sshd = pytest.mark.skipif(bool(WHY_NO_SSHD), reason=WHY_NO_SSHD)
