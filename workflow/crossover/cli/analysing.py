"""Commands that analyse: raw files to tables, tables to verdicts and recommended settings."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, results


def add_to(commands: Commands) -> None:
    """Add these commands to the command line."""
    added = add(
        commands,
        "tables",
        _tables,
        "Derive an experiment's tables from its raw files.",
        "--folder tables results/raw/quick/mpi_pingpong/*/*.parquet",
    )
    added.add_argument("--folder", required=True, type=Path, help="folder to write the tables to")
    added.add_argument("raw", nargs="*", type=Path, help="raw files, one per launch")

    added = add(
        commands,
        "refinement",
        _refinement,
        "Choose the cells that a second sweep adds inside the crossovers of the first.",
        "--settings SETTINGS --output refinement.json results/raw/standard/mpi_pingpong/*/*.parquet",
    )
    added.add_argument("--settings", required=True, help="the experiment's settings, as JSON")
    added.add_argument("--output", required=True, type=Path, help="refinement file to write")
    added.add_argument(
        "--kept", nargs="*", default=[], type=Path, help="raw files of the second sweep whose cells must not change"
    )
    added.add_argument("raw", nargs="*", type=Path, help="raw files of the first sweep, one per launch")

    added = add(
        commands,
        "join",
        _join,
        "Join the tables of all experiments into the tables of the run.",
        "--results joined results/experiments/*",
    )
    added.add_argument("--results", required=True, type=Path, help="folder to write the tables to")
    added.add_argument("tables", nargs="+", type=Path, help="folders of tables, one per experiment")

    added = add(
        commands,
        "claims",
        _claims,
        "Judge the published claims by the tables of a run.",
        "results --claims config/claims.yaml",
    )
    results(added)
    added.add_argument("--claims", type=Path, required=True, help="file of claims, such as config/claims.yaml")
    added.add_argument("--higher", default="{}", help="what higher tiers would measure, as JSON")

    added = add(commands, "recommend", _recommend, "Recommend settings from the tables of a run.", "results")
    results(added)


def _tables(chosen: Namespace) -> None:
    from crossover.analyse.curves import raw_files
    from crossover.analyse.tables import writer

    raw_files.gather(chosen.raw, chosen.folder)
    writer.derive(chosen.folder)


def _refinement(chosen: Namespace) -> None:
    from crossover.analyse.tables import refinement
    from crossover.planning.plan import read_settings

    refinement.refine(chosen.raw, read_settings(chosen.settings), chosen.output, chosen.kept)


def _join(chosen: Namespace) -> None:
    from crossover.analyse.tables import writer

    writer.join(chosen.tables, chosen.results)


def _claims(chosen: Namespace) -> None:
    from crossover.analyse.claims import judgement
    from crossover.config import claim_list

    unjudged = claim_list.unjudged(chosen.claims)
    judgement.write(claim_list.read(chosen.claims), chosen.results, json.loads(chosen.higher), unjudged)


def _recommend(chosen: Namespace) -> None:
    from crossover.analyse.advice import recommend

    recommend.recommend(chosen.results)
