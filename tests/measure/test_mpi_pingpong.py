"""The ping-pong's objects, their arms, and launches in which something is missing."""

import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from launching import COMMON, ENDLESS, ROOT, settings, toy_project

from crossover.design.arm import arms_of
from crossover.experiments.mpi_pingpong import PLAYING
from crossover.experiments.mpi_pingpong import driver as mpi_pingpong
from crossover.measure.messages.mpi_objects import ARRAY, Kind, Payload, payload
from crossover.records import record

RE_SENT = "float64 array, re-sent"
SETTINGS = COMMON | {
    "elements": [10],
    "objects": ["float64 array", RE_SENT, "bytes", "list of floats", "dict"],
    "thread_levels": ["multiple"],
    "players": ["rank"],
    "arms": ["send", "Send", "pkl5.send", "persistent", "send into buffer", "Send into new array"],
    "reference": "send",
    "ceilings": ["C", "memcpy"],
}
BETWEEN_ENGINES = {"players": ["engine"], "entrants": {"engine": PLAYING}}
ALIKE = [kind for kind in SETTINGS["objects"] if kind != RE_SENT]
"""Kinds for which both ranks have the same object."""


def test_an_object_that_no_chosen_arm_can_send_has_no_cell():
    buffers = SETTINGS | {"arms": ["Send", "persistent"], "reference": "Send"}
    cells = mpi_pingpong.cells(settings("mpi_pingpong", buffers))
    assert {cell.keys["object"] for cell in cells} == {"float64 array", "bytes"}


@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("elements", [1, 1000])
def test_both_ranks_have_the_same_object_and_distinguish_it_from_others(kind, elements):
    ours, theirs = Payload(kind, elements), Payload(kind, elements)
    assert ours.arrived(theirs.message)
    assert not ours.arrived(Payload(kind, elements + 1).message)
    ours.reset()
    assert not ours.arrived(None)
    ours.bytes_in[:] = theirs.bytes_out
    assert ours.arrived(None)
    ours.bytes_in[-1] ^= 1
    assert not ours.arrived(None)
    ours.bytes_in[:] = theirs.bytes_out
    ours.reset()
    assert not ours.arrived(None)
    assert not ours.arrived(str(theirs.message))
    other = theirs.message
    if kind == "bytes":
        other = other[:-1] + bytes([other[-1] ^ 1])
    else:
        other["entry 0" if kind == "dict" else 0] += 1
    assert not ours.arrived(other)


@pytest.mark.parametrize("kind", ["float64 array", "bytes"])
def test_a_buffer_is_sent_without_a_copy_and_received_like_the_ceilings(kind):
    present = Payload(kind, 1000)
    assert len(present.bytes_out) == len(present.bytes_in) == 8000
    assert np.shares_memory(present.bytes_out, np.frombuffer(present.message, np.uint8))
    assert np.shares_memory(present.inbox, present.bytes_in)


def re_sent(elements):
    return [payload(Kind(ARRAY, re_sent=True), elements, rank) for rank in (0, 1)]


@pytest.mark.parametrize("elements", [1, 1000])
def test_each_rank_notices_if_no_re_sent_array_or_not_the_last_one_arrived(elements):
    first, second = re_sent(elements)
    for _ in range(2):
        second.message[:] = first.message
        second.mark()
        first.message[:] = second.message
        assert first.arrived(None) and second.arrived(None)
        first.reset()
        second.reset()
    first, second = re_sent(elements)
    memory = [first.message, first.inbox, first.bytes_out, first.bytes_in]
    assert len({piece.ctypes.data for piece in memory}) == 1 and {piece.nbytes for piece in memory} == {8 * elements}
    assert not first.arrived(None) and not second.arrived(None)
    # The second rank received nothing, so it sends its own array.
    second.mark()
    assert not second.arrived(None)
    first.message[:] = second.message
    assert not first.arrived(None)
    first, second = re_sent(elements)
    # The first rank received the array that it had sent, but not the last message.
    second.message[:] = first.message
    assert not first.arrived(None)
    first, second = re_sent(elements)
    own = second.message.copy()
    assert second.arrived(first.message.copy()) and not second.arrived(own)
    assert not first.arrived(own), "without the mark it is not the last message"
    second.mark()
    assert first.arrived(second.message.copy()) and not first.arrived(first.message.copy())
    assert not first.arrived(second.message.tolist())


@pytest.fixture
def game(launch, tmp_path):
    """Prepares a launch; `constants` are changes of the code."""

    def prepare(libraries=(), constants=None, **changes):
        root = toy_project(tmp_path / "project", **constants) if constants else ROOT
        return launch("mpi_pingpong", SETTINGS | changes, libraries=libraries, root=root)

    return prepare


def before_match(text):
    """A change of the code that lets both ends do this before they choose their arm."""
    return {"before": ("measure/messages/mpi_objects.py", "    match arm:", f"{text}    match arm:")}


