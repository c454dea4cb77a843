"""NetPIPE's MPI ping-pong on the MPI of this environment. Prints round trips in seconds by elements of eight bytes.

NetPIPE is Debian's package netpipe-mpich2; its program NPmpich2 is looked for on the path, or where the environment
variable NETPIPE says (unpacking the package by `dpkg -x` is enough). It asks for Debian's own MPICH, of which this
environment's has the same binary interface: a link under the other name makes it run on that.

Each run is as long as one of our blocks. NetPIPE repeats it seven times and prints the best; of several starts the best
is taken again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ITEM_BYTES = 8
REPEATS = {1_024: 300, 65_536: 8, 131_072: 4}
"""Round trips in a run, by elements: about two milliseconds."""
TIMES = 8

program = os.environ.get("NETPIPE") or shutil.which("NPmpich2")
if not program:
    sys.exit("NPmpich2 is not on the path: install Debian's netpipe-mpich2, or name the program in NETPIPE")
prefix = Path(sys.prefix)
library = prefix / "lib" / "libmpi.so.12"
found: dict[int, list[float]] = {elements: [] for elements in REPEATS}
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "libmpich.so.12").symlink_to(library)
    paths = os.pathsep.join([folder, str(library.parent), str(library.parent / "mpich")])
    for _ in range(TIMES):
        for elements, repeats in REPEATS.items():
            size = elements * ITEM_BYTES
            command = [
                str(Path(sys.executable).with_name("mpiexec")),
                "-n",
                "2",
                program,
                "-p",
                "0",
                "-n",
                str(repeats),
            ]
            told = subprocess.run(
                [*command, "-l", str(size), "-u", str(size + 1), "-o", "netpipe.out"],
                cwd=folder,
                env=os.environ | {"LD_LIBRARY_PATH": paths},
                check=True,
                capture_output=True,
                text=True,
            )
            one_way = re.findall(
                rf"^ *\d+: +{size} bytes .* in +([0-9.]+) usec", told.stdout + told.stderr, re.MULTILINE
            )
            found[elements].append(2e-6 * float(one_way[-1]))
print(json.dumps({elements: min(values) for elements, values in found.items()}))
