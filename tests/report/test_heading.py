"""Does the page begin with the finding, the circumstances of the run, and choices that its tables support?"""

import yaml
from campaigns import MACHINE, Campaign, launch_row, mpi, run, steps, tasks, two_good_one_hole, zmq
from hypothesis import given
from test_terminal import STANDINGS

from crossover.records.outcome import OPEN, WINNER
from crossover.report.pages import heading, preview
from crossover.report.text import certainty, choices

SOURCE = "---\ntitle: A\nsubtitle: B\nlang: en\n---\n\n# One\n\ntitle: kept\n"

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def front(text):
    return preview.parse(text)[0]


def title(*curves, **changes):
    return heading.title(run(Campaign([*curves], **changes)))


def test_the_title_is_the_finding_and_the_subtitle_the_circumstances(tmp_path):
    text = heading.titled(SOURCE, Campaign([zmq(), mpi()]).write_tables(tmp_path))
    found = (
        "Send NumPy arrays (fresh memory) with `Send`; stream ZeroMQ messages (tcp) with `copy`, from 6.8 kB `no-copy`"
    )
    assert front(text)["title"] == found
    told = "Example CPU 9000, 4 cores · 2026-11-21 to 2026-11-23 · tier quick: 6 launches in 2 min"
    assert front(text)["subtitle"] == told
    assert text.endswith("title: kept\n")


def test_hosts_are_counted_and_kinds_of_processors_listed():
    tables = run(Campaign([zmq()]))
    tables.ranks[:] = [MACHINE | {"host": f"node-{n}", "cpu": "Old" if n else None} for n in range(4)]
    assert heading.subtitle(tables).startswith("unknown processor, 4 cores; Old, 4 cores · 4 hosts · 2026")


def test_a_run_that_decides_nothing_says_so():
    assert title(steps((0.4, 1.6), (0.7, 1.4))) == heading.UNDECIDED
    assert title(zmq(launches=1)) == heading.UNDECIDED
    assert title() == heading.EMPTY


def test_a_smoke_run_has_no_finding():
    tables = run(Campaign([zmq()]))
    tables.launches[:] = [row | {"receipt": row["receipt"].replace("quick", "smoke")} for row in tables.launches]
    assert heading.title(tables) == heading.SMOKE
    assert heading.cards(tables) == ""


def test_a_title_has_only_settled_questions_and_names_the_curve_among_several():
    tcp = steps((1.8, 2.2), (1.8, 2.2), (1.8, 2.2))
    ipc = steps((0.4, 0.6), (0.4, 0.6), protocol="PUSH/PULL over ipc, 64 MB in flight")
    assert title(tcp) == "Stream ZeroMQ messages (tcp) with `no-copy`"
    assert title(tcp, ipc) == "Stream ZeroMQ messages (tcp) with `no-copy`"
    assert title(steps((0.4, 1.6)), mpi()) == "Send NumPy arrays (fresh memory) with `Send`"


def test_of_many_curves_with_one_choice_the_first_is_named_and_the_others_counted():
    best = (1.8, 2.2), (1.8, 2.2)
    alike = [steps(*best, protocol=f"PUSH/PULL over {name}, 64 MB in flight") for name in ("tcp", "ipc", "inproc")]
    other = steps((0.4, 0.6), (0.4, 0.6), protocol="DEALER/ROUTER over tcp, 64 MB in flight")
    assert title(*alike, other) == "Stream ZeroMQ messages (tcp and 2 more curves) with `no-copy`"


def test_cards_have_a_number_its_meaning_and_where_it_holds():
    shown = heading.cards(run(Campaign([steps((1.8, 2.2), (3.6, 4.4))])))
    assert "<strong>2.0–4.0×</strong>" in shown and "faster (throughput): " in shown and "</b> instead of copy" in shown
    assert "<small>ZeroMQ stream, tcp, 100 B to 1 kB; intervals within 1.8 to 4.4</small>" in shown
    assert heading.cards(run(Campaign([steps((0.9, 1.1))]))) == ""


def test_without_tables_the_source_stays(tmp_path):
    assert heading.titled(SOURCE, tmp_path) == SOURCE


def test_a_processor_with_any_name_is_only_text(tmp_path, monkeypatch):
    monkeypatch.setitem(MACHINE, "cpu", 'a": `{python} 1`\n---\n<b>')
    text = heading.titled(SOURCE, Campaign([zmq()]).write_tables(tmp_path))
    (line,) = [line for line in text.splitlines() if line.startswith("subtitle: ")]
    assert "\\`" in yaml.safe_load(line)["subtitle"] and "\\<b\\>" in yaml.safe_load(line)["subtitle"]
    assert front(text)["lang"] == "en"


def test_tiers_are_read_from_receipts():
    assert certainty.tier([launch_row("a", 1)]) == "quick"


def test_a_run_of_one_experiment_without_claims_has_no_sections_for_more(tmp_path):
    sections = ("sec-ladder", "sec-claims", "sec-told", "sec-map")
    source = "".join(f"# A {{#{name}}}\n\ntext of {name}\n\n" for name in sections) + "# Last\n"
    kept = heading.reduced(source, Campaign([zmq()]).write_tables(tmp_path / "one"))
    assert kept == "# A {#sec-map}\n\ntext of sec-map\n\n# Last\n"
    assert "sec-ladder" in heading.reduced(source, Campaign([zmq(), mpi()]).write_tables(tmp_path / "two"))


def told(*curves, **changes):
    """The first sentences of a campaign's page."""
    said = heading.summary(run(Campaign(list(curves), **changes)), LEADS)
    return [line.removeprefix("- ") for line in said.splitlines() if line.startswith("- ")]


def test_choices_are_followed_by_the_data_behind_them():
    said = heading.summary(run(two_good_one_hole()), LEADS)
    decided, data = said.split("\n\n")
    assert 1 < len(decided.splitlines()) <= heading.MOST_ANSWERED
    assert data.startswith("6 of 9 launches have data; 3 holes are listed in @sec-holes. The possible bias is unknown")
    assert data.endswith(heading.METHOD) and "Within 1.25 times of the best: " in data


def test_a_question_that_most_people_ask_comes_first_with_what_its_choice_can_cost():
    first, second, third = told(tasks("round trip", slope=0.0, half_width=0.03), zmq(), mpi())
    assert first.startswith("**mpi4py arrays, fresh memory:** `Send` everywhere, ") and first.endswith(
        " than `send`. Surely the best."
    )
    assert second.startswith("**ZeroMQ stream, tcp:** `copy`, from ")
    assert (
        third.startswith("**Empty tasks on a farm: until all are done:** `") and " times worse than the best." in third
    )


def test_one_launch_and_an_empty_run_say_that_there_is_nothing_to_choose():
    assert "Nothing to choose" in heading.summary(run(Campaign([zmq(launches=1)])), LEADS)
    assert heading.summary(run(Campaign([])), LEADS) == "Nothing was launched."


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