PLAYERS = pytest.mark.parametrize(
    "ends", [{}, pytest.param(BETWEEN_ENGINES, marks=pytest.mark.long)], ids=["plain ranks", "engines"]
)


@PLAYERS
def test_a_ceiling_without_its_library_has_a_reason_and_all_else_is_measured(game, tmp_path, ends):
    reason = "no C compiler 'cc' was found; install one"
    broken = tmp_path / "mpi_exchange.so"
    broken.write_text(f"{reason}\n")
    one = game([broken], objects=["float64 array"], **ends)
    assert one.run() == 0, one.log.read_text()
    rows = one.rows
    told = {arm: {row["validity"] for row in rows if row["arm"] == arm} for arm in ("C", "memcpy")}
    assert told["C"] == {reason}
    assert all("no library memory_copy" in said for said in told["memcpy"])
    assert {row["value"] is None for row in rows if row["ceiling"]} == {True}
    others = {row["arm"] for row in rows if row["value"] is not None}
    assert others == {arm.name for arm in arms_of(settings("mpi_pingpong", SETTINGS)) if not arm.ceiling}


def test_mpi_at_another_thread_level_than_requested_is_not_measured():
    script = """
from mpi4py import rc
rc.thread_level = "{given}"
from crossover.measure.ranks.peers import Peers
Peers("node", 1, 1, lambda: dict(host="here", address="")).require_thread_level("{asked}")
"""
    for given, asked, refused in [("single", "single", False), ("multiple", "single", True)]:
        command = [sys.executable, "-c", script.format(given=given, asked=asked)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode != 0) is refused, done.stderr
        assert ("MPI runs at thread level multiple instead of single" in done.stderr) is refused


def test_a_launch_runs_at_the_thread_level_of_its_settings(game):
    """Another than the usual one."""
    one = game(objects=["dict"], thread_levels=["single"], ceilings=[], arms=["send", "pkl5.send"])
    assert one.run() == 0, one.log.read_text()
    assert set(one.table["protocol"].to_pylist()) == {"dict, thread level single, fresh memory"}
    assert ["thread level single" in rank["mpi"].lower() for rank in record.metadata(one.table)["ranks"]] == 2 * [True]


# ---- between engines


SMALL = {"objects": ["float64 array"], "arms": ["send", "Send"], "ceilings": []}


def assert_without_a_number(one):
    """The launch is a hole only if no block of any arm has a value."""
    reason = r"; (\d+) of \1 values are missing because: lost or damaged messages"
    assert re.search(reason, one.hole("exception"))


@PLAYERS
def test_wrong_messages_give_no_number(game, ends):
    seed = "np.random.default_rng(elements)"
    different = {"seed": ("measure/messages/mpi_objects.py", seed, "np.random.default_rng()")}
    assert_without_a_number(game(constants=different, **SMALL, **ends))


ASTRAY = """\
    class Astray(MPI.Intracomm):
        def Recv(self, buffer, *of):
            super().Recv(bytearray(buffer.nbytes), *of)

        def Recv_init(self, buffer, *of):
            return super().Recv_init(bytearray(buffer.nbytes), *of)

        def recv(self, *of):
            super().recv(*of)
            return payload.message

    if comm.rank == {rank}:
        comm = Astray(comm)
"""
"""At one end, messages are received into an unused buffer, so that end sees its own array instead."""


@pytest.mark.parametrize("rank", [0, 1])
def test_a_re_sent_message_that_never_arrives_gives_no_number(game, rank):
    re_sent = {"objects": [RE_SENT], "arms": ["send", "Send", "persistent", "Send into new array"]}
    assert_without_a_number(game(constants=before_match(ASTRAY.format(rank=rank)), **SMALL | re_sent))


def test_engines_play_in_their_main_thread(game):
    one = game(constants=before_match("    assert MPI.Is_thread_main()\n"), **SMALL, **BETWEEN_ENGINES)
    assert one.run() == 0
    label = "float64 array, thread level multiple, between engines, fresh memory"
    assert set(one.table["protocol"].to_pylist()) == {label}


def test_an_error_in_one_engine_is_reported_and_ends_the_launch_while_the_other_waits(game):
    broken = before_match("    if comm.rank:\n        raise RuntimeError('one end is broken')\n")
    one = game(constants=broken, **SMALL, **BETWEEN_ENGINES)
    assert "one end is broken" in one.hole("crashed")


def test_an_engine_that_hangs_makes_the_launch_a_hole_that_leaves_nothing(game):
    limit = {"limit": ("measure/launch/conduct.py", "BLOCK_LIMIT_SECONDS = 120", "BLOCK_LIMIT_SECONDS = 3")}
    one = game(constants=limit, **SMALL | BETWEEN_ENGINES | ENDLESS | {"elements": [1, 2, 3], "budget_seconds": 15})
    one.start_measuring()
    next(rank for rank in one.ranks() if rank.environ()["PMI_RANK"] == "2").send_signal(signal.SIGSTOP)
    assert "Timeout" in one.hole("crashed")
