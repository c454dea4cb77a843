"""Slurm's errors and reasons for waiting, each with the key to set and the remedy."""

from __future__ import annotations

import re

CUT_OFF = "this run ended before the job did"

REFUSALS: tuple[tuple[str, str, str], ...] = (
    (
        r"invalid partition|partitioninactive|partitiondown",
        "partition",
        "choose one that `sinfo --summarize` lists as up",
    ),
    (
        r"invalid account|invalidaccount|accountnotallowed",
        "account",
        "`sacctmgr show associations user=$USER` lists yours",
    ),
    (
        r"invalid qos|invalidqos|qosnotallowed|qos.*not permitted",
        "qos",
        "`sacctmgr show associations user=$USER format=qos` lists yours",
    ),
    (r"invalid feature|badconstraints", "constraint", "`sinfo --format='%P %f'` lists the features of nodes"),
    (
        r"node configuration is not available|node count specification invalid|nodelimit|maxnode|grpnode",
        "partition",
        "choose one that allows jobs of two nodes; `nodes: 1` there leaves out launches across hosts",
    ),
    (r"time limit is invalid|timelimit|maxwall", "partition", "choose one that allows longer jobs, or set `qos`"),
    (CUT_OFF, "", "wait longer, or set a `partition` or `qos` with a shorter queue"),
    (r"memory specification can not be satisfied", "partition", "choose one whose nodes have more memory"),
)
"""A pattern of Slurm's errors and reasons for waiting, the key to set, and the remedy."""

HOPELESS = (
    *("BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
    *("PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "PartitionInactive", "JobHeldAdmin"),
    *("AssocMaxNodePerJobLimit", "QOSMaxNodePerJobLimit", "QOSMinNode"),
    *("AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"),
)
"""Slurm's reasons for waiting that never end by themselves."""


def meaning(words: str) -> tuple[str, str]:
    """The key to set and the remedy for Slurm's `words`; the key is empty for unknown words."""
    for pattern, key, step in REFUSALS:
        if re.search(pattern, words, re.IGNORECASE):
            return key, step
    return "", "correct the cause, then repeat the command"
