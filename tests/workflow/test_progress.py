"""Does a run show its progress: a line that moves in a terminal, a line per launch through a pipe?"""

import logging
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_crossover import handler as plugin
from snakemake_logger_plugin_crossover import tally
from snakemake_logger_plugin_crossover.tally import Tally

FIRST, SECOND = ("zmq_throughput", "node", 1), ("zmq_throughput", "node", 2)
RUN = plugin.Run(
    seconds=dict.fromkeys((FIRST, SECOND), 30.0),
    took=lambda key: 29.0,
    ended=lambda key: (True, "measured in 29 s") if key == FIRST else (False, "not measured (timed out): too slow"),
    result=lambda experiment: f"{experiment}: copy wins",
    duration=lambda seconds: f"{seconds:.0f} s",
)


@pytest.fixture
def shown(monkeypatch):
    """Prepares a handler; its console is `console`."""
    made = []

    def prepare(terminal=False, verbose=False):
        settings = SimpleNamespace(verbose=verbose, dryrun=False)
        handler = plugin.LogHandler(settings, None)
        handler._console = Console(record=True, force_terminal=terminal, width=100, highlight=False, soft_wrap=True)
        made.append(handler)
        return handler

    yield prepare
    for handler in made:
        handler.close()


def tell(handler, event, level=logging.INFO, message="", **facts):
    record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    vars(record).update(facts, event=event)
    handler.emit(record)


def start(handler, number, key, log):
    experiment, placement, launch = key
    tell(
        handler, LogEvent.JOB_INFO, jobid=number, rule_name="launch", rule_msg="Measuring", log=[str(log)],
        wildcards={"experiment": experiment, "placement": placement, "launch": str(launch)},
    )  # fmt: skip


def begin_both(handler, log, **changes):
    """Begin a run whose two launches are under way."""
    plugin.begin(replace(RUN, due=(FIRST, SECOND), **changes))
    for number, key in enumerate((FIRST, SECOND)):
        start(handler, number, key, log)


def text(handler):
    return handler._console.export_text(clear=False)


def test_through_a_pipe_every_launch_has_a_line_and_holes_their_reason(shown, tmp_path):
    handler = shown()
    handler.steps = 4
    begin_both(handler, tmp_path / "log")
    for number in (0, 1):
        tell(handler, LogEvent.JOB_FINISHED, job_id=number)
    lines = text(handler).splitlines()
    assert lines[0].startswith("[1 of 2] zmq_throughput node, launch 1: measured in 29 s; about ")
    assert lines[1].startswith("[2 of 2] zmq_throughput node, launch 2: not measured (timed out): too slow; about ")


def test_in_a_terminal_only_holes_and_results_have_lines(shown, tmp_path):
    handler = shown(terminal=True)
    handler.steps = 1
    plugin.begin(replace(RUN, due=(FIRST, SECOND)))
    start(handler, 1, FIRST, tmp_path / "log")
    assert "[----------------]" in handler._line().plain
    assert "zmq_throughput node, launch 1" in handler._line().plain
    tell(handler, LogEvent.JOB_FINISHED, job_id=1)
    step = {"rule_name": "tables", "rule_msg": "Deriving", "log": [], "wildcards": {"experiment": "zmq_throughput"}}
    tell(handler, LogEvent.JOB_INFO, jobid=2, **step)
    assert "Deriving" in handler._line().plain
    tell(handler, LogEvent.JOB_FINISHED, job_id=2)
    assert "Deriving" not in handler._line().plain
    plugin.end()
    assert "measured in 29 s" not in text(handler)
    assert "zmq_throughput: copy wins" in text(handler)


def test_a_silence_through_a_pipe_ends_with_what_is_under_way(shown):
    handler = shown()
    plugin.begin(replace(RUN, due=()))
    handler.progress()
    tell(handler, LogEvent.JOB_INFO, jobid=1, rule_name="build", rule_msg="Building a library", log=[], wildcards={})
    tell(handler, LogEvent.JOB_INFO, jobid=2, rule_name="report", rule_msg="Making the page", log=[], wildcards={})
    tell(handler, LogEvent.JOB_FINISHED, job_id=2)
    handler.progress()
    handler.progress()
    assert text(handler) == "under way: Building a library\n"


def failing(launches, job):
    """In place of the run's own words."""
    return launches[-1], f"one of {len(launches)} in job {job}"


def test_a_failed_launch_is_named_once(shown, tmp_path):
    handler = shown()
    plugin.begin(replace(RUN, due=(FIRST,), failed=failing))
    start(handler, 1, FIRST, tmp_path / "log")
    own = {"rule_name": "launch", "rule_msg": None, "log": [], "aux": {"external_jobid": "17"}}
    tell(handler, LogEvent.JOB_ERROR, logging.ERROR, jobid=1, **own)
    assert text(handler) == "failed: zmq_throughput node, launch 1: one of 1 in job 17\n"


