"""Do pseudonyms replace all names, each by one pseudonym in every file, and does the page still work?"""

import getpass
import io
import json
import os
import shutil
import zipfile
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crossover.__main__ import main
from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import record, rows, run_tables
from crossover.records.holes import why
from crossover.report.pages import renderer
from crossover.share.private import FOLDERS, WITHHELD, Mask

HOSTS = ("zebra07", "apple02")
FULL = "zebra07.cluster.uni-nowhere.example"
SLURM = {
    "SLURM_JOB_USER": "lovelacea", "SLURM_JOB_ACCOUNT": "enginegrant", "SLURM_JOB_ID": "8675309",
    "SLURM_JOB_NAME": "secretjob", "SLURM_JOB_NODELIST": "zebra[07-08],apple02", "SLURM_JOB_PARTITION": "fatqueue",
    "SLURM_JOB_NUM_NODES": "3", "SLURM_JOB_COMMENT": "forbabbage",
}  # fmt: skip
NAMES = (
    *("zebra", "apple0", "uni-nowhere", "lovelacea", "enginegrant", "8675309", "secretjob", "fatqueue", "forbabbage"),
    *("adalace", "windowsada", "fileserver", "tokyo[01-04]", "ghp_0a1b2c", "BEGIN KEY"),
    *("10.77.3.4", "10.77.3.5", "fe80::1234:77", "enx00aa11", "moonproject", "babbagec", "charles@", "engineimage"),
    "secret_task",
)
TEXT = "def secret_task(item): ...\n"
OWN = {"file": "my_work.py", "sources": {"my_work.py": TEXT}}
BUILD = "Open MPI v5.0.1, package: Open MPI babbagec@zebra08 Distribution"
VARIABLES = {
    "UCX_NET_DEVICES": "enx00aa11:1", "OMPI_MCA_user": "charles@uni-nowhere.example",
    "LD_PRELOAD": "~/moonproject/x.so", "OMPI_MCA_btl_tcp_if_include": "10.77.3.4/24", "PYTHONHASHSEED": "0",
}  # fmt: skip
REASON = (
    "ssh from lovelacea@zebra07.cluster.uni-nowhere.example to zebra09 (10.77.3.5, fe80::1234:77): no "
    "/home/babbagec/moonproject/x.py, /scratch/lovelacea/moonproject/y; job 8675309 of babbagec was cancelled; "
    "ssh://adalace@a, file:///home/adalace, ~adalace, C:\\Users\\windowsada, \\\\fileserver, tokyo[01-04], "
    "ghp_0a1b2c, charles@uni-nowhere.example, \nBEGIN KEY"
)


def changed(results, name, **columns):
    table = pq.read_table(results / f"{name}.parquet")
    for column, values in columns.items():
        index = table.schema.get_field_index(column)
        told = pa.array([values(row) for row in table.to_pylist()], table.schema.types[index])
        table = table.set_column(index, column, told)
    record.write(table, results / f"{name}.parquet", record.metadata(table))
    return table.to_pylist(maps_as_pydicts="strict")


@pytest.fixture(scope="module")
def named(whole_run, tmp_path_factory):
    """A run on hosts with names that occur nowhere else."""
    results = tmp_path_factory.mktemp("named") / "results"
    shutil.copytree(whole_run, results)
    launches = changed(
        results,
        "launches",
        host=lambda row: FULL,
        hosts=lambda row: None if row["hole"] else f"apple02,{FULL}",
        job=lambda row: "8675309",
        reason=lambda row: REASON if row["hole"] else None,
        settings=lambda row: row["settings"] and json.dumps(json.loads(row["settings"]) | OWN),
        file=lambda row: f"/home/babbagec/moonproject/{row['file']}",
        receipt=lambda row: f"/home/babbagec/moonproject/{row['receipt']}",
    )
    ranks = changed(
        results,
        "ranks",
        host=lambda row: HOSTS[1] if row["rank"] else FULL,
        interface=lambda row: "enx00aa11",
        address=lambda row: f"10.77.3.{4 + row['rank']}",
        network=lambda row: {"enx00aa11": 25000, "lo": 0},
        mpi=lambda row: BUILD,
        libraries=lambda row: {"MPI library": BUILD, "pyzmq": "27.3.0"},
        variables=lambda row: VARIABLES,
        kernel=lambda row: "6.1.0-13-zebra07",
        container=lambda row: "engineimage.sif",
        slurm=lambda row: SLURM,
    )
    for row in launches:
        own = [each for each in ranks if all(each[key] == row[key] for key in ("experiment", "placement", "launch"))]
        facts = {"launch": {key: value for key, value in row.items() if key not in FOLDERS}, "ranks": own}
        record.write(record.MEASUREMENTS.empty_table(), run_tables.raw_file(results, row["file"]), facts)
    options = ["/home/babbagec/moonproject/slurm", "/home/babbagec/x"]
    waiting = {"partial": options, "hosts": {"nodes": 2}, "too_few_nodes": REASON}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renderer.shutil, "which", lambda name: None)
        renderer.render(results, results / "report/index.html", json.dumps(waiting))
    return results


