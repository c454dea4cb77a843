"""Do the page's cells show all measurements, and name the missing ones?"""

import json
import re

import pytest
from campaigns import MACHINE, SETTINGS, Campaign, launch_row, mpi, zmq

from crossover.errors import CrossoverError
from crossover.experiments import declared
from crossover.report.pages.index import Page
from crossover.report.pages.parts import WAITING_VARIABLE
from crossover.report.text import machine

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def table(shown):
    """A pipe table as rows of cells, without its separator line."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in str(shown.data).splitlines()
        if line.startswith("|")
    ]
    return [rows[0], *rows[2:]]


@pytest.fixture(scope="module")
def page(results):
    return Page(LEADS, results)


def test_without_results_the_page_says_how_to_render_it(monkeypatch):
    monkeypatch.delenv("CROSSOVER_RESULTS", raising=False)
    with pytest.raises(CrossoverError, match="with: crossover report"):
        Page(LEADS)


def test_a_crossover_has_its_place_in_the_section_and_none_without_replication(page, tmp_path):
    header, *rows = table(page.verdicts("zmq_throughput"))
    assert [row[0] for row in rows] == ["ZeroMQ stream, tcp", "ZeroMQ stream, ipc"], "plain curves come first"
    first = dict(zip(header, rows[1], strict=True))
    assert first["arms"] == "`no-copy` / `copy`"
    assert first["verdict"] == "faster above it"
    assert first["crossover"] == "2.9 kB [2.2, 3.8 kB]"
    assert first["between measured points"] == "2.15 kB to 4.64 kB"
    _, row = table(Page(LEADS, Campaign([zmq(launches=1)]).write(tmp_path)).verdicts("zmq_throughput"))
    assert row[-3:] == ["not replicated", "–", "–"]


def test_the_ratios_are_given_at_a_few_places_with_both_ends(page):
    header, *rows = table(page.ratios("zmq_throughput"))
    assert header[2:] == ["100 B", "1 kB", "10 kB", "100 kB", "1 MB"]
    assert rows[0][:2] == ["ZeroMQ stream, tcp", "`no-copy` / `copy`"]
    assert [row[2] for row in rows] == ["0.585 [0.567, 0.602]", "0.645 [0.626, 0.665]"]


def test_the_leading_metric_is_the_picture_and_every_other_has_its_tab(page):
    shown = page.charts("zmq_throughput").data
    assert [line for line in shown.splitlines() if line.startswith("## ")] == [
        "## bandwidth",
        "## send rate",
    ]
    assert shown.count('class="crossover-chart"') == 8
    # Each tab ends with its metric's verdicts.
    assert shown.count("| curve | arms | verdict |") == 2
    assert page.picture("zmq_throughput").data.count('class="crossover-chart"') == 4


def test_one_metric_needs_no_tab(page):
    assert page.charts("mpi_pingpong").data == ""


def test_a_chart_says_to_a_screen_reader_what_it_shows(page):
    shown = page.picture("mpi_pingpong").data
    assert 'role="img" aria-label="Chart of round trip against array length, float64 array' in shown
    assert 'aria-label="Chart of round trip relative to send, float64 array' in shown


def test_an_experiment_with_only_holes_shows_a_warning_instead_of_charts(page):
    shown = page.picture("task_latency").data
    assert shown.startswith("::: {.callout-warning}")
    assert "its 3 launches left only holes (*timeout*: `no engine registered within 60 s`)" in shown
    assert page.findings("task_latency").data == page.ratios("task_latency").data == ""


def test_the_holes_come_with_the_command_that_fills_them(page):
    assert "-R results/launches/quick/task_latency/node/1-0123abcd.0.json" in page.holes().data


def test_only_arms_without_any_value_are_listed_with_the_reason(tmp_path):
    campaign = Campaign([mpi()])
    reason = "no C compiler 'cc' was found; install one, or name it in `CC`"
    measured = campaign.tables()["measurements"][0]
    missing = measured | {"arm": "in C", "runs": "in C", "ceiling": True, "value": None, "validity": reason}
    rows = [
        missing,
        missing | {"x": 10.0},
        missing | {"protocol": "dict, thread level multiple", "object": "dict"},
        missing | {"arm": "flaky"},
    ]
    campaign.raw = [*rows, measured | {"arm": "flaky"}]
    told = Page({"mpi_pingpong": "round trip"}, campaign.write(tmp_path)).holes().data
    assert told == (
        "`in C` of `mpi_pingpong` has no value under float64 array, thread level multiple and dict, thread level "
        "multiple: `no C compiler 'cc' was found; install one, or name it in 'CC'`."
    )


def test_an_arm_that_the_configuration_does_not_allow_is_named_with_its_holes_and_its_experiment(tmp_path, monkeypatch):
    monkeypatch.setenv(WAITING_VARIABLE, json.dumps({"withheld": {"dask": ["task_map", "task_latency"]}}))
    page = Page(LEADS, Campaign([mpi()]).write(tmp_path))
    assert "`dask` of `task_map` and `task_latency` was not measured: its farm does not" in page.holes().data
    assert page.waiting("task_map").data.startswith("`dask` of `task_map` was not measured: its farm does not")
    assert page.waiting("mpi_pingpong").data == ""


def test_without_failures_the_page_says_so(tmp_path):
    whole = Page({"mpi_pingpong": "round trip"}, Campaign([mpi()]).write(tmp_path))
    assert whole.holes().data == "There are none: every launch has data."


def test_an_experiment_that_the_page_does_not_know_gets_a_section(tmp_path):
    results = Campaign([zmq(experiment="toy"), mpi()]).write(tmp_path)
    shown = Page(LEADS, results).experiments().data
    toy = shown[shown.index("## toy {#sec-toy}\n") :]
    assert "crossover-chart" in toy and "faster above it" in toy and "| 100 B |" in toy


def test_every_experiment_has_a_section_in_the_order_of_their_places(results):
    shown = Page(results=results).experiments().data
    titles = [declared()[name].title for name in ("zmq_throughput", "mpi_pingpong", "task_latency")]
    assert re.findall(r"^## (.*) \{#sec-", shown, re.MULTILINE) == titles
    assert re.findall(r"^# (.*)$", shown, re.MULTILINE) == ["ZeroMQ", "mpi4py", "Task farm"]
    assert shown.count("How this was measured") == len(titles)


def test_the_health_of_the_run_is_shown_per_experiment(page):
    header, *rows = table(page.health())
    told = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
    zmq_column, task_column = "`zmq_throughput`", "`task_latency`"
    assert told["launches with data"][zmq_column] == "3 of 3"
    assert told["launches with data"][task_column] == "0 of 3"
    assert told["limits of each launch"][zmq_column] == (
        "blocks of at least 12 ms, 10 to 200 rounds per cell, target ±2 %, 18 s per launch"
    )
    assert told["total time of launches"][task_column] == "1 min"
    assert told["in timed blocks"][zmq_column] == "65 % of 1 min"
    assert told["in timed blocks"][task_column] == "–"
    assert told["cells, by reason to stop"][zmq_column] == "budget: 2, width: 2"
    assert told["rows, by validity"][zmq_column] == "ok: 12, throttled: 12"


def test_launches_with_different_limits_are_listed_separately():
    other = json.dumps(SETTINGS | {"budget_seconds": 600})
    launches = [launch_row("toy", 1), launch_row("toy", 2) | {"settings": other}]
    asked = machine.health(launches, [], [], [])["limits of each launch"]
    assert "10 min per launch" in asked and "18 s per launch" in asked


def test_only_the_interface_between_hosts_is_shown():
    within, across = (
        {"placement": placement, "interface": name} for placement, name in (("node", "lo"), ("nodes", "ib0"))
    )
    assert machine.health([], [within, across, across], [], [])["interface between hosts"] == "ib0"
    assert machine.health([], [within], [], [])["interface between hosts"] == "–"


def test_launches_whose_ranks_took_turns_are_counted():
    ranks = [
        {"experiment": name, "placement": "nodes", "launch": launch, "host": host, "logical_cpus": processors}
        for name, launch, host, processors, count in [
            ("wide", 1, "a", 4, 5),
            ("wide", 1, "b", 4, 4),
            ("wide", 2, "a", 4, 5),
            ("wide", 3, "a", 8, 5),
            ("thin", 1, "a", 4, 4),
            ("thin", 1, "b", 4, 4),
            ("old", 1, "a", None, 9),
        ]
        for _ in range(count)
    ]
    assert machine.crowded(ranks) == {"wide": 2}


def test_the_share_of_allocated_node_time_is_shown_where_launches_ran_in_jobs(page):
    job = {"job": "7", "wall_seconds": 10.0, "timed_seconds": 6.0}
    launches = [
        launch_row("toy", 1) | job | {"entering_seconds": 10.0, "hosts": "a,b"},
        launch_row("other", 1) | job | {"entering_seconds": 22.0, "hosts": "a,b"},
    ]
    assert machine.allocated(launches) == {"toy": "30 %", "other": "50 %"}
    assert machine.ALLOCATED not in page.health().data


def test_a_run_without_such_launches_has_no_line_on_them(page, tmp_path):
    assert machine.CROWDED not in page.health().data
    ranks = [MACHINE | {"logical_cpus": 1}] * 2
    assert machine.crowded([rank | {"experiment": "toy", "placement": "node", "launch": 1} for rank in ranks])


def test_only_equal_hosts_share_a_column():
    alike = [MACHINE | {"host": host} for host in ("b", "a")]
    other = MACHINE | {"host": "c", "governor": "powersave"}
    kinds = machine.kinds([*alike, other])
    assert list(kinds) == ["a and b", "c"]
    assert kinds["c"]["governor"] == "powersave"


def test_the_machines_facts_have_units_and_unknown_ones_are_marked():
    slurm = json.dumps({"SLURM_JOB_ID": "7", "SLURM_JOB_PARTITION": "short"})
    unknown = {"governor": None, "memory_bytes": None, "network": None}
    (here,) = machine.kinds([MACHINE]).values()
    (there,) = machine.kinds([MACHINE | unknown | {"slurm": slurm}]).values()
    assert here["network"] == "eth0 25000 Mbit/s"
    assert here["memory"] == "16 GB"
    assert (here["Slurm"], there["Slurm"]) == ("not in a job", "partition short")
    assert {there[name] for name in ("governor", "memory", "network")} == {machine.UNKNOWN}


def test_variables_and_settings_of_the_kernel_are_facts_of_a_machine_unknown_in_earlier_files():
    (none,) = machine.kinds([MACHINE]).values()
    (own,) = machine.kinds([MACHINE | {"variables": '{"UCX_TLS": "tcp"}'}]).values()
    (earlier,) = machine.kinds([MACHINE | {"variables": None, "tuning": None}]).values()
    lines = ("variables that can change results", "settings of the kernel")
    assert [facts[lines[0]] for facts in (none, own, earlier)] == ["none", "UCX_TLS tcp", machine.UNKNOWN]
    assert [facts[lines[1]] for facts in (none, earlier)] == ["SMT on", machine.UNKNOWN]


def test_hosts_with_different_job_numbers_can_be_equal():
    jobs = [json.dumps({"SLURM_JOB_ID": number, "SLURM_JOB_PARTITION": "short"}) for number in "12"]
    ranks = [MACHINE | {"host": host, "slurm": job} for host, job in zip("ab", jobs, strict=True)]
    assert len(machine.kinds(ranks)) == 1


def test_a_run_without_a_launch_says_so(tmp_path):
    empty = Page(LEADS, Campaign([]).write(tmp_path))
    assert empty.health().data == "Nothing was launched."
    assert empty.machine().data == "No rank recorded its machine."
    assert empty.crossovers().data == "No arm could be compared with another."
    assert empty.summary().data == "Nothing was launched."
    assert empty.holes().data == ("`zmq_throughput`, `mpi_pingpong` and `task_latency` have no launch in this run.")


class OnlyCeilingAndNull(Campaign):
    """The reference and its rival failed, but not the null arm, which is a separate instance, and a ceiling."""

    def tables(self):
        tables = super().tables()
        tables["summary"] = [row for row in tables["summary"] if row["is_null_arm"]]
        tables["ratios"] = [row | {"ceiling": True} for row in tables["ratios"] if row["arm"] == "Send"]
        return tables


def test_only_null_arm_and_ceiling_give_no_chart_and_no_traceback(tmp_path):
    page = Page(LEADS, OnlyCeilingAndNull([mpi()]).write(tmp_path))
    assert "`mpi_pingpong` has no result: no arm could be compared with another." in page.picture("mpi_pingpong").data
    assert "No arm could be compared with another" in page.findings("mpi_pingpong").data


class OneArmMissing(Campaign):
    """Over ipc, `no-copy` has no data."""

    def tables(self):
        tables = super().tables()
        for name in ("summary", "ratios", "crossovers"):
            tables[name] = [row for row in tables[name] if "ipc" not in row["protocol"] or row["arm"] != "no-copy"]
        tables["choices"] = [row for row in tables["choices"] if "ipc" not in row["protocol"]]
        return tables


def test_an_arm_that_one_protocol_lacks_is_reported_there_and_compared_elsewhere(tmp_path):
    page = Page(LEADS, OneArmMissing([zmq(), zmq("PUSH/PULL over ipc, 64 MB in flight")]).write(tmp_path))
    assert "**PUSH/PULL over ipc, 64 MB in flight.** No arm could be compared with another: only `copy` has data." in (
        page.findings("zmq_throughput").data
    )
    _, row = table(page.ratios("zmq_throughput"))
    assert row[0] == "ZeroMQ stream, tcp"
    assert "and its ratio to `copy`" in page.picture("zmq_throughput").data


def test_a_caption_explains_exactly_the_marks_of_its_chart(tmp_path, page):
    assert "A vertical line marks a crossover" in page.picture("zmq_throughput").data
    assert "An upright line" not in page.picture("mpi_pingpong").data
    alone = Page(LEADS, Campaign([zmq(launches=1)]).write(tmp_path))
    assert "and its ratio to `copy`. The dashed line marks no difference, grey is `copy` against itself" in (
        alone.picture("zmq_throughput").data
    )


def test_the_script_cannot_end_early(page):
    script = page.script().data
    assert script.count("</script>") == 1
    assert "vegaEmbed" in script or "crossover-chart" in script


def test_the_page_leads_with_a_metric_that_each_experiment_measures(results):
    leads = Page(results=results).leads
    assert len(leads) > 8
    for name, metric in leads.items():
        assert metric in [each.name for each in declared()[name].metrics], name
    assert (leads["task_scaling"], leads["zmq_latency"]) == ("round trip", "round trip, median")
