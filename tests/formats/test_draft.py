"""Records kept as they come: nothing whole is lost, nothing broken is kept."""

from __future__ import annotations

import pytest

from itinera.errors import BadArgument
from itinera.formats.draft import Draft
from itinera.formats.native import Header
from itinera.formats.native_predictions import read_predictions, record_of, walk_of
from itinera.records import Provenance, Rollout, Trajectory
from itinera.tasks.protocol import R2R

WALKS = [Rollout(f"t{k}", (Trajectory(f"e{k}", ("a", "b")),)) for k in range(5)]
PROVENANCE = Provenance("1", inputs={}, digests={})


def finished(path, *orders):
    """The bytes of a file made in several goes, each of which adds the walks of these numbers."""
    for order in orders:
        with Draft(path, "walks", "plan") as draft:
            for number in order:
                draft.add(number, record_of(WALKS[number]))
    with Draft(path, "walks", "plan") as draft:
        draft.finish(Header(itinera="walks", protocol=R2R, provenance=PROVENANCE))
    assert not draft.path.exists()
    return path.read_bytes()


def test_the_file_is_the_same_in_whatever_order_and_however_many_goes(tmp_path):
    at_once = finished(tmp_path / "a.jsonl", range(5))
    assert finished(tmp_path / "b.jsonl", [3, 1], [4], [], [0, 2]) == at_once
    read = read_predictions(tmp_path / "a.jsonl")
    assert [walk.tour_id for walk in read.rollouts] == [walk.tour_id for walk in WALKS]
    assert (read.protocol, read.provenance) == (R2R, PROVENANCE)


def test_a_draft_cut_anywhere_keeps_every_whole_walk(tmp_path):
    path = tmp_path / "walks.jsonl"
    with Draft(path, "walks", "plan") as draft:
        for number in range(3):
            draft.add(number, record_of(WALKS[number]))
    whole = draft.path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        draft.path.write_bytes(whole[:cut])
        with Draft(path, "walks", "plan") as again:
            there = [number for number in range(3) if number in again]
            assert there == list(range(sum(end <= cut for end in ends[1:])))
            for number in range(len(there), 3):
                again.add(number, record_of(WALKS[number]))
            assert [walk_of(again[number]).tour_id for number in range(3)] == ["t0", "t1", "t2"]
        assert draft.path.read_bytes() == whole


def test_a_draft_of_another_plan_is_refused_unless_restarted(tmp_path):
    path = tmp_path / "walks.jsonl"
    with Draft(path, "walks", "plan") as draft:
        draft.add(0, record_of(WALKS[0]))
    with pytest.raises(BadArgument, match="--restart starts over"):
        Draft(path, "walks", "another")
    with Draft(path, "walks", "another", restart=True) as fresh:
        assert len(fresh) == 0
    with Draft(path, "walks", "third") as taken:  # nothing was done of it
        taken.add(0, record_of(WALKS[0]))
    draft.path.write_bytes(b"not ours\n")
    with pytest.raises(BadArgument, match="--restart starts over"):
        Draft(path, "walks", "plan")


def test_two_runs_cannot_write_one_draft(tmp_path):
    with (
        Draft(tmp_path / "walks.jsonl", "walks", "plan"),
        pytest.raises(BadArgument, match="being written by another run"),
    ):
        Draft(tmp_path / "walks.jsonl", "walks", "plan")
