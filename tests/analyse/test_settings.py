"""Do the settings agree with the libraries and their defaults, and do the snippets work?"""

import ast
import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import numpy as np
import pytest
import zmq
from ipyparallel.controller.task_scheduler import TaskScheduler
from jupyter_client.session import Session
from mpi4py import MPI
from traitlets.config import Config, PyFileConfigLoader

from crossover.analyse.tables import recommend
from crossover.analyse.tables.recommend import SETTINGS, snippet
from crossover.config import schema
from crossover.design import farms
from crossover.design.experiments import declared
from crossover.experiments.zmq_throughput import PYZMQ_THRESHOLD_BYTES

SIZE = 12345
CONFIG = schema.complete({"tier": "paper"})
EXTRAS = {entrant for farm in farms.declared().values() if farm.extra for entrant in farm.arms}
"""They are measured by those who install them."""


def ids(setting):
    return setting.name


def snippets(name):
    """The lines to paste, for each arm of a setting; from SIZE on where an arm can be used from a point on."""
    setting = next(setting for setting in SETTINGS if setting.name == name)
    everywhere = {arm: snippet(setting.snippet, arm, value) for arm, value in setting.values.items()}
    return everywhere | {arm: snippet(setting.beyond, arm, SIZE) for arm in setting.beyond}


def values_of(name):
    return next(setting.values for setting in SETTINGS if setting.name == name)


@pytest.mark.parametrize("setting", SETTINGS, ids=ids)
def test_some_tier_measures_the_arms_of_a_setting_and_users_choose_by_a_metric_there(setting):
    experiment = declared()[setting.experiment]
    asked = CONFIG.experiments[setting.experiment]
    assert {setting.default, *setting.values} - EXTRAS <= {*asked.arms, asked.reference}
    assert experiment.questions and not {*setting.values} & {*experiment.diagnostic}
    assert {*setting.beyond} <= {*setting.values}
    assert [(other.library, other.name) for other in SETTINGS].count((setting.library, setting.name)) == 1
    assert not {"send rate", "overstatement", "peak memory"} & {*experiment.questions}, "nobody chooses by these"
    assert zmq.COPY_THRESHOLD == PYZMQ_THRESHOLD_BYTES and signature(zmq.Socket.send).parameters["copy"].default is True


@pytest.mark.parametrize(
    ("option", "key", "default"),
    [(TaskScheduler.scheme_name, "scheme", None), (TaskScheduler.hwm, "hwm", 0), (Session.packer, "packer", "json")],
)
def test_the_value_of_a_choice_is_its_entrants_configuration(option, key, default):
    name = f"{option.this_class.__name__}.{option.name}"
    assert name in {setting.name for setting in SETTINGS}
    for setting in (setting for setting in SETTINGS if setting.name == name):
        entrants = {arm: CONFIG.farms[arm] for arm in (setting.default, *setting.values)}
        values = {arm: entrant.get(key, default) for arm, entrant in entrants.items()}
        assert values == {setting.default: option.default_value} | setting.values
        others = [{k: v for k, v in entrant.items() if k != key} for entrant in entrants.values()]
        assert all(other == others[0] for other in others), "only the setting may differ"


@pytest.mark.parametrize("setting", SETTINGS, ids=ids)
def test_every_value_has_a_snippet_that_python_can_read(setting):
    for text in snippets(setting.name).values():
        ast.parse(text)
        assert "{value}" not in text


def test_the_threshold_applies_to_one_socket_and_the_comment_explains_all_sockets(monkeypatch):
    monkeypatch.setattr(zmq, "COPY_THRESHOLD", zmq.COPY_THRESHOLD)
    line = snippets("copy_threshold")["no-copy"].splitlines()[0]
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket, context.socket(zmq.PUSH) as other:
        exec(line, {"socket": socket})
        assert (socket.copy_threshold, other.copy_threshold) == (SIZE, PYZMQ_THRESHOLD_BYTES)
        exec(line.partition("for all later sockets: ")[2], {"zmq": zmq})
        with context.socket(zmq.PUSH) as later:
            assert (later.copy_threshold, other.copy_threshold) == (SIZE, PYZMQ_THRESHOLD_BYTES)


@pytest.mark.parametrize(("size_bytes", "lent"), [(SIZE - 1, False), (SIZE, True)])
def test_a_message_is_lent_from_the_threshold_on_and_copied_below(size_bytes, lent):
    message = b"x" * size_bytes
    with zmq.Context() as context, context.socket(zmq.PAIR) as socket, context.socket(zmq.PAIR) as other:
        socket.bind("inproc://here")
        other.connect("inproc://here")
        before = sys.getrefcount(message)
        exec(snippets("copy_threshold")["no-copy"], {"socket": socket, "message": message})
        assert (sys.getrefcount(message) > before) == lent, "the library must hold a lent message"
        assert other.recv() == message


@pytest.mark.parametrize("name", ["TaskScheduler.scheme_name", "TaskScheduler.hwm", "Session.packer"])
def test_a_configuration_file_sets_its_option(tmp_path, name):
    owner, option = name.split(".")
    for arm, value in values_of(name).items():
        text = snippets(name)[arm]
        (tmp_path / "ipcontroller_config.py").write_text(f"c = get_config()\n{text}")
        config = PyFileConfigLoader("ipcontroller_config.py", path=str(tmp_path)).load_config()
        if value == "pure":
            # This value starts no Python scheduler; the controller itself opens two sockets.
            assert "TaskScheduler.scheme_name" in config and config.TaskScheduler.scheme_name == value
            assert value in TaskScheduler.scheme_name.values
            continue
        made = {"TaskScheduler": TaskScheduler, "Session": Session}[owner](config=Config(config))
        assert getattr(made, option) == value
        if owner == "Session":
            assert made.unpack(made.pack({"a": 1})) == {"a": 1}


