"""Is a failure kept in the file that lacks the failed part, and does the end of a run name each cause once?"""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from crossover.errors import CrossoverError
from crossover.records import failure, record
from crossover.records.failure import Failure
from crossover.workflow import outcome

ONE = Failure("table", "medians", "toy", "ValueError: </script>", "analyse/estimates/curve.py, line 7")


def test_an_exception_becomes_a_failure_with_its_type_message_and_our_line(capsys):
    with failure.caught("claim", "fast", "toy") as found:
        record.metadata(None)
    (failed,) = found
    assert (failed.kind, failed.name, failed.experiment) == ("claim", "fast", "toy")
    assert failed.error == "AttributeError: 'NoneType' object has no attribute 'schema'"
    assert failed.place.startswith("records/record.py, line ")
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_message_is_one_line_of_bounded_length():
    with failure.caught("figure", "a") as found:
        raise KeyError("many\nlines " * 100)
    assert "\n" not in found[0].error and len(found[0].error) < 2 * failure.LONGEST


def test_only_bugs_are_caught_and_a_users_errors_pass():
    with failure.caught("table", "a") as found:
        pass
    assert found == []
    for passing in (CrossoverError(), record.RecordError(Path("a"), "is damaged"), KeyboardInterrupt()):
        with pytest.raises(type(passing)), failure.caught("table", "a"):
            raise passing


def test_parts_that_need_a_failed_table_fail_for_its_reason(capsys):
    with failure.caught("claim", "fast", "toy") as found:
        failure.require([ONE], ["toy"], ["medians"])
    assert found == [Failure("claim", "fast", "toy", ONE.error, ONE.place)]
    assert capsys.readouterr().err == "", "its traceback must be in the table's log only"
    failure.require([ONE], ["other"], ["medians"])
    failure.require([ONE], ["toy"], ["needs"])


def test_failures_can_be_read_back_from_every_kind_of_file(tmp_path):
    other = Failure("figure", "a", "", "OSError", "")
    record.write(pa.table({"x": [1]}), tmp_path / "table.parquet", failure.stored([ONE, other, ONE]))
    (tmp_path / "plan.json").write_text(json.dumps({"node": {}} | failure.stored([ONE, other])))
    (tmp_path / "figures").mkdir()
    failure.write([ONE, other], tmp_path / "figures")
    (tmp_path / "page.html").write_text(failure.stamped("<html><body>a</body></html>", [ONE, other]))
    for name in ("table.parquet", "plan.json", "figures", "page.html"):
        assert failure.of(tmp_path / name) == [ONE, other], name


def test_a_file_without_failures_is_unchanged(tmp_path):
    record.write(pa.table({"x": [1]}), tmp_path / "table.parquet", failure.stored([]))
    record.write(pa.table({"x": [1]}), tmp_path / "same.parquet")
    assert (tmp_path / "table.parquet").read_bytes() == (tmp_path / "same.parquet").read_bytes()
    assert failure.stamped("<body></body>", []) == "<body></body>"
    failure.write([ONE], tmp_path)
    failure.write([], tmp_path)
    assert not (tmp_path / failure.FILE).exists()
    (tmp_path / "damaged.parquet").write_text("no parquet")
    (tmp_path / "damaged.json").write_text("[")
    for name in ("table.parquet", "damaged.parquet", "damaged.json", "missing.html", "."):
        assert failure.of(tmp_path / name) == [], name


def test_the_end_of_a_run_names_each_cause_once_with_all_failed_parts():
    same = [replace(ONE, name=name) for name in ("fits", "ratios")]
    claim = replace(ONE, kind="claim", name="fast")
    chart = Failure("figure", "ladder", "", "KeyError: 1", "")
    said = outcome.sentences([*same, claim, chart, claim], {same[0]: "results/logs/toy/tables.log"}).splitlines()
    assert said[1:4] == [
        "  tables fits, ratios; claim fast of toy: ValueError: </script> (analyse/estimates/curve.py, line 7)",
        "    traceback: results/logs/toy/tables.log",
        "  figure ladder: KeyError: 1",
    ]
