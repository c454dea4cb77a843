"""Is a bundle over a limit refused before it is unpacked or read, and one without checksums of rows at all?"""

import hashlib
import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crossover.__main__ import main
from crossover.errors import CrossoverError
from crossover.records import record
from crossover.report.render import renderer
from crossover.share import bundle as bundles
from crossover.share import crate, limits, private, unpack

TABLE = "results/summary.parquet"


@pytest.fixture(scope="module")
def packed_once(whole_run, tmp_path_factory):
    made = tmp_path_factory.mktemp("packed") / "bundle.zip"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renderer.preview, "render", lambda source, page, environment: page.write_text("<body></body>"))
        patch.setattr(renderer.shutil, "which", lambda name: None)
        bundles.write(whole_run, made, crate.Attribution("CC-BY-4.0"))
    return made


@pytest.fixture
def packed(packed_once, tmp_path):
    return Path(shutil.copy(packed_once, tmp_path))


def contents(archive):
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rewritten(archive, method=zipfile.ZIP_DEFLATED, **changes):
    """The archive with other contents for some names, and right checksums of files."""
    held = contents(archive) | changes
    del held["SHA256SUMS"]
    held["SHA256SUMS"] = "".join(
        f"{hashlib.sha256(each).hexdigest()}  {name}\n" for name, each in held.items()
    ).encode()
    with zipfile.ZipFile(archive, "w", method) as opened:
        for name, content in held.items():
            opened.writestr(name, content)


def parquet(content, change):
    """The bytes of a table with other metadata."""
    table = pq.read_table(io.BytesIO(content))
    written = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(change(dict(table.schema.metadata))), written)
    return written.getvalue()


def undigested(metadata):
    return {key: value for key, value in metadata.items() if key != record.DIGEST}


def refused(archive, capsys):
    assert main(["report", "--from", str(archive), "--page", str(archive.parent / "page.html")]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said and not (archive.parent / "page.html").exists()
    line = said.splitlines()[-1]
    assert line.startswith(f"crossover report: {archive}: ")
    return line


def test_an_honest_bundle_is_within_the_limits(packed):
    with unpack.opened(packed) as folder:
        assert (folder / TABLE).is_file()


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("FILES", 20, "files, more than the limit of 20"),
        ("FILE_BYTES", 100, "bytes, more than the limit of 100"),
        ("TOTAL_BYTES", 10_000, "unpacks to "),
        ("DIRECTORY_BYTES", 2000, "has a list of files of"),
    ],
)
def test_a_declared_excess_is_refused_before_anything_is_unpacked(packed, capsys, monkeypatch, limit, value, said):
    monkeypatch.setattr(limits, limit, value)
    monkeypatch.setattr(limits, "copied", None)
    monkeypatch.setattr(unpack, "_small", None)
    line = refused(packed, capsys)
    assert said in line and f"more than the limit of {value}; {limits.STEP}" in line


def test_an_undeclared_excess_is_refused_while_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(limits, "CHUNK_BYTES", 10)
    monkeypatch.setattr(limits, "FILE_BYTES", 1000)
    monkeypatch.setattr(limits, "TOTAL_BYTES", 2000)
    for size, left_bytes, said in ((5000, 2000, "'a' to 1010 bytes"), (900, 50, "unpacks to 2010 bytes")):
        copy = io.BytesIO()
        with pytest.raises(CrossoverError, match=said):
            limits.copied("a", io.BytesIO(bytes(size)), copy, left_bytes)
        assert len(copy.getvalue()) <= min(1000, left_bytes)
    assert limits.copied("a", io.BytesIO(bytes(900)), io.BytesIO(), 900) == 900


