"""A short path of the temporary folder, for sockets: theirs have at most 107 bytes, and TMPDIR or a host's name can be
long.
"""

import os
import tempfile
from functools import cache


@cache
def temporary_folder() -> str:
    """Another path of the temporary folder, for this process and for those that it starts, as long as it runs."""
    return f"/proc/{os.getpid()}/fd/{os.open(tempfile.gettempdir(), os.O_PATH | os.O_DIRECTORY)}"
