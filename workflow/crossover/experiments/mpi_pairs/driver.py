"""A round-robin tournament of ping-pong between ranks on a host each, with `Send` and `Recv` of buffers.

In each round every rank has one opponent (of an odd number of ranks, one has none). A block is one round: all pairs at
once, or one after another while the others sleep. Blocks of an arm continue its tournament, and begin it again after
the last round. Each launch draws the order of its tournament; its rows say who played.

- latency = half the time of a round trip, of a pair.
- bandwidth = bytes of a message / half the time of a round trip / 10^6, of a pair.

A block's own value is the median over its pairs. A pair begins with untimed trips, in which its two ends meet. Each end
checks the last message, which differs from rank to rank.

Ranks that do not play poll MPI for the next command and sleep in between, as in the experiment on ping-pong.
"""

import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from random import Random
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.mpi_pairs import ALONE, BANDWIDTH, LATENCY, LONGEST_BYTES, Settings
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block, Pair

Ranks = tuple[int, int]
"""Two opponents, the smaller number first."""

LEAD_IN = 8
"""A pair plays n // LEAD_IN + 1 untimed trips before `n` timed ones."""

SHORTEST_SLEEP_SECONDS, LONGEST_SLEEP_SECONDS = 5e-5, 2e-3
"""The time between two polls of MPI by a rank that waits. It grows, because polls disturb those that play where hosts
share a processor or a switch, and starts anew with each wait, because the next command often follows at once."""

ALL = -1
"""In place of the number of a pair: all pairs of the round."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per size of a message."""
    return [Cell({"ranks": settings.ranks}, size) for size in settings.message_bytes]


