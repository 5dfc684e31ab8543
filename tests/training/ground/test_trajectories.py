"""The trajectory store: groups of actions survive a kill, and nothing damaged or foreign is used."""

from __future__ import annotations

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.training.ground.trajectories import EpisodeActions, GroupKey, TourActions, TrajectoryStore, beta_at

TOURS = [
    TourActions(7, 0.5, (EpisodeActions("a", bytes([1, 1, 2, 0])), EpisodeActions("b", bytes([3])))),
    TourActions(7, 0.25, (EpisodeActions("c", bytes(500)),)),
]


def test_groups_come_back_after_the_file_was_closed(tmp_path):
    file = tmp_path / "model.trajectories"
    with TrajectoryStore(file, "plan") as store:
        store.add(GroupKey(1, 0), TOURS)
        store.add(GroupKey(2, 0), TOURS[1:])
    with TrajectoryStore(file, "plan") as store:
        assert len(store) == 2
        assert store[GroupKey(1, 0)] == tuple(TOURS)
        assert GroupKey(2, 0) in store
        assert GroupKey(1, 1) not in store
        assert store[GroupKey(1, 0)][0].episodes[0].array.tolist() == [1, 1, 2, 0]
        store.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [1, 10, 200, 500])
def test_an_incomplete_end_is_cut_off_and_the_groups_before_it_are_kept(tmp_path, cut):
    file = tmp_path / "model.trajectories"
    with TrajectoryStore(file, "plan") as store:
        store.add(GroupKey(1, 0), TOURS)
        store.add(GroupKey(2, 0), TOURS[1:])
    partial = tmp_path / "model.trajectories.partial"
    partial.write_bytes(partial.read_bytes()[:-cut])
    with TrajectoryStore(file, "plan") as store:
        assert store[GroupKey(1, 0)] == tuple(TOURS)
        with pytest.raises(BadFile, match="group 0 of iteration 2 is missing, though training is past it"):
            store[GroupKey(2, 0)]
        store.add(GroupKey(2, 0), TOURS)
        assert store[GroupKey(2, 0)] == tuple(TOURS)


def test_trajectories_of_another_run_are_refused_unless_they_may_be_overwritten(tmp_path):
    file = tmp_path / "model.trajectories"
    with TrajectoryStore(file, "plan") as store:
        store.add(GroupKey(1, 0), TOURS)
    with pytest.raises(BadArgument, match="belongs to another run"):
        TrajectoryStore(file, "other plan")
    with TrajectoryStore(file, "other plan", overwrite=True) as store:
        assert len(store) == 0


def test_without_a_file_groups_are_kept_in_memory():
    with TrajectoryStore(None, "plan") as store:
        store.add(GroupKey(1, 3), TOURS)
        assert store[GroupKey(1, 3)] == tuple(TOURS)
        store.discard()
        assert len(store) == 0


def test_both_published_schedules_of_beta():
    assert [beta_at(n) for n in range(4)] == [0.5, 0.25, 0.125, 0.0625]
    assert [beta_at(n, base=0.75, first_exponent=0) for n in range(3)] == [1.0, 0.75, 0.5625]
