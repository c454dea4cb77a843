"""Are tables read and written correctly, and do parts of the page stay whole with any text in them?"""

import re

import pyarrow as pa
import pytest
from campaigns import MACHINE
from hypothesis import given
from hypothesis import strategies as st

from crossover.design.experiments import declared
from crossover.errors import CrossoverError
from crossover.records.rows import Rank
from crossover.report.pages.index import Page
from crossover.report.text import machine, markup, tables


def test_without_results_the_page_says_how_to_render_it(monkeypatch):
    monkeypatch.delenv("CROSSOVER_RESULTS", raising=False)
    with pytest.raises(CrossoverError, match="with: crossover report"):
        Page()


def test_every_experiment_has_a_section_in_the_order_of_their_places(results):
    shown = Page(results=results).experiments().data
    titles = [declared()[name].title for name in ("zmq_throughput", "mpi_pingpong", "task_latency")]
    assert re.findall(r"^## (.*) \{#sec-", shown, re.MULTILINE) == titles
    assert re.findall(r"^# (.*)$", shown, re.MULTILINE) == ["ZeroMQ", "mpi4py", "Task farm"]
    assert shown.count("How this is measured") == len(titles)


def test_only_hosts_with_equal_facts_share_a_column_whatever_their_jobs():
    alike = [MACHINE | {"host": host, "slurm": {"SLURM_JOB_ID": str(number)}} for number, host in enumerate("ba")]
    other = MACHINE | {"host": "c", "governor": "powersave", "variables": {"UCX_TLS": "tcp"}, "tuning": None}
    kinds = machine.kinds([*map(Rank.of, [*alike, other, MACHINE | {"host": "d", "variables": None}])])
    assert list(kinds) == ["a and b", "c", "d"]
    assert kinds["c"]["governor"] == "powersave" and kinds["c"]["settings of the kernel"] == machine.UNKNOWN
    told = [facts["variables that can change results"] for facts in kinds.values()]
    assert told == ["none", "UCX_TLS tcp", machine.UNKNOWN]


def test_recommendations_come_after_the_map_and_their_folds_are_closed(rendered):
    html = rendered.read_text()
    assert html.index("What to choose where") < html.index("How sure this is") < html.index("What to set here")
    body = html[html.index("<main") :]
    paste = body.index("Lines to paste")
    assert body.index("1.9 to 13 times better than") < paste < body.index('id="sec-zmq-throughput"')
    assert body.count("<details><summary>") == body.count("</details>") > 5


def test_the_script_cannot_end_early(results):
    # All scripts, packed, and the one that unpacks them.
    assert Page(results=results).script().data.count("</script>") == 2


def test_the_page_leads_with_a_metric_that_each_experiment_measures(results):
    leads = Page(results=results).leads
    assert len(leads) > 8
    for name, metric in leads.items():
        assert metric in [each.name for each in declared()[name].metrics], name
    assert (leads["task_scaling"], leads["zmq_latency"]) == ("round trip", "round trip, median")


def test_cells_are_under_their_headings_in_any_order_and_a_bar_does_not_end_one():
    swapped = markup.table([{"arm": "copy", "at": "1 kB"}, {"at": "2|kB", "arm": "no-copy"}])
    assert swapped.splitlines()[2:] == ["| copy | 1 kB |", "| no-copy | 2\\|kB |"]
    with pytest.raises(KeyError):
        markup.table([{"arm": "copy", "at": "1 kB"}, {"arm": "no-copy"}])


@given(st.text(max_size=40))
def test_a_slug_is_a_safe_name_and_its_own_slug(text):
    slug = tables.slug(text)
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert tables.slug(slug) == slug


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\n---\nbibliography: x", "a --- bibliography: x"),
        ("`<b>`{=html} and {  =html}", "`<b>`{ =html} and { =html}"),
        (r'["a\n---\nb", "c\u2028d"]', '["a --- b", "c d"]'),
        (r'["C:\\new"]', r'["C:\\new"]'),
        ("node-@fn, @sec-run, a@b.c", "node-@ fn, @ sec-run, a@b.c"),
        ("a\x9b31mb\u202ec", "a 31mb c"),
        (r'["a\u009bb", "c\u202ed"]', '["a b", "c d"]'),
    ],
)
def test_no_text_of_a_table_begins_a_block_cites_or_marks_raw_html(hostile, shown):
    [row] = tables.harmless(pa.Table.from_pylist([{"reason": hostile, "snippet": hostile, "x": float("inf")}]))
    assert row == {"reason": shown, "snippet": hostile, "x": None}
