"""Does the page list the additional measurements of higher tiers and of a cluster?"""

from crossover.report.sections import tiers


def test_additions_of_higher_tiers_are_listed_by_tier():
    told = tiers.waiting({"standard": {"arms": ["a", "b"], "payloads": ["c"]}, "paper": {"arms": ["d"]}})
    assert told == (
        "The `standard` tier also measures arms `a` and `b`; payloads `c`. The `paper` tier also measures arms `d`."
    )
    assert tiers.waiting({}) == ""


def test_placements_over_several_hosts_wait_for_a_cluster():
    told = "Placement `nodes` needs a cluster with 2 hosts (`snakemake --profile slurm`)."
    assert tiers.hosts({"nodes": 2}) == told
    assert tiers.hosts({}) == ""
