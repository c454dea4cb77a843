"""Does a bundle contain a whole run but nothing private, give the same report elsewhere, and is a bad one refused?"""

import errno
import getpass
import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
import yaml
from campaigns import launch_row
from checkouts import write_raw
from rocrate.rocrate import ROCrate

from crossover.__main__ import main
from crossover.design.protocol import KEYS
from crossover.records import failure, record
from crossover.report.base import tables
from crossover.report.render import renderer
from crossover.share import bundle as bundles
from crossover.share import crate, private, unpack

ROOT = Path(__file__).parents[2]
TOLD = crate.Attribution("CC-BY-4.0", ["Ada Lovelace <0000-0002-1825-0097>", "A friend"])


def launches(results):
    return record.read(results / "launches.parquet", record.LAUNCHES).to_pylist()


def render_quickly(patch):
    def page(source, page, environment):
        page.write_text(f"<html><body>{environment['CROSSOVER_WAITING']}</body></html>")

    patch.setattr(renderer.preview, "render", page)
    patch.setattr(renderer.shutil, "which", lambda name: None)


@pytest.fixture
def quick(monkeypatch):
    """Makes rendering instant: the page consists only of its inputs."""
    render_quickly(monkeypatch)


@pytest.fixture(scope="module")
def packed_once(whole_run, tmp_path_factory):
    made = tmp_path_factory.mktemp("packed") / "bundle.zip"
    with pytest.MonkeyPatch.context() as patch:
        render_quickly(patch)
        bundles.write(whole_run, made, TOLD)
    return made


@pytest.fixture
def packed(packed_once, quick, tmp_path):
    """A bundle of the run."""
    return Path(shutil.copy(packed_once, tmp_path))


def contents(archive):
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


# ---- its contents


def test_it_contains_the_unchanged_run(packed, run):
    held = contents(packed)
    own = {path.relative_to(run).as_posix(): path for path in run.rglob("*") if path.is_file()}
    results = {name: path for name, path in own.items() if not name.startswith(("experiments/", "report/"))}
    assert {name for name in held if name.startswith("results/")} == {
        "results/report/index.html",
        *(f"results/{name}" for name in results),
    }
    assert len([name for name in held if name.startswith("results/raw/")]) == len(launches(run))
    assert all(held[f"results/{name}"] == path.read_bytes() for name, path in results.items())
    beside = {
        "config/config.yaml",
        "config/schema.yaml",
        "requirements.lock",
        "LICENSE",
        "CITATION.cff",
        "docs/data.md",
    }
    assert beside <= set(held)


def test_it_contains_checksums_of_all_files(packed):
    held = contents(packed)
    listed = dict(line.split("  ")[::-1] for line in held.pop("SHA256SUMS").decode().splitlines())
    assert listed == {name: hashlib.sha256(content).hexdigest() for name, content in held.items()}


def test_the_same_run_gives_the_same_bytes(packed, run, quick, tmp_path, monkeypatch):
    for path in run.rglob("*"):
        os.utime(path, (1e9, 1e9))
    monkeypatch.chdir(run.parent)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    bundles.write(Path("results"), tmp_path / "again.zip", TOLD)
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


def test_a_raw_file_that_is_in_no_table_is_left_out(run, quick, tmp_path):
    leftover = write_raw(run, launch_row("mpi_pingpong", 9))
    os.utime(leftover, (1e9, 1e9))
    bundles.write(run, tmp_path / "bundle.zip", TOLD)
    assert not [name for name in contents(tmp_path / "bundle.zip") if "launch=9" in name]


def refused(capsys, *arguments):
    assert main([*arguments]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"crossover {arguments[0]}: ")
    return said


def test_a_run_that_cannot_be_archived_is_named_with_the_reason(run, quick, capsys, tmp_path):
    assert "is not a name of a zip file" in refused(capsys, "bundle", str(run), "--output", "bundle.tar")
    assert "--license my own: not an SPDX name" in refused(capsys, "bundle", str(run), "--license", "my own")
    assert "--author Ada <1>: write `Name`" in refused(capsys, "bundle", str(run), "--author", "Ada <1>")
    gone = next(run.glob("raw/*/*/*/*"))
    gone.unlink()
    assert f"{gone}: is missing (1 of " in refused(capsys, "bundle", str(run))
    (run / "summary.parquet").unlink()
    assert "is older than" in refused(capsys, "bundle", str(run))
    assert not list(run.glob("*.zip"))


def test_a_run_without_a_launch_cannot_be_archived(run, quick, capsys):
    record.write(record.LAUNCHES.empty_table(), run / "launches.parquet")
    shutil.rmtree(run / "raw")
    renderer.render(run, run / "report/index.html")
    assert "has no launch, so there is nothing to archive" in refused(capsys, "bundle", str(run))


