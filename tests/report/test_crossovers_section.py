"""Do the sentences agree with the tables, and change with them?"""

import pytest
from campaigns import Campaign, mpi, run, tasks, two_good_one_hole, zmq
from hypothesis import given
from hypothesis import strategies as st

from crossover.report.base import questions, tables
from crossover.report.sections import crossovers
from crossover.report.sentences import findings, results

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def panel(curve, **changes):
    made = Campaign([curve], **changes).tables()
    return tables.panels(made["summary"], made["ratios"], made["crossovers"])[0]


def test_a_higher_value_is_faster_for_rates_and_slower_for_times():
    assert "At 100 B `no-copy` is slower than `copy`, with 0.585" in findings.findings(panel(zmq()))
    assert "at 1 MB it is faster, with 1.94" in findings.findings(panel(zmq()))
    lower = findings.findings(panel(zmq(better="lower")))
    assert "At 100 B `no-copy` is faster than `copy`" in lower
    assert "at 1 MB it is slower" in lower


@pytest.mark.parametrize(
    ("verdict", "sentence", "words"),
    [
        ("one", "It becomes faster than `copy` above **6.2 kB [4.8 kB, 8.1 kB]**, between", "faster above it"),
        ("always", "It is faster than `copy` at every measured point", "always faster"),
        ("none", "No crossover is shown: it is slower than `copy` at 100 B to 4.64 kB and faster at", "mostly faster"),
        ("several", "It crosses `copy` several times", "crosses several times"),
        ("undecided", "Undecided: with all points tested together", "undecided"),
    ],
)
def test_each_verdict_has_its_sentence(verdict, sentence, words):
    shown = panel(zmq(verdict=verdict))
    assert sentence in findings.findings(shown)
    assert findings.verdict(shown, "no-copy") == words


@pytest.mark.parametrize(
    ("low", "high", "where"),
    [
        (100.0, 1e6, ""),
        (100.0, 4600.0, "at 4.6 kB or below"),
        (4600.0, 1e6, "at 4.6 kB or above"),
        (4600.0, 10_000.0, "between 4.6 kB and 10 kB"),
        (None, None, ""),
    ],
)
@pytest.mark.parametrize("verdict", ["none", "undecided"])
def test_without_a_crossover_its_possible_range_is_given(verdict, low, high, where):
    shown = panel(zmq(verdict=verdict))
    shown.crossover_of("no-copy").update(low=low, high=high)
    assert (f" If there is a crossover, it lies {where}." in findings.crossing(shown, "no-copy")) == bool(where)
    [line] = crossovers.lines(shown)
    assert line["crossover"] == (f"none found; one could lie {where}" if where else "–")


WORDS = [
    ("s", "faster", "slower"),
    ("messages/s", "faster", "slower"),
    ("MB/s", "faster", "slower"),
    ("", "better", "worse"),
    ("times", "better", "worse"),
    ("MB", "better", "worse"),
]
SENTENCES = [
    ("one", 3, "At 100 B `no-copy` is {} than `copy`, with"),
    ("one", 3, "; at 1 MB it is {}, with"),
    ("one", 1, "At 100 B `no-copy` looks {} than `copy` (not replicated), with"),
    ("one", 3, "It becomes {} than `copy` above **"),
    ("always", 3, "It is {} than `copy` at every measured point, so there is no crossover."),
    ("none", 3, "No crossover is shown: it is {} than `copy` at 100 B to 1 MB."),
    ("one", 3, "\n{} above it\n"),
    ("always", 3, "\nalways {}\n"),
    ("none", 3, "\n{} or undecided\n"),
    ("one", 3, ": `no-copy` becomes {} than `copy` above **"),
    ("always", 3, ": `no-copy` is always {} than `copy`, with the largest difference at"),
    ("none", 3, ": `no-copy` is {} than `copy` at 100 B to 1 MB, with the largest difference at"),
]


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(("unit", "ahead", "behind"), WORDS)
@pytest.mark.parametrize(("verdict", "launches", "sentence"), SENTENCES)
def test_only_times_and_rates_are_fast_or_slow(verdict, launches, sentence, unit, ahead, behind, better):
    # The ratio is below one on the whole axis.
    curve = zmq(unit=unit, better=better, centre=1e9, verdict=verdict, launches=launches)
    shown = panel(curve)
    said = "\n".join(
        [
            findings.findings(shown),
            findings.verdict(shown, "no-copy"),
            findings.headlines(run(Campaign([curve])), LEADS),
        ]
    )
    word = behind if better == "higher" else ahead
    assert sentence.format(word) in said
    assert not [other for other in ("faster", "slower", "better", "worse") if other != word and other in said]


