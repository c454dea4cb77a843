"""Commands that analyse: raw files to tables, tables to verdicts and recommended settings."""

from argparse import Namespace

from crossover.cli.command import RESULTS, path, step


@step(
    "--folder tables results/launches/quick/EXPERIMENT/*/*.json",
    path("--folder", "folder to write the tables to"),
    path("receipts", "receipts, one per launch", nargs="*"),
)
def tables(chosen: Namespace) -> None:
    """Derive an experiment's tables from the raw files that receipts name."""
    from crossover.analyse.tables import raw_files

    raw_files.gather(chosen.receipts, chosen.folder)


@step(
    "--results joined results/experiments/*",
    path("--results", "folder to write the tables to"),
    path("tables", "folders of tables, one per experiment", nargs="+"),
)
def join(chosen: Namespace) -> None:
    """Join the tables of all experiments into the tables of the run."""
    from crossover.analyse.tables import writer

    writer.join(chosen.tables, chosen.results)


@step(
    "results --claims config/claims.yaml",
    RESULTS,
    path("--claims", "file of claims, such as config/claims.yaml"),
)
def claims(chosen: Namespace) -> None:
    """Judge the published claims by the tables of a run."""
    from crossover.analyse.claims import judgement
    from crossover.config import claim_list

    unjudged = claim_list.unjudged(chosen.claims)
    judgement.write(claim_list.read(chosen.claims), chosen.results, unjudged)


@step("results", RESULTS)
def recommend(chosen: Namespace) -> None:
    """Recommend settings from the tables of a run."""
    from crossover.analyse.tables import recommend

    recommend.recommend(chosen.results)