def test_a_full_disk_gives_no_traceback(run, quick, capsys, monkeypatch):
    def full(source, copy):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy))

    monkeypatch.setattr(private.shutil, "copyfile", full)
    said = refused(capsys, "bundle", str(run))
    assert "cannot be copied (No space left on device); if" in said and "set TMPDIR" in said


# ---- private facts


def test_it_contains_no_folder_of_this_machine_and_no_user(run, quick, tmp_path, monkeypatch):
    home = tmp_path / "home" / "someone"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(getpass, "getuser", lambda: "someone")
    known = (str(home), str(run), str(ROOT), "someone", str(tmp_path))
    reason = f"no such file: {home}/code/x.py, {run}/native/a.so, {ROOT}/Snakefile, /scratch/someone/y"
    told = [row | {"reason": reason, "file": f"{run}/raw/x.parquet"} if row["hole"] else row for row in launches(run)]
    record.write(pq.read_table(run / "launches.parquet").from_pylist(told, record.LAUNCHES), run / "launches.parquet")
    for row in told:
        write_raw(run, row)
    renderer.render(run, run / "report/index.html")
    bundles.write(run, tmp_path / "bundle.zip", TOLD)
    with unpack.opened(tmp_path / "bundle.zip") as folder:
        texts = []
        for path in sorted(folder.rglob("*.*")):
            if path.suffix == ".parquet":
                table = pq.read_table(path, partitioning=None)
                texts.append(f"{table.to_pylist()}{table.schema.metadata}")
            elif path.suffix not in (".png", ".pdf") and path.is_file():
                texts.append(path.read_text())
        for word in known:
            assert not [text for text in texts if word in text], word
        masked = "no such file: ~/code/x.py, results/native/a.so, ./Snakefile, /scratch/user/y"
        holes = [row for row in launches(folder / "results") if row["hole"]]
        assert {(row["reason"], row["file"]) for row in holes} == {(masked, "results/raw/x.parquet")}
        raw = pq.read_schema(folder / "results/raw/x.parquet").metadata
        assert json.loads(raw[b"launch"])["reason"] == masked


@pytest.mark.parametrize(
    "said",
    ["results/raw/x/node/launch=1.parquet", "http://a.org/node/", "<a></node>", "//node/", "no node/ of /nodes/ here"],
)
def test_a_user_with_a_common_name_changes_no_other_text(said, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "node")
    mask = private.Mask(Path("results"), ROOT)
    assert mask.text(said) == said
    assert mask.text("in /scratch/node/x:/data/node") == "in /scratch/user/x:/data/user"


# ---- the crate


def test_the_crate_contains_authors_dates_machines_and_software(packed):
    with unpack.opened(packed) as folder:
        read = ROCrate(folder)
        root = read.root_dataset
        assert (root["schemaVersion"], root["license"].id) == ("2", "https://spdx.org/licenses/CC-BY-4.0")
        assert [author["name"] for author in root["author"]] == ["Ada Lovelace", "A friend"]
        assert root["author"][0].id == "https://orcid.org/0000-0002-1825-0097"
        assert root["datePublished"] == "2026-11-23"
        listed = {unquote(entity.id) for entity in read.get_entities() if entity.type == "File"}
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        assert listed == there - {"SHA256SUMS", "ro-crate-metadata.json"}
        actions = {entity.id: entity for entity in read.get_entities() if entity.type == "CreateAction"}
        assert set(actions) == {f"#measuring-{name}" for name in ("mpi_pingpong", "task_latency", "zmq_throughput")}
        measured, failed = actions["#measuring-zmq_throughput"], actions["#measuring-task_latency"]
        assert measured["startTime"] == "2026-11-21T10:00:00+00:00"
        assert measured["endTime"] == "2026-11-23T10:00:20.000+00:00"
        assert (len(measured["result"]), measured["location"]["name"]) == (3, "node-a")
        cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
        assert measured["instrument"]["softwareVersion"] == f"{cited}, commit 0123456789abcdef"
        required = {entity.id for entity in measured["instrument"]["softwareRequirements"]}
        versions = ("pyzmq-27.3.0", "libzmq-4.3.5", "mpi4py-4.1.2", "MPICH-5.0.2", "3.11.2")
        assert required == {f"#{each}" for each in versions}
        facts = {value["name"]: value["value"] for value in measured["location"]["additionalProperty"]}
        assert (facts["cpu"], facts["memory_bytes"]) == ("Example CPU 9000", "16000000000")
        assert failed["actionStatus"].endswith("FailedActionStatus")
        assert failed["error"] == "no engine registered within 60 s"


def test_every_reference_in_the_crate_has_a_target(packed):
    graph = json.loads(contents(packed)["ro-crate-metadata.json"])["@graph"]
    known = {entity["@id"] for entity in graph}
    assert len(known) == len(graph)
    elsewhere = {reference for entity in graph for reference in references(entity)} - known
    assert elsewhere == {"https://w3id.org/ro/crate/1.1"}


