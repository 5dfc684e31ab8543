"""A cluster whose workers, nodes and drivers are killed ends with the same bytes."""

from __future__ import annotations

import random
import sys
from importlib.util import find_spec

import pytest

from adversary.cluster_kills import COMMANDS, Campaign, KillableCluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
    # Not importorskip: Ray reads the environment when it is imported.
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray"),
]
KILLS = 17  # of each command: some hundred in all


@pytest.fixture(scope="module")
def cluster():
    found = KillableCluster(random.Random(1))
    yield found
    found.close()


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_workers_nodes_and_drivers_leave_no_trace(name, cluster, tmp_path):
    counts = Campaign(name, tmp_path, cluster, random.Random(name), pause=3.0).run(KILLS)
    assert counts.is_clean, (str(counts), counts)
