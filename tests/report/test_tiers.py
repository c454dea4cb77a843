"""Is what a higher tier or a cluster would measure besides told?"""

from crossover.report.sections import tiers


def test_what_waits_for_a_higher_tier_is_told_tier_by_tier():
    told = tiers.waiting({"standard": {"arms": ["a", "b"], "payloads": ["c"]}, "paper": {"arms": ["d"]}})
    assert told == (
        "The `standard` tier also measures arms `a` and `b`; payloads `c`. The `paper` tier also measures arms `d`."
    )
    assert tiers.waiting({}) == ""


def test_what_takes_more_hosts_waits_for_a_cluster():
    told = "Placement `nodes` needs a cluster with 2 hosts (`snakemake --profile slurm`)."
    assert tiers.hosts({"nodes": 2}) == told
    assert tiers.hosts({}) == ""
