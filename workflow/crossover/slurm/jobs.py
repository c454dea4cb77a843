"""Jobs in Slurm's queue: why those of a run wait, how one ended, those that an earlier run has left."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from crossover import programs
from crossover.errors import CrossoverError
from crossover.paths import SITE
from crossover.slurm import submission
from crossover.slurm.acceptance import HOPELESS, meaning

POLL_SECONDS = 20.0
"""A look costs the controller a query, as one of Snakemake's does."""

UNEXAMINED = ("", "None")
"""Slurm's reason until it has examined a job."""

SUSPENDED = "suspended"
"""The reason of a job that has started and was stopped, for which Slurm has no word."""

ANOTHER = f"press Ctrl-C and set `qos:`, `account:` or `partition:` in {SITE} to one that allows such jobs"
AGAIN = "or cancel them, and their launches are tried again: `scancel JOB`, with each number of `squeue --me`"

ENDS = (
    (SUSPENDED, f"only Slurm and its operators resume them; wait, {AGAIN}"),
    ("requeued.(in.)?held|HoldMaxRequeue", f"does not end by itself; let them start: `scontrol release JOB`, {AGAIN}"),
    ("Max.*Per(Job|Node)|QOSMin", f"does not end by itself; {ANOTHER}, or, for jobs of several nodes, set `nodes: 1`"),
    # The budget of a group in minutes; the minutes of its running jobs end with them.
    ("Grp(?!.*Run).*(Minutes|Wall)", f"ends when the administrators renew the used budget; wait, or {ANOTHER}"),
    ("Grp", f"ends when other jobs of the group end; if there are none, {ANOTHER}"),
)
"""A pattern of Slurm's reasons for waiting, and what ends the wait."""

NO_ANSWER = "Slurm's controller does not answer; the jobs go on"

END_SECONDS = 120
"""Slurm kills a cancelled job after its KillWait, by default half a minute."""

END_POLL_SECONDS = 0.5

