"""Is a question about a tournament answered with its slow hosts, instead of a choice?"""

import json
import shutil

import pytest
from pairs import campaign, tournament

from crossover.__main__ import main
from crossover.records import record


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    rows = tournament(8, {"node3": 1.25}, unsure=("node5",))
    return campaign(rows).write_tables(tmp_path_factory.mktemp("pairs"))


@pytest.mark.parametrize("point", [(), ("1000",)])
def test_ask_names_the_slow_host_and_what_may_decide_the_open_one(results, capsys, point):
    assert main(["ask", "mpi_pingpong", *point, "--results", str(results)]) == 0
    tally, host, link, remedy = capsys.readouterr().out.splitlines()
    assert tally.startswith("mpi_pingpong: Of 8 hosts in 3 launches, 1 is slow, 6 are") and "1 is open" in tally
    assert host.startswith("Slow host: node3 is 1.2") and link == "No link is shown to be slow."
    assert remedy.startswith("more launches may decide it: crossover more mpi_pingpong --launches 12")


def test_after_a_run_of_pairs_alone_the_answer_is_the_one_of_a_whole_run(results, tmp_path, capsys):
    shutil.copytree(results / "experiments", tmp_path / "experiments")
    told = []
    for folder in (results, tmp_path):
        assert main(["ask", "mpi_pingpong", "--results", str(folder)]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


def test_without_any_launch_pairs_say_how_many_nodes_they_need(tmp_path, capsys):
    campaign([]).write_tables(tmp_path)
    for table in tmp_path.rglob("*.parquet"):
        record.write(record.schemas(table.stem)[table.stem].empty_table(), table)
    assert main(["ask", "mpi_pairs", "--results", str(tmp_path)]) == 1
    assert "no launch was measured; mpi_pairs needs 4 nodes" in capsys.readouterr().err


def test_ask_gives_the_same_facts_as_json(results, capsys):
    assert main(["ask", "mpi_pingpong", "--results", str(results), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["host"] for row in rows if row["verdict"] == "worse"} == {"node3"}
    assert len(rows) == 4 * 8 and {row["other"] for row in rows} == {None}


def test_two_arms_of_it_can_still_be_compared(results, capsys):
    assert main(["ask", "mpi_pingpong", "1000", "--arm", "Send", "--results", str(results)]) == 0
    assert "Slow host" not in capsys.readouterr().out
