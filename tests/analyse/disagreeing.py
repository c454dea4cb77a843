"""A run in which `send` returns far sooner with lent messages, although they do not arrive sooner: the usual case.

Over tcp, lending improves throughput and round trips from about 200 kB on; over ipc, throughput from 200 kB on and
round trips from 5 kB on. Over inproc it improves nothing. Everywhere it lets `send` return sooner from 17 kB on.
"""

import numpy as np
import pyarrow as pa
from synthetic import SIZES, launched, rows

from crossover.analyse.tables.raw_files import gather
from crossover.analyse.tables.recommend import recommend
from crossover.analyse.tables.writer import join
from crossover.records import record

LAUNCHES = 5
FLOOD, QUESTION = "PUSH/PULL over {}, 2000 messages or 64 MB in flight", "REQ/REP over {}"
SENT_SOONER = 17_500.0
"""Size in bytes from which the send calls of a lent message return sooner."""

PASSES = {
    ("zmq_throughput", "throughput"): {"tcp": 200e3, "ipc": 200e3, "inproc": 1e12},
    ("zmq_throughput", "send rate"): dict.fromkeys(("tcp", "ipc", "inproc"), SENT_SOONER),
    ("zmq_latency", "round trip, median"): {"tcp": 200e3, "ipc": 5e3},
}
"""Size in bytes from which `no-copy` is better, by experiment, metric and transport."""


def better(metric, place):
    """Logarithms of the factor by which `no-copy` is better, of shape (cells,)."""
    if metric == "send rate":
        return np.clip(1.2 * np.log(SIZES / place), -1.5, 2.5)
    return 0.15 * np.log(SIZES / place) if place < 1e9 else np.full(len(SIZES), -0.2)


def launches(random, experiment):
    """The rows of each launch of an experiment."""
    for launch in range(1, LAUNCHES + 1):
        told = []
        for (name, metric), places in PASSES.items():
            for transport, place in places.items() if name == experiment else ():
                truth = {"copy": 0 * SIZES, "no-copy": better(metric, place), "null": 0 * SIZES}
                lower = metric.startswith("round trip")
                values = {
                    arm: 1e-4
                    * np.exp((-1 if lower else 1) * gain[:, None] + 0.01 * random.standard_normal((len(SIZES), 10)))
                    for arm, gain in truth.items()
                }
                protocol = (QUESTION if lower else FLOOD).format(transport)
                facts = {"metric": metric, "unit": "s" if lower else "messages/s"}
                facts |= {"better": "lower" if lower else "higher", "axis_unit": "bytes"}
                told += [row | facts for row in rows(values, experiment, protocol, launch)]
        yield launch, told


def write(folder):
    """Write the run's tables and recommendations to `folder`, and return it."""
    random = np.random.default_rng(21)
    receipts = {
        experiment: [
            launched(folder, told, experiment, launch, settings="{}") for launch, told in launches(random, experiment)
        ]
        for experiment in ("zmq_throughput", "zmq_latency")
    }
    return finish(folder, receipts)


def finish(folder, receipts):
    """Write the tables and recommendations of a run to `folder`, from `receipts` {experiment: paths}; return it."""
    parts = [folder / "experiments" / experiment for experiment in receipts]
    for part, own in zip(parts, receipts.values(), strict=True):
        gather(own, part)
    join(parts, folder)
    record.write(pa.Table.from_pylist([], record.CLAIMS), folder / "claims.parquet")
    recommend(folder)
    return folder
