"""Do commands print the same about stored runs as before? A change that is meant: pytest --snapshot-update."""

import re
import shlex
import zipfile
from pathlib import Path

import pytest
from campaigns import Campaign, mpi

from crossover.__main__ import main

GOLDEN = Path(__file__).parents[2] / "docs/example.zip"
TCP, IPC = "zmq_throughput --transport tcp --at", "zmq_throughput --pattern PUSH/PULL --transport ipc --at"

LISTS = """

--json
zmq_throughput
zmq_throughput --transport ipc --metric 'send rate' --at 1kB
task_map"""

WORDS = """
zmq tcp 40kB
'peak memory tcp 1kB'
copy_threshold --transport tcp
'Pipe or Queue'
zmq tcp 50MB
40kB
40kB --all"""

CHOICES = f"""
{TCP} 100
{TCP} 500
{TCP} 40kB
{TCP} 10kB --json
{IPC} 5kB
{IPC} 10kB
mpi_pingpong --re-sent no --at 30000
task_latency --at 8
task_scaling --work empty --at 2
async_cost --pattern PUSH/PULL --at 1kB"""

RATIOS = f"""
{TCP} 1MB --arm no-copy --than copy
{TCP} 1MB --arm copy --than no-copy
{TCP} 40kB --arm no-copy --than copy
{TCP} 40kB --arm no-copy --than copy --json
{TCP} 500 --than copy
{TCP} 1kB --arm 'C copy' --than no-copy
{TCP} 1kB --arm null --than no-copy
{TCP} 100kB --metric 'peak memory' --than copy
zmq_throughput --metric overstatement --at 1kB --than copy
zmq_latency --legacy yes --at 1kB --than copy
mpi_pingpong --at 1,000 --re-sent no --arm Send --than pkl5.send
zmq_message_size --library-version 2.2.0 --at 32 --than null"""

VALUES = f"""
{TCP} 10kB --arm copy
{TCP} 40kB --arm copy
{TCP} 10kB --arm no-copy --json
mpi_pingpong --re-sent no --at 1000 --arm memcpy
task_map 90%
task_map 95 %
copy_threshold
TaskScheduler.scheme_name"""

REFUSED = f"""
--at 40kB
zmq_throughput --arm no-copy
zmq --at 1
zmq_throughput --at 40kB
zmq_throughput --engines 4
zmq_throughput --polled maybe
zmq_throughput --transport tcp --pattern DEALER/ROUTER
zmq_bursts --at 1kB
{TCP} 40kB --metric speed
{TCP} 40kB --arm magic
{TCP} 40kB --arm magic --than copy
{TCP} 40kB --arm no-copy --than magic
{TCP} 40kB --arm copy --than copy
{TCP} 40kB --arm no-copy --than no-copy
{TCP} 40kB --than copy --placement nodes
{TCP} 2MB --arm copy
{TCP} 2MB --arm no-copy --than copy
{TCP} 99 --than copy
{TCP} 2MB
{TCP} 10kB --arm default
{TCP} 40q
task_latency --at 8 --arm ray
zmq_latency --at 100 --transport inproc
zmq_throughput 90%
task_map 90% --than pure
magic
copy_threshold --transport udp
copy_threshold --arm copy"""

SYNTHETIC = """
mpi_pingpong
mpi_pingpong --at 1
mpi_pingpong --at 1 --arm 'Send, twice'
mpi_pingpong --at 1000 --than send
mpi_pingpong --at 1 --arm Send --than 'Send, twice'"""


@pytest.fixture
def printed(capsys):
    """What commands print on a run, each after its line."""

    def run(results, commands, before=("ask",)):
        every = []
        for line in commands.strip("\n").split("\n"):
            words = [*before, *shlex.split(line)]
            main([*words, *([] if words[0] == "show" else ["--results"]), str(results)])
            every.append(" ".join(["$ crossover", *before, line]) + "\n" + "".join(capsys.readouterr()))
        return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", "\n".join(every))

    return run


@pytest.mark.parametrize(
    "asked",
    [LISTS, WORDS, CHOICES, RATIOS, VALUES, REFUSED],
    ids=["lists", "words", "choices", "ratios", "values", "no"],
)
def test_answers_on_a_stored_run_are_printed_as_before(real, printed, snapshot, asked):
    assert printed(real[0].results, asked) == snapshot


def test_answers_on_arms_of_different_points_are_printed_as_before(tmp_path, printed, snapshot):
    two = Campaign([mpi(points=[1.0, 10, 100]), mpi(arm="Send, twice", points=[10.0, 100, 1000])])
    assert printed(two.write_tables(tmp_path), SYNTHETIC) == snapshot


def test_the_answer_of_a_whole_stored_run_is_printed_as_before(tmp_path, printed, snapshot):
    with zipfile.ZipFile(GOLDEN) as packed:
        packed.extractall(tmp_path)
    whole = "show\nshow --all\nmore --dry-run\nmore zmq_latency --dry-run\nmore --launches 9\nmore magic --dry-run"
    assert printed(tmp_path / "results", whole, before=()) == snapshot