def test_a_zip_bomb_that_declares_few_bytes_gives_few(packed, capsys):
    rewritten(packed, **{TABLE: bytes(50_000_000)})
    held = packed.read_bytes()
    assert len(held) < 5_000_000
    packed.write_bytes(held.replace((50_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    assert "is damaged" in refused(packed, capsys)


def test_methods_that_unpack_any_size_in_one_step_are_refused(packed, capsys):
    rewritten(packed, zipfile.ZIP_LZMA)
    assert "packed by a method that crossover does not use" in refused(packed, capsys)


def test_rows_over_the_limit_are_refused_before_a_table_is_read(packed, capsys, monkeypatch):
    rows = limits.ROWS + 1
    big = io.BytesIO()
    pq.write_table(pa.table({"x": pa.nulls(rows, pa.int8())}), big)
    assert len(big.getvalue()) < 100_000
    rewritten(packed, **{TABLE: big.getvalue()})
    monkeypatch.setattr(record, "read", None)
    assert f"holds '{TABLE}' with {rows} rows, more than the limit of {limits.ROWS}" in refused(packed, capsys)


def test_samples_may_have_more_rows_than_other_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "ROWS", 10)
    for name in ("measurements", "summary"):
        pq.write_table(pa.table({"x": list(range(11))}), tmp_path / f"{name}.parquet")
    limits.require_rows(tmp_path / "measurements.parquet", "measurements.parquet")
    with pytest.raises(CrossoverError, match="with 11 rows"):
        limits.require_rows(tmp_path / "summary.parquet", "summary.parquet")


@pytest.mark.parametrize("waiting", ["7", "[]", "null"])
def test_a_page_whose_inputs_are_no_mapping_is_refused(packed, capsys, waiting):
    name = "results/report/index.html"
    page = contents(packed)[name].decode()
    rewritten(packed, **{name: re.sub(r'"waiting":\{.*\}\}<', f'"waiting":{waiting}}}<', page).encode()})
    assert main(["report", "--from", str(packed), "--page", str(packed.parent / "page.html")]) == 1
    said = capsys.readouterr().err
    assert "has no record of its origin" in said and "Traceback" not in said


def test_a_link_in_the_results_is_not_shared(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of the user")
    (run / "figures" / "map").mkdir(parents=True, exist_ok=True)
    (run / "figures/map/x.svg").symlink_to(secret)
    with pytest.raises(CrossoverError, match=r"x\.svg: is a link, and only files of the run are shared"):
        private.copy([run / "figures"], run, tmp_path / "copy")


def test_a_small_table_that_unpacks_to_gigabytes_is_refused_before_it_is_read(packed, capsys, monkeypatch):
    """One long text, stored once, in many rows."""
    indices = pa.array([0] * 2_000, pa.int32())
    texts = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * (1 << 20)]))
    big = io.BytesIO()
    pq.write_table(pa.table({"metric": texts}), big, compression="zstd", store_schema=False)
    assert len(big.getvalue()) < 100_000
    rewritten(packed, **{TABLE: big.getvalue()})
    monkeypatch.setattr(record, "read", None)
    assert f"holds '{TABLE}', in which 'metric' has {2_000 << 20} bytes, more than" in refused(packed, capsys)


def test_a_table_without_its_checksum_is_refused(packed, capsys):
    rewritten(packed, **{TABLE: parquet(contents(packed)[TABLE], undigested)})
    assert f"holds '{TABLE}' without its checksum of rows" in refused(packed, capsys)


def test_a_table_that_claims_an_earlier_version_is_refused_without_its_checksum(packed, capsys):
    content = parquet(contents(packed)[TABLE], lambda metadata: undigested(metadata) | {b"crossover": b"1"})
    rewritten(packed, **{TABLE: content})
    assert f"holds '{TABLE}' without its checksum of rows" in refused(packed, capsys)


def without_statement(archive):
    graph = json.loads(contents(archive)["ro-crate-metadata.json"])
    graph["@graph"] = [each for each in graph["@graph"] if each["@id"] != crate.DIGESTS]
    rewritten(archive, **{"ro-crate-metadata.json": json.dumps(graph).encode()})


def test_a_table_alone_without_a_checksum_is_refused_even_if_the_crate_does_not_state_them(packed, capsys):
    without_statement(packed)
    rewritten(packed, **{TABLE: parquet(contents(packed)[TABLE], undigested)})
    assert f"holds '{TABLE}' without its checksum of rows" in refused(packed, capsys)


def test_a_bundle_of_an_earlier_release_without_any_checksum_is_read(packed):
    without_statement(packed)
    tables = {name: each for name, each in contents(packed).items() if name.endswith(".parquet")}
    rewritten(packed, **{name: parquet(content, undigested) for name, content in tables.items()})
    with unpack.opened(packed) as folder:
        assert (folder / TABLE).is_file()


def test_a_raw_file_of_an_earlier_release_has_a_checksum_in_a_new_bundle(run, tmp_path, monkeypatch):
    monkeypatch.setattr(renderer.preview, "render", lambda source, page, environment: page.write_text("<body></body>"))
    monkeypatch.setattr(renderer.shutil, "which", lambda name: None)
    raw = next(run.glob("raw/**/*.parquet"))
    raw.write_bytes(parquet(raw.read_bytes(), undigested))
    bundles.write(run, tmp_path / "bundle.zip", crate.Attribution("CC-BY-4.0"))
    with unpack.opened(tmp_path / "bundle.zip") as folder:
        written = folder / "results" / raw.relative_to(run)
        assert record.DIGEST in pq.read_schema(written).metadata
        assert pq.read_table(written, partitioning=None).equals(pq.read_table(raw, partitioning=None))