@pytest.mark.parametrize("fails", [False, True])
def test_a_step_is_told_by_its_log_and_if_it_failed_by_its_reason_and_the_next_step(shown, tmp_path, fails):
    handler, log = shown(), tmp_path / "log"
    log.write_text("first\nthe disk is full\n")
    own = {"rule_name": "build", "rule_msg": "Building", "log": [str(log)], "wildcards": {}}
    tell(handler, LogEvent.JOB_INFO, jobid=1, **own)
    if fails:
        tell(handler, LogEvent.JOB_ERROR, logging.ERROR, jobid=1, **own)
        assert text(handler) == f"failed: Building: the disk is full (log: {log}); to retry, repeat the command\n"
    else:
        tell(handler, LogEvent.JOB_FINISHED, job_id=1)
        assert text(handler) == log.read_text()


def test_of_a_failed_batch_only_the_launches_that_were_not_done_have_failed(shown, tmp_path):
    handler = shown()
    begin_both(handler, tmp_path / "log", written=lambda key: key == FIRST, failed=failing)
    jobs = [{"jobid": 0}, {"jobid": 1}]
    for _ in range(2):
        tell(handler, LogEvent.GROUP_ERROR, logging.ERROR, groupid="s1h1r0b1", external_jobid="3", job_error_info=jobs)
        for number in (0, 1):
            tell(handler, LogEvent.JOB_ERROR, logging.ERROR, jobid=number, rule_name="launch", rule_msg=None, log=[])
    assert text(handler).splitlines() == ["failed: zmq_throughput node, launch 2: one of 1 in job 3"] * 2


def test_a_launch_counts_as_done_while_its_job_measures_others(shown, tmp_path):
    handler = shown(terminal=True)
    begin_both(handler, tmp_path / "log", written=lambda key: key == FIRST)
    assert "[########--------]" in handler._line().plain


def test_snakemakes_chatter_is_hidden_but_not_its_warnings_and_errors(shown):
    handler = shown()
    tell(handler, None, message="Building DAG of jobs...")
    tell(handler, LogEvent.RUN_INFO, message="Job stats")
    tell(handler, None, message="Nothing to be done (all requested files are present and up to date).")
    tell(handler, None, logging.WARNING, "the file system is slow")
    own = {"pathname": "/lib/snakemake_executor_plugin_slurm/__init__.py"}
    tell(handler, None, logging.WARNING, "Could not retrieve node information for job 7", **own)
    tell(handler, LogEvent.ERROR, logging.ERROR, "MissingRuleException: no rule")
    assert text(handler).splitlines() == [
        "Nothing to be done (all requested files are present and up to date).",
        "the file system is slow",
        "MissingRuleException: no rule",
    ]
    # Verbose brings it back.
    handler = shown(verbose=True)
    tell(handler, None, message="Building DAG of jobs...")
    assert text(handler) == "Building DAG of jobs...\n"


def test_a_fault_of_the_display_does_not_end_it(shown, tmp_path, capsys):
    handler = shown()
    plugin.begin(plugin.Run(due=(FIRST,), seconds={FIRST: 1.0}, ended=lambda _: 1 / 0))
    start(handler, 1, FIRST, tmp_path / "log")
    tell(handler, LogEvent.JOB_FINISHED, job_id=1)
    assert "ZeroDivisionError" in capsys.readouterr().err
    tell(handler, None, logging.WARNING, "still here")
    assert text(handler) == "still here\n"


def test_the_time_left_is_what_earlier_launches_of_a_kind_took(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(tally.time, "monotonic", lambda: now[0])
    third = ("mpi_pingpong", "node", 1)
    counted = Tally({FIRST: 30.0, SECOND: 60.0, third: 10.0}, wall_seconds=100.0)
    # The time in the queue is no part of it.
    assert (counted.share, counted.seconds_left) == (0, 100)
    now[0] = 500.0
    assert counted.seconds_left == 100
    # Twice as slow as expected: so is the next of its kind, and another kind has its pace.
    counted.done[FIRST] = 60.0
    assert counted.seconds_left == pytest.approx(60 + 20)
    assert counted.share == pytest.approx(60 / 140)
    # It falls with the clock, but not to nothing while a launch may wait.
    now[0] = 510.0
    assert counted.seconds_left == pytest.approx(70)
    now[0] = 900.0
    assert counted.seconds_left == pytest.approx(40)
    counted.done |= {SECOND: 60.0, third: 5.0}
    assert (counted.share, counted.seconds_left) == (1, 0)
    assert Tally().share == 1


def test_the_time_left_is_shorter_where_launches_are_side_by_side_and_counts_steps():
    counted = Tally({FIRST: 30.0, SECOND: 30.0}, steps=4, wall_seconds=30.0)
    assert counted.seconds_left == 30 + 4 * tally.STEP_SECONDS
    counted.steps_done = 3
    assert counted.seconds_left == pytest.approx(30 + tally.STEP_SECONDS, abs=0.1)
