"""Are questions answered as an engineer means them? A line each, on the stored example: what its answer contains."""

import zipfile
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crossover
from crossover.__main__ import main
from crossover.errors import CrossoverError
from crossover.query.index import Typed, normal, synonyms, typed

EXAMPLE = Path(__file__).parents[2] / "docs/example.zip"

ANSWERS = """
how small may a task be | efficiency of at least 95 %
threads or processes | threads: not measured; `snakemake
uvloop or asyncio | uvloop / asyncio
5k tasks | at 5,000 tasks: multiprocessing.Pool, extrapolated from 128 tasks
64k | at 8,000 elements (64 kB): Send
64KiB | at 8,192 elements (65.5 kB): Send
1000 doubles | at 1,000 elements (8 kB): Send
100 empty tasks | Empty tasks on a farm: until all are done, at 100 tasks: multiprocessing.Pool
ipyparallel scheduler for 100 empty tasks | TaskScheduler.scheme_name = pure
pyzmq copy_threshold tcp | copy_threshold =
copy_treshold | copy_threshold = 316000
comm.bcast 1 MB | bcast: not measured; `snakemake
Isend vs Send 1 MB | Isend: not measured
Send not send 50kB | mpi4py arrays, at 6,250 elements (50 kB): Send
10 ms tasks | Longer tasks on a farm, at 10 ms
send or Send 50kB | Send / send at 6,250 elements
zmq ipc 40kB | ZeroMQ round trip, ipc, at 40 kB: copy
tasks 90% | efficiency of at least 90 %
mpi_pairs | mpi_pairs: not measured
dask 8 tasks | dask: not measured; `snakemake
shm 1 MB | shared memory
overhead | Empty tasks on a farm
event loop | uvloop instead of asyncio
scheduler | TaskScheduler.scheme_name
comm.Send 1 MB | mpi4py arrays
pipe or queue | Pipe / Queue at 100 B
Pipe vs shared memory at 1 MB | Pipe / shared memory
zero-copy 1 MB ipc | no-copy
copy or no-copy at 40 kB over ipc | no-copy / copy at 40 kB (ZeroMQ round trip, ipc)
copy or no-copy at 40 kB over tcp | tcp: not measured
zmq round trip 95th percentile 1kB | round trip, 95th percentile
pkl5 or Send 1 MB | pkl5.send or send may be better
mpi4py | mpi4py arrays: Send
re-sent arrays 1 MB | mpi4py arrays, re-sent
scheme_name | TaskScheduler.scheme_name
hwm | hwm: not measured
leastload or pure 100 tasks | pure / leastload at 100 tasks
which pool for 1 ms tasks | Longer tasks on a farm, at 1 ms
tasks that carry 1 MB | Tasks that carry an array, at 1 MB
submit 128 tasks | Empty tasks on a farm: submission, at 128 tasks
round trip of empty tasks | Empty tasks on a farm: until all are done
bytes between two processes 1 MB | Bytes on one host, round trips, at 1 MB
stream 1 MB one host | Bytes on one host, stream, at 1 MB: shared memory
collectives on 4 ranks | collectives: not measured
zmq 50MB | extrapolated from 1 MB
zmq 3 hours | ignored: 3, hours
bursts | bursts: not measured
DataFrame over zmq 5MB | DataFrame: not measured
what to set for asyncio event loop | uvloop instead of asyncio
which node is slow | slow: not measured
is the efficiency 95% for 10 ms tasks | ignored: 95%
minimum task length | efficiency of at least 95 %
when does zero copy pay off | ZeroMQ round trip, ipc: copy
what does starting a pool cost | program: not measured
run 100 short functions | Empty tasks on a farm: until all are done, at 100 tasks
threads | threads: not measured
quantum flux | no answer of this run
0.5 MB queue or shared memory | at 500 kB
legacy zmq 100kB | ZeroMQ round trip, legacy, ipc, at 100 kB
which is faster for 10 MB between processes, shared memory or Pipe | shared memory / Pipe at 10 MB
asyncio vs uvloop stream 100 kB | at 100 kB (Bytes on one host, stream)
zmk ipc 1kB | ignored: zmk
zmq tpc 40kB | 'tpc' is read as 'tcp'
ZeroMQ ipc or ZeroMQ tcp 1 kB | ZeroMQ tcp / ZeroMQ ipc at 1 kB
8 tasks 10 ms | ignored: 10 ms
numba 40kB | no answer of this run
float64 array of 1e6 elements | at 1,000,000 elements (8 MB): Send
uvlop or asyncio 10kB | uvloop / asyncio at 10 kB
mpi4py arays 1 MB | mpi4py arrays, at 125,000 elements
chunk 8 tasks | chunk: not measured
MPI_Send 1MB | mpi4py arrays
message struct 32 B | struct: not measured
"""

