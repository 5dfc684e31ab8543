"""Splits and the tours through them."""

from __future__ import annotations

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.tasks import Split, Tour
from text_worlds import episode, split

TASKS = Split("val", (episode("1", "ab"), episode("2", "bc"), episode("3", "xy", world_id="other")))


def test_worlds_are_listed_in_order_of_appearance():
    assert TASKS.world_ids == ("house", "other")


def test_episodes_are_found_by_id():
    assert TASKS.by_id["2"] is TASKS.episodes[1]


def test_a_split_can_be_toured():
    toured = TASKS.with_tours((Tour("t", "house", ("2", "1")),))
    assert toured.tours[0].episode_ids == ("2", "1")
    assert toured.episodes == TASKS.episodes
    assert TASKS.tours == ()


@pytest.mark.parametrize(
    ("tours", "problem"),
    [
        ([("house", "9")], r'tours: tour "0": episode "9" is not in val'),
        ([("house", "3")], r'tour "0": episode "3" is in world other, not house'),
        ([("house", "1"), ("house", "1")], r'tour "1": episode "1" is visited by tour "0" already'),
        ([("house", "11")], r'tour "0": episode "1" is visited by tour "0" already'),
    ],
    ids=["unknown", "another world", "two tours", "twice in one"],
)
def test_tours_must_visit_known_episodes_of_their_world_once(tours, problem):
    with pytest.raises(BadFile, match=problem):
        TASKS.with_tours(tuple(Tour(str(k), home, tuple(ids)) for k, (home, ids) in enumerate(tours)))


def test_all_faults_of_tours_are_told_together():
    with pytest.raises(BadFile) as caught:
        TASKS.with_tours((Tour("t", "house", ("8", "1", "9")),), source="tours.json")
    assert str(caught.value).count("tours.json: ") == 2


def test_an_episode_without_goals_withholds_them():
    assert episode("1", "a", goals=()).goals_withheld
    assert not split({"1": "ab"}).episodes[0].goals_withheld


def test_a_part_knows_of_what_it_is_a_part():
    part = TASKS.select(["3", "1"], selection="/[13]/")
    assert [e.id for e in part] == ["1", "3"]
    assert part.left_out == {"2"}
    assert (part.part.total, part.part.selection) == (3, "/[13]/")
    assert TASKS.part is None
    assert TASKS.select(["1", "2", "3"]).part is None
    assert repr(part) == "Split('val': 2 of 3 episodes in 2 worlds)"


def test_a_part_is_known_by_its_ids_in_any_order():
    digests = {TASKS.select(ids).part.digest for ids in (["1", "3"], ["3", "1"])}
    assert len(digests) == 1
    assert TASKS.select(["1"]).part.digest not in digests
    assert TASKS[:1].part.digest == TASKS.select(["1"]).part.digest


def test_a_part_of_a_part_is_a_part_of_the_whole():
    part = TASKS[:2][1:]
    assert ([e.id for e in part], part.part.total, part.selection) == (["2"], 3, "[:2] [1:]")
    assert TASKS[::2].selection == "[::2]"
    assert TASKS[:].part is None


def test_a_part_of_unknown_episodes_is_refused():
    with pytest.raises(BadArgument, match=r"Episode '9' is not in val \(3 episodes\)"):
        TASKS.select(["1", "9"])
