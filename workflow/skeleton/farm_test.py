"""Does the farm NAME run every task, and leave nothing behind?"""

from launching import COMMON, Launch

from crossover.config import schema
from crossover.planning import plan
from crossover.records import record


def test_a_launch_measures_it_beside_another_and_leaves_nothing_but_its_file(tmp_path):
    """At the tier `smoke`, with one engine."""
    chosen = {"arms": ["bare zmq", "NAME"], "reference": "bare zmq", "ceilings": [], "engines": 1}
    config = schema.complete({"tier": "smoke"})
    settings = plan.of_launch("task_latency", plan.settings_of(config, "task_latency") | chosen, "node", 1)
    launch = Launch(tmp_path, "task_latency", settings | COMMON)
    try:
        assert launch.run() == 0
        rows = record.read(launch.output, record.MEASUREMENTS).to_pylist()
        measured = {row["arm"] for row in rows if row["value"]}
        assert measured == {"bare zmq", "NAME", "null"}, launch.log.read_text(encoding="utf-8")
        launch.leaves_nothing_but_its_file()
    finally:
        launch.end()
