"""Does the page show a user's file as it is, line by line?"""

import json

from crossover.records import record
from crossover.report.pages.index import users_files

TEXT = 'def task(item):\n\treturn f"{item=}"  # `a` <b>\n'


def test_the_text_is_that_of_the_launch_each_once_and_of_this_experiment(tmp_path):
    def row(number, experiment, text):
        settings = json.dumps({"file": "my_work.py", "sources": {"my_work.py": text}})
        return {"experiment": experiment, "placement": "node", "launch": number, "settings": settings}

    rows = [row(1, "own_task", TEXT), row(2, "own_task", TEXT), row(1, "toy", "other"), row(3, "own_task", "a\u202eb")]
    record.write(record.from_rows(rows, record.LAUNCHES), tmp_path / "launches.parquet")
    assert users_files(tmp_path, "own_task") == [("my_work.py", TEXT), ("my_work.py", "a\ufffdb")]
