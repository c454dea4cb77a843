"""Is a file whole or absent, and refused if it is wrong?"""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossover.errors import CrossoverError
from crossover.paths import PACKAGE, WORKFLOW
from crossover.records import atomic, record

HOST = socket.gethostname()
BLOCKS = pa.table({"arm": ["copy", "no-copy"], "x": [100, 100], "value": [1.5, None]})
SCHEMA = pa.schema([("arm", pa.string()), ("x", pa.float64()), ("value", pa.float64())])
NESTED = pa.schema(
    [*SCHEMA, *map(record.CHOICES.field, ("candidates", "left")), record.RECOMMENDATIONS.field("points")]
)
FACTS = {"launch": {"placement": "node", "launch": 3}, "ranks": [{"host": "a", "rank": 0}], "text": "Köln"}

KILLED = """
import os, signal, sys
from pathlib import Path
import pyarrow as pa
from crossover.records import record

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

{wound}
record.write(pa.table({{"x": list(range(1000))}}), Path(sys.argv[1]))
"""
WOUNDS = {
    "before the first byte": "record.pq.write_table = die",
    "before the rows are on disk": "os.fsync = die",
    "before it has its name": "Path.replace = die",
}


def killed(wound, path):
    """The exit code of a process that is killed while it writes to `path`."""
    finding_us = os.environ | {"PYTHONPATH": str(WORKFLOW)}
    return subprocess.run([sys.executable, "-c", KILLED.format(wound=wound), str(path)], env=finding_us).returncode


def dead_pid():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.fixture
def alive():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield child.pid
    child.communicate()


# ---- whole or absent


@pytest.mark.parametrize("wound", WOUNDS)
def test_a_killed_writer_leaves_no_file_or_the_old_one_and_the_next_one_deletes_its_part(tmp_path, wound):
    path, other = tmp_path / "launch=1.parquet", tmp_path / "launch=2.parquet"
    for before in (None, FACTS):
        if before:
            record.write(BLOCKS, path, before)
        content = path.read_bytes() if before else b""
        assert killed(WOUNDS[wound], path) == -signal.SIGKILL
        assert (path.read_bytes() if path.exists() else b"") == content
        record.write(BLOCKS, other)
        assert {left.name for left in tmp_path.iterdir()} == {other.name, *([path.name] if before else [])}


@pytest.mark.parametrize("failing", ["pq.write_table", "os.fsync", "pq.read_metadata"])
def test_a_writer_that_fails_leaves_nothing(tmp_path, monkeypatch, failing):
    def fail(*_, **__):
        raise OSError("no space left on device")

    module, name = failing.split(".")
    monkeypatch.setattr({"pq": pq, "os": os}[module], name, fail)
    with pytest.raises(CrossoverError, match=r"a.parquet: cannot be written \(no space left.*\); correct"):
        record.write(BLOCKS, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_rows_that_did_not_reach_the_disk_are_noticed(tmp_path, monkeypatch):
    whole = pq.write_table
    monkeypatch.setattr(record.pq, "write_table", lambda table, *rest, **more: whole(table[:1], *rest, **more))
    with pytest.raises(record.RecordError, match="has fewer rows than written"):
        record.write(BLOCKS, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_only_parts_of_dead_writers_of_this_host_are_deleted(tmp_path, alive):
    names = [
        f".a.parquet.{HOST}.{alive}.part",
        f".a.parquet.elsewhere.{dead_pid()}.part",
        f".a.parquet.{HOST}.x.part",
        f"a.{HOST}.{dead_pid()}.part",
        ".claim",
        "launch=1.parquet",
    ]
    for name in (*names, f".a.parquet.{HOST}.{dead_pid()}.part"):
        (tmp_path / name).touch()
    atomic.clear_stale_parts(tmp_path)
    assert {left.name for left in tmp_path.iterdir()} == set(names)


def test_a_whole_file_replaces_other_hosts_parts_of_it_and_nothing_else(tmp_path, alive):
    own = ".a[1].parquet.elsewhere.7.part"
    superseded = [own, f".{own}.elsewhere.8.part", ".a[1].parquet.refusal.elsewhere.7.part"]
    others = [".a1.parquet.elsewhere.7.part", ".b.parquet.elsewhere.7.part", ".claim"]
    others.append(f".a[1].parquet.{HOST}.{alive}.part")
    for name in superseded + others:
        (tmp_path / name).touch()
    record.write(BLOCKS, tmp_path / "a[1].parquet")
    assert {left.name for left in tmp_path.iterdir()} == {"a[1].parquet", *others}


def test_no_other_module_names_part_files():
    naming = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if '.part"' in path.read_text()}
    assert naming == {"records/atomic.py"}


def test_an_error_names_the_file_that_caused_it(tmp_path):
    missing = tmp_path / "missing"
    with pytest.raises(CrossoverError) as refused, atomic.replacing(tmp_path / "a.zip", "do this") as part:
        part.write_bytes(missing.read_bytes())
    assert str(refused.value) == f"{tmp_path}/a.zip: cannot be written ({missing}: No such file or directory); do this"
    assert list(tmp_path.iterdir()) == []


def test_the_same_input_gives_the_same_bytes(tmp_path):
    backwards = dict(reversed(FACTS.items()))
    for name, facts in {"a": FACTS, "b": FACTS, "c": backwards}.items():
        record.write(BLOCKS, tmp_path / name, facts)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


# ---- written and read back


def test_rows_and_metadata_come_back_unchanged(tmp_path):
    path = tmp_path / "deep" / "folder" / "launch=1.parquet"
    record.write(BLOCKS, path, FACTS)
    table = record.read(path, SCHEMA)
    assert table.to_pylist() == BLOCKS.to_pylist()
    assert record.metadata(table) == FACTS | {"crossover": record.VERSION}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), json_values, max_size=4))
