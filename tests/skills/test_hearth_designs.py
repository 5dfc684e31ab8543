"""All skills on a home of Hearth, whose words, rooms and things are all our own."""

from __future__ import annotations

import pytest

from itinera.builders.hearth import AnnotatedHouse, build_annotated_house, build_tasks
from itinera.hearth.language.vocabulary import ROOM_KINDS
from itinera.skills.objects import count_unknown_names
from itinera.skills.registry import make_skills, select_skills
from itinera.skills.trials import Study, design
from itinera.skills.truncation import Truncations, truncate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> AnnotatedHouse:
    return build_annotated_house(1, 0)


@pytest.fixture(scope="module")
def truncations(home: AnnotatedHouse) -> Truncations:
    return truncate(build_tasks(home, {"val": 12})["val"].graph_episodes)


@pytest.fixture(scope="module")
def study(home: AnnotatedHouse, truncations: Truncations) -> Study:
    table = make_skills("hearth")
    return design(select_skills(["all"], table), truncations.items, {home.world.id: home.world}, seed=1)


def test_nearly_every_interior_node_can_be_cut(truncations):
    assert truncations.counts.kept > 0.95 * truncations.counts.candidates
    assert all(one.source.instruction.text.startswith(one.text[:-1]) for one in truncations.items)


def test_every_skill_has_trials_and_counts_that_add_up(study, truncations):
    for name, tally in study.filter_counts.items():
        assert tally.truncations == len(truncations.items)
        assert tally.kept > 0, name
        assert tally.candidates == tally.kept + sum(tally.dropped.values())


def test_things_are_called_as_they_are_listed_and_lie_within_3_metres(study, home):
    for trial in study.trials:
        if trial.skill == "object":
            called = [thing for thing in home.world.objects[trial.probe_node] if thing.name == trial.target["object"]]
            assert min(thing.distance for thing in called) <= 3
    assert not count_unknown_names(home.world)


def test_rooms_are_called_by_words_that_a_reader_knows(study):
    for trial in study.trials:
        if trial.skill.startswith("room") and trial.arm == "intervention":
            sentence = trial.episode.instruction.text.rpartition("Walk towards the ")[2]
            assert ROOM_KINDS[sentence.partition(".")[0]] == trial.target["room"]