def noisy_at_the_end(curve, ratio, low, high):
    """A run of one curve whose last cell is far off and has a wide interval."""
    made = Campaign([curve]).tables()
    last = max(row["x"] for row in made["ratios"])
    for row in made["ratios"]:
        if row["arm"] == curve.arm and row["x"] == last:
            row.update(ratio=ratio, low=low, high=high)
    return tables.Tables(**{name: made[name] for name in tables.SCHEMAS})


@pytest.mark.parametrize("verdict", ["none", "always"])
def test_a_ratio_that_is_far_from_one_but_not_significant_decides_no_sentence(verdict):
    # Significantly slower in all cells but the last, which looks thirty times faster or slower but is not significant.
    slower = zmq(centre=1e9, slope=0.05, verdict=verdict)
    for ratio in (30.0, 1 / 30):
        noisy = noisy_at_the_end(slower, ratio, ratio / 1000, ratio * 1000)
        shown = noisy.panels("zmq_throughput")[0]
        said = findings.crossing(shown, "no-copy")
        assert "slower than `copy`" in said and "faster" not in said
        assert findings.verdict(shown, "no-copy") == {"none": "slower or undecided", "always": "always slower"}[verdict]
        assert "difference at 100 B: 0.447" in findings.headlines(noisy, LEADS)


def test_a_noisy_end_does_not_decide_the_direction_of_a_crossover():
    noisy = noisy_at_the_end(zmq(), 0.2, 0.01, 4.0)
    assert findings.verdict(noisy.panels("zmq_throughput")[0], "no-copy") == "faster above it"


def test_the_crossover_comes_from_the_data():
    assert "**2.9 kB [2.2 kB, 3.8 kB]**" in findings.findings(panel(zmq(centre=2900.0)))
    assert "between the measured points 2.15 kB and 4.64 kB" in findings.findings(panel(zmq(centre=2900.0)))


def test_one_launch_has_no_interval_and_no_verdict():
    alone = panel(zmq(launches=1))
    said = findings.findings(alone)
    assert "looks slower than `copy` (not replicated)" in said
    assert "With one launch this is not replicated" in said
    assert "[" not in said
    assert findings.verdict(alone, "no-copy") == "not replicated"


def test_an_interval_that_contains_one_is_no_difference():
    said = findings.findings(panel(zmq(slope=0.001)))
    assert "does not differ significantly from `copy`" in said
    assert "is faster" not in said.split(". ")[1]


def test_the_noise_comes_from_the_null_arm():
    quiet = panel(zmq())
    assert "differs by at most 0.8 %" in findings.noise(quiet)
    assert "at 13 of 13 points (100 %)" in findings.noise(quiet)
    # With intervals this narrow, the null arm differs significantly at some points.
    loud = findings.noise(panel(zmq(), half_width=0.004))
    assert "of 13 points" in loud and "(100 %)" not in loud


def test_without_a_null_arm_the_noise_is_unknown():
    made = Campaign([zmq()]).tables()
    ratios = [row for row in made["ratios"] if not row["null"]]
    assert "No null arm was measured" in findings.findings(
        tables.panels(made["summary"], ratios, made["crossovers"])[0]
    )


def test_without_rivals_nothing_is_compared():
    rows = [row for row in Campaign([zmq()]).tables()["summary"] if row["arm"] == "copy"]
    assert "No arm could be compared with another: only `copy` has data" in findings.findings(
        tables.panels(rows, [], [])[0]
    )


