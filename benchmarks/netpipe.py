"""NetPIPE's MPI ping-pong on the MPI of this environment. Prints seconds per round trip by elements of eight bytes.

Takes elements:repeats. NetPIPE is Debian's package netpipe-mpich2. Its program NPmpich2 must be on the path, or the
environment variable NETPIPE must name it (`dpkg -x` is enough to unpack the package). The program requires Debian's
MPICH; this environment's has the same binary interface, so a link with Debian's name makes the program use it.

NetPIPE makes seven runs of that many repeats and prints the best.
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

from crossover.measure.launch.mpi_launcher import starting

ITEM_BYTES = 8

program = os.environ.get("NETPIPE") or shutil.which("NPmpich2")
if not program:
    sys.exit("NPmpich2 is not on the path: install Debian's netpipe-mpich2, or name the program in NETPIPE")
prefix = Path(sys.prefix)
library = prefix / "lib" / "libmpi.so.12"
found: dict[int, float] = {}
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "libmpich.so.12").symlink_to(library)
    paths = os.pathsep.join([folder, str(library.parent), str(library.parent / "mpich")])
    for elements, repeats in (map(int, point.split(":")) for point in sys.argv[1:]):
        size = elements * ITEM_BYTES
        # This size only, without NetPIPE's perturbed sizes around it.
        options = ["-p", "0", "-n", str(repeats), "-l", str(size), "-u", str(size + 1), "-o", "netpipe.out"]
        told = subprocess.run(
            [*starting("mpiexec", ranks=2, nodes=1), program, *options],
            cwd=folder,
            env=os.environ | {"LD_LIBRARY_PATH": paths},
            check=True,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
        one_way = re.findall(rf"^ *\d+: +{size} bytes .* in +([0-9.]+) usec", told.stdout + told.stderr, re.MULTILINE)
        found[elements] = 2e-6 * float(one_way[-1])
print(json.dumps(found))
