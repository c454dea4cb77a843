"""Commands that use tables: figures and page of a run, two runs compared, and publication."""

import os
import shlex
import socket
import sys
import zlib
from argparse import ArgumentTypeError, BooleanOptionalAction, Namespace
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from crossover.cli.command import PAGES, RESULTS, command, path, step, value
from crossover.errors import CrossoverError

REDACT = "pseudonyms, such as host-1, for hosts, users, accounts, addresses, jobs and paths"

OWN_TEXT = value("--own-text", "share the text of your own file too, in place of its checksum", action="store_true")

FINISHED = path("results", "folder of results (default: %(default)s)", nargs="?", default=Path("results"))


@command("", FINISHED, value("--all", "print every setting and every question", dest="everything", action="store_true"))
def show(chosen: Namespace) -> None:
    """Print the answer of a run: what to choose, what it can cost, what is open.

    In at most 25 lines, unless all are wanted. Every run ends with it.
    """
    from crossover.report.pages import terminal

    terminal.show(chosen.results, chosen.everything)


@command(
    "",
    value("experiments", "experiments (default: those with points that this would settle)", nargs="*"),
    path("--results", "folder of results (default: %(default)s)", default=Path("results"), metavar="FOLDER"),
    value(
        "--launches",
        "launches of each group of rivals (default: twice as many)",
        type=int,
        default=None,
        metavar="NUMBER",
    ),
    value("--profile", "profile (default: slurm if the run used it, otherwise profiles/local)", default=None),
    value("--own", "the file of yours that the run measured, if it did", default="", metavar="FILE"),
    value("--dry-run", "say what it would measure, and measure nothing", action="store_true"),
    group=PAGES,
)
def more(chosen: Namespace) -> None:
    """Measure more launches where points are open, and answer again.

    Doubles the launches of the experiments with open points that this would settle, with the tier and profile of the
    run. The launches that exist stay and count. Later runs into the same folder have as many launches; if this
    one is interrupted, repeat the run's command to go on.
    """
    from crossover.design.settings import TIERS
    from crossover.planning.receipt import ANYWHERE
    from crossover.planning.trial import TRIAL
    from crossover.report.text import holes, numbers, tables
    from crossover.report.text.more import users_file, wanted
    from crossover.workflow import replication

    run = tables.load(chosen.results)
    found = wanted(run, chosen.experiments, chosen.launches)
    receipts = [ANYWHERE.fullmatch(row.receipt) for row in run.launches]
    tiers = {each["tier"] for each in receipts if each}
    if len(tiers) != 1 or not tiers <= set(TIERS):
        raise CrossoverError(f"{chosen.results}: its launches name no tier; raise `launches` in config/config.yaml")
    each = numbers.listed([f"{count} of {name}" for name, count in found.launches.items()])
    took = numbers.duration(found.seconds)
    print(
        f"launches of each group of rivals: {each}; about {took}, to settle {found.settled} of {found.open} open points"
    )
    files = {file for name in found.launches if (file := users_file(run, name))}
    if files and Path(chosen.own).name not in files:
        raise CrossoverError(f"{chosen.results}: measured {numbers.listed(sorted(files))}; name that file: --own FILE")
    if chosen.dry_run:
        return
    if not Path("Snakefile").exists():
        raise CrossoverError("this folder has no Snakefile; change to the folder where the run was started")
    profile = chosen.profile or holes.profile(run)
    hosts = {row.host for row in run.launches} - {"", socket.gethostname()}
    if not chosen.profile and profile == holes.LOCAL and hosts:
        raise CrossoverError(
            f"{chosen.results}: was measured on {numbers.listed(sorted(hosts))}; give the profile of the run, such as "
            f"--profile {profile} for this host"
        )
    (tier,) = tiers
    options, values = ["--profile", profile], [f"results={chosen.results}", f"tier={tier}"]
    if files:
        values.append(f"own={chosen.own}")
        options += ["--configfile", str(chosen.results / TRIAL)] if (chosen.results / TRIAL).exists() else []
    replication.want(str(chosen.results), tier, found.launches)
    # Made from what is typed and from known words only: options such as --snakefile would name code to run.
    targets = ["--", *found.launches] if files else []
    again = shlex.join(["snakemake", *options, "--config", *values, *targets])
    print(again, flush=True)
    os.execv(sys.executable, [sys.executable, "-m", *shlex.split(again)])


@step(
    "--folder figures results/experiments/EXPERIMENT",
    path("--folder", "folder to write the figures to"),
    path("tables", "folder of the experiment's tables"),
)
def figures(chosen: Namespace) -> None:
    """Draw the figures of an experiment from its tables."""
    from crossover.report.charts import figures

    figures.draw(chosen.tables, chosen.folder)


@step("--folder figures results", path("--folder", "folder to write the figure to"), RESULTS)
def ladder(chosen: Namespace) -> None:
    """Draw the round-trip time of every measured layer."""
    from crossover.report.charts import ladder

    ladder.draw(chosen.results, chosen.folder)