def test_the_headlines_begin_with_the_results():
    lines = findings.headlines(run(two_good_one_hole()), LEADS).splitlines()
    assert lines[0] == "- **zmq_throughput**, throughput:"
    assert lines[1].startswith(
        "    - PUSH/PULL over ipc, 64 MB in flight: `no-copy` becomes faster than `copy` above **2.9 kB"
    )
    assert lines[3].startswith(
        "- **mpi_pingpong**, round trip: `Send` is always faster than `send`, with the largest difference at 1 element"
    )
    assert lines[4] == "- **task_latency** has no result: its 3 launches left only holes."


def test_the_headlines_have_a_line_for_each_protocol():
    twice = Campaign([zmq(), zmq(protocol="DEALER/ROUTER over ipc", verdict="always")])
    lines = findings.headlines(run(twice), LEADS).splitlines()
    assert lines[0] == "- **zmq_throughput**, throughput:"
    assert lines[1].startswith("    - DEALER/ROUTER over ipc: `no-copy` is always")
    assert lines[2].startswith("    - PUSH/PULL over tcp, 64 MB in flight: `no-copy` becomes faster than `copy` above")
    one = findings.headlines(run(Campaign([zmq()])), LEADS).splitlines()
    assert one[0].startswith("- **zmq_throughput**, throughput: `no-copy` becomes faster")
    assert one[0].endswith("(PUSH/PULL over tcp, 64 MB in flight).")


def test_the_headlines_contain_only_the_leading_metric():
    said = findings.headlines(run(Campaign([tasks("submission"), tasks("round trip", verdict="always")])), LEADS)
    assert "**task_latency**, round trip: `pure` is always" in said
    assert "submission" not in said


def test_the_headlines_name_unknown_experiments_too():
    assert "**toy**, throughput" in findings.headlines(run(Campaign([zmq(experiment="toy")])), LEADS)
    said = findings.headlines(run(Campaign([mpi()])), LEADS)
    assert "`zmq_throughput` and `task_latency` have no launch in this run" in said and said.count("\n- ") == 0


DECIDED = {"worse": (0.4, 0.6), "open": (0.8, 1.2), "better": (1.8, 2.2)}


@given(st.lists(st.sampled_from(list(DECIDED)), min_size=2, max_size=8), st.sampled_from(["none", "undecided"]))
def test_no_sentence_contradicts_a_decided_point_of_its_table(standings, verdict):
    made = Campaign([zmq(points=[100.0 * 10**index for index in range(len(standings))], verdict=verdict)]).tables()
    cells = [row for row in made["ratios"] if row["arm"] == "no-copy"]
    for cell, standing in zip(cells, standings, strict=True):
        low, high = DECIDED[standing]
        cell.update(ratio=(low * high) ** 0.5, low=low, high=high)
    found = tables.Tables(**{name: made[name] for name in tables.SCHEMAS})
    shown = found.panels("zmq_throughput")[0]
    said = f"{findings.crossing(shown, 'no-copy')} {findings.headlines(found, LEADS)}"
    said += f" {results.sentence([shown])}"
    assert ("faster" in said) == ("better" in standings) and ("slower" in said) == ("worse" in standings)
    if {"better", "worse"} & {*standings}:
        assert "no difference" not in said and "never" not in said
    words = findings.verdict(shown, "no-copy")
    if verdict == "none" and {"better", "worse"} <= {*standings}:
        assert words.startswith("mostly ")


def test_the_result_is_one_sentence_on_the_plainest_curve():
    made = run(Campaign([zmq("DEALER/ROUTER over ipc"), zmq("PUSH/PULL over tcp, 64 MB in flight")]))
    plain = questions.plain_first(made.leading("zmq_throughput", "throughput"))
    assert results.sentence(plain) == (
        "**PUSH/PULL over tcp, 64 MB in flight:** `no-copy` is slower than `copy` at 100 B to 4.64 kB and faster at "
        "10 kB to 1 MB; at 1 MB it is 1.94 [1.88, 1.99] times faster; the crossover is at **6.2 kB [4.8 kB, 8.1 kB]**."
    )
    assert results.sentence([]) == ""


def test_without_a_sure_difference_or_an_interval_the_result_says_so():
    assert "no difference between `no-copy` and `copy` was detected" in results.sentence([panel(zmq(slope=0.001))])
    assert "one launch cannot show whether `no-copy` differs from `copy`" in results.sentence([panel(zmq(launches=1))])