PARTS = {
    "copy or no-copy at 40 kB over tcp": Typed(("copy", "no-copy", "tcp"), ("40 kB",)),
    "bcast on 4 ranks, 8kB": Typed(("bcast",), ("8kB",), "", {"ranks": "4"}),
    "tasks for 90 %?": Typed(("tasks",), (), "90%"),
    "pkl5.send or float64 arrays, 1,000 elements": Typed(("pkl5.send", "float64", "arrays"), ("1000 elements",)),
    "libzmq 4.3.4 at .5 MB": Typed(("libzmq", "4.3.4"), (".5 MB",)),
    "zmq 3 hours": Typed(("ZeroMQ", "3", "hours")),
    "5k tasks of 10ms": Typed(("tasks",), ("5000 tasks", "10ms")),
}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The folder of results of docs/example.zip."""
    folder = tmp_path_factory.mktemp("example")
    zipfile.ZipFile(EXAMPLE).extractall(folder)
    return folder / "results"


@pytest.mark.parametrize("line", ANSWERS.strip().splitlines())
def test_a_question_is_answered(example, capsys, line):
    question, expected = line.split(" | ")
    code = main(["ask", question, "--results", str(example)])
    printed = "".join(capsys.readouterr())
    assert expected in printed
    assert code == 0 or "not measured" in printed or "no answer" in printed


def test_a_ratio_of_two_arms_comes_before_the_choice_and_beyond_an_axis_every_line_says_so(example, capsys):
    assert main(["ask", "send or Send 1MB", "--results", str(example)]) == 0
    first, *_, last = [told for told in capsys.readouterr().out.splitlines() if not told.startswith(" ")]
    assert first.startswith("Send / send at 125,000 elements (mpi4py arrays): round trip") and ", at 125,000" in last
    assert main(["ask", "50MB", "--all", "--results", str(example)]) == 0
    heads = [told for told in capsys.readouterr().out.splitlines() if not told.startswith(" ")]
    assert len(heads) > 3 and all(", extrapolated from " in told for told in heads)


def test_in_python_what_is_ignored_or_lacking_is_a_warning_and_no_match_is_an_error(example):
    run = crossover.load(example)
    with pytest.raises(CrossoverError, match="no answer of this run has a word of 'nonsense words'"):
        run.choose("nonsense words", at=3)
    with pytest.raises(CrossoverError, match="copy_threshold is a setting"):
        run.choose("copy_threshold", at=3)
    for words, note in (("kafka zmq", "ignored: kafka"), ("dask tasks", "dask: not measured"), ("arays", "is read as")):
        with pytest.warns(UserWarning, match=note):
            run.choose(words, at="8 tasks" if "tasks" in words else "40kB")


@pytest.mark.parametrize("text", PARTS)
def test_amounts_are_told_from_words(text):
    assert typed(text) == PARTS[text]


def test_two_points_of_one_axis_are_refused(example):
    with pytest.raises(CrossoverError, match=r"^8 kB and 1 MB are two points"):
        crossover.load(example).find("mpi 8 kB or 1 MB")


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


@hypothesis.example(parts=["_"])
@given(st.lists(st.sampled_from([*NAMES, *synonyms()]) | st.text(max_size=12), max_size=5))
def test_any_words_have_an_answer_or_an_error_of_one_line(real, parts):
    try:
        found = real[0].find(" ".join(parts))
    except CrossoverError as fault:
        assert "\n" not in str(fault)
    else:
        assert found.panels or found.settings


@given(st.sampled_from(["Arrays", "no-copy", "ZMQ", "processes", "DEALER", "sends"]))
def test_a_word_in_its_usual_form_stays_so(word):
    assert normal(normal(word)) == normal(word)
