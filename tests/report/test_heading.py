"""Does the page begin with the finding, the circumstances of the run, and choices that its tables support?"""

from dataclasses import replace

import pytest
import yaml
from campaigns import MACHINE, Campaign, mpi, run, steps, zmq
from hypothesis import given
from surfaces import STANDINGS

from crossover.records.outcome import OPEN, WINNER
from crossover.report.pages import heading, preview
from crossover.report.text import choices

SOURCE = "---\ntitle: A\nsubtitle: B\nlang: en\n---\n\n# One\n\ntitle: kept\n"


BEST, WORST = ((1.8, 2.2), (1.8, 2.2)), ((0.4, 0.6), (0.4, 0.6))
ALIKE = [steps(*BEST, protocol=f"PUSH/PULL over {name}, 64 MB in flight") for name in ("tcp", "ipc")]


STREAM = "tream ZeroMQ messages with `no-copy`, not `copy`: 2.0 times as fast"
ARRAYS = "end NumPy arrays with `Send`, not `send`: 1.4 to 2.4 times as fast up to 80 kB (fresh memory)"


@pytest.mark.parametrize(
    ("curves", "title"),
    [
        ([], heading.EMPTY),
        ([zmq(launches=1)], choices.UNDECIDED),
        ([steps((0.4, 1.6), (0.7, 1.4))], "On this machine defaults are within 1.60 of the best"),
        ([steps((0.99, 1.01), (0.98, 1.02))], "On this machine defaults are within 1.25 of the best"),
        ([steps((0.4, 1.6)), mpi()], f"S{ARRAYS}"),
        ([steps(*BEST), mpi()], f"S{STREAM} from 100 B to 1 kB (tcp); s{ARRAYS}"),
        ([steps((1.25, 1.35)), mpi()], f"S{ARRAYS}"),
        ([steps(*BEST, *WORST)], f"S{STREAM} up to 1 kB (tcp)"),
        ([steps(*WORST), ALIKE[1]], f"S{STREAM} from 100 B to 1 kB (ipc)"),
    ],
)
def test_the_title_is_the_largest_gain_over_a_default_and_a_second_one(curves, title):
    assert heading.title(run(Campaign(curves))) == title


def test_a_smoke_run_has_no_finding():
    tables = run(Campaign([zmq()]))
    tables.launches[:] = [
        replace(launch, receipt=launch.receipt.replace("quick", "smoke")) for launch in tables.launches
    ]
    assert heading.title(tables) == heading.SMOKE
    assert heading.cards(tables) == ""


def test_without_tables_the_source_stays(tmp_path):
    assert heading.titled(SOURCE, tmp_path) == SOURCE


def test_a_processor_with_any_name_is_only_text(tmp_path, monkeypatch):
    monkeypatch.setitem(MACHINE, "cpu", 'a": `{python} 1`\n---\n<b>')
    text = heading.titled(SOURCE, Campaign([zmq()]).write_tables(tmp_path))
    (line,) = [line for line in text.splitlines() if line.startswith("subtitle: ")]
    assert "\\`" in yaml.safe_load(line)["subtitle"] and "\\<b\\>" in yaml.safe_load(line)["subtitle"]
    assert preview.parse(text)[0]["lang"] == "en"


def test_a_run_of_one_experiment_without_claims_has_no_sections_for_more(tmp_path):
    sections = ("sec-ladder", "sec-claims", "sec-map")
    source = "".join(f"# A {{#{name}}}\n\ntext of {name}\n\n" for name in sections) + "# Last\n"
    kept = heading.reduced(source, Campaign([zmq()]).write_tables(tmp_path / "one"))
    assert kept == "# A {#sec-map}\n\ntext of sec-map\n\n# Last\n"
    assert "sec-ladder" in heading.reduced(source, Campaign([zmq(), mpi()]).write_tables(tmp_path / "two"))


@given(STANDINGS)
def test_words_follow_the_table(standings):
    tables = run(Campaign([steps(*standings)]))
    (question,) = choices.asked(tables)
    arms = [arm for arm, _ in question.segments]
    assert [row.choice for row in tables.choices] == [arm for arm, own in question.segments for _ in own]
    assert question.words.startswith(arms[0]) and question.words.count(", from ") == len(arms) - 1
    worst = max(tables.choices, key=lambda row: row.guarantee)
    assert float(question.cost.split()[0]) >= worst.guarantee - 1e-9
    assert question.is_settled == all(row.verdict != OPEN for row in tables.choices)
    assert question.is_settled or all(arm in question.left for arm in worst.left)
    assert ("Surely the best" in question.sentence) == all(row.verdict == WINNER for row in tables.choices)
