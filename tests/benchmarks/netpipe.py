"""NetPIPE's MPI ping-pong on the MPI of this environment. Prints round trips in seconds by elements of eight bytes.

Takes elements:repeats. NetPIPE is Debian's package netpipe-mpich2; its program NPmpich2 is looked for on the path, or
where the environment variable NETPIPE says (unpacking the package by `dpkg -x` is enough). It asks for Debian's own
MPICH, of which this environment's has the same binary interface: a link under the other name makes it run on that.

NetPIPE makes seven runs of so many repeats and prints the best.
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
        # No perturbed sizes, and no other size than this.
        options = ["-p", "0", "-n", str(repeats), "-l", str(size), "-u", str(size + 1), "-o", "netpipe.out"]
        told = subprocess.run(
            [*starting("mpiexec", ranks=2, nodes=1), program, *options],
            cwd=folder,
            env=os.environ | {"LD_LIBRARY_PATH": paths},
            check=True,
            capture_output=True,
            text=True,
        )
        one_way = re.findall(rf"^ *\d+: +{size} bytes .* in +([0-9.]+) usec", told.stdout + told.stderr, re.MULTILINE)
        found[elements] = 2e-6 * float(one_way[-1])
print(json.dumps(found))
