"""Does the title of a report name its machine and the date of its run?"""

import yaml
from campaigns import MACHINE, Campaign, launch_row, mpi, zmq

from crossover.report.render import heading, qmd

SOURCE = "---\ntitle: A\nsubtitle: B\nlang: en\n---\n\n# One\n\ntitle: kept\n"


def front(text):
    return qmd.parse(text)[0]


def test_the_title_names_the_host_and_the_days(tmp_path):
    text = heading.titled(SOURCE, Campaign([zmq(), mpi()]).write_tables(tmp_path))
    assert front(text)["title"] == "Ways to exchange messages on node-a, 2026-11-21 to 2026-11-23"
    assert front(text)["subtitle"] == "Example CPU 9000, 4 logical processors. Measured by crossover"
    assert text.endswith("title: kept\n")


def test_many_hosts_are_counted_and_kinds_of_processors_listed():
    ranks = [MACHINE | {"host": f"node-{n}", "cpu": "Old" if n else None} for n in range(4)]
    assert heading.title([launch_row("a", 1)], ranks) == "Ways to exchange messages on 4 hosts, 2026-11-21"
    assert heading.subtitle(ranks).startswith("unknown processor, 4 logical processors; Old, 4 logical processors.")


def test_without_tables_or_launches_the_source_stays(tmp_path):
    assert heading.titled(SOURCE, tmp_path) == SOURCE
    assert heading.titled(SOURCE, Campaign([]).write_tables(tmp_path)) == SOURCE


def test_a_host_with_any_name_is_only_text(tmp_path, monkeypatch):
    monkeypatch.setitem(MACHINE, "host", 'a": `{python} 1`\n---\n<b>')
    text = heading.titled(SOURCE, Campaign([zmq()]).write_tables(tmp_path))
    (title,) = [line for line in text.splitlines() if line.startswith("title: ") and "Ways" in line]
    assert "\\`" in yaml.safe_load(title)["title"] and "\\<b\\>" in yaml.safe_load(title)["title"]
    assert front(text)["lang"] == "en"
