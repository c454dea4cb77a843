"""What a batch system's refusals and reasons mean, and the key that decides."""

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
        "choose one that allows jobs of two nodes; `nodes: 1` there leaves launches across hosts out",
    ),
    (r"time limit is invalid|timelimit|maxwall", "partition", "choose one that allows longer jobs, or set `qos`"),
    (CUT_OFF, "", "give it longer, or set a `partition` or `qos` whose queue is shorter"),
    (r"memory specification can not be satisfied", "partition", "choose one whose nodes have more memory"),
)
"""Patterns of Slurm's words (its errors, and its reasons for a job to wait), the key, and what to do."""

HOPELESS = (
    *("BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"),
    *("PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown", "PartitionInactive", "JobHeldAdmin"),
    *("AssocMaxNodePerJobLimit", "QOSMaxNodePerJobLimit", "QOSMinNode"),
    *("AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"),
)
"""Slurm's reasons for a job to wait that waiting alone does not end."""


def meaning(words: str) -> tuple[str, str]:
    """The key to set and what to do about these words; ("", ...) where they are not known."""
    for pattern, key, step in REFUSALS:
        if re.search(pattern, words, re.IGNORECASE):
            return key, step
    return "", "mend what it names, then run the same command again"
