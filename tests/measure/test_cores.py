"""Do two ends get cores of their own, or one, inside of what a job has?"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from crossover.measure.ranks import cores


@pytest.mark.parametrize(
    ("topology", "allowed", "own", "shared"),
    [
        ({}, [0], None, 0),
        ({}, [3, 7], (3, 7), 3),
        # Four hardware threads of two cores; of one socket and the other; a core's two threads alone.
        ({0: (0, 0), 1: (0, 1), 2: (0, 0), 3: (0, 1)}, [0, 1, 2, 3], (0, 1), 0),
        ({0: (0, 0), 1: (0, 0), 2: (0, 1), 3: (0, 1)}, [0, 1, 2, 3], (0, 2), 0),
        ({0: (0, 0), 1: (1, 0), 2: (0, 1), 3: (1, 1)}, [0, 1, 2, 3], (0, 2), 0),
        ({0: (0, 0), 1: (0, 1), 2: (0, 0), 3: (0, 1)}, [1, 3], (1, 3), 1),
    ],
)
def test_ends_get_the_first_cores_of_a_socket_and_then_hardware_threads(tmp_path, topology, allowed, own, shared):
    for cpu, (package, core) in topology.items():
        folder = tmp_path / f"cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n", encoding="utf-8")
        (folder / "core_id").write_text(f"{core}\n", encoding="utf-8")
    found = cores.bindings(allowed, tmp_path)
    assert found.get("own") == (own and tuple(frozenset([cpu]) for cpu in own))
    assert found["shared"] == (frozenset([shared]),) * 2


def test_a_process_is_pinned_with_all_its_threads_and_later_freed(monkeypatch):
    with ThreadPoolExecutor(1) as pool:
        threads = [pool.submit(threading.get_native_id).result(), threading.get_native_id()]
        for binding, (mine, theirs) in cores.BINDINGS.items():
            assert cores.take({"binding": binding}) == theirs
            assert {frozenset(os.sched_getaffinity(thread)) for thread in threads} == {mine or cores.ALLOWED}
    assert cores.take({}) == frozenset() and os.sched_getaffinity(0) == cores.ALLOWED
    monkeypatch.setattr(cores, "BINDINGS", cores.bindings([0]))
    assert cores.take({"binding": "own"}) is None
