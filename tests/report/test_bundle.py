"""Does a bundle contain a whole run but nothing private, and does its folder give the same report elsewhere?"""

import errno
import getpass
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from campaigns import launch_row
from checkouts import write_raw

from crossover.__main__ import main
from crossover.errors import CrossoverError
from crossover.records import record
from crossover.report.pages import renderer
from crossover.share import bundle as bundles
from crossover.share import private, run_files

ROOT = Path(__file__).parents[2]


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
        bundles.write(whole_run, made)
    return made


@pytest.fixture
def packed(packed_once, quick, tmp_path):
    """A bundle of the run."""
    return Path(shutil.copy(packed_once, tmp_path))


def contents(archive):
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.fixture
def unpacked(packed, tmp_path):
    """The folder of an unpacked bundle."""
    return extracted(packed, tmp_path / "unpacked")


def extracted(archive, folder):
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    return folder


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
    bundles.write(Path("results"), tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()


def test_a_raw_file_that_is_in_no_table_is_left_out(run, quick, tmp_path):
    leftover = write_raw(run, launch_row("mpi_pingpong", 9))
    os.utime(leftover, (1e9, 1e9))
    bundles.write(run, tmp_path / "bundle.zip")
    assert not [name for name in contents(tmp_path / "bundle.zip") if "launch=9" in name]


def refused(capsys, *arguments):
    assert main([*arguments]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"crossover {arguments[0]}: ")
    return said


def test_a_run_that_cannot_be_archived_is_named_with_the_reason(run, quick, capsys, tmp_path):
    assert "is not a name of a zip file" in refused(capsys, "bundle", str(run), "--output", "bundle.tar")
    gone = next(run.glob("raw/*/*/*/*"))
    gone.unlink()
    assert f"{gone}: is missing (1 of " in refused(capsys, "bundle", str(run))
    record.write(record.LAUNCHES.empty_table(), run / "launches.parquet")
    shutil.rmtree(run / "raw")
    renderer.render(run, run / "report/index.html")
    assert "has no launch, so there is nothing to archive" in refused(capsys, "bundle", str(run))
    (run / "summary.parquet").unlink()
    assert "is older than" in refused(capsys, "bundle", str(run))
    assert not list(run.glob("*.zip"))


def test_a_full_disk_gives_no_traceback(run, quick, capsys, monkeypatch):
    def full(source, copy):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(copy))

    monkeypatch.setattr(run_files.shutil, "copyfile", full)
    said = refused(capsys, "bundle", str(run))
    assert "cannot be copied (No space left on device)" in said and "set TMPDIR" in said


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
    bundles.write(run, tmp_path / "bundle.zip")
    folder = extracted(tmp_path / "bundle.zip", tmp_path / "unpacked")
    texts = []
    for path in sorted(folder.rglob("*.*")):
        if path.suffix == ".parquet":
            table = pq.read_table(path, partitioning=None)
            texts.append(f"{table.to_pylist()}{table.schema.metadata}")
        elif path.is_file():
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
    mask = private.Mask(Path("results"))
    assert mask.text(said) == said
    assert mask.text("in /scratch/node/x:/data/node") == "in /scratch/user/x:/data/user"


# ---- on another machine


@pytest.mark.long
def test_another_machine_renders_the_same_bytes(run, tmp_path):
    bundles.write(run, tmp_path / "bundle.zip")
    folder = extracted(tmp_path / "bundle.zip", tmp_path / "unpacked")
    other = tmp_path / "another" / "machine"
    other.mkdir(parents=True)
    strange = {"HOME": str(other), "PYTHONHASHSEED": "7", "TZ": "Pacific/Chatham", "LC_ALL": "C", "PATH": str(other)}
    done = subprocess.run(
        [sys.executable, "-m", "crossover", "report", "--from", folder / "results", "--page", "page.html"],
        cwd=other,
        env=os.environ | strange | {"PYTHONPATH": os.pathsep.join([str(ROOT / "workflow"), *sys.path[1:]])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (other / "page.html").read_bytes() == (folder / "results/report/index.html").read_bytes()


def test_the_pages_inputs_are_part_of_it(run, quick, tmp_path):
    waiting = '{"hosts": {}, "withheld": {"dask": ["task_map"]}}'
    renderer.render(run, run / "report/index.html", waiting)
    bundles.write(run, tmp_path / "bundle.zip")
    assert waiting[:-1] in contents(tmp_path / "bundle.zip")["results/report/index.html"].decode()


def test_one_folder_from_elsewhere_is_rendered_by_the_preview_even_with_quarto(unpacked, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(renderer.shutil, "which", lambda name: "quarto")
    monkeypatch.setattr(renderer, "_by_quarto", None)
    assert main(["report", "--from", str(unpacked / "results"), "--page", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text().startswith("<html><body>{}")
    both = refused(capsys, "report", "results", "--from", "other", "--page", "p.html")
    assert "results and --from other: a page shows one run; leave out one of the two" in both


def test_inputs_in_a_page_from_elsewhere_are_not_read(unpacked, tmp_path):
    page = unpacked / "results/report/index.html"
    page.write_text(page.read_text().replace('"waiting":{}', '"waiting":{"partial": ["theirs"]}'))
    assert main(["report", "--from", str(unpacked / "results"), "--page", str(tmp_path / "page.html")]) == 0
    assert "theirs" in page.read_text() and "theirs" not in (tmp_path / "page.html").read_text()


def test_a_link_in_the_results_is_not_shared(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of the user")
    (run / "figures" / "map").mkdir(parents=True, exist_ok=True)
    (run / "figures/map/x.svg").symlink_to(secret)
    with pytest.raises(CrossoverError, match=r"x\.svg: is a link, and only files of the run are shared"):
        run_files.copy([run / "figures"], run, tmp_path / "copy")
