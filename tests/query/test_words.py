"""Are questions read as people write them, whatever they type?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.errors import CrossoverError
from crossover.query import words
from crossover.query.words import Typed, typed

QUESTIONS = {
    "copy or no-copy at 40 kB over tcp": (("copy", "no-copy", "tcp"), "40 kB", "", {}),
    "ZeroMQ stream, tcp": (("ZeroMQ", "stream", "tcp"), "", "", {}),
    "bcast on 4 ranks, 8kB": (("bcast",), "8kB", "", {"ranks": "4"}),
    "tasks for 90 %?": (("tasks",), "", "90%", {}),
    "pkl5.send or float64 arrays, 1,000 elements": (("pkl5.send", "float64", "arrays"), "1,000 elements", "", {}),
    "libzmq 4.3.4 at .5 MB": (("libzmq", "4.3.4"), ".5 MB", "", {}),
    "zmq 3 hours": (("zmq", "3", "hours"), "", "", {}),
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_amounts_are_told_from_words(text):
    assert typed(text) == Typed(*QUESTIONS[text])


def test_two_points_are_refused():
    with pytest.raises(CrossoverError, match=r"^8 kB and 1 MB are two points"):
        typed("mpi 8 kB or 1 MB")


NAMES = [
    "zmq",
    "tcp",
    "Send",
    "no-copy",
    "joblib",
    "stream",
    "arrays",
    "8 kB",
    "90 %",
    "4 ranks",
    "100",
    "or",
    "tpc",
    "?",
]


@given(st.lists(st.sampled_from(NAMES) | st.text(max_size=12), max_size=5))
def test_any_words_have_an_answer_or_an_error_of_one_line(real, parts):
    try:
        found = real[0].find(" ".join(parts))
    except CrossoverError as fault:
        assert "\n" not in str(fault)
    else:
        assert found.panels


def test_a_word_that_decides_nothing_is_named(real):
    kinds = {
        "zmq tpc": "did you mean tcp",
        "mpi4py inproc": "no measured curve has mpi4py and inproc together",
        "mpi4py arrays inproc": "ignored: inproc",
        "zmq blahblah": "is unknown in this run",
        "dask tasks": "config/README.md lists what each tier measures",
    }
    for text, note in kinds.items():
        assert [note in each for each in real[0].find(text).notes] == [True], text
    assert real[0].find("ZMQ Stream TCP").notes == []


@given(st.sampled_from(["Arrays", "no-copy", "ZMQ", "processes", "DEALER", "sends"]))
def test_a_word_in_its_usual_form_stays_so(word):
    assert words.normal(words.normal(word)) == words.normal(word)
