"""The simulation of a cluster: what is known of schedules without simulating them."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.seeding import generator

RECIPE = runpy.run_path(str(Path(__file__).parents[1] / "recipes" / "cluster_simulation.py"))
Chunk, Workload, QUIET = RECIPE["Chunk"], RECIPE["Workload"], RECIPE["QUIET"]
simulate, make_chunks, make_shards, order_chunks = (
    RECIPE[name] for name in ("simulate", "make_chunks", "make_shards", "order_chunks")
)
SMALL = Workload(episodes=2000, scenes=5, seconds=0.1)


def run(seconds, workers, *, ready=None, **changes):
    cluster = replace(QUIET, workers=workers, **changes)
    return simulate([Chunk(0, s) for s in seconds], cluster, generator(0), ready=ready or [0.0] * workers)


@given(st.lists(st.floats(0.1, 50), min_size=1, max_size=40), st.integers(1, 7))
def test_a_queue_is_never_worse_than_grahams_bound_nor_better_than_the_ideal(seconds, workers):
    makespan = run(seconds, workers).makespan
    ideal = max(sum(seconds) / workers, max(seconds))
    assert ideal - 1e-9 <= makespan <= sum(seconds) / workers + (1 - 1 / workers) * max(seconds) + 1e-9


def test_schedules_worked_by_hand():
    assert run([1, 1, 1, 1, 1], 2).makespan == 3
    assert run([1, 1, 4], 2).makespan == 5
    assert run([4, 1, 1], 2).makespan == 4  # the longest first
    assert run([2, 2], 2, ready=[0.0, 3.0]).makespan == 4  # the first worker is done before the second is ready
    assert run([1] * 10, 10, dispatch=0.5).makespan == pytest.approx(6.0)  # the driver is the bottleneck
    loads = [Chunk(scene, 1.0) for scene in (0, 0, 1, 1)]
    assert simulate(loads, replace(QUIET, workers=1, loading=10.0), generator(0), ready=[0.0]).makespan == 24.0


def test_lost_work_is_done_again_and_a_shard_loses_less():
    unreliable = replace(QUIET, workers=4, between_failures=60.0, detection=1.0, restart=5.0)
    chunks = [Chunk(0, 30.0)] * 20
    anew, resumed = (
        simulate(chunks, unreliable, generator(1), ready=[0.0] * 4, resumes=flag) for flag in (False, True)
    )
    assert anew.makespan > 20 * 30 / 4 + anew.lost / 4 - 1
    assert anew.lost > resumed.lost == pytest.approx(0.0)


def test_chunks_and_shards_hold_all_the_work_in_any_order():
    chunks = make_chunks(SMALL, 1.0, generator(0, "chunks"))
    total = sum(chunk.seconds for chunk in chunks)
    assert total == pytest.approx(SMALL.episodes * SMALL.seconds, rel=0.1)
    for order in RECIPE["ORDERS"]:
        ordered = order_chunks(chunks, order, generator(0, order))
        assert sorted(chunk.seconds for chunk in ordered) == sorted(chunk.seconds for chunk in chunks)
    for count in (1, 3, len(chunks), 2 * len(chunks)):
        assert sum(chunk.seconds for chunk in make_shards(chunks, count)) == pytest.approx(total)
    longest = [chunk.seconds for chunk in order_chunks(chunks, "longest first", generator(0))]
    assert np.mean(longest[:20]) > np.mean(longest[-20:])