def references(node):
    for value in node.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield part["@id"]


@pytest.mark.parametrize(
    ("said", "name", "version"),
    [
        ("CPython 3.11.2", "CPython", "3.11.2"),
        ("MPICH Version:      5.0.2, thread level multiple", "MPICH", "5.0.2"),
        ("Open MPI v5.0.11, package: Open MPI me@here, thread level multiple", "Open MPI", "5.0.11"),
    ],
)
def test_a_version_is_read_from_what_a_library_says(said, name, version):
    found = crate.NAME_AND_VERSION.match(said)
    assert (found["name"], found["version"]) == (name, version)


# ---- on another machine


@pytest.mark.long
def test_another_machine_renders_the_same_bytes(run, tmp_path, monkeypatch):
    bundles.write(run, tmp_path / "bundle.zip", TOLD)
    page = contents(tmp_path / "bundle.zip")["results/report/index.html"]
    other = tmp_path / "another" / "machine"
    other.mkdir(parents=True)
    strange = {"HOME": str(other), "PYTHONHASHSEED": "7", "TZ": "Pacific/Chatham", "LC_ALL": "C", "PATH": str(other)}
    done = subprocess.run(
        [sys.executable, "-m", "crossover", "report", "--from", tmp_path / "bundle.zip", "--page", "page.html"],
        cwd=other,
        env=os.environ | strange | {"PYTHONPATH": os.pathsep.join([str(ROOT / "workflow"), *sys.path[1:]])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (other / "page.html").read_bytes() == page
    assert done.stdout == f"Report: page.html, the same bytes as in {tmp_path}/bundle.zip\n"


def test_the_pages_inputs_are_part_of_it(run, quick, tmp_path, capsys):
    waiting = '{"hosts": {}, "tiers": {"mpi_pingpong": {"paper": {"arms": ["persistent"]}}}}'
    renderer.render(run, run / "report/index.html", waiting)
    bundles.write(run, tmp_path / "bundle.zip", TOLD)
    assert main(["report", "--from", str(tmp_path / "bundle.zip"), "--page", str(tmp_path / "page.html")]) == 0
    assert "the same bytes" in capsys.readouterr().out
    assert waiting[:-1] in (tmp_path / "page.html").read_text()


def test_failures_in_a_run_are_named_wherever_its_bundle_is_rendered(run, quick, tmp_path, capsys):
    cause = failure.Failure(
        "table", "steady", "mpi_pingpong", f"KeyError: '{run}'", "analyse/statistics/steady_state.py, line 7"
    )
    record.write(record.STEADY.empty_table(), run / "steady.parquet", failure.stored([cause]))
    renderer.render(run, run / "report/index.html")
    assert main(["bundle", str(run), "--output", str(tmp_path / "bundle.zip")]) == 0
    assert main(["report", "--from", str(tmp_path / "bundle.zip"), "--page", str(tmp_path / "page.html")]) == 1
    told = capsys.readouterr()
    assert "the same bytes as in" in told.out
    assert "table steady of mpi_pingpong: KeyError: " in told.err
    (failed,) = failure.of(tmp_path / "page.html")
    assert failed.name == "steady" and str(run) not in failed.error


def of_version_1(archive):
    """The same bundle as from version 1, where no table has keys or a checksum."""
    held = contents(archive)
    for name in [name for name in held if name.endswith(".parquet")]:
        table = pq.read_table(io.BytesIO(held[name]))
        kept = table.select([column for column in table.column_names if column not in KEYS])
        stored = table.schema.metadata | {b"crossover": b"1"}
        del stored[record.DIGEST]
        written = io.BytesIO()
        pq.write_table(kept.replace_schema_metadata(stored), written)
        held[name] = written.getvalue()
    stated = json.loads(held["ro-crate-metadata.json"])
    stated["@graph"] = [entity for entity in stated["@graph"] if entity["@id"] != crate.DIGESTS]
    metadata = json.dumps(stated).replace('"schemaVersion": "2"', '"schemaVersion": "1"')
    held["ro-crate-metadata.json"] = metadata.encode()
    del held["SHA256SUMS"]
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in held.items())
    rewritten(archive, **held, SHA256SUMS=sums)


def test_a_bundle_of_version_1_is_rendered_from_the_same_tables(packed, run, tmp_path, capsys, monkeypatch):
    def cells(found):
        return sorted((row["experiment"], row["metric"], row["arm"], row["x"]) for row in found.summary)

    def page(source, page, environment):
        page.write_text(repr(cells(tables.load(Path(environment["CROSSOVER_RESULTS"])))))

    monkeypatch.setattr(renderer.preview, "render", page)
    of_version_1(packed)
    assert main(["report", "--from", str(packed), "--page", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    assert (tmp_path / "page.html").read_text().startswith(repr(cells(tables.load(run))))


def test_a_page_with_other_bytes_is_reported(packed, quick, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(renderer.preview, "render", lambda source, page, environment: page.write_text("<body></body>"))
    assert main(["report", "--from", str(packed), "--page", str(tmp_path / "page.html")]) == 0
    assert "from the same results" in capsys.readouterr().out and (tmp_path / "page.html").is_file()


# ---- bad bundles


def rewritten(archive, **changes):
    """The archive with other contents for some names; None removes a name."""
    held = contents(archive) | changes
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in held.items():
            if content is not None:
                packed.writestr(name, content)


def with_entry(archive, name, mode=stat.S_IFREG | 0o644):
    entry = zipfile.ZipInfo("placeholder")
    entry.filename, entry.external_attr = name, mode << 16
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(entry, "/etc/passwd")


def cut_off(archive):
    archive.write_bytes(archive.read_bytes()[:-300])
    return "is damaged, or not a crossover bundle (File is not a zip file)"


def bit_flipped(archive):
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    return "is damaged"


def other_content(archive):
    rewritten(archive, **{"results/summary.parquet": b"other"})
    return "is damaged: 'results/summary.parquet' does not match its checksum in SHA256SUMS"


def one_file_less(archive):
    rewritten(archive, **{"results/summary.parquet": None})
    return "'results/summary.parquet' is in only one of the two"


def other_version(archive):
    metadata = contents(archive)["ro-crate-metadata.json"].decode()
    rewritten(archive, **{"ro-crate-metadata.json": metadata.replace('"schemaVersion": "2"', '"schemaVersion": "7"')})
    return "has schema version 7, this code reads 1 and 2; render it with the crossover that made it"


def somebody_elses(archive):
    rewritten(archive, **{"ro-crate-metadata.json": '{"@graph": [{"@id": "./"}]}'})
    return "is an RO-Crate, but not from crossover"


def no_crate(archive):
    rewritten(archive, **{"ro-crate-metadata.json": None})
    return "is not a crossover bundle, because it has no ro-crate-metadata.json"


def not_json(archive):
    rewritten(archive, **{"ro-crate-metadata.json": "{"})
    return "is damaged, or not a crossover bundle (Expecting property name"


def of_another_shape(archive):
    rewritten(archive, **{"ro-crate-metadata.json": "[1]"})
    return "holds a ro-crate-metadata.json that is not from crossover (list indices"


def not_there(archive):
    archive.unlink()
    return "cannot be unpacked (No such file or directory); name a bundle"


def a_link(archive):
    with_entry(archive, "results/link", stat.S_IFLNK | 0o777)
    return "holds 'results/link', which is not a plain file"


def leading_out(name):
    def trouble(archive):
        with_entry(archive, name)
        return f"holds the name {name!r}, which leads out of the folder"

    trouble.__name__ = name
    return trouble


NAMES = ("../out", "results/../../out", "/out", "C:/out", "results\\..\\out", "results//out", "./out")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_repeated_name_is_refused(packed, tmp_path, capsys):
    with_entry(packed, "results/summary.parquet")
    assert "holds 'results/summary.parquet' twice" in refused(capsys, "report", "--from", str(packed), "--page", "p")


def test_a_page_does_not_replace_its_bundle(tmp_path, capsys):
    packed = tmp_path / "archive"
    packed.write_bytes(b"kept")
    said = refused(capsys, "report", "--from", str(packed), "--page", str(tmp_path / "." / "archive"))
    assert "is the bundle itself; name another file" in said
    assert packed.read_bytes() == b"kept"


def test_a_folder_and_a_bundle_at_once_are_refused(capsys):
    said = refused(capsys, "report", "results", "--from", "b.zip", "--page", "p.html")
    assert "results and --from b.zip: a page shows one run; leave out one of the two" in said


@pytest.mark.parametrize(
    "trouble",
    [
        *(cut_off, bit_flipped, other_content, one_file_less, other_version, somebody_elses, no_crate, not_json),
        *(of_another_shape, not_there, a_link, *map(leading_out, NAMES)),
    ],
    ids=lambda trouble: trouble.__name__,
)
def test_a_bad_bundle_is_refused_by_name_and_leaves_nothing(packed, tmp_path, capsys, monkeypatch, trouble):
    told = trouble(packed)
    temporary = tmp_path / "t"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    said = refused(capsys, "report", "--from", str(packed), "--page", str(tmp_path / "page.html"))
    assert said.startswith(f"crossover report: {packed}: ") and told in said
    assert list(temporary.iterdir()) == [] and not (tmp_path / "page.html").exists()
    assert not [path for path in tmp_path.parent.rglob("out")]
