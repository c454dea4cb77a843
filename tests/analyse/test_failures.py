"""Does a table, claim or setting that fails leave its reason, and change nothing else?"""

import json
import shutil

import pytest
from judged import medians, shipped, write
from test_tables import RISING, campaign, content, receipts

from crossover.analyse.claims import judgement
from crossover.analyse.tables import raw_files as gathered
from crossover.analyse.tables import recommend, refinement, writer
from crossover.analyse.tables.recommend import SETTINGS
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import failure, record


def fault(*_, **__):
    raise ValueError("a fault")


def fault_at_the_second_row(*told):
    yield {"experiment": "toy", "x": 1.0}
    fault()


@pytest.fixture(scope="module")
def launches(tmp_path_factory):
    """Their receipts."""
    return receipts(tmp_path_factory.mktemp("results"), campaign(RISING))


@pytest.fixture
def copied(launches, tmp_path):
    """The receipts of copies that a test may change."""
    results = launches[0].parents[4]
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    return [tmp_path / path.relative_to(results) for path in launches]


@pytest.fixture
def made(launches, tmp_path):
    """Makes the toy's tables in a new folder; returns their bytes and the failures, both by name."""

    def make(name="whole"):
        folder = tmp_path / name / "toy"
        gathered.gather(launches, folder)
        writer.derive(folder)
        return content(folder), {table: failure.of(folder / f"{table}.parquet") for table in writer.TABLES}

    return make


def lacking(folder, name):
    return record.read(folder / f"{name}.parquet", writer.TABLES[name]).num_rows == 0


@pytest.mark.parametrize("wrong", [fault, fault_at_the_second_row])
@pytest.mark.parametrize("name", list(writer.FROM_CURVES))
def test_a_table_that_fails_is_empty_and_the_others_are_as_without(made, tmp_path, monkeypatch, name, wrong):
    before, _ = made()
    monkeypatch.setitem(writer.FROM_CURVES, name, wrong)
    after, failures = made("failed")
    assert {table for table in before if before[table] != after[table]} == {name}
    assert lacking(tmp_path / "failed" / "toy", name)
    (failed,) = failures.pop(name)
    assert (failed.kind, failed.name, failed.experiment) == ("table", name, "toy")
    assert (failed.error, failed.place.split(",")[0]) == ("ValueError: a fault", "analyse/tables/writer.py")
    assert not any(failures.values())


def test_tables_that_need_a_failed_one_fail_for_the_same_reason(made, monkeypatch):
    before, _ = made()
    monkeypatch.setattr(writer, "medians", fault)
    after, failures = made("failed")
    failed = {"medians", *writer.FROM_CURVES, *writer.FROM_LAUNCHES}
    assert {table for table in before if before[table] != after[table]} == failed
    assert {name for name, own in failures.items() if own} == failed
    assert len(failure.grouped([each for own in failures.values() for each in own])) == 1


def test_raw_files_that_cannot_be_gathered_affect_only_their_experiment(made, launches, tmp_path, monkeypatch):
    gathered.gather(launches, tmp_path / "good")
    writer.derive(tmp_path / "good")
    monkeypatch.setattr(gathered, "gathered", fault)
    _, failures = made("failed")
    assert all(own[0].error == "ValueError: a fault" for own in failures.values())
    writer.join([tmp_path / "good", tmp_path / "failed" / "toy"], tmp_path / "joined")
    for name in writer.TABLES:
        joined, own = (tmp_path / place / f"{name}.parquet" for place in ("joined", "good"))
        assert record.read(joined, writer.TABLES[name]).to_pylist() == record.read(own, writer.TABLES[name]).to_pylist()
        assert failure.of(joined) == failures[name]


