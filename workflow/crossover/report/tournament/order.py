"""The order of hosts: neighbours of the network next to each other, otherwise by the numbers in their names."""

import re
from collections.abc import Iterable, Mapping, Sequence


def order(hosts: Iterable[str], switches: Mapping[str, str]) -> list[str]:
    """The hosts, those below the same `switches` together, and otherwise in the order of the numbers in their names.

    >>> order(["node10", "node2", "node1"], {})
    ['node1', 'node2', 'node10']
    >>> order(["a1", "a2", "a3"], {"a1": "spine.leaf1", "a2": "spine.leaf2", "a3": "spine.leaf1"})
    ['a1', 'a3', 'a2']
    """
    return sorted(hosts, key=lambda host: (_key(switches.get(host, "")), _key(host)))


def spanned(hosts: Sequence[str]) -> str:
    """The first and the last of some hosts, which is written without the letters that both begin with.

    >>> spanned(["node9"]), spanned(["node9", "node10"]), spanned(["a1", "b1"])
    ('node9', 'node9–10', 'a1–b1')
    """
    first, last = hosts[0], hosts[-1]
    letters = re.split(r"\d", first)[0]
    return first if first == last else f"{first}–{last.removeprefix(letters) or last}"


def _key(name: str) -> list[tuple[int, str]]:
    # Every second part is a number.
    return [(int(part), "") if index % 2 else (0, part) for index, part in enumerate(re.split(r"(\d+)", name))]
