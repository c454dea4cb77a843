"""A launch that fails on a node: terminal and page name its cause, and their command measures it again."""

from __future__ import annotations

import os
import re
import shlex
import signal

from clusters import PROMPT, OnCluster
from machines import Machine
from slurm import Cluster
from test_faults import LONG, measures

CONFIG = ("--config", "results=mine")


def ranks(node: Machine) -> dict[int, int]:
    """The process of each rank on a node, by the rank's number."""
    found = {}
    for process in node.processes():
        if "rank" in process.info["cmdline"] and "srun" not in process.info["cmdline"][0]:
            found[int(process.environ().get("SLURM_PROCID", -1))] = process.pid
    return found


def text_of_the_page(project: OnCluster) -> str:
    return " ".join((project.folder / "mine/report/index.html").read_text().split())


def test_a_killed_rank_is_named_with_host_and_signal_and_the_pages_command_fills_the_hole(
    project: OnCluster, slurm: Cluster
) -> None:
    project.configure(toy=LONG | {"launches": 1, "placements": ["nodes"]})
    command = (*PROMPT, *CONFIG)
    run = project.begin(*command)
    run.wait_until(lambda: measures(project, 1, "nodes", "mine"))
    [(node, pid)] = [(node, ranks(node)[1]) for node in slurm.nodes if 1 in ranks(node)]
    os.kill(pid, signal.SIGKILL)
    code, said = run.end()
    assert code == 1, said
    reason = f"{node.name}: task 1: Killed, as when memory runs out"
    receipt = project.receipts(results="mine")["toy/nodes/1"].relative_to(project.folder)
    assert (
        "1 launch of this run was not measured\n"
        f"not measured: toy, placement nodes, launch 1 (crashed): {reason}; to retry, repeat the command with: "
        f"-R {receipt}\n"
    ) in said, said
    assert "Traceback" not in said
    page = text_of_the_page(project)
    assert f"<em>crashed</em>: <code>{reason}</code>" in page
    [pasted] = re.findall(r"<code>(snakemake [^<]* -R [^<]*)</code>", page)
    project.succeed(*(word for word in shlex.split(pasted) if word.strip()))
    assert reason not in text_of_the_page(project)
