"""The commands that analyse: raw files to tables, tables to verdicts and settings."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, results


def add_to(commands: Commands) -> None:
    """Add them to the command line."""
    added = add(commands, "tables", _tables, "Gather an experiment's raw files and derive its tables.")
    added.add_argument("--folder", required=True, type=Path, help="the folder to write the tables to")
    added.add_argument("raw", nargs="*", type=Path, help="raw files, one per launch")

    added = add(commands, "refine", _refine, "Say what a second sweep measures inside the crossovers of the first.")
    added.add_argument("--settings", required=True, help="the experiment's settings as JSON")
    added.add_argument("--output", required=True, type=Path, help="the refinement to write")
    added.add_argument("--kept", nargs="*", default=[], type=Path, help="launches of the second sweep that keep theirs")
    added.add_argument("raw", nargs="*", type=Path, help="raw files, one per launch of the first sweep")

    added = add(commands, "join", _join, "Concatenate the experiments' tables into the run's tables.")
    added.add_argument("--results", required=True, type=Path, help="the folder to write the tables to")
    added.add_argument("tables", nargs="+", type=Path, help="the experiments' folders of tables")

    added = add(commands, "claims", _claims, "Judge the claims of others by the run's tables.")
    results(added)
    added.add_argument("--claims", type=Path, required=True, help="the claims, such as config/claims.yaml")
    added.add_argument("--higher", default="{}", help="what higher tiers would measure, as JSON")

    added = add(commands, "recommend", _recommend, "Derive the recommended settings from the run's tables.")
    results(added)


def _tables(chosen: Namespace) -> None:
    from crossover.analyse.curves import raw_files
    from crossover.analyse.tables import writer

    raw_files.gather(chosen.raw, chosen.folder)
    writer.derive(chosen.folder)


def _refine(chosen: Namespace) -> None:
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
