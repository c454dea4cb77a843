"""libzmq's own `inproc_thr`, or our driver, on the same build of libzmq, each burst in a process of its own.

Takes `theirs` or `ours`, the files of our driver and of the build, and then size:messages; prints messages/s by size,
the median over runs. The program's source is in `perf/` of libzmq's sources of that version, whose folder the
environment variable LIBZMQ names (Debian has them as the source package zeromq3).

What it takes to compare the two:

- its sockets are given no high-water mark, as ours;
- its rate, from the first of N arrivals to the last, is that of N - 1 messages, not of N;
- a process for each burst: in our launches, where many follow each other in one process, memory is there already that
  the first burst has to ask the kernel for, and large messages go about twice as fast;
- one arena of memory for both threads: glibc gives each but the first one that grows in smaller steps. Its second
  thread sends and so allocates, ours receives.
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
from functools import partial
from pathlib import Path

from crossover.measure import native
from crossover.measure.experiments import zmq_message_size

RUNS = 5
ENVIRONMENT = os.environ | {"MALLOC_ARENA_MAX": "1"}
VERSION, STRUCT_BYTES = "4.3.4", 64
OURS = Path(__file__).parents[2] / "workflow" / "native" / "libzmq"
UNBOUNDED = """
    const int unbounded = 0;
    zmq_setsockopt (s, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt (s, ZMQ_RCVHWM, &unbounded, sizeof unbounded);
"""


def build(library: Path) -> Path:
    """The program, without high-water marks, linked to `library` and beside it; built once."""
    program = library.with_name("inproc_thr")
    if not program.exists():
        with tempfile.TemporaryDirectory() as folder:
            _compile(library, Path(folder), program)
    return program


def _compile(library: Path, folder: Path, program: Path) -> None:
    sources = os.environ.get("LIBZMQ")
    if not sources:
        sys.exit("LIBZMQ is not set: name the folder with the sources of libzmq, perf/ among them")
    text = (Path(sources) / "perf" / "inproc_thr.cpp").read_text(encoding="utf-8")
    text, sockets = re.subn(r"(?m)^(?=    rc = zmq_(bind|connect) )", UNBOUNDED, text)
    if sockets != 2:
        sys.exit(f"{sources}: perf/inproc_thr.cpp opens {sockets} sockets instead of 2; take that of {VERSION}")
    source = folder / "perf" / "inproc_thr.cpp"
    source.parent.mkdir()
    source.write_text(text, encoding="utf-8")
    (folder / "include").symlink_to(Path(sources, "include").absolute())
    command = [*shlex.split(os.environ.get("CXX", "c++")), "-O2", "-w", f"-I{OURS / VERSION}", str(source)]
    subprocess.run([*command, str(library), "-pthread", f"-Wl,-rpath,{library.parent}", "-o", str(program)], check=True)


def theirs(program: Path, size: int, count: int) -> float:
    """Messages/s of one run of the program."""
    told = _output([str(program), str(size), str(count)])
    [found] = re.findall(r"mean throughput: (\d+) \[msg/s\]", told)
    return int(found) * (count - 1) / count


def ours(driver: Path, library: Path, size: int, count: int) -> float:
    """Messages/s of one burst by our driver, in a process that does nothing else."""
    return float(_output([sys.executable, __file__, "burst", str(driver), str(library), f"{size}:{count}"]))


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout


def burst(driver: Path, library: Path, size: int, count: int) -> float:
    """The same, in this process."""
    os.environ |= native.variables([driver, library])
    variant = zmq_message_size.Variant(zmq_message_size.driver(), str(library), VERSION, STRUCT_BYTES)
    nanoseconds, code = variant.exchange(size, count, None, round_trips=False)
    if code:
        sys.exit(f"the burst failed ({code})")
    return 1e9 * count / nanoseconds


def main(whose: str, driver: str, library: str, *plan: str) -> None:
    """Run every point, print the medians."""
    files = Path(driver).absolute(), Path(library).absolute()
    points = {int(size): int(count) for size, count in (each.split(":") for each in plan)}
    if whose == "burst":
        [(size, count)] = points.items()
        print(burst(*files, size, count))
        return
    run = partial(ours, *files) if whose == "ours" else partial(theirs, build(files[1]))
    print(json.dumps({size: statistics.median(run(size, n) for _ in range(RUNS)) for size, n in points.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
