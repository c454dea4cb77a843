"""Is what a higher tier would measure besides told tier by tier?"""

from crossover.report import tiers


def test_what_waits_for_a_higher_tier_is_told_tier_by_tier():
    told = tiers.waiting({"standard": {"arms": ["a", "b"], "payloads": ["c"]}, "paper": {"arms": ["d"]}})
    assert told == (
        "Only from the tier `standard` on are measured: arms `a` and `b`; payloads `c`. "
        "Only from the tier `paper` on are measured: arms `d`."
    )
    assert tiers.waiting({}) == ""
