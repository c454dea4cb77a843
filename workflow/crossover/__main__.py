"""The command line. Snakemake calls most of it; each command loads the wings that it needs and no other."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen) or 0)
    except Exception as error:
        if type(error).__module__.startswith("crossover."):
            print(f"crossover {chosen.command}: {error}", file=sys.stderr)
            return 1
        raise


def _launch(chosen: argparse.Namespace) -> int:
    from crossover.measure.launch import Job, supervise
    from crossover.measure.lean import without_pandas

    without_pandas()
    job = Job(
        chosen.experiment,
        chosen.launch,
        mpi=chosen.mpi,
        settings=json.loads(chosen.settings),
        code=chosen.code,
        libraries=tuple(chosen.libraries),
        interface=chosen.interface,
    )
    return supervise(job, chosen.output, chosen.log)


def _build(chosen: argparse.Namespace) -> None:
    from crossover.measure import native_build

    if reason := native_build.build(chosen.source, chosen.library):
        print(f"{chosen.library}: not built, so its ceilings will not be measured: {reason}", file=sys.stderr)


def _libzmq_source(chosen: argparse.Namespace) -> None:
    from crossover.measure.libzmq import line, source

    if reason := source.fetch(line.LINES[chosen.version], chosen.archive, chosen.origin):
        print(f"{chosen.archive}: not fetched, so what needs it will not be measured: {reason}", file=sys.stderr)


def _libzmq(chosen: argparse.Namespace) -> None:
    from crossover.measure.libzmq import build

    if reason := build.build(chosen.library.stem, chosen.archive, chosen.library):
        print(f"{chosen.library}: not built, so what needs it will not be measured: {reason}", file=sys.stderr)


def _measure(chosen: argparse.Namespace) -> int:
    from crossover.measure.lean import without_pandas
    from crossover.measure.pmi import shorten_values

    # Before what imports MPI.
    shorten_values()
    from crossover.measure.run import run

    without_pandas()
    settings = json.loads(chosen.settings)
    return run(chosen.experiment, chosen.launch, settings, chosen.interface, chosen.part, chosen.refusal)


def _tables(chosen: argparse.Namespace) -> None:
    from crossover.analyse import gather, tables

    gather.gather(chosen.raw, chosen.folder)
    tables.derive(chosen.folder)


def _refine(chosen: argparse.Namespace) -> None:
    from crossover.analyse import refinement

    refinement.refine(chosen.raw, json.loads(chosen.settings), chosen.output)


def _join(chosen: argparse.Namespace) -> None:
    from crossover.analyse import tables

    tables.join(chosen.tables, chosen.results)


def _claims(chosen: argparse.Namespace) -> None:
    from crossover import claimed
    from crossover.analyse import claims

    claims.write(claimed.read(chosen.claims), chosen.results, json.loads(chosen.higher))


def _recommend(chosen: argparse.Namespace) -> None:
    from crossover.analyse import recommend

    recommend.recommend(chosen.results)


def _figures(chosen: argparse.Namespace) -> None:
    from crossover.report import figures

    figures.draw(chosen.tables, chosen.folder)


def _ladder(chosen: argparse.Namespace) -> None:
    from crossover.report import ladder

    ladder.draw(chosen.results, chosen.folder)


def _report(chosen: argparse.Namespace) -> None:
    if chosen.bundle:
        from crossover.share import again

        print(again.report(chosen.bundle, chosen.page))
    else:
        from crossover.report import render

        render.render(chosen.results, chosen.page, chosen.waiting)


def _publish(chosen: argparse.Namespace) -> None:
    from crossover.share import publish

    print(publish.publish(chosen.results, chosen.to, chosen.remote, chosen.branch, chosen.yes))


def _bundle(chosen: argparse.Namespace) -> None:
    from crossover.share import bundle, crate

    told = crate.Told(chosen.license, chosen.author)
    print(bundle.write(chosen.results, chosen.output or chosen.results / "bundle.zip", told))


def _compare(chosen: argparse.Namespace) -> None:
    from crossover.analyse import compare
    from crossover.report import comparison, comparison_figures, render

    print(f"compare: reading {chosen.before} and {chosen.after}", file=sys.stderr)
    compare.compare(chosen.before, chosen.after, chosen.folder, chosen.within)
    comparison_figures.draw(chosen.folder)
    render.render(chosen.folder, chosen.folder / "index.html", source="changes.qmd")
    print(comparison.in_a_terminal(comparison.load(chosen.folder)))
    print(f"The page: {chosen.folder / 'index.html'}")


def _history(chosen: argparse.Namespace) -> None:
    from crossover.analyse import history
    from crossover.report import course, course_figures, render

    print(f"history: reading {len(chosen.runs)} runs", file=sys.stderr)
    history.history(chosen.runs, chosen.folder)
    course_figures.draw(chosen.folder)
    render.render(chosen.folder, chosen.folder / "index.html", source="history.qmd")
    print(course.in_a_terminal(course.load(chosen.folder)))
    print(f"The page: {chosen.folder / 'index.html'}")


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be a fraction between 0 and 1, such as 0.1 for 10 %")
    return value


def _examine(chosen: argparse.Namespace) -> None:
    from crossover.doctor import examine, launching
    from crossover.measure.lean import without_pandas

    without_pandas()
    asked = launching.Asked(chosen.placement, chosen.interface, chosen.output.parent.absolute())
    examine.examine(chosen.mpi, asked, chosen.output, chosen.log)


def _look(chosen: argparse.Namespace) -> None:
    from crossover.doctor import checks, examine

    examine.write(checks.module(chosen.check).look(), chosen.output)


def _document(_: argparse.Namespace) -> None:
    from crossover import document

    document.PAGE.write_text(document.text(), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="crossover",
        description="Measures where one way of moving Python messages starts to beat another. "
        "You will mostly want Snakemake: snakemake --profile profiles/local. "
        "The commands below are the steps of that workflow; compare and history are for you.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    for name, run, text in (
        ("launch", _launch, "Supervise one launch: start its ranks, leave a raw file or a typed hole."),
        ("measure", _measure, "Be one rank of a launch (started by the MPI launcher)."),
    ):
        added = command(name, run, text)
        added.add_argument("--experiment", required=True, help="the experiment's name, such as mpi_pingpong")
        added.add_argument("--launch", required=True, type=int, help="the launch's number, from 1")
        added.add_argument("--settings", required=True, help="the launch's settings as JSON, its placement among them")
        added.add_argument(
            "--interface", default="auto", help="the network interface between its hosts (default: %(default)s)"
        )
        if name == "launch":
            added.add_argument("--mpi", default="mpiexec", help="the MPI launcher (default: %(default)s)")
            added.add_argument("--code", default="", help="a hash of the measuring code, for the record")
            added.add_argument(
                "--libraries", nargs="*", default=[], type=Path, help="the built libraries that its ceilings use"
            )
            added.add_argument("--output", required=True, type=Path, help="the raw file to write")
            added.add_argument("--log", required=True, type=Path, help="the log to write")
        else:
            added.add_argument("--part", required=True, type=Path, help="where rank 0 writes its rows")
            added.add_argument("--refusal", required=True, type=Path, help="where a refusal is written")

    added = command("build", _build, "Compile one of the C sources of the ceilings, or record why that cannot be done.")
    added.add_argument("--library", required=True, type=Path, help="the library to write")
    added.add_argument("source", type=Path, help="the C source")

    added = command("libzmq-source", _libzmq_source, "Get the sources of a version of libzmq, or record why not.")
    added.add_argument("--version", required=True, help="the version, such as 2.2.0")
    added.add_argument("--origin", default="pip", help="`pip` to download it, or a folder that holds it")
    added.add_argument("--archive", required=True, type=Path, help="the archive to write")

    added = command("libzmq", _libzmq, "Build libzmq with another message struct, or record why that cannot be done.")
    added.add_argument("--archive", required=True, type=Path, help="the archive of its sources")
    added.add_argument("--library", required=True, type=Path, help="the library to write: libzmq-VERSION-BYTES.so")

    added = command("tables", _tables, "Gather an experiment's raw files and derive its tables.")
    added.add_argument("--folder", required=True, type=Path, help="the folder to write the tables to")
    added.add_argument("raw", nargs="*", type=Path, help="raw files, one per launch")

    added = command("refine", _refine, "Say what a second sweep measures inside the crossovers of the first.")
    added.add_argument("--settings", required=True, help="the experiment's settings as JSON")
    added.add_argument("--output", required=True, type=Path, help="the refinement to write")
    added.add_argument("raw", nargs="*", type=Path, help="raw files, one per launch of the first sweep")

    added = command("join", _join, "Concatenate the experiments' tables into the run's tables.")
    added.add_argument("--results", required=True, type=Path, help="the folder to write the tables to")
    added.add_argument("tables", nargs="+", type=Path, help="the experiments' folders of tables")

    added = command("claims", _claims, "Judge the claims of others by the run's tables.")
    added.add_argument("results", type=Path, help="the folder of results")
    added.add_argument("--claims", type=Path, required=True, help="the claims, such as config/claims.yaml")
    added.add_argument("--higher", default="{}", help="what higher tiers would measure, as JSON")

    added = command("recommend", _recommend, "Derive the recommended settings from the run's tables.")
    added.add_argument("results", type=Path, help="the folder of results")

    added = command("figures", _figures, "Draw an experiment's figures from its tables.")
    added.add_argument("--folder", required=True, type=Path, help="the folder to write the figures to")
    added.add_argument("tables", type=Path, help="the experiment's folder of tables")

    added = command("ladder", _ladder, "Draw what a round trip costs in every layer that was measured.")
    added.add_argument("--folder", required=True, type=Path, help="the folder to write the figure to")
    added.add_argument("results", type=Path, help="the folder of results")

    added = command("report", _report, "Render the report from a folder of results, or from a bundle of somebody's.")
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument("results", nargs="?", type=Path, help="the folder of results")
    source.add_argument("--from", dest="bundle", metavar="BUNDLE", type=Path, help="the bundle, instead of a folder")
    added.add_argument("--page", required=True, type=Path, help="the page to write")
    added.add_argument("--waiting", default="{}", help="what higher tiers, and clusters, would measure, as JSON")

    added = command(
        "compare",
        _compare,
        "Tell what changed between two runs, such as two clusters, or one before and after an upgrade. Arms are "
        "compared by their ratios to the reference, curve by curve: better, worse, the same, or cannot tell. "
        "Writes parquet tables and a page; measures nothing.",
    )
    added.add_argument("before", type=Path, help="the folder of results of the first run, such as results.old")
    added.add_argument("after", type=Path, help="that of the second, such as results")
    added.add_argument(
        "--within",
        type=_fraction,
        default=0.1,
        metavar="FRACTION",
        help="the change that counts as the same, such as 0.05 for 5 %% (default: %(default)s)",
    )
    added.add_argument(
        "--folder", type=Path, default=Path("results/comparison"), help="the folder to write to (default: %(default)s)"
    )

    added = command(
        "history",
        _history,
        "Follow each arm's ratio to its reference through many runs, in order of time, and find the runs at which it "
        "came to another level. Six runs or more can show that. Writes parquet tables and a page; measures nothing.",
    )
    added.add_argument("runs", type=Path, nargs="+", help="the folders of results, in any order")
    added.add_argument(
        "--folder", type=Path, default=Path("results/history"), help="the folder to write to (default: %(default)s)"
    )

    added = command(
        "publish",
        _publish,
        "Publish the report: push it to a branch that is served as a web site, or write a folder or a zip file for any "
        "web server. Nothing is measured or rendered; a report that is older than its data is refused.",
    )
    added.add_argument("results", nargs="?", default=Path("results"), type=Path, help="the folder of results")
    added.add_argument(
        "--to", default="gh-pages", help="gh-pages, a folder (site/) or a zip file (site.zip) (default: %(default)s)"
    )
    added.add_argument("--remote", default="origin", help="the remote to push to (default: %(default)s)")
    added.add_argument("--branch", default="gh-pages", help="the branch to push to (default: %(default)s)")
    added.add_argument("--yes", action="store_true", help="push without asking")

    added = command(
        "bundle",
        _bundle,
        "Archive a run in a zip file: raw samples, tables, figures, report, configuration, an RO-Crate.",
    )
    added.add_argument("results", nargs="?", default=Path("results"), type=Path, help="the folder of results")
    added.add_argument("--output", type=Path, help="the archive to write (default: RESULTS/bundle.zip)")
    added.add_argument(
        "--license", default="BSD-3-Clause", help="the licence of the data, as SPDX names it (default: %(default)s)"
    )
    added.add_argument(
        "--author", action="append", default=[], help="who measured, `Name` or `Name <ORCID>`; once for each"
    )

    added = command("examine", _examine, "Be a job of the doctor: see what ranks on one host or two come to.")
    added.add_argument("--placement", required=True, help="`node` for one host, `nodes` for two")
    added.add_argument("--interface", default="auto", help="the network interface between them (default: %(default)s)")
    added.add_argument("--mpi", default="mpiexec", help="the MPI launcher (default: %(default)s)")
    added.add_argument("--output", required=True, type=Path, help="the facts to write")
    added.add_argument("--log", required=True, type=Path, help="the log to write")

    added = command("look", _look, "See something that concerns the machine on which Snakemake runs.")
    added.add_argument("check", help="what to look at, such as compiler")
    added.add_argument("--output", required=True, type=Path, help="the facts to write")

    command("document", _document, "Write config/README.md from the schema.")
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # Whoever pressed Ctrl-C knows; as a shell says it.
        sys.exit(128 + signal.SIGINT)