@command(
    "",
    path("results", "folder of results, or of a comparison (default: %(default)s)", nargs="?", default=Path("results")),
    path("--to", "folder to write to (default: images, in the folder of results)", default=None, metavar="FOLDER"),
    group=PAGES,
)
def images(chosen: Namespace) -> None:
    """Draw the charts of a run for papers: SVG, PDF and PNG, as wide as a journal's column."""
    from crossover.report.charts import images

    folder = chosen.to or chosen.results / "images"
    count = images.draw(chosen.results / "figures", folder)
    print(f"{count} charts, each as SVG, PDF and PNG: {folder}")


@command(
    "--from bundle/results --page report.html",
    path("results", "folder of results (default: results)", nargs="?", default=None),
    path("--from", "results from elsewhere: a folder or a bundle", dest="elsewhere", metavar="FOLDER", default=None),
    path("--page", "page to write"),
    value("--waiting", "what clusters would measure, as JSON", default="{}"),
    group=PAGES,
)
def report(chosen: Namespace) -> None:
    """Render the report of a run from the tables in its folder of results.

    A page on results from elsewhere (--from) runs no script but crossover's.
    """
    from crossover.records import run_tables, temporary
    from crossover.report.pages import renderer

    if chosen.elsewhere and chosen.results:
        raise CrossoverError(
            f"{chosen.results} and --from {chosen.elsewhere}: a page shows one run; leave out one of the two"
        )
    results = chosen.elsewhere or chosen.results or Path("results")
    with temporary.folder() as folder:
        if results.is_file():
            results = _unpacked(results, folder)
        run_tables.require_joined(results)
        renderer.render(results, chosen.page, chosen.waiting, foreign=bool(chosen.elsewhere))


def _unpacked(bundle: Path, folder: Path) -> Path:
    """Unpack a bundle to `folder`, and return its folder of results."""
    try:
        with ZipFile(bundle) as packed:
            packed.extractall(folder)
    # Beside its own error, zipfile raises these for an encrypted, cut or damaged file, and for a name that is no UTF-8.
    except (BadZipFile, OSError, RuntimeError, EOFError, ValueError, zlib.error) as error:
        raise CrossoverError(
            f"{bundle}: cannot be unpacked ({error}); name a folder of results, or a bundle such as results/bundle.zip"
        ) from None
    tables = sorted(folder.rglob("launches.parquet"), key=lambda path: len(path.parts))
    if not tables:
        raise CrossoverError(f"{bundle}: holds no results; make one with make bundle")
    return tables[0].parent


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = 0.0
    if not 0 < fraction < 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1; write 0.1 for 10 %")
    return fraction


@command(
    "results.old results",
    path("before", "results of the first run, such as results.old"),
    path("after", "results of the second run, such as results"),
    value(
        "--within",
        "largest change that counts as the same, such as 0.05 for 5 %% (default: %(default)s)",
        type=_fraction,
        default=0.1,
        metavar="FRACTION",
    ),
    path("--folder", "folder to write to (default: comparison, in that of the second run)", default=None),
    group=PAGES,
)
def compare(chosen: Namespace) -> None:
    """Compare two runs, such as before and after an upgrade, or of two clusters.

    Calls each arm's ratio to the reference better, worse, the same or open, curve by curve. Writes tables as
    parquet; measures nothing.
    """
    from crossover.analyse.tables import compare
    from crossover.report.pages import changes

    print(f"compare: reading {chosen.before} and {chosen.after}", file=sys.stderr)
    folder = chosen.folder or chosen.after / "comparison"
    compare.compare(chosen.before, chosen.after, folder, chosen.within)
    print(changes.in_a_terminal(changes.load(folder)))


@command(
    "--to site/",
    FINISHED,
    value(
        "--to",
        "gh-pages to push, or a folder (site/) or a zip file (site.zip) (default: %(default)s)",
        default="gh-pages",
    ),
    value("--remote", "remote to push to (default: %(default)s)", default="origin"),
    value("--branch", "branch to push to (default: %(default)s)", default="gh-pages"),
    value("--yes", "push without asking", action="store_true"),
    value("--redact", f"{REDACT} (default: yes)", action=BooleanOptionalAction, default=True),
    OWN_TEXT,
    group=PAGES,
)
def publish(chosen: Namespace) -> None:
    """Publish the report: push it to a branch, or write a folder or a zip file for a web server.

    Asks before it pushes. Measures nothing. Refuses a report that is older than its data. Renders the page again with
    pseudonyms for names; --no-redact publishes the page as it is.
    """
    from crossover.share import publish

    where = chosen.to, chosen.remote, chosen.branch, chosen.yes
    print(publish.publish(chosen.results, *where, chosen.redact, chosen.own_text))


@command(
    "",
    FINISHED,
    path("--output", "archive to write (default: RESULTS/bundle.zip)", default=None),
    value("--redact", f"{REDACT} (default: no)", action=BooleanOptionalAction, default=False),
    OWN_TEXT,
    group=PAGES,
)
def bundle(chosen: Namespace) -> None:
    """Archive a run in one zip file.

    Holds raw samples, tables, figures, report, configuration, locked versions and checksums.
    """
    from crossover.share import bundle

    output = chosen.output or chosen.results / "bundle.zip"
    print(bundle.write(chosen.results, output, chosen.redact, chosen.own_text))
