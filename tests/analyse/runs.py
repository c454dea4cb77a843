"""Result folders of synthetic runs, for example before and after an upgrade, and of two real ones."""

import json
import zipfile
from pathlib import Path

import numpy as np
from synthetic import SIZES, blocks, launched, rows

from crossover.analyse.estimates.curve import curves
from crossover.analyse.tables import writer
from crossover.analyse.tables.raw_files import gather
from crossover.analyse.tables.recommend import recommend
from crossover.records import record
from crossover.records.rows import Launch

ARMS = ("copy", "no-copy", "default", "null")


def finished(
    folder, seed, launches=5, day=1, slower=None, arms=ARMS, sizes=SIZES, pyzmq="26.0", budget=10, rank=None, **told
):
    """Write a finished run to `folder`; `slower` multiplies the time of arms. The first arm is the reference."""
    random = np.random.default_rng(seed)
    truth = np.zeros(len(sizes))
    seconds = {
        arm: (slower or {}).get(arm, 1) * blocks(random, truth, launches, launch_sd=0.01, cell_sd=0.01)[1]
        for arm in arms
    }
    receipts = []
    for number in range(1, launches + 1):
        measured = rows({arm: own[number - 1] for arm, own in seconds.items()}, launch=number, sizes=sizes, **told)
        facts = {
            "started_utc": f"2026-11-{day:02d}T10:{number:02d}:00+00:00",
            "commit": "0123abcd",
            "settings": json.dumps({"budget_seconds": budget, "placement": "node"}),
        }
        facts |= {"libraries": {"pyzmq": pyzmq}, "rank": rank} | told
        receipts.append(launched(folder, measured, launch=number, **facts))
    gather(receipts, folder)
    return folder


def stored(number, folder):
    """Unpack the stored run `quick_{number}.zip` to `folder`, and decide its choices and recommendations."""
    with zipfile.ZipFile(Path(__file__).with_name(f"quick_{number}.zip")) as packed:
        packed.extractall(folder)
    medians = record.read(folder / "medians.parquet", record.MEDIANS)
    launches = record.rows_of(folder / "launches.parquet", Launch)
    writer.write(writer.choice_rows(list(curves(medians.to_pandas())), launches), "choices", folder)
    recommend(folder)
    return folder
