"""Commands that measure: a launch, its ranks, the libraries built for them, and the jobs of the doctor."""

import sys
from argparse import Namespace
from importlib.abc import MetaPathFinder
from pathlib import Path

from crossover.cli.command import INTERFACE, MPI, path, step, value

OF_LAUNCH = (path("file", "file that describes the launch"), INTERFACE)


def _without_pandas() -> None:
    """Make pandas appear not installed. Otherwise pyarrow imports it with the first list, which takes a second.

    An experiment that measures pandas names it among its packages.
    """

    class Absent(MetaPathFinder):
        def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
            if fullname == "pandas":
                raise ModuleNotFoundError(f"{fullname} is kept out of measuring processes", name=fullname)

    sys.meta_path.insert(0, Absent())


@step(
    "results/logs/quick/zmq_latency/node/1-0a1b2c3d.0.json",
    *OF_LAUNCH,
    MPI,
    value("--code", "hash of the measuring code, to be recorded", default=""),
    path("--libraries", "built libraries that the launch uses", nargs="*", default=[]),
    path(
        "--receipt",
        "receipt to write; its path names the raw file's folder (default: in a new folder)",
        default=None,
    ),
    path("--log", "log file to write (default: in that folder)", default=None),
    value("--quiet", "print nothing but errors; the log has every line", action="store_true"),
)
def launch(chosen: Namespace) -> int:
    """Measure one launch: add its raw file, and write the receipt that names it.

    If the launch fails, the raw file is a hole with the reason, and the exit code is 0. If the receipt was that of a
    measurement, it stays, and the exit code is 1.
    """
    from tempfile import mkdtemp

    from crossover.design import experiments
    from crossover.measure.launch.supervisor import Job, supervise
    from crossover.planning.receipt import Files

    _without_pandas()
    launch = experiments.read_launch(chosen.file)
    if chosen.receipt:
        own = Files(chosen.receipt)
    else:
        from crossover.workflow import session

        # By hand, nobody has set the environment of ranks.
        session.expose()
        own = Files.of(mkdtemp(prefix="crossover-"), "by-hand", launch, 0)
    job = Job(
        launch,
        chosen.file,
        mpi=chosen.mpi,
        code=chosen.code,
        libraries=tuple(chosen.libraries),
        interface=chosen.interface,
    )
    code = supervise(job, own, chosen.log or own.log, echo=not chosen.quiet)
    if not chosen.receipt:
        print(f"raw files: {own.raw_folder}")
    return code


@step(
    "launch.json --part raw.part --refusal refusal.json",
    *OF_LAUNCH,
    value("--processors", "logical processors that each rank must be able to use (default: 1)", type=int, default=1),
    path("--part", "file for the rows of rank 0"),
    path("--refusal", "file for the reason of a refusal"),
)
def rank(chosen: Namespace) -> int:
    """Run one rank of a launch; `launch` starts it through the MPI launcher."""
    from crossover.measure.launch.pmi import shorten_values

    # Before any module that imports MPI.
    shorten_values()
    from crossover.design import experiments
    from crossover.measure.launch.rank import run

    launch = experiments.read_launch(chosen.file)
    measured = experiments.of(launch.experiment)
    # A user's file may import it.
    if not measured.of_user and "pandas" not in measured.packages:
        _without_pandas()
    return run(launch, chosen.interface, chosen.processors, chosen.part, chosen.refusal)


@step(
    "--library zmq_push_pull.so workflow/native/zmq_push_pull.c",
    path("--library", "library to write"),
    path("source", "C source"),
)
def build(chosen: Namespace) -> None:
    """Compile a C source of the ceilings.

    If that fails, the library file holds the reason, and the exit code is 0.
    """
    from crossover.measure.native import compiler

    _report_loss(chosen.library, "built", "its ceilings", compiler.build(chosen.source, chosen.library))


def _report_loss(file: Path, step: str, lost: str, reason: str) -> None:
    """Print the reason why a file was not made, and the consequence, if there is one."""
    if reason:
        print(f"{file}: not {step}, so {lost} will not be measured: {reason}", file=sys.stderr)


@step(
    "--version 2.2.0 --archive libzmq-2.2.0.tar.gz",
    value("--version", "version, such as 2.2.0"),
    value("--origin", "`pip` to download the sources, or a folder that holds them (default: pip)", default="pip"),
    path("--archive", "archive to write"),
)
def libzmq_source(chosen: Namespace) -> None:
    """Get the sources of a version of libzmq.

    If that fails, the archive holds the reason, and the exit code is 0.
    """
    from crossover.measure.native import libzmq

    reason = libzmq.fetch(libzmq.LINES[chosen.version], chosen.archive, chosen.origin)
    _report_loss(chosen.archive, "fetched", "the arms that need it", reason)


@step(
    "--archive libzmq-2.2.0.tar.gz --library libzmq-2.2.0-64.so",
    path("--archive", "archive of the sources"),
    path("--library", "library to write: libzmq-VERSION-BYTES.so or ...-BYTES-LAYOUT.so"),
)
def libzmq(chosen: Namespace) -> None:
    """Build libzmq with a message struct of another size.

    If that fails, the library file holds the reason, and the exit code is 0.
    """
    from crossover.measure.native import libzmq

    reason = libzmq.build(chosen.library.stem, chosen.archive, chosen.library)
    _report_loss(chosen.library, "built", "the arms that need it", reason)


@step(
    "--placement node --output node.json --log node.log",
    value("--placement", "`node` for one host, `nodes` for two"),
    INTERFACE,
    MPI,
    path("--output", "JSON file to write"),
    path("--log", "log file to write"),
)
def examine(chosen: Namespace) -> None:
    """Run a job of the doctor: start two ranks on one host or two, and record what works.

    To run every check, use snakemake -F doctor.
    """
    from crossover.doctor import facts

    _without_pandas()
    facts.examine(chosen.mpi, chosen.placement, chosen.interface, chosen.output, chosen.log)
