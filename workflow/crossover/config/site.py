"""Facts of a site, from a profile's `site.yaml`."""

from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Gt, MinLen
from pydantic import AfterValidator, StringConstraints, create_model

from crossover.config import yaml_file
from crossover.errors import plain
from crossover.slurm import submission

Text = Annotated[str, MinLen(1)]
Count = Annotated[int, Ge(1)]


def _distinct(nodes: list[str]) -> list[str]:
    if len({*nodes}) < len(nodes):
        raise ValueError("has a node twice")
    return nodes


FACTS: dict[str, Any] = {
    # The partition or queue to submit to, the account or project to charge, the quality of service.
    "partition": Text,
    "account": Text,
    "qos": Text,
    # A node feature, so that all launches run on one kind of node.
    "constraint": Text,
    # The launcher that starts the ranks inside a job.
    "mpi": Text,
    # The maximum number of nodes in use at a time; those over which launches over several hosts rotate.
    "nodes": Count,
    "node_list": Annotated[
        list[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$")]], MinLen(2), AfterValidator(_distinct)
    ],
    # The network interface between ranks on several hosts.
    "interface": Text,
    # More options of sbatch, such as --reservation=tests.
    "sbatch_options": Annotated[Text, AfterValidator(submission.check_options)],
    # Whether jobs have their nodes to themselves, and wait for nodes that are drained or down.
    "exclusive": bool,
    "wait_for_nodes": bool,
    # The most launches that share a job, and the most minutes that this job requests.
    "batch_launches": Count,
    "batch_minutes": Count,
    # How many times its expected time a launch requests.
    "time_factor": Annotated[float, Gt(1)],
    # The most jobs in the queue at a time.
    "jobs": Count,
}
"""The keys of a site.yaml; all are optional."""


def read(file: str | Path, *keys: str) -> dict[str, Any]:
    """The facts in `file`; none if there is no such file. Only `keys` are allowed.

    Raises CrossoverError with every fault, each with the file and the key.
    """
    content = (yaml_file.read_yaml(file) if Path(file).exists() else {}) or {}
    # An empty key counts as absent.
    facts = (
        {key: value for key, value in content.items() if value is not None} if isinstance(content, dict) else content
    )
    types: dict[str, Any] = {key: (FACTS[key], None) for key in keys}
    site = create_model("Site", __config__=yaml_file.STRICT, **types)
    yaml_file.validated(site, facts, file)
    return facts


facts = plain()(read)
"""The same for a profile: any fault ends Snakemake with exit code 1 and only the message."""