@pytest.fixture(scope="module")
def packed(named, tmp_path_factory):
    made = tmp_path_factory.mktemp("redacted") / "bundle.zip"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renderer.shutil, "which", lambda name: None)
        patch.setattr(getpass, "getuser", lambda: "babbagec")
        assert main(["bundle", str(named), "--redact", "--output", str(made)]) == 0
    return made


def members(archive):
    with zipfile.ZipFile(archive) as opened:
        for name in opened.namelist():
            content = opened.read(name)
            if name.endswith(".parquet"):
                table = pq.read_table(io.BytesIO(content))
                content += f"{table.to_pylist()}{table.schema.metadata}".encode()
            yield name, content


def test_the_run_holds_all_names_before(named):
    text = "".join(f"{pq.read_table(named / f'{name}.parquet').to_pylist()}" for name in ("launches", "ranks"))
    assert [name for name in NAMES if name not in text] == []


def test_no_byte_of_a_redacted_bundle_names_anything(packed):
    seen = 0
    for name, content in members(packed):
        seen += 1
        assert [each for each in NAMES if each.encode() in content or each in name] == [], name
    assert seen > 50


def test_pseudonyms_agree_between_tables_raw_files_and_the_page(packed, named, whole_run, tmp_path):
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(tmp_path)
    results = tmp_path / "results"
    launches, ranks = (
        record.read(results / f"{name}.parquet", getattr(record, name.upper())).to_pylist()
        for name in ("launches", "ranks")
    )
    apple = {row["host"] for row in ranks if row["rank"] == 1}
    zebra = {row["host"] for row in ranks if row["rank"] == 0}
    assert len(apple) == len(zebra) == 1 and apple != zebra
    assert {row["host"] for row in launches} == zebra
    assert {row["hosts"] for row in launches if row["hosts"]} == {",".join(sorted(apple | zebra))}
    assert {row["job"] for row in launches} == {"job-1"}
    own = run_tables.raw_file(results, launches[0]["file"])
    raw = json.loads(pq.read_schema(own).metadata[b"ranks"])
    assert [row["host"] for row in raw] == [row["host"] for row in ranks[:2]]
    assert [row["address"] for row in raw] == [row["address"] for row in ranks[:2]]
    assert (ranks[0]["kernel"], ranks[0]["container"], ranks[0]["mpi"]) == (
        "6.1.0-13",
        "container-1",
        "Open MPI v5.0.1",
    )
    assert dict(ranks[0]["libraries"]) == {"MPI library": "Open MPI v5.0.1", "pyzmq": "27.3.0"}
    variables = dict(ranks[0]["variables"])
    assert (variables["PYTHONHASHSEED"], variables["UCX_NET_DEVICES"]) == ("0", "ucx_net_devices-1")
    slurm = dict(ranks[0]["slurm"])
    assert slurm["SLURM_JOB_ID"] == "job-1"
    assert slurm["SLURM_JOB_NUM_NODES"] == "3" and slurm["SLURM_JOB_ACCOUNT"] == "account-1"
    assert dict(ranks[0]["network"]) == {"interface-1": 25000, "lo": 0}
    assert {row["reason"] for row in launches if row["hole"]} == {WITHHELD}
    page = (results / "report/index.html").read_text()
    assert apple.pop() in page
    before = pq.read_table(whole_run / "launches.parquet").to_pylist()
    assert [[row[path] for path in FOLDERS] for row in launches] == [[row[path] for path in FOLDERS] for row in before]
    before = pq.read_table(named / "summary.parquet")
    assert pq.read_table(results / "summary.parquet").equals(before)


def test_a_published_page_has_pseudonyms_unless_names_are_wanted(named, tmp_path, monkeypatch):
    monkeypatch.setattr(renderer.shutil, "which", lambda name: None)
    assert main(["publish", str(named), "--to", str(tmp_path / "site")]) == 0
    page = (tmp_path / "site" / "index.html").read_text()
    assert [name for name in NAMES if name in page] == [] and "host-1" in page
    for name in ("one.zip", "two.zip"):
        assert main(["publish", str(named), "--to", str(tmp_path / name)]) == 0
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert main(["publish", str(named), "--no-redact", "--own-text", "--to", str(tmp_path / "named")]) == 0
    assert (tmp_path / "named" / "index.html").read_bytes() == (named / "report/index.html").read_bytes()