def tournament(players: int, rounds: int, seed: int) -> list[list[Ranks]]:
    """The pairs of so many rounds, in which nobody has the same opponent twice, in an order drawn from `seed`.

    The rounds are those of the circle method, or a part of them: one player stays, and the others move on by one place
    from round to round. There are `players` - 1 of them, and `players` if that is odd.

    >>> rounds = tournament(4, 3, seed=1)
    >>> sorted(pair for each in rounds for pair in each)
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    random = Random(seed)
    places: list[int | None] = [*random.sample(range(players), players), *([None] if players % 2 else [])]
    ring, half = places[1:], len(places) // 2
    drawn = []
    for turn in random.sample(range(len(ring)), min(rounds, len(ring))):
        order = [places[0], *ring[turn:], *ring[:turn]]
        opponents = zip(order[:half], reversed(order[half:]), strict=True)
        pairs = [(min(a, b), max(a, b)) for a, b in opponents if a is not None and b is not None]
        drawn.append(random.sample(pairs, len(pairs)))
    return drawn


class Player:
    """One rank, with the tournament that all ranks have drawn."""

    def __init__(self, peers: Peers, settings: Settings):
        peers.require_apart()
        self.comm, self.rank = peers.comm.Dup(), peers.rank
        self.seed = int(peers.comm.bcast(secrets.randbits(32)))
        self.rounds = tournament(peers.size, settings.tournament_rounds, self.seed)

    def play(self, size: int, n: int, pairs: Sequence[Ranks]) -> NDArray[np.float64] | None:
        """Play `n` round trips of `size` bytes if this rank is in one of the `pairs`, which all play at once.

        Several pairs begin together, because commands reach some ranks milliseconds later than others. Nobody spins
        before: where hosts share processors, the system would let those that did wait afterwards.
        Returns, on rank 0, a row for each rank: the seconds of the trips as its end saw them, and 1 if its last message
        arrived undamaged; NaN for ranks that did not play.
        """
        outcome = np.full(2, np.nan)
        if len(pairs) > 1:
            self._sleep_until(self.comm.Ibarrier(), growth=1.0)
        for pair in pairs:
            if self.rank in pair:
                outcome[:] = self._bounce(pair, size, n)
        every = np.empty((self.comm.size, 2)) if self.rank == 0 else None
        self._sleep_until(self.comm.Igather(outcome, every, root=0))
        return every

    def _bounce(self, pair: Ranks, size: int, n: int) -> tuple[float, bool]:
        first, second = pair
        other = second if self.rank == first else first
        ours, inbox = message(self.rank, size), np.zeros(size, np.uint8)
        send, receive = self.comm.Send, self.comm.Recv
        out, into = [ours, size, MPI.BYTE], [inbox, size, MPI.BYTE]

        def trips(count: int) -> float:
            began = time.perf_counter()
            if self.rank == first:
                for _ in range(count):
                    send(out, other)
                    receive(into, other)
            else:
                for _ in range(count):
                    receive(into, other)
                    send(out, other)
            return time.perf_counter() - began

        trips(n // LEAD_IN + 1)
        inbox[:] = 0
        seconds = trips(n)
        return seconds, bool(np.array_equal(inbox, message(other, size)))

    def command(self, *words: int) -> list[int]:
        """Broadcast (bytes, trips, round, pair) from rank 0. Other ranks give no words, and sleep until they arrive."""
        buffer = np.array(words or (0, 0, 0, 0), dtype=np.int64)
        self._sleep_until(self.comm.Ibcast(buffer, root=0))
        return [int(word) for word in buffer]

    def pairs(self, number: int, which: int) -> Sequence[Ranks]:
        """The pairs of a round that play at once: ALL, or the one with this number."""
        every = self.rounds[number]
        return every if which == ALL else every[which : which + 1]

    def obey(self) -> None:
        """On ranks other than 0: play until stopped."""
        while (words := self.command())[0]:
            size, n, number, which = words
            self.play(size, n, self.pairs(number, which))

    @staticmethod
    def _sleep_until(request: Any, growth: float = 1.5) -> None:
        pause = SHORTEST_SLEEP_SECONDS
        while not request.Test():
            time.sleep(pause)
            pause = min(growth * pause, LONGEST_SLEEP_SECONDS)


PERIOD = 251
"""The bytes of messages repeat after so many, a prime number."""


def message(rank: int, size: int) -> NDArray[np.uint8]:
    """The bytes that a rank sends; none is 0, as in a cleared inbox."""
    return _pattern(size)[rank % PERIOD :][:size]


@lru_cache
def _pattern(size: int) -> NDArray[np.uint8]:
    return np.resize(np.arange(1, PERIOD + 1, dtype=np.uint8), size + PERIOD)


class Tournament:
    """Rank 0: commands the rounds, and plays in them."""

    def __init__(self, player: Player, settings: Settings):
        self.player, self.most_alone = player, settings.alone_pairs
        self.notes = f"the seed of its tournament is {player.seed}"
        self.blocks: Counter[tuple[int, str]] = Counter()

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Play the next round of the arm in this cell."""
        passed, number = divmod(self.blocks[cell.x, arm.name], len(self.player.rounds))
        self.blocks[cell.x, arm.name] += 1
        chosen = [ALL]
        if arm.runs == ALONE:
            every = len(self.player.rounds[number])
            # Each pass through the tournament has the next pairs of a round.
            chosen = [(passed * self.most_alone + step) % every for step in range(min(self.most_alone, every))]
        played = [self._played(cell.x, n, number, which) for which in chosen]
        pairs = [pair for _, some in played for pair in some]
        metric = metric_of(cell.x)
        values = [pair.values[metric] for pair in pairs if pair.values]
        seconds = max(longest for longest, _ in played)
        return Block(seconds, {metric: median(values)} if values else {}, "" if values else DAMAGED, pairs)

    def _played(self, size: int, n: int, number: int, which: int) -> tuple[float, list[Pair]]:
        """The longest time of a pair, and the results of those that play at once."""
        self.player.command(size, n, number, which)
        pairs = self.player.pairs(number, which)
        every = self.player.play(size, n, pairs)
        assert every is not None, "rank 0 has the results"
        return max(every[first, 0] for first, _ in pairs), [self._result(every, pair, size, n) for pair in pairs]

    @staticmethod
    def _result(every: NDArray[np.float64], pair: Ranks, size: int, n: int) -> Pair:
        first, second = pair
        if not (every[first, 1] and every[second, 1]):
            return Pair(pair, fault=DAMAGED)
        way = float(every[first, 0]) / n / 2
        return Pair(pair, {metric_of(size): way if metric_of(size) == LATENCY else size / way / 1e6})


def metric_of(size: int) -> str:
    """The metric of messages of so many bytes."""
    return LATENCY if size <= LONGEST_BYTES else BANDWIDTH


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Tournament]:
    """Draw the tournament, and stop the other ranks at the end."""
    player = Player(peers, settings)
    yield Tournament(player, settings)
    player.command(0, 0, 0, 0)


def serve(peers: Peers, settings: Settings) -> None:
    """Play on every other rank until stopped."""
    Player(peers, settings).obey()