def test_any_json_is_kept_as_metadata(tmp_path_factory, facts):
    facts = {f"fact {key}": value for key, value in facts.items()}
    path = tmp_path_factory.mktemp("facts") / "a.parquet"
    record.write(BLOCKS, path, facts)
    assert record.metadata(record.read(path, SCHEMA)) == facts | {"crossover": record.VERSION}


def test_columns_have_the_order_and_types_of_the_schema_and_no_others_appear(tmp_path):
    path = tmp_path / "x=7" / "a.parquet"  # such a path adds no column
    record.write(BLOCKS.append_column("more", [[1, 2]]).select(["more", "value", "x", "arm"]), path)
    table = record.read(path, SCHEMA)
    assert table.schema.remove_metadata() == SCHEMA and table["x"].to_pylist() == [100, 100]
    record.write(record.MEASUREMENTS.empty_table(), tmp_path / "hole.parquet", FACTS)
    table = record.read(tmp_path / "hole.parquet", record.MEASUREMENTS)
    assert (table.num_rows, table.schema.names) == (0, record.MEASUREMENTS.names)


# ---- refusals: each names the file and the next step


def refused(path, reason, schema=SCHEMA):
    with pytest.raises(record.RecordError) as caught:
        record.read(path, schema)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert reason in message
    assert "run again" in message or "measure again" in message


@pytest.mark.parametrize("version", [record.VERSION + 1, 0, str(record.VERSION), None])
def test_a_file_of_another_version_is_refused(tmp_path, version):
    record.write(BLOCKS, tmp_path / "a.parquet", {"crossover": version})
    refused(tmp_path / "a.parquet", f"has schema version {json.dumps(version)}, this code reads 2; measure again")