FROM_OUTSIDE = (
    *("BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "SPECIAL_EXIT"),
    *("STOPPED", "SUSPENDED", "TIMEOUT"),
)
"""States of a job that did not end by itself."""


def reasons_to_wait(start: str) -> Counter[str] | None:
    """How many of this user's jobs whose names begin with `start` wait, by Slurm's reason; None without an answer."""
    try:
        answer = programs.ask(
            "squeue", "--me", "--noheader", "--states=PENDING,SUSPENDED", "--format=%T|%r|%j", quiet=True
        ).stdout
    except CrossoverError:
        return None
    waiting: Counter[str] = Counter()
    for line in answer.splitlines():
        state, _, rest = line.partition("|")
        reason, _, name = rest.rpartition("|")
        reason = SUSPENDED if state == "SUSPENDED" else reason
        waiting[reason] += name.startswith(start) and reason not in UNEXAMINED
    return +waiting


@dataclass
class Watch:
    """What was said about the queue so far; `look` and `refused` say what is new."""

    look: Callable[[], Counter[str] | None]
    refused: Callable[[], Iterable[tuple[str, str]]] = submission.refusals
    _said: frozenset[str] = frozenset()
    _refused: set[str] = field(default_factory=set)

    def news(self) -> list[str]:
        """A line for the reasons of waiting jobs if they have changed since the last call, and one for each refusal."""
        found = self.look()
        lines = []
        kinds = frozenset(["no answer"] if found is None else found)
        if kinds != self._said:
            self._said = kinds
            lines += [NO_ANSWER] if found is None else waiting_in_words(found)
        for kind, words in self.refused():
            if kind == submission.WAITS and words not in self._refused:
                self._refused.add(words)
                lines.append(f"Slurm accepts no further job now ({words}); it is submitted again until accepted")
        return lines


def waiting_in_words(found: Counter[str]) -> list[str]:
    """The waiting jobs in a line, with the remedy where they would wait for ever; nothing without any.

    >>> waiting_in_words(Counter({"Resources": 1, "Priority": 3}))
    ['waiting in Slurm: 3 jobs (Priority), 1 job (Resources)']
    """
    if not found:
        return []
    counted = [f"{count} {'job' if count == 1 else 'jobs'} ({reason})" for reason, count in found.most_common()]
    return [f"waiting in Slurm: {', '.join(counted)}", *filter(None, map(_end_in_words, found))]


def _end_in_words(reason: str) -> str:
    """What ends the wait for this reason; empty if it ends by itself."""
    if words := next((words for pattern, words in ENDS if re.search(pattern, reason)), ""):
        return f"{reason}: {words}"
    if reason not in HOPELESS:
        return ""
    key, step = meaning(reason)
    remedy = f"press Ctrl-C and set `{key}:` in {SITE}: {step}" if key else step
    wait = "" if reason == "JobHeldUser" else "wait until the administrators change it, or "
    return f"{reason} does not end by itself; {wait}{remedy}"


def follow(start: str, say: Callable[[str], None]) -> None:
    """Say from now on, in a thread, why this user's jobs with names that begin with `start` wait."""
    watch = Watch(lambda: reasons_to_wait(start))

    def run() -> None:
        while True:
            time.sleep(POLL_SECONDS)
            for line in watch.news():
                say(line)

    threading.Thread(target=run, daemon=True).start()


@dataclass(frozen=True)
class Fate:
    """The end of a job."""

    state: str = ""
    """As Slurm names it, such as `NODE_FAIL`; empty if Slurm does not know the job any more."""
    nodes: str = ""
    """The names of its nodes, such as `node[1-2]`; empty if it had none."""

    @property
    def from_outside(self) -> bool:
        """Whether the job was ended, and not by its own processes."""
        return self.state in FROM_OUTSIDE

    def __str__(self) -> str:
        return " on ".join(filter(None, [self.state, self.nodes]))


def fate_of(job: str) -> Fate:
    """The fate of a job by its number, from the controller, or the accounts if that has forgotten it; or nothing."""
    # Only words depend on it, and the run goes on.
    with suppress(CrossoverError):
        told = programs.ask("scontrol", "--oneliner", "show", "job", job, refuses=True).stdout
        if "JobState=" in told:
            return of_controller(told)
        command = ("sacct", "--jobs", job, "--noheader", "--allocations", "--parsable2", "--format=State,NodeList")
        return of_accounts(programs.ask(*command, refuses=True).stdout)
    return Fate()


def of_controller(told: str) -> Fate:
    """The fate in the answer of `scontrol --oneliner show job`.

    >>> of_controller("JobId=7 JobState=NODE_FAIL Reason=NodeDown NodeList=n[1-2] NumNodes=2")
    Fate(state='NODE_FAIL', nodes='n[1-2]')
    >>> of_controller("JobId=8 JobState=CANCELLED NodeList=(null) NumNodes=1")
    Fate(state='CANCELLED', nodes='')
    """
    facts = dict(re.findall(r"(?<!\S)(JobState|NodeList)=(\S+)", told))
    return Fate(facts.get("JobState", ""), facts.get("NodeList", "").replace("(null)", ""))


def of_accounts(told: str) -> Fate:
    """The fate in the answer of `sacct`, its last line if the job ran more than once.

    >>> of_accounts("CANCELLED by 0|node1\\n")
    Fate(state='CANCELLED', nodes='node1')
    >>> of_accounts("PENDING|None assigned"), of_accounts("")
    (Fate(state='PENDING', nodes=''), Fate(state='', nodes=''))
    """
    rows = [line.split("|") for line in told.splitlines() if line.count("|") == 1]
    if not rows:
        return Fate()
    state, nodes = rows[-1]
    return Fate(state.split()[0], nodes.replace("None assigned", ""))


def name_start(results: str | Path) -> str:
    """The start of the names of the jobs that measure into this folder."""
    return f"crossover-{sha256(str(Path(results).resolve()).encode()).hexdigest()[:12]}"


def cancel_earlier(results: str | Path) -> str:
    """Cancel this user's jobs for this folder, and wait until they are gone; returns a line about them, or nothing.

    An earlier run of the same folder has left them, because Snakemake was killed, and they would measure the same
    launches as this run. The launches that they finished are kept. Jobs of other folders and workflows are left alone,
    because a job's name belongs to its folder of results.

    Raises CrossoverError if Slurm does not answer, or if a job does not end.
    """
    found = _jobs(name_start(results))
    if not found:
        return ""
    programs.ask("scancel", *found, refuses=True)
    limit = time.monotonic() + END_SECONDS
    while left := _jobs(name_start(results)):
        if time.monotonic() > limit:
            raise CrossoverError(
                f"jobs {', '.join(left)} of an earlier run in {results} do not end; cancel them with `scancel`, then "
                "repeat the command"
            )
        time.sleep(END_POLL_SECONDS)
    jobs = "1 job" if len(found) == 1 else f"{len(found)} jobs"
    waiting = list(found.values()).count("PENDING")
    states = f"{len(found) - waiting} running, {waiting} waiting"
    return (
        f"cancelled {jobs} that an earlier run in {results} had left in Slurm ({states}); the launches that they "
        "finished are kept"
    )


def cancel_without_waiting(results: str | Path) -> None:
    """Cancel this user's jobs for this folder, without waiting for their end or for an answer."""
    with suppress(CrossoverError):
        if found := _jobs(name_start(results)):
            programs.ask("scancel", *found, refuses=True)


def _jobs(start: str) -> dict[str, str]:
    """The state of each of this user's jobs whose name begins so, by its number."""
    answer = programs.ask("squeue", "--me", "--noheader", "--format=%i|%T|%j")
    if answer.returncode == programs.ABSENT:
        raise CrossoverError(
            "cannot find out whether an earlier run has left jobs in Slurm: there is no program squeue here; make "
            "Slurm's commands available, then repeat the command"
        )
    # A name can be empty, and a site can print lines of its own.
    rows = [line.split("|", 2) for line in answer.stdout.splitlines()]
    return {row[0]: row[1] for row in rows if row[2:] and row[2].startswith(start)}
