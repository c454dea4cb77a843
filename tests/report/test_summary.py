"""Does the page summarise the run, crossovers, claims and noise in at most five sentences?"""

from campaigns import Campaign, mpi, run, two_good_one_hole, zmq
from test_claims_table import row, unmeasured

from crossover.report.pages import summary

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def test_the_sentences_describe_the_run_the_crossovers_and_the_noise():
    assert summary.sentences(run(two_good_one_hole()), LEADS) == (
        "6 of 9 launches have data on node-a; 3 holes are listed in @sec-holes. Of 3 pairs of arms 2 have a crossover "
        "and 1 does not cross (@sec-crossovers). At single points, an arm against itself differs by up to 0.8 % in "
        "`zmq_throughput` and 0.6 % in `mpi_pingpong`; @sec-sure has the smallest detectable effects."
    )


def test_no_shown_crossover_does_not_mean_no_crossover():
    said = summary.sentences(run(Campaign([zmq(verdict="none"), mpi(verdict="always")])), LEADS)
    assert "Of 2 pairs of arms 1 does not cross and 1 shows no crossover (@sec-crossovers)." in said


def test_they_count_the_verdicts_on_claims():
    said = summary.sentences(run(Campaign([zmq()], estimated={"claims": [row(), unmeasured()]})), LEADS)
    assert "Of 2 published claims 1 is refuted and 1 was not measured." in said


def test_a_pair_of_a_single_launch_has_no_crossover():
    said = summary.sentences(run(Campaign([zmq(launches=1), mpi(verdict="undecided")])), LEADS)
    assert "Of 2 pairs of arms 1 is undecided and 1 was not replicated" in said


def test_an_empty_run_has_an_empty_summary():
    assert summary.sentences(run(Campaign([])), LEADS) == ""
