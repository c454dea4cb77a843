"""ipyparallel: a controller with a scheduler, and engines."""

from dataclasses import dataclass
from typing import Annotated, Literal

from crossover.design.farms import TaskFarm

SCHEMES = ("leastload", "lru", "weighted", "plainrandom", "twobin")
LIMITED = {
    f"{scheme}{f' hwm {hwm}' if hwm else ''}": {"scheme": scheme, **({"hwm": hwm} if hwm else {})}
    for scheme in SCHEMES
    for hwm in (0, 1, 2)
}


@dataclass(frozen=True)
class Options:
    """Its options."""

    scheme: Annotated[Literal["leastload", "lru", "weighted", "plainrandom", "twobin", "pure"], "its scheduler"]
    hwm: Annotated[
        int,
        "the most tasks that the scheduler hands an engine at a time; 0 for any number. With 1, ipyparallel's own "
        "default, only idle engines are offered, and schemes hardly differ",
    ] = 0
    packer: Annotated[Literal["json", "msgpack", "pickle"], "how messages are serialized, `json` by default"] = "json"
    ssh: Annotated[bool, "the client's connections go through an SSH tunnel"] = False
    encrypted: Annotated[
        bool,
        "every connection is encrypted, with keys made for the launch (CurveZMQ). Without it, other users of the hosts "
        "could get tasks or run code, so such a farm is measured only with `unauthenticated_farms`",
    ] = True
    map: Annotated[bool, "each engine gets its part of all tasks at once, by `map` of a direct view; no scheduler"] = (
        False
    )


FARM = TaskFarm(
    place=10,
    arms={
        **LIMITED,
        "leastload unencrypted": {"scheme": "leastload", "encrypted": False, "alone": True},
        "leastload msgpack": {"scheme": "leastload", "packer": "msgpack"},
        "leastload over ssh": {"scheme": "leastload", "ssh": True, "alone": True},
        "leastload msgpack over ssh": {"scheme": "leastload", "packer": "msgpack", "ssh": True, "alone": True},
        "ipyparallel map": {"scheme": "leastload", "map": True},
        "pure": {"scheme": "pure"},
        "pure msgpack": {"scheme": "pure", "packer": "msgpack"},
        "pure over ssh": {"scheme": "pure", "ssh": True, "alone": True},
    },
    options=Options,
    packages=("ipyparallel",),
    one_host="ssh",
    # Without it, whoever connects to a scheduler gets the pickled tasks of others.
    authenticates="encrypted",
)
