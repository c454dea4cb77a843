"""Does every hole have its reason and the command that fills it?"""

from campaigns import TASK_HOLES, Campaign, launch_row, mpi, run

from crossover.planning.command import Command
from crossover.report.text import holes, tables


def test_equal_holes_share_one_line_with_the_command_that_fills_them():
    (said,) = holes.paragraphs(run(Campaign([], holes=list(TASK_HOLES))))
    assert said.startswith("Launches 1, 2 and 3 of `task_latency` (placement node), *timeout*: `no engine registered")
    command = said.split("```")[1].replace("\\\n", "")
    assert command.split() == [
        "snakemake",
        "--profile",
        "profiles/local",
        "-R",
        *(row["receipt"] for row in TASK_HOLES),
        *("--config", "results=results", "tier=quick"),
    ]


def test_different_holes_have_separate_lines():
    crash = launch_row("task_latency", 4, "crashed", "the ranks ended with code 139")
    first, second = holes.paragraphs(run(Campaign([], holes=[*TASK_HOLES, crash])))
    assert "Launches 1, 2 and 3" in first
    assert second.startswith("Launch 4 of `task_latency` (placement node), *crashed*: `the ranks ended with code 139`")


def test_on_slurm_the_command_uses_its_profile():
    campaign = run(Campaign([mpi()], holes=list(TASK_HOLES)))
    ranks = [row | {"slurm": '{"SLURM_JOB_ID": "7"}'} for row in campaign.ranks]
    within = tables.Tables(campaign.launches, ranks, campaign.summary, campaign.ratios, campaign.crossovers)
    assert "snakemake --profile slurm -R" in holes.paragraphs(within)[0]


def test_the_command_of_the_run_is_repeated_with_its_options_if_it_is_known():
    own = Command(("--profile", "slurm", "--sdm", "conda"), ("tier=paper", "partial=true"))
    files = [row["receipt"] for row in TASK_HOLES]
    repeated = holes.command(run(Campaign([], holes=list(TASK_HOLES))), TASK_HOLES, own=own)
    assert repeated.split() == ["snakemake", *own.options, "-R", *files, "--config", "tier=paper"]


def test_a_reason_cannot_end_its_code_span():
    (said,) = holes.paragraphs(run(Campaign([], holes=[launch_row("toy", 1, "crashed", "it said `a`\n```\n# boo")])))
    assert "`it said 'a' ''' # boo`" in said


def test_an_experiment_with_a_measured_launch_did_not_leave_only_holes():
    crash = launch_row("mpi_pingpong", 9, "crashed", "it broke")
    assert holes.absence(run(Campaign([], holes=[crash])), "mpi_pingpong") == "its 1 launch left only holes"
    assert holes.absence(run(Campaign([mpi()], holes=[crash])), "mpi_pingpong").startswith("no arm could be compared")


def test_a_partial_page_lists_the_other_launches():
    said = holes.partial(["partial: 3 launches of tier quick", "left out: 2 launches of tier smoke"])
    assert said == "`partial: 3 launches of tier quick`\n\n`left out: 2 launches of tier smoke`"
    assert holes.partial([]) == ""


def test_what_waits_for_a_higher_tier_is_told_tier_by_tier():
    told = holes.tiers({"standard": {"arms": ["a", "b"], "payloads": ["c"]}, "paper": {"arms": ["d"]}})
    assert told == (
        "The `standard` tier also measures arms `a` and `b`; payloads `c`. The `paper` tier also measures arms `d`."
    )
    assert holes.tiers({}) == ""


def test_an_arm_that_the_configuration_does_not_allow_is_named_with_the_key():
    (told,) = holes.withheld({"dask": ["task_map", "task_latency"]})
    assert told.startswith(
        "`dask` of `task_map` and `task_latency` was not measured: its farm does not authenticate, so"
    )
    assert told.endswith("set `unauthenticated_farms: true` in config/config.yaml.")
    assert holes.withheld({}) == []


def test_what_takes_more_hosts_waits_for_a_cluster():
    told = "Placement `nodes` needs a cluster with 2 hosts (`snakemake --profile slurm`)."
    assert holes.hosts({"nodes": 2}) == told
    assert holes.hosts({}) == ""


def test_launches_with_too_many_hosts_for_a_cluster_have_its_reason():
    told = "Launches in placement `nodes`, on up to 2 hosts, were left out: too few nodes."
    assert holes.hosts({"nodes": 2}, "too few nodes") == told
    both = {"zmq_latency": {"nodes": 2}, "task_map": {"nodes": 3}}
    told = "Launches of `zmq_latency` and `task_map` across hosts were left out: too few nodes."
    assert holes.left_out(both, "too few nodes") == told
    assert holes.left_out(both, "") == holes.left_out({}, "too few nodes") == ""
