"""Does the farm NAME run every task, and leave nothing behind?"""

from dataclasses import replace

from launching import Launch

from crossover.config import schema
from crossover.planning import plan
from crossover.records import record


def test_a_launch_measures_it_beside_another_and_leaves_nothing_but_its_file(tmp_path):
    """At the tier `smoke`, with one engine."""
    chosen = {
        "arms": ["bare zmq", "NAME"],
        "reference": "bare zmq",
        "ceilings": [],
        "engines": 1,
        "placements": ["node"],
    }
    config = schema.complete({"tier": "smoke", "experiments": {"task_latency": chosen}})
    settings = plan.launch(config, "task_latency", "node", 1).settings
    launch = Launch(tmp_path, "task_latency", replace(settings, budget_seconds=0.5))
    try:
        assert launch.run() == 0
        rows = record.read(launch.output, record.MEASUREMENTS).to_pylist()
        measured = {row["arm"] for row in rows if row["value"]}
        assert measured == {"bare zmq", "NAME", "null"}, launch.log.read_text(encoding="utf-8")
        launch.leaves_nothing_but_its_file()
    finally:
        launch.end()
