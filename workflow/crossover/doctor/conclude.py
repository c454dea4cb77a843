"""Reads the facts, judges them, and prints the findings."""

import json
import re
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crossover.doctor import file_systems
from crossover.doctor.checks import CHECKS, WHERE_SNAKEMAKE_RUNS, module
from crossover.doctor.finding import Finding, Seen, Verdict
from crossover.paths import SITE
from crossover.slurm import partition
from crossover.slurm.acceptance import CUT_OFF

TITLES = {
    "queue": "ended jobs",
    "hosts": "two hosts",
    "temporary": "temporary folder",
    "shared": "shared folder",
    "compiler": "compilers",
}
"""Titles of checks in the report that differ from their names."""
INDENT = 28

PLACES = {
    "slurm": f"in {SITE}",
    "local": "in profiles/local/config.yaml, under set-resources, for the rules launch and examine,",
}
"""The file in which a key of the site is set, by Snakemake's executor."""
SLURM_SAYS = "SLURM-job"
"""The beginning of the plugin's message on a job that was accepted and failed."""
ROTATES = ("--nodelist", "rotation")
"""What options of sbatch contain where launches have their nodes named; `config.rotation` adds the first."""
ELSEWHERE = "in the site.yaml of your profile"


def asked(workflow: Any) -> bool:
    """Whether this run of Snakemake ends with the findings, because `doctor` is a target."""
    return "doctor" in workflow.dag_settings.targets


def conclude(
    workflow: Any,
    results: str | Path,
    placements: Sequence[str],
    logs: Sequence[str],
    fit: Mapping[str, str] | None = None,
) -> int:
    """Print the findings and write them to `doctor.txt` in the results. Returns the exit code, 1 for a problem.

    `placements` are those whose jobs were examined, `logs` the logs of this run of Snakemake, with the
    reasons for lost jobs; `fit` is that of `Seen`.
    """
    executor = workflow.executor_plugin.name
    text = "\n".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in logs if Path(log).is_file())
    seen = gather(Path(results) / "doctor", placements, executor, text)
    seen = replace(seen, fit=fit or {}, nodes_up=nodes_up(workflow, seen))
    findings = {check: module(check).judge(seen) for check in CHECKS}
    page = Path(results) / "doctor.txt"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(table(findings, executor, 100), encoding="utf-8")
    print(table(findings, executor, shutil.get_terminal_size((100, 24)).columns), flush=True)
    return int(any(found.verdict is Verdict.PROBLEM for found in findings.values()))


def nodes_up(workflow: Any, seen: Seen) -> list[str]:
    """The nodes over which launches could rotate; none if the profile names some already, and without Slurm."""
    name = seen.nodes.get("partition")
    if seen.executor != "slurm" or not name:
        return []
    launch = workflow.resource_settings.overwrite_resources.get("launch", {})
    texts = {key: str(getattr(launch.get(key), "raw", None) or "") for key in ("slurm_extra", "constraint")}
    if any(word in texts["slurm_extra"] for word in ROTATES):
        return []
    return partition.up(name, texts["constraint"].strip("'\""))


def gather(folder: Path, placements: Sequence[str], executor: str, log: str) -> Seen:
    """All facts in `folder`, and the reason for each job without facts."""
    facts = {place: _read(folder / f"{place}.json") for place in ("node", "nodes")}
    here = {check: _read(folder / f"{check}.json") for check in WHERE_SNAKEMAKE_RUNS}
    lost = {place: here["queue"].get(place) or last_words(log, place) for place in placements if not facts[place]}
    if not any(facts.values()):
        # A job that cannot start Python leaves no facts.
        hint = file_systems.hidden_python()
        lost = {place: f"{words}; {hint}" if hint and SLURM_SAYS in words else words for place, words in lost.items()}
    return Seen(executor, facts["node"], facts["nodes"], here, lost)


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def last_words(log: str, placement: str) -> str:
    """The reason for a lost job, from the batch system, otherwise from Snakemake's `log`."""
    for block in re.split(r"^(?=Error in rule )", log, flags=re.MULTILINE)[1:]:
        if not (block.startswith("Error in rule examine:") and re.search(rf"output: \S*/{placement}\.json", block)):
            continue
        if refused := re.search(r"The error message was '(.+?)'\.\n", block, re.DOTALL):
            return "; ".join(line.removeprefix("sbatch: error: ") for line in refused[1].splitlines())
        message = re.search(r"^    message: (.+?\.)", block, re.MULTILINE)
        return "; ".join([*([message[1]] if message else []), *_last_line(block)]) or "see Snakemake's log"
    return CUT_OFF


def _last_line(block: str) -> list[str]:
    """The last line of a failed job's last log, and the path of that log."""
    named = re.search(r"^    log: (.+) \(check log file", block, re.MULTILINE)
    log = Path(named[1].split(", ")[-1]) if named else None
    if not log or not log.is_file():
        return []
    lines = [each.strip() for each in log.read_text(errors="replace", encoding="utf-8").splitlines() if each.strip()]
    return [*(f"its last words: {each}" for each in lines[-1:]), f"see {log}"]


def table(findings: Mapping[str, Finding], executor: str, width: int) -> str:
    """The findings as text of `width` columns."""
    lines = []
    for check, found in findings.items():
        title = f"{found.verdict:9} {TITLES.get(check, check):{INDENT - 11}} "
        lines += textwrap.wrap(title + found.seen, width, subsequent_indent=" " * INDENT, break_on_hyphens=False)
        advice = ": ".join(filter(None, [setting(executor, found), found.step]))
        if found.verdict in (Verdict.WARNING, Verdict.PROBLEM) and advice:
            arrow = " " * (INDENT - 3) + "-> "
            lines += textwrap.wrap(arrow + advice, width, subsequent_indent=" " * INDENT, break_on_hyphens=False)
    return "\n".join([*lines, "", summary(findings), ""])


def setting(executor: str, found: Finding) -> str:
    """The key to set and its file; empty if no key helps.

    >>> setting("slurm", Finding(Verdict.PROBLEM, "", "mpi", value="srun --mpi=pmix"))
    'in profiles/slurm/site.yaml set `mpi: srun --mpi=pmix`'
    """
    value = f": {found.value}" if found.value else ""
    return found.key and f"{PLACES.get(executor, ELSEWHERE)} set `{found.key}{value}`"


def summary(findings: Mapping[str, Finding]) -> str:
    """The number of each verdict, and the next step.

    >>> summary({"ports": Finding(Verdict.OK, ""), "hosts": Finding(Verdict.PROBLEM, "")})
    '1 ok, 1 problem; follow the advice above, then repeat the command'
    """
    verdicts = [found.verdict for found in findings.values()]
    counted = ", ".join(f"{verdicts.count(each)} {each}" for each in Verdict if each in verdicts)
    bad = Verdict.PROBLEM in verdicts
    return f"{counted}; " + ("follow the advice above, then repeat the command" if bad else "launches can run here")
