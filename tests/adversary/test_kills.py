"""Long commands end with the same bytes, no orphans and no temporary files, whatever signals ended them before."""

from __future__ import annotations

import sys

import pytest

from adversary.kills import COMMANDS, Campaign

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="living processes are found in /proc")
# Most commands need a second to start, so these few kills are for the default run; `slow` has the campaign.
KILLS = {"run": 2, "study-run": 2, "build-r4r": 2, "build-tours": 2, "build-hearth": 1, "fastest-times": 1, "train": 1}
SMALLER = {"build-hearth": ("--splits", "val_unseen")}  # one house instead of two
EXTRAS = {"fastest-times": "trimesh", "train": "torch"}


def prepare(name, folder, **options):
    pytest.importorskip(EXTRAS.get(name, "itinera"))
    return Campaign(name, folder, seed=18, **options)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_resumes_and_ends_with_the_same_bytes(name, tmp_path):
    counts = prepare(name, tmp_path, more=SMALLER.get(name, ()), warm_up=False).run(KILLS[name])
    assert counts.is_clean, (str(counts), counts)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_fifty_kills_leave_no_trace(name, tmp_path):
    counts = prepare(name, tmp_path).run(50)
    assert counts.is_clean, (str(counts), counts)
