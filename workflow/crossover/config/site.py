"""Facts of a site, from a profile's `site.yaml`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crossover.config import yaml_file
from crossover.errors import plain
from crossover.paths import PROFILES
from crossover.slurm import submission

SCHEMA = PROFILES / "schema.yaml"


def read(file: str | Path, *keys: str, needed: Sequence[str] = ()) -> dict[str, Any]:
    """The facts in `file`; none if there is no such file. Only `keys` are allowed, and those `needed` are required.

    Raises CrossoverError with every fault, each with the file and the key.
    """
    content = yaml_file.read_yaml(file) if Path(file).exists() else {}
    if not isinstance(content, dict | None):
        yaml_file.refuse([f"{file}: is not a list of keys with values; write lines like `partition: compute`"])
    known = yaml_file.read_yaml(SCHEMA)
    known["properties"] = {key: known["properties"][key] for key in keys}
    # An empty key counts as absent.
    facts = {key: value for key, value in (content or {}).items() if value is not None}
    faults = yaml_file.forbidden(known, facts)
    faults += [f"{key}: is missing and has no default; add it" for key in needed if key not in facts]
    if isinstance(facts.get("sbatch_options"), str) and (fault := submission.fault_of_options(facts["sbatch_options"])):
        faults.append(f"sbatch_options: {fault}")
    yaml_file.refuse(f"{file}: {fault}" for fault in faults)
    return facts


facts = plain()(read)
"""The same for a profile: any fault ends Snakemake with exit code 1 and only the message."""
