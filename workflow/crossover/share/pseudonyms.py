"""Pseudonyms for names of hosts, users, accounts, addresses, jobs and paths: the same name always has the same one.

They are numbered in the order in which names first appear, so no name can be computed from them. Texts of other
programs are withheld, because no list of patterns recognises every name in them.
"""

import ipaddress
import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

SLURM = {
    **{"SLURM_JOB_USER": "user", "SLURM_JOB_UID": "user-number", "SLURM_JOB_ACCOUNT": "account"},
    **{"SLURM_JOB_ID": "job", "SLURM_JOBID": "job", "SLURM_JOB_NAME": "job-name", "SLURM_JOB_NODELIST": "hosts"},
    **{"SLURM_JOB_PARTITION": "partition", "SLURM_JOB_QOS": "qos", "SLURM_JOB_RESERVATION": "reservation"},
}
"""The kinds of names in variables of a Slurm job. All other variables but KEPT have the kind `value`."""

KEPT = {f"SLURM_JOB_{name}" for name in ("CPUS_PER_NODE", "NUM_NODES", "START_TIME", "END_TIME", "GPUS")}
"""Variables of a Slurm job that name nothing."""

COLUMNS = {"host": "hosts", "hosts": "hosts", "address": "address", "interface": "interface", "job": "job"}
"""The kinds of names in columns, and in entries of metadata."""

SPOKEN = ("host", "domain", "user", "account", "address", "interface", "job-name")
"""The kinds of names that are replaced in sentences too; names of other kinds can be any word, such as `normal`."""

COMMON = frozenset({"localhost", "root", "lo", "user"})
"""Names that every machine has."""

SYSTEM = ("/usr/", "/lib", "/bin/", "/sbin/", "/proc/", "/sys/", "/dev/", "/etc/")
"""Starts of paths that every machine has."""

PATH = re.compile(r"(?:~|(?<![\w.~/<-]))/(?!/)[^\s'\"<>,;:()]+")
"""A path in the home, or an absolute path, but not a part of a URL or the end of an HTML element."""

WHY = "why"
"""In place of the name `reason`, for the reason of a hole; reasons of claims and settings are this project's words."""

FREE = (WHY, "too_few_nodes")
"""Columns and entries with texts of other programs, which can name anything in any form."""

QUOTED = re.compile(r"(the first because of `[^:`]*):.*`", re.DOTALL)
"""The reason of a hole within that of a claim or a setting, behind its kind, as `records.holes.why` writes it."""

WITHHELD = "withheld, because it can name hosts and people"

FOLDERS = {"file": "raw/", "receipt": "launches/"}
"""Columns of paths, with the folder of each in the results."""


class Pseudonyms:
    """The pseudonyms of one run, given when a name is first seen.

    `words` are words of the tables' own language: a host or user with such a name is replaced where a column names
    it, and in paths, but not in sentences.
    """

    def __init__(self, words: Iterable[str] = ()):
        self.words = COMMON | set(words)
        self._given: dict[str, dict[str, str]] = {}
        self._pattern: tuple[re.Pattern[str], dict[str, str]] | None = None

    def of(self, kind: str, name: str) -> str:
        """The pseudonym of a name, such as `host-1`."""
        if kind == "hosts":
            return ",".join(sorted(self._host(each) for each in host_names(name)))
        if kind == "host":
            return self._host(name)
        if kind in ("address", "interface") and (name == "lo" or _everywhere(name)):
            return name
        given = self._given.setdefault(kind, {})
        if name not in given:
            given[name] = f"{kind}-{len(given) + 1}"
            if kind in SPOKEN:
                self._pattern = None
        return given[name]

    def _host(self, name: str) -> str:
        short, _, domain = (name, "", "") if _address(name) else name.lower().partition(".")
        if domain:
            self.of("domain", domain)
        given = self._given.setdefault("host", {})
        if short not in given:
            given[short] = f"host-{len(given) + 1}"
            self._pattern = None
        return given[short]

    def field(self, name: str, value: str) -> str:
        """A value of the column `name`, or of an entry of metadata, with pseudonyms."""
        if not value:
            return value
        if name in COLUMNS:
            return self.of(COLUMNS[name], value)
        if name in FREE:
            return WITHHELD
        if name == "reason":
            value = QUOTED.sub(r"\1`", value)
        if name == "error":
            # An exception's type is a word of Python or of this project; its message can be any text.
            kind, _, message = value.partition(":")
            return f"{kind}: {WITHHELD}" if message and kind.isidentifier() else WITHHELD
        if name == "mpi":
            first, *others = value.split(", ")
            return ", ".join([first, *(each for each in others if each.startswith("thread level"))])
        if name == "slurm":
            return json.dumps({key: self._variable(key, each) for key, each in json.loads(value).items()})
        if name == "network":
            return json.dumps({self.of("interface", key): each for key, each in json.loads(value).items()})
        if (within := FOLDERS.get(name)) and within in value:
            # Wherever the folder of results was.
            return f"results/{within}{value.rpartition(within)[2]}"
        return self.text(value)

    def _variable(self, key: str, value: Any) -> Any:
        return value if key in KEPT or not isinstance(value, str) else self.of(SLURM.get(key, "value"), value)

    def text(self, content: str) -> str:
        """A text with pseudonyms for paths, and for all names that columns have had so far, each as a whole word."""
        return self.names(PATH.sub(self._path, content))

    def names(self, content: str) -> str:
        """A text with pseudonyms for the names seen so far, each as a whole word."""
        pattern, known = self._pattern or self._compiled()
        return pattern.sub(lambda found: known[found[0].lower()], content)

    def _compiled(self) -> tuple[re.Pattern[str], dict[str, str]]:
        """The pattern of all names that sentences can have, and their pseudonyms; kept until a name is added."""
        spoken = (self._given.get(kind, {}) for kind in SPOKEN)
        known = {name.lower(): each for names in spoken for name, each in names.items() if self._is_plain(name)}
        parts = [re.escape(name) for name in sorted(known, key=lambda name: (-len(name), name))]
        anything = "|".join(parts) or r"(?!)"
        self._pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{anything})(?![A-Za-z0-9])", re.IGNORECASE), known
        return self._pattern

    def _is_plain(self, name: str) -> bool:
        return len(name) > 1 and not name.isdigit() and name not in self.words

    def _path(self, found: re.Match[str]) -> str:
        return found[0] if found[0].startswith(SYSTEM) else self.of("path", found[0])


@cache
def _address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _everywhere(text: str) -> bool:
    """Whether this is an address that every machine has."""
    if not _address(text):
        return False
    found = ipaddress.ip_address(text)
    return found.is_loopback or found.is_unspecified


@cache
def host_names(text: str) -> tuple[str, ...]:
    """The hosts of a list as Slurm writes it.

    >>> host_names("a[01-03,7],b")
    ('a01', 'a02', 'a03', 'a7', 'b')
    """
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        if not (found := re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)):
            names.append(part)
            continue
        for each in found[2].split(","):
            first, _, last = each.partition("-")
            numbers = range(int(first), int(last or first) + 1) if (first + last).isdigit() else []
            middles = [f"{number:0{len(first)}}" for number in numbers] or [each]
            names += [name for middle in middles for name in host_names(f"{found[1]}{middle}{found[3]}")]
    return tuple(names)
