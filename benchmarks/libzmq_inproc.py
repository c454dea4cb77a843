"""libzmq's own `inproc_thr`, or our driver, on the same build of libzmq, each burst in a process of its own.

Takes `theirs` or `ours`, the files of our driver and of the build, and then size:messages; prints messages/s by size.
Set the environment variable LIBZMQ to the folder with libzmq's sources of that version: the program is in their `perf/`
(Debian's source package is zeromq3).

Conditions of the comparison:

- The sockets of libzmq's program get no high-water mark, like ours.
- Its rate covers the time from the first of N arrivals to the last, so it is corrected to N - 1 messages.
- Each burst has its own process. Our launches run many bursts in one process: only the first must request memory from
  the kernel, and large messages are about twice as fast.
- Both threads use one memory arena. By default, glibc gives all threads but the first arenas that grow in smaller
  steps.
- Both programs vary the addresses of their pipes. The two threads write different words of a pipe, and its address on
  the heap, in steps of 16 bytes, decides which words share a cache line. This alone changes the rate of small messages
  by a tenth. So both programs first allocate a block, of four lengths in turn; the result is the geometric mean of the
  four medians.
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

RUNS = 3
OFFSETS_BYTES = (0, 16, 32, 48)
"""All offsets within a cache line, because the heap's blocks begin at multiples of 16 bytes."""
VERSION = "4.3.4"
BUILD = Path(__file__).parents[1] / "workflow" / "native" / "libzmq" / VERSION
OFFSET = """
    void *volatile first = malloc (24 + atoi (getenv ("OFFSET_BYTES")));
    (void) first;
"""
UNBOUNDED = """
    const int unbounded = 0;
    zmq_setsockopt (s, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt (s, ZMQ_RCVHWM, &unbounded, sizeof unbounded);
"""
OURS = (
    """
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern "C" void *inproc_open (void *);
extern "C" int inproc_exchange (void *, size_t, long, const unsigned char *, int, int64_t *);

int main (int, char *argv[])
{
"""
    + OFFSET
    + """
    const long n = atol (argv[2]);
    int64_t ns = 1;
    if (inproc_exchange (inproc_open (dlopen (argv[3], RTLD_NOW)), atol (argv[1]), n, NULL, 0, &ns))
        return 1;
    printf ("mean throughput: %.0f [msg/s]\\n", 1e9 * n / ns);
    return 0;
}
"""
)


def theirs() -> str:
    """The source of libzmq's program, with our conditions."""
    sources = os.environ.get("LIBZMQ")
    if not sources:
        sys.exit(f"LIBZMQ is not set; set it to the folder with the sources of libzmq {VERSION}, with perf/")
    text = (Path(sources) / "perf" / "inproc_thr.cpp").read_text(encoding="utf-8")
    text, sockets = re.subn(r"(?m)^(?=    rc = zmq_(bind|connect) )", UNBOUNDED, text)
    text, starts = re.subn(r"(?m)^(?=    ctx = zmq_init )", OFFSET, text)
    if (sockets, starts) != (2, 1):
        sys.exit(f"{sources}: perf/inproc_thr.cpp differs from that of libzmq {VERSION}; use the sources of {VERSION}")
    return text.replace("../include/zmq.h", f"{sources}/include/zmq.h")


def compiled(source: str, libraries: list[Path], folder: Path) -> Path:
    """Compile a program and link it to the libraries."""
    (folder / "program.cpp").write_text(source, encoding="utf-8")
    command = [*shlex.split(os.environ.get("CXX", "c++")), "-O2", "-w", f"-I{BUILD}", str(folder / "program.cpp")]
    command += [str(library) for library in libraries]
    command += [f"-Wl,-rpath,{library.parent}" for library in libraries]
    subprocess.run([*command, "-pthread", "-ldl", "-o", str(folder / "program")], check=True)
    return folder / "program"


def rate(command: list[str], offset_bytes: int) -> float:
    """Messages/s that one run of a program prints."""
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "OFFSET_BYTES": str(offset_bytes)}
    told = subprocess.run(
        command, check=True, capture_output=True, env=environment, encoding="utf-8", errors="replace"
    ).stdout
    [found] = re.findall(r"mean throughput: (\d+) \[msg/s\]", told)
    return float(found)


def main(whose: str, driver: str, library: str, *plan: str) -> None:
    """Measure every point; print the rates."""
    ours, build = Path(driver).absolute(), Path(library).absolute()
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        source, libraries = (OURS, [ours]) if whose == "ours" else (theirs(), [build])
        program = compiled(source, libraries, Path(folder))
        for size, count in (map(int, each.split(":")) for each in plan):
            command = [str(program), str(size), str(count), *([str(build)] if whose == "ours" else [])]
            medians = [statistics.median(rate(command, offset) for _ in range(RUNS)) for offset in OFFSETS_BYTES]
            messages = count if whose == "ours" else count - 1
            values[size] = statistics.geometric_mean(medians) * messages / count
    print(json.dumps(values))


if __name__ == "__main__":
    main(*sys.argv[1:])