def truncate(content):
    return content[: len(content) // 2]


def flip_bits(content):
    return content[:60] + bytes(byte ^ 8 for byte in content[60:70]) + content[70:]


def replace_by_text(content):
    return b"no parquet"


@pytest.mark.parametrize("damage", [truncate, flip_bits, replace_by_text])
def test_a_raw_file_that_cannot_be_read_is_a_hole_and_the_rest_goes_on(copied, tmp_path, damage):
    own = receipt.read(copied[-1])
    own.raw_file.write_bytes(damage(own.raw_file.read_bytes()))
    for name, files in (("whole", copied[:-1]), ("damaged", copied)):
        gathered.gather(files, tmp_path / name)
        writer.derive(tmp_path / name)
        writer.join([tmp_path / name], tmp_path / f"{name} run")
    *others, hole = record.read(tmp_path / "damaged run/launches.parquet", record.LAUNCHES).to_pylist()
    assert others == record.read(tmp_path / "whole run/launches.parquet", record.LAUNCHES).to_pylist()
    assert {name: hole[name] for name in gathered.LAUNCH} == own.identity
    assert (hole["outcome"], hole["hole"], hole["file"]) == ("hole", "unreadable file", str(own.raw_file))
    assert hole["reason"].startswith("the file ") and "delete" not in hole["reason"]
    for name in set(writer.TABLES) - {"launches"}:
        damaged, whole = (tmp_path / f"{run} run" / f"{name}.parquet" for run in ("damaged", "whole"))
        assert damaged.read_bytes() == whole.read_bytes(), name


def test_a_refinement_that_cannot_be_planned_is_left_out_and_its_failure_kept(copied, tmp_path, monkeypatch):
    monkeypatch.setattr(refinement, "refinement", fault)
    output = Files(copied[0]).raw_folder.with_name("refinement.json")
    refinement.refine(copied, "a metric", 3, output)
    assert set(json.loads(output.read_text())) == {"failures"}
    folder = tmp_path / "toy"
    gathered.gather(copied, folder)
    writer.derive(folder)
    (failed,) = failure.of(folder / "launches.parquet")
    assert (failed.kind, failed.experiment, failed.error) == ("refinement", "zmq_throughput", "ValueError: a fault")
    assert not lacking(folder, "launches") and failure.of(folder / "choices.parquet") == []


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The tables of a run on which every claim can be judged."""
    return write(tmp_path_factory.mktemp("judged"), list(medians(shipped())))


def verdicts(folder):
    judgement.write(shipped(), folder, {})
    path = folder / "claims.parquet"
    return {row["claim"]: row for row in record.read(path, record.CLAIMS).to_pylist()}, failure.of(path)


@pytest.fixture(scope="module")
def unharmed(judged):
    """The verdicts without a fault."""
    verdict_of, failures = verdicts(judged)
    assert failures == []
    return verdict_of


@pytest.mark.parametrize("kind", sorted({claim["quantity"]["kind"] for claim in shipped()}))
def test_a_claim_whose_judgement_fails_does_not_change_the_others(judged, unharmed, monkeypatch, kind):
    chosen = next(claim for claim in shipped() if claim["quantity"]["kind"] == kind)
    find, wrong = judgement.find, chosen["quantity"]
    monkeypatch.setattr(judgement, "find", lambda field, what: fault() if what is wrong else find(field, what))
    after, (failed,) = verdicts(judged)
    assert list(after) == list(unharmed)
    assert [name for name in unharmed if unharmed[name] != after[name]] == [chosen["claim"]]
    row = after[chosen["claim"]]
    assert (row["verdict"], row["says"], row["value"]) == ("not judged", chosen["says"], None)
    assert row["reason"].startswith("`ValueError: a fault`, raised in `analyse/claims/judgement.py, line ")
    assert (failed.kind, failed.name) == ("claim", chosen["claim"])


@pytest.mark.parametrize("name", judgement.READ)
def test_claims_on_an_experiment_with_a_failed_table_get_its_reason(judged, unharmed, tmp_path, name):
    for table in judgement.READ:
        (tmp_path / f"{table}.parquet").write_bytes((judged / f"{table}.parquet").read_bytes())
    path = tmp_path / f"{name}.parquet"
    cause = failure.Failure("table", name, "zmq_latency", "KeyError: 'x'", "analyse/estimates/curve.py, line 9")
    record.write(record.read(path, writer.TABLES[name]), path, failure.stored([cause]))
    after, failures = verdicts(tmp_path)
    concerned = {c["claim"] for c in shipped() if "zmq_latency" in json.dumps(c["quantity"])}
    assert {name for name, row in after.items() if row["verdict"] == "not judged"} == concerned
    assert {name for name in unharmed if unharmed[name] != after[name]} == concerned
    assert {(each.error, each.place) for each in failures} == {(cause.error, cause.place)}


def recommended(folder):
    for name, schema in recommend.READ.items():
        if not (folder / f"{name}.parquet").exists():
            record.write(schema.empty_table(), folder / f"{name}.parquet")
    recommend.recommend(folder)
    path = folder / "recommendations.parquet"
    return record.read(path, record.RECOMMENDATIONS).to_pylist(), failure.of(path)


@pytest.fixture(scope="module")
def recommendations(judged):
    """The recommendations without a fault."""
    rows, failures = recommended(judged)
    assert failures == []
    return rows


@pytest.mark.parametrize("chosen", SETTINGS, ids=lambda setting: setting.name)
def test_a_setting_whose_decision_fails_does_not_change_the_others(judged, recommendations, monkeypatch, chosen):
    decide = recommend.recommendations
    monkeypatch.setattr(
        recommend, "recommendations", lambda one, *others: fault() if one.name == chosen.name else decide(one, *others)
    )
    after, failures = recommended(judged)

    def of_others(rows):
        return [row for row in rows if row["setting"] != chosen.name]

    assert of_others(recommendations) == of_others(after)
    (row,) = [row for row in after if row not in of_others(after)]
    assert not row["recommended"] and row["experiment"] == chosen.experiment
    assert row["reason"].startswith("failed: `ValueError: a fault`, raised in `")
    assert [(each.kind, each.name) for each in failures] == [("setting", chosen.name)]
    assert "a fault" in (judged / recommend.FILE).read_text()


def test_a_setting_of_an_experiment_with_a_failed_table_gets_its_reason(judged, tmp_path):
    recommended(judged)
    for table in recommend.READ:
        (tmp_path / f"{table}.parquet").write_bytes((judged / f"{table}.parquet").read_bytes())
    path = tmp_path / "medians.parquet"
    cause = failure.Failure("table", "medians", "mpi_pingpong", "KeyError: 'x'", "analyse/tables/writer.py, line 9")
    record.write(record.read(path, record.MEDIANS), path, failure.stored([cause]))
    rows, failures = recommended(tmp_path)
    failed = [row for row in rows if row["reason"] and "KeyError" in row["reason"]]
    assert {row["experiment"] for row in failed} == {"mpi_pingpong"}
    declared = [setting for setting in SETTINGS if setting.experiment == "mpi_pingpong"]
    assert len(failed) == len(failures) == len(declared) > 1
