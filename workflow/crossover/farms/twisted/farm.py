"""A reconstruction of IPython's task farm of 2010, before ZeroMQ: Foolscap on Twisted, over TLS.

The original program no longer runs. This one has its architecture: client, controller and engines, each an object that
the others call remotely. The client submits a task by a call (`run`) and waits for its return before the next. The
controller keeps a first-in-first-out queue, and gives an engine one task at a time, in three calls (`push`, `execute`,
`pull`). So a task takes four remote calls. A last call (`barrier`) waits for all tasks and returns the results. Unlike
its successor, it has no message signatures, no metadata and no database of tasks.

As a command, it is the controller: `python -m crossover.farms.twisted.farm HOST FILE` writes its address to FILE.
"""

import os
import pickle
import sys
import threading
from collections import deque
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from foolscap.api import Referenceable, Tub
from twisted.internet import reactor
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.threads import blockingCallFromThread

from crossover.measure.farms import Farm, Task
from crossover.measure.farms.server import Server
from crossover.measure.ranks.peers import Peers
from crossover.records import atomic


class Client(Farm):
    """The client; a reactor in a thread makes its calls."""

    def start(self) -> None:
        """Start the controller."""
        self._server = Server("twisted")
        self._file = self._server.folder / "address"
        self._server.start(["-m", __name__, self.peers.address, str(self._file)])

    def invitation(self) -> str:
        """Wait for the controller; returns its address, which is also a secret."""
        return self._server.wait_for(lambda: self._file.read_text(encoding="utf-8"))

    def join(self) -> None:
        """Connect, and wait until all engines have registered."""
        _run_reactor()
        self._tub: Any = blockingCallFromThread(reactor, _tub)
        self._controller = blockingCallFromThread(reactor, self._tub.getReference, self.invitation())
        self._call("wait_for_engines", len(self.ranks))

    def _call(self, name: str, *arguments: Any) -> Any:
        return blockingCallFromThread(reactor, self._controller.callRemote, name, *arguments)

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit; each task waits until the controller has confirmed the previous one."""
        self._pending = [self._call("run", pickle.dumps((task, argument))) for argument in arguments]

    def wait(self) -> list[Any]:
        """Wait for the results, which arrive together."""
        return [pickle.loads(result) for result in self._call("barrier", self._pending)]

    def stop(self) -> None:
        """End engines and controller."""
        self._call("stop_engines")
        blockingCallFromThread(reactor, self._tub.stopService)
        self._server.stop()


def serve(peers: Peers, address: str) -> None:
    """Run an engine until the controller stops it; the reactor takes over the main thread."""
    found = _tub().getReference(address)
    found.addCallback(lambda controller: controller.callRemote("register", _Engine())).addErrback(_die)
    reactor.run(installSignalHandlers=False)


def _tub() -> Any:
    tub = Tub()
    tub.startService()
    return tub


@cache
def _run_reactor() -> None:
    """Start the reactor in a thread; a process has only one, for all farms."""
    threading.Thread(target=reactor.run, kwargs={"installSignalHandlers": False}, daemon=True).start()


def _die(failure: Any) -> None:
    """End this process, because nobody sees the error, and the others would wait for ever."""
    failure.printTraceback()
    sys.stderr.flush()
    os._exit(1)


class _Engine(Referenceable):  # type: ignore[misc]
    """The remote interface of an engine, for the controller."""

    def remote_push(self, pickled: bytes) -> None:
        self.task, self.argument = pickle.loads(pickled)

    def remote_execute(self) -> None:
        self.result = self.task(self.argument)

    def remote_pull(self) -> bytes:
        return pickle.dumps(self.result)

    def remote_stop(self) -> None:
        reactor.callLater(0.1, reactor.stop)  # after the answer is sent


class _Controller(Referenceable):  # type: ignore[misc]
    """The remote interface of the controller, for client and engines."""

    def __init__(self) -> None:
        self.engines: list[Any] = []
        self.idle: deque[Any] = deque()
        self.queue: deque[tuple[int, bytes]] = deque()
        self.submitted = 0
        self.results: dict[int, bytes] = {}
        self.waiting: list[tuple[Any, Any]] = []

    def remote_register(self, engine: Any) -> None:
        self.engines.append(engine)
        self.idle.append(engine)
        self._look()

    def remote_wait_for_engines(self, count: int) -> Any:
        return self._when(lambda: len(self.engines) >= count)

    def remote_run(self, pickled: bytes) -> int:
        self.submitted += 1
        self.queue.append((self.submitted, pickled))
        self._dispatch()
        return self.submitted

    def remote_barrier(self, numbers: list[int]) -> Any:
        done = self._when(lambda: all(number in self.results for number in numbers))
        return done.addCallback(lambda _: [self.results.pop(number) for number in numbers])

    @inlineCallbacks  # type: ignore[untyped-decorator]
    def remote_stop_engines(self) -> Any:
        for engine in self.engines:
            yield engine.callRemote("stop")

    def _dispatch(self) -> None:
        while self.queue and self.idle:
            self._run(self.idle.popleft(), *self.queue.popleft()).addErrback(_die)

    @inlineCallbacks  # type: ignore[untyped-decorator]
    def _run(self, engine: Any, number: int, pickled: bytes) -> Any:
        yield engine.callRemote("push", pickled)
        yield engine.callRemote("execute")
        self.results[number] = yield engine.callRemote("pull")
        self.idle.append(engine)
        self._dispatch()
        self._look()

    def _when(self, condition: Any) -> Any:
        """Fires once `condition` holds."""
        deferred: Any = Deferred()
        self.waiting.append((condition, deferred))
        self._look()
        return deferred

    def _look(self) -> None:
        for entry in list(self.waiting):
            condition, deferred = entry
            if condition():
                self.waiting.remove(entry)
                deferred.callback(None)


def control(host: str, file: Path) -> None:
    """Run the controller, listening on `host` only; writes its address to `file`."""
    tub = _tub()
    port = tub.listenOn(f"tcp:0:interface={host}").getPortnum()
    tub.setLocation(f"{host}:{port}")
    address = tub.registerReference(_Controller())
    with atomic.replacing(file) as part:
        part.write_text(address, encoding="utf-8")
    reactor.run()


if __name__ == "__main__":
    control(sys.argv[1], Path(sys.argv[2]))
