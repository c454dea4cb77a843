"""Is what a higher tier or a cluster would measure besides told?"""

from crossover.report.sections import tiers


def test_what_waits_for_a_higher_tier_is_told_tier_by_tier():
    told = tiers.waiting({"standard": {"arms": ["a", "b"], "payloads": ["c"]}, "paper": {"arms": ["d"]}})
    assert told == (
        "Only from the tier `standard` on are measured: arms `a` and `b`; payloads `c`. "
        "Only from the tier `paper` on are measured: arms `d`."
    )
    assert tiers.waiting({}) == ""


def test_what_takes_more_hosts_waits_for_a_cluster():
    told = "Placement `nodes` waits for a cluster: it takes 2 hosts (`snakemake --profile slurm`)."
    assert tiers.hosts({"nodes": 2}) == told
    assert tiers.hosts({}) == ""
