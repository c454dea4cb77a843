"""Results with a row of every kind, and the text of pages and charts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import label_keys
from campaigns import (
    KEPT,
    SETTINGS,
    Campaign,
    Curve,
    Row,
    claim,
    lasting,
    launch_row,
    mpi,
    near,
    recommendation,
    steps,
    tasks,
    threshold,
    unmeasured,
    zmq,
)  # fmt: skip
from hypothesis import strategies as st

from crossover.design.experiments import leads
from crossover.design.protocol import identity
from crossover.report.pages import preview
from crossover.report.pages.index import Page

LEADS = leads()
WORSE, UNSURE, EQUAL, BETTER = (0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2)
STANDINGS = st.lists(st.sampled_from([WORSE, UNSURE, EQUAL, BETTER]), min_size=1, max_size=8)
"""The intervals of a curve."""
TCP, IPC, INPROC = (f"PUSH/PULL over {transport}, 64 MB in flight" for transport in ("tcp", "ipc", "inproc"))
ORDERS = (
    (WORSE, BETTER, WORSE), (BETTER, BETTER), (UNSURE, UNSURE, BETTER), (EQUAL, EQUAL), (EQUAL, UNSURE),
    (UNSURE, WORSE, EQUAL), (WORSE, BETTER, (0.01, 4.0)), (WORSE, WORSE, (0.6, 0.8), (0.03, 30_000.0)),
)  # fmt: skip
"""The intervals of curves with each verdict on a crossover."""
SEND: Row = {
    "library": "mpi4py", "setting": "send, Send or pkl5", "about": "the call", "value": '"Send"', "arm": "Send",
    "default": "send", "snippet": "comm.Send(array, other)\n", "experiment": "mpi_pingpong", "metric": "round trip",
    "protocol": mpi().protocol, "x": None, "low": None, "high": None,
}  # fmt: skip
RECOMMENDATIONS: list[Row] = [
    recommendation(),
    recommendation(protocol=IPC, gain_low=0.9, guarantee=1.0, guarantee_of_values=1.0),
    recommendation(setting="another", guarantee=640.0, x=None, low=1e5, high=3.4e5, snippet="if a < b:\n    c = '&'\n"),
    recommendation(**SEND),
    recommendation(**SEND | {"setting": "later", "x": 100.0, "low": 90.0, "high": 120.0, "axis_unit": "elements"}),
    recommendation(**SEND | {"setting": "between", "low": 90.0, "high": 120.0, "axis_unit": "elements"}),
    recommendation(protocol=INPROC, **KEPT),
    recommendation(**KEPT | {"reason": "keep `copy`", "guarantee": 1.05, "guarantee_of_values": 1.05}),
    recommendation(**SEND | KEPT | {"reason": "not measured: `pkl5.send` is not among the arms", "points": None})
    | {"launches": None},
    recommendation(**SEND | KEPT | {"experiment": "async_cost"} | dict.fromkeys(("placement", "metric", "points")))
    | {"protocol": None},
]
NO_NUMBER: Row = dict.fromkeys(("published", "claimed_low", "claimed_high"))
CLAIMS: list[Row] = [
    claim(smallest_effect=1.5),
    claim(claim="push", protocol=IPC, verdict="holds", value=4.0, low=3.8, high=4.2, own="agrees"),
    *(
        claim(claim=f"claim-{number}", says=f"Sentence {number}.", **changes)
        for number, changes in enumerate(
            [
                {"low": None, "high": None}, {"value": None, "low": None, "high": None, "verdict": "open"}, NO_NUMBER,
                NO_NUMBER | {"expected_high": None}, NO_NUMBER | {"expected_low": None, "verdict": "larger here"},
                {"claimed_low": 3.0, "claimed_high": 9.0}, {"claimed_low": 4.0, "claimed_high": None},
                {"claimed_low": None, "claimed_high": 7.0}, {"derived": True, "kind": "crossover"},
                {"unit": "bytes", "at_least": True, "value": 9e4, "low": 8e4, "high": 1e5},
                {"numbers": 7, "x": 1e5, "own_x": 464.0}, {"numbers": 3, "x": None, "arm": "lru", "own": "no data"},
                {"scale": "linear", "smallest_effect": 0.0, "url": "javascript:alert(1)"},
            ]
        )
    ),
    claim(claim="b", source="the mail", says="Another.", verdict="holds", own="no data", own_value=None),
    claim(claim="undecided", says="Undecided.", verdict="open"),
    unmeasured(claim="sched-twisted"),
    unmeasured(claim="c", url="x:y"),
]  # fmt: skip
WAITING: Row = {
    "withheld": {"dask": ["task_map", "task_latency"]},
    "hosts": {"zmq_throughput": {"nodes": 2}},
    "partial": ["partial: 3 launches of tier quick", "left out: 2 launches of tier smoke"],
}
"""The measurements of other runs."""


class Everything(Campaign):
    """Machines, launches and measurements of several kinds."""

    def tables(self) -> dict[str, list[Row]]:
        tables = super().tables()
        for row in tables["ranks"]:
            if row["experiment"] == "task_latency":
                row.update(logical_cpus=1, governor=None, memory_bytes=None, network=None, placement="nodes")
                row.update(host="node-b", interface="ib0", slurm={"SLURM_JOB_PARTITION": "short"})
        for row, pair in zip(tables["launches"], ("node1,node2", "node1,node2", "node2,node3"), strict=False):
            row.update(placement="nodes", hosts=pair, exclusive=False)
        tables["launches"][0].update(settings=json.dumps(SETTINGS | {"budget_seconds": 600}))
        tables["launches"][1].update(job="7", entering_seconds=10.0)
        absent = tables["validities"][0] | {"arm": "in C", "cells": 0, "valid": 0, "validity": "no `cc`"}
        others = {"x": 10.0}, {"protocol": "another protocol"}, {"arm": "flaky"}, {"arm": "flaky", "valid": 1}
        tables["validities"] += [absent, *(absent | changes for changes in others)]
        for name in ("summary", "ratios"):
            # A ceiling; an arm without some points.
            rows = [row for row in tables[name] if row["protocol"] == TCP and row["metric"] == "throughput"]
            bound = {"arm": "in C", "is_null_arm": False, "ceiling": True}
            tables[name] += [row | bound for row in rows if row["is_null_arm"]]
            ends = [row for row in rows if row["x"] < 500 or 5000 < row["x"] < 5e5]
            tables[name] += [row | {"arm": "default"} for row in ends if row["arm"] == "no-copy"]
            # Only the reference has data; only the null arm has.
            tables[name] = [
                row for row in tables[name]
                if not (row["protocol"] == ALONE and row["arm"] != "copy")
                and not (row["protocol"] == NOBODY and row["arm"] != "null")
            ]  # fmt: skip
        for name in ("crossovers", "choices"):
            tables[name] = [row for row in tables[name] if row["protocol"] not in (ALONE, NOBODY)]
        for row in tables["crossovers"]:
            row |= RANGES.get(row["protocol"], {})
        refined = {"cells": {identity(label_keys.keys(TCP)): [4642, 6813, 10000]}}
        for number, changes in enumerate([{}, {}, {"outcome": "hole", "hole": "lost"}, {"placement": "nodes"}], 4):
            again = {"launch": 10_000 + number, "settings": json.dumps(SETTINGS | refined)}
            tables["launches"].append(launch_row("zmq_throughput", number) | again | changes)
        tables["launches"].append(launch_row("local_transport", 1))
        return tables


RANGES = {
    f"PUSH/PULL over tcp, {number} MB in flight": {"low": low, "high": high}
    for number, low, high in ((3, 500.0, 4600.0), (4, 100.0, 1000.0), (5, 300.0, 1000.0), (6, 100.0, 4600.0))
}
"""The places of a crossover that was not seen."""
ALONE, NOBODY = "DEALER/ROUTER over tcp, 64 MB in flight", "DEALER/ROUTER over inproc, 64 MB in flight"


def sensitivity(curve: Curve, effect: float | None = 1.031, **changes: Any) -> Row:
    """The possible bias and the precision on a curve."""
    shared = {
        "experiment": curve.experiment, "placement": "node", "protocol": curve.protocol, "metric": curve.metric,
        "arm": curve.arm, "reference": curve.reference, "launches": 3, "cells": 13,
    }  # fmt: skip
    return shared | {"null_cells": 13, "smallest_effect": effect, "resolution": effect and 1.052} | changes


def everything() -> Campaign:
    """Results with a row of every kind."""
    curves = [
        zmq(), zmq(metric="bandwidth"), steps((0.4, 0.6), (0.7, 1.5), (0.95, 1.1), (1.8, 2.2), protocol=IPC),
        *(
            steps(*intervals, protocol=f"PUSH/PULL over tcp, {number} MB in flight")
            for number, intervals in enumerate(ORDERS, 1)
        ),
        zmq(ALONE), zmq(NOBODY), mpi(), near(),
        tasks("round trip", protocol="empty tasks, engines: 4", slope=0.0, half_width=0.03), lasting(),
        zmq("REQ/REP over ipc", "round trip, median", experiment="zmq_latency", unit="s", better="lower", launches=1),
        steps(WORSE, BETTER, experiment="toy_races"),
    ]  # fmt: skip
    verdicts = "from", "up to", "always", "never", "partly", "at the latest", "not yet", "several", "open"
    marks = [threshold("pure", number / 10, verdict) for number, verdict in enumerate(verdicts, 1)]
    marks += [threshold(arm, 0.95, "always", launches=launches) for arm, launches in (("leastload", 1), ("null", 3))]
    holes = [launch_row("async_cost", n, "timeout", "no engine registered within 60 s") for n in (1, 2, 3)]
    holes += [launch_row("async_cost", 4, "crashed", "it said `a`\n```\n# boo"), launch_row("mpi_pingpong", 9, "lost")]
    estimated = {
        "claims": CLAIMS, "recommendations": RECOMMENDATIONS,
        "sensitivity": [
            sensitivity(mpi(), 1.01), sensitivity(zmq(metric="bandwidth")), sensitivity(near(), None),
            sensitivity(zmq()), sensitivity(zmq(), placement="process"),
        ],
    }  # fmt: skip
    return Everything(curves, holes=holes, thresholds=marks, estimated=estimated)


def difference(kind: str, name: str, before: str, after: str) -> Row:
    """A row of record.DIFFERENCES."""
    return {"kind": kind, "name": name, "before": before, "after": after}


DIFFERENCES = [
    difference("run", "days", "2026-11-14", "2026-11-21"),
    difference("library", "pyzmq", "26.0", "27.3"),
    difference("machine", "memory_bytes", "1", "2"),
    difference("code", "commit", "", "ab"),
]


def changed(
    arm: str, verdict: str = "worse", x: float | None = None, change: float | None = 0.88, **changes: Any
) -> Row:
    """A row of record.CHANGES on a whole curve, or on a point `x` of it."""
    numbers = {"before": 1.25, "after": 1.25 * change, "low": change * 0.95, "high": change * 1.05} if change else {}
    return {
        "experiment": "zmq_throughput", "placement": "node", "protocol": "PUSH/PULL over tcp", "metric": "throughput",
        "reference": "copy", "better": "higher", "is_null_arm": arm == "null", "ceiling": False, "axis": "message size",
        "axis_unit": "bytes", "launches_before": 5, "launches_after": 5, "p": 0.001, "q": 0.002, "within": 1.1,
        "equivalent": False, "arm": arm, "x": x, "verdict": verdict, "change": change,
        **dict.fromkeys(("before", "after", "low", "high")), **numbers, **changes,
    }  # fmt: skip


CHANGES = [
    changed("no-copy"), changed("no-copy", x=100.0, change=0.9), changed("no-copy", "better", x=1000.0, change=1.3),
    changed("no-copy", x=1e4, change=0.7), changed("no-copy", "open", x=1e5, change=0.2),
    changed("default", "same", change=1.01, equivalent=True), changed("null"),
    changed("small", change=0.97, equivalent=True), changed("small", "same", x=100.0, change=0.97),
    changed("gaps", "mixed", change=None), changed("gaps", x=100.0, change=0.8), changed("other", "open"),
    changed("faster", "better", change=1.2),
]  # fmt: skip
"""Arms that became better or worse, or stayed the same."""

BLOCKS = {"p", "li", "tr", "h1", "h2", "h3", "summary", "figcaption", "details", "pre", "div", "table"}
TOLD = ("title", "aria-label", "id", "href", "data-arm", "data-panel", "value")
"""The attributes that are text, or that lead from one text to another."""


class Text(HTMLParser):
    """A page as lines of text, with its tips, addresses, and the kinds and places of marks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = self.code = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        kinds = (facts.get("class") or "").split()
        self.hidden += tag in ("script", "style", "svg")
        self.code += tag == "pre"
        self.words.append("\n" if tag in BLOCKS else " | " if tag in ("td", "th") else "")
        if "term" not in kinds:
            marked = [*kinds, facts["style"]] if facts.get("style") and kinds else kinds if tag in ("b", "td") else []
            texts = [*marked, *(facts[name] or "" for name in TOLD if name in facts)]
            self.words.append(f" {{{'; '.join(texts)}}} " if texts else "")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style", "svg")
        self.code -= tag == "pre"
        self.words.append("\n" if tag in BLOCKS else "")

    def handle_data(self, data: str) -> None:
        self.words.append("" if self.hidden else data if self.code else data.replace("\n", " "))

    def __str__(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self.words).splitlines())
        return "\n".join(line for line in lines if line.strip(" |"))