@pytest.mark.parametrize(
    ("write", "table", "reason"),
    [
        (pq.write_table, BLOCKS.replace_schema_metadata({"org.example.version": "3.5.0"}), "has schema version none"),
        (pq.write_table, BLOCKS, "has schema version none"),
        (lambda *_: None, None, "cannot be read as parquet"),
        (record.write, BLOCKS.select(["arm"]), "lacks the columns x, value"),
        (record.write, BLOCKS.set_column(1, "x", [["wide", "narrow"]]), "has a column of another type"),
    ],
)
def test_a_file_that_is_foreign_missing_or_has_other_columns_is_refused(tmp_path, write, table, reason):
    write(table, tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", reason)


def test_the_ranks_of_an_earlier_release_have_no_variables(tmp_path):
    earlier = record.from_rows([{"host": "a"}], record.RANKS).drop_columns(["variables", "tuning"])
    record.write(earlier, tmp_path / "ranks.parquet")
    (row,) = record.read(tmp_path / "ranks.parquet", record.RANKS).to_pylist()
    assert (row["host"], row["variables"], row["tuning"]) == ("a", None, None)


def test_a_column_of_an_earlier_release_is_read_under_its_new_name(tmp_path):
    rows = [{"arm": "copy", "is_null_arm": False}, {"arm": "null", "is_null_arm": True}]
    table = record.from_rows(rows, record.SUMMARY)
    former = {new: old for old, new in record.RENAMED.items()}
    earlier = table.rename_columns([former.get(name, name) for name in table.column_names])
    record.write(earlier, tmp_path / "earlier.parquet", FACTS)
    record.write(table, tmp_path / "now.parquet", FACTS)
    assert "null" in pq.read_schema(tmp_path / "earlier.parquet").names
    assert pq.read_schema(tmp_path / "now.parquet").names == record.SUMMARY.names
    then, now = (record.read(tmp_path / f"{name}.parquet", record.SUMMARY) for name in ("earlier", "now"))
    assert then.equals(now) and then["is_null_arm"].to_pylist() == [False, True]
    assert record.metadata(then) == record.metadata(now) == FACTS | {"crossover": record.VERSION}


WRITTEN = {"candidates": '{"a": 1.5, "b": 2}', "left": '["a"]', "points": '{"a": [1, 2.5]}'}


def of_text(path, **columns):
    texts = [pa.array([text, None, text], pa.string()) for text in columns.values()]
    record.write(pa.Table.from_arrays(texts, names=list(columns)), path)
    return record.read(path, pa.schema(map(NESTED.field, columns)))


def test_json_of_an_earlier_release_is_read_as_lists_maps_and_structs(tmp_path):
    row, missing, again = of_text(tmp_path / "a.parquet", **WRITTEN).to_pylist()
    candidates = [{"arm": "a", "guarantee": 1.5}, {"arm": "b", "guarantee": 2.0}]
    assert row == again == {"candidates": candidates, "left": ["a"], "points": [("a", [1.0, 2.5])]}
    assert set(missing.values()) == {None}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("text", ["no JSON", '"text"', "null", "7", "[7]", '[["a"]]', '{"a": {}}', "[" * 9999])
def test_a_text_that_is_no_json_of_its_column_is_refused(tmp_path, name, text):
    with pytest.raises(record.RecordError, match=rf"a.parquet: has a damaged value \({name}: "):
        of_text(tmp_path / "a.parquet", **{name: text})


def test_a_checksum_ignores_what_is_below_a_null():
    values, kind = pa.array([1.0, 2.0, 3.0]), pa.list_(pa.float64())
    hidden = pa.ListArray.from_arrays([0, 1, 3], values, kind, mask=pa.array([False, True]))
    first, second, other = (pa.table({"x": pa.array(x, kind)}) for x in (hidden, [[1.0], None], [[1.0], []]))
    assert record._checksum({}, first) == record._checksum({}, second) != record._checksum({}, other)


@settings(max_examples=60)
@given(st.floats(0, 1, exclude_max=True), st.binary(max_size=300))
def test_a_truncated_file_or_one_that_is_not_parquet_is_refused(tmp_path_factory, share, content):
    path = tmp_path_factory.mktemp("cut") / "a.parquet"
    record.write(BLOCKS, path, FACTS)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    refused(path, "cannot be read as parquet")
    path.write_bytes(content)
    refused(path, "cannot be read as parquet")


def test_no_flipped_bit_is_believed(tmp_path):
    """Every damaged file is refused in the same way, also if its checksum's own name is damaged."""
    random = Random(1)
    path = tmp_path / "launch=1.parquet"
    rows = [dict(zip(SCHEMA.names, ("copy", number, random.random()), strict=True)) for number in range(100)]
    nested = {"points": {"copy": [0.5]}, "left": ["copy", None], "candidates": [{"arm": "copy", "guarantee": 1.5}]}
    record.write(record.from_rows([row | nested for row in rows], NESTED), path, FACTS)
    whole, content = record.read(path, NESTED), path.read_bytes()
    believed = 0
    for _ in range(1500):
        damaged = bytearray(content)
        damaged[random.randrange(len(content))] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        with suppress(record.RecordError):
            found = record.read(path, NESTED)
            stored = record.metadata(found)
            believed += not found.equals(whole) or any(stored.get(key) != told for key, told in FACTS.items())
    assert believed == 0
    path.write_bytes(content.replace(record.CHECKSUM, b"digesu"))
    refused(path, "has a wrong checksum")


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    with pytest.raises(CrossoverError, match="blocked: File exists"):
        record.write(BLOCKS, blocked / "a.parquet")
    assert list(tmp_path.iterdir()) == [blocked]


def test_a_folder_appears_whole_and_replaces_the_earlier_one(tmp_path):
    folder = tmp_path / "figures"
    for content in ("old", "new"):
        with atomic.replacing_folder(folder) as part:
            (part / content).write_text(content)
            assert not (folder / content).exists()
        assert [path.name for path in folder.iterdir()] == [content]
    with pytest.raises(ZeroDivisionError), atomic.replacing_folder(folder) as part:
        (part / "broken").write_text("half")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.rglob("*")] == ["figures", "new"]
