"""Does the page name a slow host, and the terminal too?"""

from dataclasses import replace

import pytest
from campaigns import Campaign, mpi, run

from crossover.experiments import leads
from crossover.records import record
from crossover.report.pages import terminal
from crossover.report.pages.index import Page
from crossover.report.text import machine
from crossover.report.text.tables import Tables, load

SLOW = {
    "experiment": "mpi_pingpong", "placement": "nodes", "protocol": "float64 array", "metric": "round trip",
    "host": "node2", "verdict": "worse", "axis": "elements", "axis_unit": "elements", "better": "lower",
    "launches_with": 4, "launches_without": 2, "x_from": 10_000.0, "x_to": 100_000.0,
    "factor": 3.127, "low": 2.511, "high": 3.918, "p": 0.001, "smallest_effect": 1.02,
}  # fmt: skip
ALIKE = SLOW | {"verdict": "open", "factor": 1.01, "low": 0.9, "high": 1.2, "p": 1.0}
PAIRS = ("node1,node2", "node1,node2", "node2,node3")


def tables(*rows):
    return replace(run(Campaign([mpi()])), hosts=rows, launches=launches())


def launches():
    place = {"experiment": "mpi_pingpong", "placement": "nodes", "outcome": "measured", "wall_seconds": 1}
    hole = place | {"launch": 4, "outcome": "hole", "hole": "timed out", "reason": "slow", "hosts": None, "file": "a"}
    return [place | {"launch": number, "hosts": pair} for number, pair in enumerate(PAIRS, 1)] + [hole]


def test_a_slow_host_is_named_with_its_factor_its_launches_and_the_next_step():
    [said] = machine.compared_hosts(tables(SLOW, ALIKE | {"host": "node1"}))
    assert said.startswith(
        "`mpi_pingpong` (nodes): launches with the host `node2` are 3.13 [2.51, 3.92] times worse in round trip from "
        "10,000 elements to 100,000 elements (float64 array) than launches without it (4 launches with it, 2 without). "
    )
    assert "remove it from `node_list`, or choose other nodes by `constraint`, in `profiles/slurm/site.yaml`" in said
    assert "`--exclude=node2`" in said
    assert said.endswith("Launches by hosts: node1 + node2: 2, node2 + node3: 1.")


def test_of_several_findings_on_a_host_the_largest_is_told():
    more = SLOW | {"factor": 9.0, "low": 8.0, "high": 10.0, "x_from": 5.0, "x_to": 5.0}
    [said] = machine.compared_hosts(tables(SLOW, more))
    assert "are 9.00 [8.00, 10.0] times worse in round trip at 5 elements (float64 array) than" in said


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (1.0, " and were compared; no host is shown to be slower."),
        (None, ", but they are too few to compare these hosts."),
    ],
)
def test_without_a_slow_host_the_page_says_whether_hosts_were_compared(p, words):
    [said] = machine.compared_hosts(tables(ALIKE | {"host": "node1", "p": None}, ALIKE | {"host": "node2", "p": p}))
    assert said == f"`mpi_pingpong` (nodes): the launches ran on `node1` and `node2`{words}"


def sharing(*exclusive):
    return [row | {"exclusive": each} for row, each in zip(launches(), exclusive, strict=True)]


@pytest.mark.parametrize("exclusive", [(True, True, True, False), (None,) * 4])
def test_without_shared_nodes_nothing_is_said(exclusive):
    assert machine.shared_hosts(sharing(*exclusive)) == ""
    assert machine.shared_hosts(launches()) == "", "launches without a job"


def test_page_and_terminal_warn_of_other_jobs_beside_launches(tmp_path, capsys):
    words = "Nodes not exclusive: other jobs may have run beside 2 of 3 launches, and may have changed their results. "
    said = machine.shared_hosts(sharing(False, True, False, False))
    assert said.startswith(words)
    assert said.endswith("remove `exclusive: false` from `profiles/slurm/site.yaml`.")
    folder = Campaign([mpi()]).write_tables(tmp_path)
    assert Page({}, folder).shared().data == ""
    table = record.read(folder / "launches.parquet", record.LAUNCHES)
    rows = [row | {"exclusive": number == 0} for number, row in enumerate(table.to_pylist())]
    record.write(record.from_rows(rows, record.LAUNCHES), folder / "launches.parquet")
    warned = f"Nodes not exclusive: other jobs may have run beside {len(rows) - 1} of {len(rows)} launches, and may"
    assert str(Page({}, folder).shared().data).startswith(f"::: {{.callout-warning}}\n{warned}")
    terminal.show(folder, leads())
    assert warned in " ".join(capsys.readouterr().out.split())


def test_the_terminal_has_a_line_on_slow_hosts(tmp_path, capsys):
    folder = Campaign([mpi()], estimated={"hosts": [SLOW, SLOW | {"host": "node9", "factor": 2.0}]}).write_tables(
        tmp_path
    )
    terminal.show(folder, leads())
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Slow host: launches with node2 are 3.13 [2.51, 3.92] times worse (mpi_pingpong, round trip from "
        "10,000 elements to 100,000 elements, 4 with it, 2 without); also node9. Leave it out."
    ) in said


def test_the_terminal_has_no_line_without_a_slow_host(tmp_path, capsys):
    terminal.show(Campaign([mpi()], estimated={"hosts": [ALIKE]}).write_tables(tmp_path), leads())
    assert "Slow host" not in capsys.readouterr().out


def test_the_page_has_the_sentences(tmp_path):
    folder = Campaign([mpi()], estimated={"hosts": [SLOW]}).write(tmp_path)
    assert "launches with the host `node2` are" in Page(leads(), folder).hosts().data


def test_on_one_machine_the_page_says_that_all_launches_ran_on_the_same_hosts(tmp_path):
    folder = Campaign([mpi()]).write(tmp_path)
    assert "on the same hosts" in Page(leads(), folder).hosts().data


def test_results_of_an_earlier_release_have_no_comparison_of_hosts(tmp_path):
    folder = Campaign([mpi()]).write_tables(tmp_path)
    (folder / "hosts.parquet").unlink()
    found = load(folder)
    assert isinstance(found, Tables) and list(found.hosts) == []
    assert Page(leads(), folder).hosts().data.startswith("This run did not compare hosts")