PARTS = "cards summary recommended map shared claims claims_told machine health ladder holes"


def sections(page: Page) -> dict[str, str]:
    """The text of each section of a page, by its name."""
    made = {name: getattr(page, name)().data for name in PARTS.split()}
    made |= {name: page.experiment(name).data for name in page.tables.experiments}
    whole = "\n\n".join(f"# part {name}\n\n{text}" for name, text in made.items() if text)
    # References lead to headings and sources of reports/index.qmd.
    body = preview.html({"title": "all"}, whole.replace("@", "")).decode()
    texts = re.split(r"\n+.*part (\w+)(?: \{.*)?\n", str(Text(body[body.index("<main") : body.index("</main>")])))
    return dict(zip(texts[1::2], texts[2::2], strict=True))


def brief(chart: Any, key: str = "") -> Any:
    """What matters of a chart's specification, with rounded numbers, and of much data a few rows."""
    if isinstance(chart, dict):
        return {name: brief(value, name) for name, value in chart.items() if name not in ("config", "$schema")}
    if isinstance(chart, list):
        rows = [brief(value) for value in chart]
        if key != "values" or len(rows) < 5:
            return rows
        return [
            len(rows),
            *rows[:2],
            *(row for row in rows if row.get("value", 1) is None or "value" not in row),
            rows[-1],
        ]
    return float(f"{chart:.4g}") if isinstance(chart, float) else chart


def lines(chart: dict[str, Any]) -> str:
    """A chart in a line for each of its facts and layers, and for each channel of its points."""
    shown = brief(chart)
    layers = shown.pop("layer")
    texts = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in sorted(shown.items())]
    for layer in layers:
        channels = layer.pop("encoding", {})
        if layer.get("name") != "points":
            # Their scales are those of the points.
            channels = {
                name: {key: text for key, text in channel.items() if key not in ("scale", "title", "type")}
                for name, channel in channels.items()
            }
            layer, channels = layer | {"encoding": channels}, {}
        texts.append(f"layer {json.dumps(layer, ensure_ascii=False, sort_keys=True)}")
        texts += [f"  {name}: {json.dumps(one, ensure_ascii=False, sort_keys=True)}" for name, one in channels.items()]
    # Ticks of a magnified axis are too many to read.
    return re.sub(r"(zoom\.\w+ \?) \[[^]]*\]", r"\1 …", "\n".join(texts))