@pytest.mark.parametrize(("kind", "decided"), [("float64 array", True), ("DataFrame", False), ("uint8 frame", False)])
def test_lines_for_an_array_are_recommended_for_float64_arrays_alone(monkeypatch, kind, decided):
    setting = next(each for each in SETTINGS if each.name == "frame of an array")
    facts = {"experiment": "array_transfer", "axis_unit": "bytes", "object": kind}
    monkeypatch.setattr(recommend, "decide", lambda setting, question: {"reason": "decided"})
    rows = recommend.recommendations(setting, [SimpleNamespace(facts=facts, arms=setting.arms)], [])
    assert [row["reason"] == "decided" for row in rows] == [decided]


@pytest.mark.parametrize("arm", ["out of band no-copy", "header and buffer"])
@pytest.mark.parametrize("size", [SIZE - SIZE % 8 - 8, SIZE + 8])
def test_an_array_of_any_size_arrives_as_it_was_sent(arm, size):
    array = np.arange(size // 8, dtype=float).reshape(1, -1)
    with zmq.Context() as context, context.socket(zmq.PAIR) as socket, context.socket(zmq.PAIR) as other:
        socket.bind("inproc://here")
        other.connect("inproc://here")
        exec(snippets("frame of an array")[arm], ends := {"socket": socket})
        exec(snippets("frame of an array")[arm], others := {"socket": other})
        ends["send"](array)
        frames = 1 if array.nbytes < SIZE else 2
        received = others["receive"]()
        assert np.array_equal(received, array) and received.dtype == array.dtype
        ends["send"](array)
        assert len(other.recv_multipart()) == frames


def test_pipes_event_loops_and_collective_calls_do_what_they_say():
    exec(snippets("Pipe or Queue")["Pipe"], scope := {"message": b"words"})
    assert scope["received"] == b"words"
    loops = []

    async def main():
        loops.append(type(asyncio.get_running_loop()).__module__)

    # In a thread, because another test's browser may have left its loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(exec, snippets("event loop")["uvloop"], {"main": main}).result()
    assert loops == ["uvloop"]
    array = np.arange(3.0)
    scope = {"total": np.empty_like(array), "all_arrays": np.empty((1, 3)), "array": array, "root": 0}
    exec(snippets("Allreduce, Bcast, Allgather")["buffer"], scope | {"comm": MPI.COMM_SELF})
    assert np.array_equal(scope["total"], array) and np.array_equal(scope["all_arrays"], [array])


def ranks(count, *program):
    """Run a program of MPI, in a session of its own: MPICH ends the whole process group of a program that spawns."""
    command = [Path(sys.executable).with_name("mpiexec"), "-n", str(count), sys.executable, "-m", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, start_new_session=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_farm_runs_tasks(monkeypatch, tmp_path):
    found = {next(iter(farm.arms)): farm.snippet for farm in farms.declared().values() if farm.snippet}
    program = tmp_path / "program.py"
    lines = f"function, items, workers = abs, [-1, -2], 2\n{found.pop('mpi4py.futures')}\nprint(results)\n"
    program.write_text(f"if __name__ == '__main__':\n{_indented(lines)}", encoding="utf-8")
    assert ranks(1, "mpi4py.futures", program) == "[1, 2]\n"
    client = create_autospec(pytest.importorskip("distributed").Client)
    monkeypatch.setattr("distributed.Client", client)
    for value, text in found.items():
        newer = value == "interpreters" and sys.version_info < (3, 14)
        if value in EXTRAS or newer:
            compile(text, value, "exec")
            continue
        exec(text, scope := {"function": abs, "items": [-1, -2], "workers": 2})
        if value != "dask":
            assert scope["results"] == [1, 2]
    (options,) = [call.kwargs for call in client.call_args_list]
    assert options["n_workers"] == 2 and options["dashboard_address"] is None


PAIR = """
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
destination = source = 1 - comm.rank
for length in ({size} - 1, {size}):
    array = np.arange(length, dtype=float)
    empty = np.zeros(length)
{body}
    assert (empty[-1] == length - 1) == (comm.rank == 1), (length, empty[-1])
"""

BODIES = {
    "Send": "{snippet}\nif comm.rank == 0:\n    send(array, 1)\nelse:\n    receive(empty, 0)\n",
    "pkl5.send": "from mpi4py.util import pkl5\nif comm.rank == 0:\n{indented}else:\n"
    "    empty[...] = pkl5.Intracomm(comm).recv(source=0)\n",
    "Send_init": "if comm.rank == 0:\n{indented}else:\n"
    "    other = comm.Recv_init(empty, 0)\n    other.Start()\n    other.Wait()\n",
}


@pytest.mark.parametrize("name", BODIES)
def test_between_two_ranks_an_array_arrives(tmp_path, name):
    snippet = snippets("Send_init")["persistent"] if name == "Send_init" else snippets("send, Send or pkl5")[name]
    body = BODIES[name].format(snippet=snippet, indented=_indented(snippet))
    program = tmp_path / "pair.py"
    program.write_text(PAIR.format(size=SIZE, body=_indented(body)))
    ranks(2, "mpi4py", program)


def _indented(text):
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))
