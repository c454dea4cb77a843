"""Gathers the raw files that receipts name into an experiment's launches and ranks, and reduces their measurements."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crossover.analyse.estimates.curve import NAMES, Row, blocks, medians
from crossover.analyse.estimates.pairs import Plays, pairs, plays
from crossover.analyse.tables import writer
from crossover.design.launch import LOADED
from crossover.errors import CrossoverError
from crossover.planning import receipt
from crossover.planning.receipt import Receipt
from crossover.records import record, validities
from crossover.records.holes import HoleKind
from crossover.records.rows import Launch

Content = tuple[pa.Table, Row, list[Row]]
"""The measurements, the launch and the ranks of a raw file."""

ROWS = 100_000
"""The measurements that are reduced together: a step takes as long for a few rows as for thousands."""


def gather(receipts: list[Path], folder: Path) -> None:
    """Write all tables of the experiment whose launches have these `receipts` to `folder`.

    Raises RecordError for a file that is refused or cannot be written. A raw file that cannot be read is a hole.
    """
    for name, table in gathered(receipts).items():
        record.write(table, folder / f"{name}.parquet")
    writer.derive(folder)


def gathered(receipts: list[Path]) -> dict[str, pa.Table]:
    """The tables made from the raw files that these receipts name, one launch each, with few of them in memory at once.

    Raises RecordError for two receipts of one launch, and CrossoverError for launches that loaded different libraries.
    The order of `receipts` does not matter.
    """
    every = sorted(map(receipt.read, receipts), key=lambda held: (*held.identity.values(), held.path))
    for first, second in pairwise(every):
        if first.identity == second.identity:
            raise record.RecordError(second.path, f"is of the same launch as {first.path}", "leave one of them out")
    launches, loaded, played = list[Row](), list[tuple[Row, list[Row]]](), list[Plays]()
    ranks, counts, found = list[pa.Table](), list[pa.Table](), list[pa.Table]()
    for contents in _batches(map(_content, every)):
        measurements = pa.concat_tables([record.MEASUREMENTS.empty_table(), *(table for table, _, _ in contents)])
        own = record.from_rows([rank for _, _, of_launch in contents for rank in of_launch], record.RANKS)
        launches += [launch for _, launch, _ in contents]
        # Software is that of the first rank.
        loaded += [(launch, of_launch[:1]) for _, launch, of_launch in contents]
        ranks.append(own)
        counts.append(validities.count(measurements))
        found.append(writer.table(medians(blocks(measurements)), "medians"))
        played.append(plays(measurements, own))
    refuse_mixed_libraries(loaded)
    return {
        "launches": record.from_rows(launches, record.LAUNCHES),
        "ranks": pa.concat_tables(ranks),
        "validities": validities.add_up(counts),
        "medians": pa.concat_tables(found).sort_by([(name, "ascending") for name in (*NAMES, "x", "launch")]),
        "pairs": writer.table(pairs(played, map(Launch.of, launches)), "pairs"),
    }


def _batches(contents: Iterable[Content]) -> Iterator[list[Content]]:
    """The contents in lists with ROWS measurements or a little more; the last has fewer, or none."""
    batch, rows = list[Content](), 0
    for content in contents:
        batch.append(content)
        rows += content[0].num_rows
        if rows >= ROWS:
            yield batch
            batch, rows = [], 0
    yield batch


def refuse_mixed_libraries(launches: Iterable[tuple[Row, list[Row]]]) -> None:
    """Raise CrossoverError if launches of one experiment and placement, with their ranks, loaded different libraries.

    Their results differ for another reason than chance, so no interval holds for them.
    """
    alike: dict[tuple[str, str], dict[tuple[str, ...], list[int]]] = {}
    for launch, ranks in launches:
        if ranks:
            software = receipt.software(ranks)
            loaded = tuple(f"{name} {software[name]}" for name in LOADED if name in software)
            own = alike.setdefault((launch["experiment"], launch["placement"]), {})
            own.setdefault(loaded, []).append(launch["launch"])
    for (experiment, placement), own in alike.items():
        if len(own) > 1:
            shared = set.intersection(*map(set, own))
            lines = [
                f"launch {', '.join(map(str, numbers))} with {', '.join(each for each in loaded if each not in shared)}"
                for loaded, numbers in own.items()
            ]
            raise CrossoverError(
                f"launches of {experiment}, placement {placement}, loaded different libraries and are not pooled: "
                f"{'; '.join(lines)}; add --config remeasure=true, which measures again those unlike the newest, or "
                "measure into another folder with --config results=FOLDER"
            )


def _content(held: Receipt) -> Content:
    """The content of a raw file; of one that is refused, the launch of its receipt as a hole."""
    path, added = held.raw_file, {"file": str(held.raw_file), "receipt": str(held.path)}
    try:
        if not held.raw:
            raise record.RecordError(held.path, "is not a receipt that can be read")
        table = record.read(path, record.MEASUREMENTS)
        facts = record.metadata(table)
        (launch,) = _typed(path, [facts.get("launch") or {}], record.LAUNCHES)
        ranks = _typed(path, facts.get("ranks", []), record.RANKS)
        if fault := receipt.contradiction(held, launch):
            raise record.RecordError(path, fault)
        refuse_foreign_rows(path, table, held.identity)
        refuse_impossible(path, table, ranks)
    except record.RecordError as error:
        hole = {"outcome": "hole", "hole": HoleKind.UNREADABLE, "reason": f"the file {error.fault}"}
        return record.MEASUREMENTS.empty_table(), held.identity | hole | added, []
    hosts = ",".join(sorted({str(rank["host"]) for rank in ranks})) or None
    return table.replace_schema_metadata(), launch | added | {"hosts": hosts}, [rank | held.identity for rank in ranks]


def _typed(path: Path, rows: Any, schema: pa.Schema) -> list[Row]:
    """Rows from a file's metadata, with the columns of this schema. Raises RecordError for values of other types."""
    try:
        found = record.typed(record.from_rows(rows, schema))
    except (pa.ArrowException, ValueError, TypeError, AttributeError) as error:
        raise record.RecordError(path, f"has facts of another type ({error})") from error
    typed_rows: list[Row] = found.to_pylist()
    return typed_rows


def refuse_foreign_rows(path: Path, table: pa.Table, launch: Row) -> None:
    """Raise RecordError for rows of another launch."""
    for name, value in launch.items():
        if not pc.all(pc.equal(table[name], value), min_count=0).as_py():
            raise record.RecordError(path, f"has rows of another {name} than its receipt")


def refuse_impossible(path: Path, table: pa.Table, ranks: list[Row]) -> None:
    """Raise RecordError for impossible values, and for placement `nodes` if all ranks ran on one host."""
    hosts = sorted({str(rank["host"]) for rank in ranks})
    if "nodes" in table["placement"].unique().to_pylist() and len(hosts) < 2:
        raise record.RecordError(path, f"is of placement nodes, but every rank ran on {', '.join(hosts)}")
    value = table["value"].drop_null()
    possible = pc.and_(pc.is_finite(value), pc.greater(value, 0))
    if not pc.all(possible, min_count=0).as_py():
        wrong = value.filter(pc.invert(possible))[0].as_py()
        raise record.RecordError(path, f"has the impossible value {wrong}")