def test_a_page_that_is_in_the_folder_already_is_not_rendered_again(named, tmp_path, monkeypatch):
    rendered, site = [], tmp_path / "site"

    def counted(results, page, waiting):
        rendered.append(page)
        page.parent.mkdir()
        page.write_text(renderer._stamped("<body></body>", renderer.origin(results, waiting)))

    def publish(*words):
        rendered.clear()
        assert main(["publish", str(tmp_path / "results"), "--to", str(site), *words]) == 0
        return (site / "index.html").read_bytes(), len(rendered)

    shutil.copytree(named, tmp_path / "results")
    monkeypatch.setattr(renderer, "render", counted)
    first, count = publish()
    assert count == 1
    assert publish() == (first, 0)
    # Where the run's page is newer, the code of pages may have changed.
    os.utime(tmp_path / "results/report/index.html", ns=(2**62, 2**62))
    assert publish() == (first, 1)
    os.utime(tmp_path / "results/report/index.html", ns=(0, 0))
    publish("--no-redact", "--own-text")
    assert publish() == (first, 1)


def test_the_text_of_a_users_file_is_shared_only_if_asked_for_and_its_checksum_always(
    named, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(renderer, "render", lambda results, page, waiting: page.parent.mkdir())
    for words, told in (([], "without the text of my_work.py (--own-text)"), (["--own-text"], "with the text of my_w")):
        assert main(["bundle", str(named), "--output", str(tmp_path / "bundle.zip"), *words]) == 0
        assert told in capsys.readouterr().out
        tables = {name: content for name, content in members(tmp_path / "bundle.zip") if name.endswith(".parquet")}
        has_text = {name for name, content in tables.items() if b"secret_task" in content}
        has_sum = {name for name, content in tables.items() if sha256(TEXT.encode()).hexdigest().encode() in content}
        assert (bool(has_text), bool(has_sum)) == (bool(words), not words)


def test_an_unreadable_file_is_not_shared(tmp_path):
    raw = tmp_path / "results/raw/launch=1.parquet"
    raw.parent.mkdir(parents=True)
    raw.write_bytes(b"zebra07")
    for redact in (False, True):
        with pytest.raises(CrossoverError, match=r"^results/raw/launch=1\.parquet: cannot be read .*remeasure"):
            Mask(tmp_path, redact).folder(tmp_path, {})


@pytest.fixture
def mask():
    return Mask(PROJECT / "results", redact=True)


def test_pseudonyms_are_numbered_by_first_appearance(mask):
    assert mask.field("hosts", "z,a") == "host-1,host-2"
    assert mask.field("host", "A.site.org") == "host-2" and mask.field("host", "10.1.2.3") == "host-3"
    assert mask.field("address", "127.0.0.1") == "127.0.0.1" and mask.field("address", "10.1.2.3") == "address-1"


KEPT = {
    *("experiment", "placement", "outcome", "hole", "started_utc", "settings", "code", "commit", "phases"),
    *("cpu", "affinity", "governor", "os", "python", "tuning"),
}
"""The facts about launches and ranks that name nothing but paths."""


def test_a_column_is_withheld_until_it_has_a_kind(mask):
    secret = '{"entry": "1.2, BABBAGE"}'
    fields = {field.name for field in (*record.LAUNCHES, *record.RANKS) if "string" in str(field.type)}
    shown = {
        name for name in fields for told in (secret, json.loads(secret)) if "BABBAGE" in str(mask.facts(told, name))
    }
    assert shown - {"reason"} == KEPT
    assert "BABBAGE" not in str([mask.facts(told, "network") for told in ('{"BABBAGE": 1}', {"BABBAGE": 1})])
    assert mask.field("unheard of", secret) == WITHHELD


def test_paths_are_replaced_in_words_too(mask):
    said = "no-copy / copy, libzmq 4.3.5, 10:00:00, https://a.org/b, /usr/lib/x.so"
    assert mask.field("settings", said) == said
    assert mask.field("settings", "from ~/thesis/x and /home/ada") == "from path-1 and path-2"


def test_texts_of_other_programs_are_withheld_whole(mask):
    assert mask.field("why", "any text") == mask.field("error", "KeyError: 'x'") == WITHHELD
    assert mask.field("why", "") == ""
    hole = rows.Launch.of(
        {"experiment": "toy", "placement": "node", "outcome": "hole", "hole": "crashed", "reason": REASON}
    )
    quoted = why([hole], "toy")
    assert mask.field("reason", quoted) == "all its launches are holes, the first because of `crashed`"
    launch = {"launch": {"hole": "crashed", "reason": "any text"}, "other": {"reason": "our words"}}
    assert mask.facts(launch) == {
        "launch": {"hole": "crashed", "reason": WITHHELD}, "other": {"reason": "our words"},
    }  # fmt: skip
