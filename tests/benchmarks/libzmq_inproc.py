"""libzmq's own `inproc_thr` on one of the builds that we measure. Prints messages/s by size, the median over runs.

Takes the library's file, its version and then size:messages. The program's source is in `perf/` of libzmq's sources of
that version, whose folder the environment variable LIBZMQ names (Debian has them as the source package zeromq3). Two
things are changed to make it the same pattern as ours: its sockets are given no high-water mark, and its rate, which it
takes from the first of N arrivals to the last, is that of N - 1 messages, not of N.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 30
OURS = Path(__file__).parents[2] / "workflow" / "native" / "libzmq"
UNBOUNDED = """
    const int unbounded = 0;
    zmq_setsockopt (s, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt (s, ZMQ_RCVHWM, &unbounded, sizeof unbounded);
"""


def build(library: Path, version: str, folder: Path) -> Path:
    """The program, without high-water marks, linked to `library`."""
    sources = os.environ.get("LIBZMQ")
    if not sources:
        sys.exit(f"LIBZMQ is not set: name the folder with the sources of libzmq {version}, perf/ among them")
    text = (Path(sources) / "perf" / "inproc_thr.cpp").read_text(encoding="utf-8")
    text, sockets = re.subn(r"(?m)^(?=    rc = zmq_(bind|connect) )", UNBOUNDED, text)
    if sockets != 2:
        sys.exit(f"{sources}: perf/inproc_thr.cpp opens {sockets} sockets instead of 2; take that of {version}")
    source = folder / "perf" / "inproc_thr.cpp"
    source.parent.mkdir()
    source.write_text(text, encoding="utf-8")
    (folder / "include").symlink_to(Path(sources, "include").absolute())
    program = folder / "inproc_thr"
    command = [*shlex.split(os.environ.get("CXX", "c++")), "-O2", "-w", f"-I{OURS / version}", str(source)]
    subprocess.run([*command, str(library), "-pthread", f"-Wl,-rpath,{library.parent}", "-o", str(program)], check=True)
    return program


def rate(program: Path, size: int, count: int) -> float:
    """Messages/s of one run."""
    told = subprocess.run([str(program), str(size), str(count)], check=True, capture_output=True, text=True).stdout
    [found] = re.findall(r"mean throughput: (\d+) \[msg/s\]", told)
    return int(found) * (count - 1) / count


def main(library: str, version: str, *plan: str) -> None:
    """Run every point, print the medians."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(library).absolute(), version, Path(folder))
        points = {int(size): int(count) for size, count in (each.split(":") for each in plan)}
        print(
            json.dumps(
                {size: statistics.median(rate(program, size, n) for _ in range(RUNS)) for size, n in points.items()}
            )
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
