"""Does the largest flood fit into Ray's store?"""

import pytest

from crossover.config import schema
from crossover.design.settings import TIERS
from crossover.farms.ray import STORE_BYTES


@pytest.mark.parametrize("tier", TIERS)
def test_the_arguments_and_results_of_a_flood_fit(tier):
    own = schema.complete({"tier": tier}).experiments["task_throughput"]
    flood_bytes = 2 * own.tasks * max(own.sizes_bytes)
    assert flood_bytes < 0.9 * STORE_BYTES
