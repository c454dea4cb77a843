"""Does NAME measure all of its arms, and leave nothing behind?"""

from launching import Launch

from crossover.config import schema
from crossover.design.arm import arms_of
from crossover.planning import plan
from crossover.records import record


def test_a_launch_measures_every_arm_and_leaves_nothing_but_its_file(tmp_path):
    """At the tier `smoke`, in the first of its placements."""
    config = schema.complete({"tier": "smoke", "experiments": {"NAME": {}}})
    settings = plan.launch(config, "NAME", config.experiments["NAME"].placements[0], 1).settings
    launch = Launch(tmp_path, "NAME", settings)
    try:
        assert launch.run() == 0
        rows = record.read(launch.output, record.MEASUREMENTS).to_pylist()
        told = launch.log.read_text(encoding="utf-8")
        assert {row["arm"] for row in rows if row["value"]} == {arm.name for arm in arms_of(settings)}, told
        launch.leaves_nothing_but_its_file()
    finally:
        launch.end()
