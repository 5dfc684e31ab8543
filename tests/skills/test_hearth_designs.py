"""All skills on a home of Hearth, whose words, rooms and things are all our own."""

from __future__ import annotations

import pytest

from itinera.builders.hearth import Home, build_home, tasks_of
from itinera.hearth.language.vocabulary import ROOM_KINDS
from itinera.skills.objects import unknown_names
from itinera.skills.registry import named, skill_table
from itinera.skills.trials import Study, design
from itinera.skills.truncation import Cuttings, cut

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Home:
    return build_home(1, 0)


@pytest.fixture(scope="module")
def cuttings(home: Home) -> Cuttings:
    return cut(tasks_of(home, {"val": 12})["val"].on_graph)


@pytest.fixture(scope="module")
def study(home: Home, cuttings: Cuttings) -> Study:
    table = skill_table("hearth")
    return design(named(["all"], table), cuttings.cuts, {home.world.id: home.world}, seed=1)


def test_nearly_every_interior_node_can_be_cut(cuttings):
    assert cuttings.tally.kept > 0.95 * cuttings.tally.candidates
    assert all(one.source.instruction.text.startswith(one.text[:-1]) for one in cuttings.cuts)


def test_every_skill_has_trials_and_counts_that_add_up(study, cuttings):
    for name, tally in study.tallies.items():
        assert tally.cuts == len(cuttings.cuts)
        assert tally.kept > 0, name
        assert tally.candidates == tally.kept + sum(tally.dropped.values())


def test_things_are_called_as_they_are_listed_and_lie_within_3_metres(study, home):
    for trial in study.trials:
        if trial.skill == "object":
            called = [thing for thing in home.world.objects[trial.last] if thing.name == trial.target["object"]]
            assert min(thing.distance for thing in called) <= 3
    assert not unknown_names(home.world)


def test_rooms_are_called_by_words_that_a_reader_knows(study):
    for trial in study.trials:
        if trial.skill.startswith("room") and trial.arm == "intervention":
            sentence = trial.episode.instruction.text.rpartition("Walk towards the ")[2]
            assert ROOM_KINDS[sentence.partition(".")[0]] == trial.target["room"]
