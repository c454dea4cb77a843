"""Does the peak memory of a flood include its messages, and is it left out if the kernel does not support it?"""

from functools import partial
from statistics import median
from types import SimpleNamespace

import pytest
from launching import COMMON, Launch, settings

from crossover.design.arm import Arm
from crossover.experiments.zmq_throughput import EXPERIMENT
from crossover.experiments.zmq_throughput import driver as zmq_throughput
from crossover.measure.ranks import provenance
from crossover.measure.ranks.peers import Peers
from crossover.records import record

MESSAGE_BYTES = 40_000_000
"""More than glibc ever keeps of freed memory, so that no block reuses the memory of the previous one."""

SETTINGS = COMMON | {
    "placement": "process",
    "block_seconds": 1e-5,
    "sizes_bytes": [MESSAGE_BYTES],
    "arms": ["copy", "no-copy"],
    "reference": "copy",
    "curves": ["PUSH/PULL over inproc", "PUSH/PULL over ipc"],
    "ceilings": [],
    "lead_in_seconds": 1e-5,
    "in_flight_messages": 2000,
    "in_flight_bytes": 3 * MESSAGE_BYTES,
}

needs_peak_memory = pytest.mark.skipif(
    not provenance.watch_peak_memory()(), reason="this kernel does not let a process reset its peak memory"
)


@needs_peak_memory
def test_memory_that_was_freed_before_does_not_count():
    peak_bytes = provenance.watch_peak_memory()
    empty_handed = peak_bytes()
    held = bytearray(empty_handed)
    del held
    holding = peak_bytes()
    assert holding > 1.8 * empty_handed
    assert provenance.watch_peak_memory()() < 0.7 * holding


@needs_peak_memory
@pytest.mark.parametrize("placement", ["process", "node"])
def test_copying_a_burst_takes_more_memory_than_lending_it(tmp_path, placement):
    launch = Launch(tmp_path, "zmq_throughput", SETTINGS | {"placement": placement})
    try:
        assert launch.run() == 0, launch.log.read_text()
    finally:
        launch.end()
    found = {}
    for row in record.read(launch.output, record.MEASUREMENTS).to_pylist():
        if row["metric"] == "peak memory":
            found.setdefault(row["runs"], []).append(row["value"])
    # A copying block has one copy more, plus messages that its receiver has not freed yet.
    assert median(found["copy"]) - median(found["no-copy"]) > 0.8 * MESSAGE_BYTES / 1e6


def test_without_the_kernels_support_a_block_has_all_other_metrics(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "PEAK_RESET", tmp_path / "no such folder" / "clear_refs")
    alone = SimpleNamespace(placement="process")
    alone.other_end = partial(Peers.other_end, alone)
    own = settings("zmq_throughput", SETTINGS | {"sizes_bytes": [100]})
    (cell,) = zmq_throughput.cells(own)
    with zmq_throughput.drive(alone, own) as sender:
        block = sender.run(cell, Arm("copy", "copy"), 10)
    assert not block.fault
    assert set(block.values) == {metric.name for metric in EXPERIMENT.metrics} - {"peak memory", "overstatement"}
