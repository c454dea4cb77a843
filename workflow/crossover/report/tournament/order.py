"""The order of hosts: neighbours of the network next to each other, otherwise by the numbers in their names."""

import re
from collections.abc import Iterable, Sequence

LIST = re.compile(r"([^,\[]*)(?:\[([^\]]*)\])?,?")
"""A host of Slurm's list, or several, with their numbers in brackets."""


def order(hosts: Iterable[str], topology: str = "") -> list[str]:
    """The hosts, those of one leaf switch together, in the order of `scontrol show topology`; other hosts last.

    Hosts of a switch, and all hosts without a topology, are in the order of the numbers in their names.

    >>> order(["node10", "node2", "node1"])
    ['node1', 'node2', 'node10']
    >>> order(["a1", "a2", "a3"], "SwitchName=s1 Level=0 Nodes=a[1,3]\\nSwitchName=s2 Level=0 Nodes=a2")
    ['a1', 'a3', 'a2']
    """
    leaves = re.findall(r"^\s*SwitchName=\S+ Level=0 .*?\bNodes=(\S+)", topology, re.MULTILINE)
    places = {host: place for place, leaf in enumerate(leaves) for host in expanded(leaf)}
    # Slurm's names can lack the domain that a host's own name has.
    return sorted(
        hosts, key=lambda host: (places.get(host, places.get(host.partition(".")[0], len(leaves))), _key(host))
    )


def expanded(text: str) -> list[str]:
    """The hosts of a list as Slurm writes it, with one pair of brackets in a name.

    >>> expanded("login,node[08-10,12]")
    ['login', 'node08', 'node09', 'node10', 'node12']
    """
    return [f"{name}{number}" for name, numbers in LIST.findall(text) if name for number in _numbers(numbers)]


def spanned(hosts: Sequence[str]) -> str:
    """The first and the last of some hosts, which is written without the letters that both begin with.

    >>> spanned(["node9"]), spanned(["node9", "node10"]), spanned(["a1", "b1"])
    ('node9', 'node9–10', 'a1–b1')
    """
    first, last = hosts[0], hosts[-1]
    letters = re.split(r"\d", first)[0]
    return first if first == last else f"{first}–{last.removeprefix(letters) or last}"


def _numbers(text: str) -> list[str]:
    """The numbers of a pair of brackets, with leading zeros; an empty one without brackets."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)] if last else [first]
    return found


def _key(host: str) -> list[tuple[int, str]]:
    # Every second part is a number.
    return [(int(part), "") if index % 2 else (0, part) for index, part in enumerate(re.split(r"(\d+)", host))]
