from __future__ import annotations

from collections.abc import Mapping

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossroads import distribution, truncate_at
from itinera.errors import BadArgument
from itinera.skills.rooms import MATTERPORT_NAMES, adjacent_room_skill, distance_changes, room_search_skill
from itinera.skills.trials import Skill, Study, design, require_graph
from itinera.worlds import Room, World
from text_worlds import graph, networkx_graph

# One metre a character: from c it is 2 m to the kitchen at d, 4 m to that at f.
STREET = "a-b-c--d-e-f-g"


def house(labels: str) -> World:
    """The street with a room at each node: "." where none is known."""
    rooms = {node: Room(label) for node, label in zip("abcdefg", labels, strict=True) if label != "."}
    return World("house", graph(STREET), rooms)


def studied(skill: Skill, labels: str, *nodes: str) -> Study:
    return design([skill], [truncate_at(*(nodes or ("b", "c")))], {"house": house(labels)}, seed=1)


def asked(skill: Skill, labels: str) -> list[str]:
    """The kinds of room asked for at c."""
    return [trial.target["room"] for trial in studied(skill, labels).trials if trial.arm == "intervention"]


def test_next_to_a_cut_every_other_kind_of_room_is_asked_for():
    study = studied(adjacent_room_skill(), "hbhkhhh")
    first, _, second, _ = study.trials
    assert (first.id, first.target) == ("7_1_2.room-1.b", {"room": "b", "nodes": ["b"]})
    assert first.episode.instruction.text == "Go on. Walk towards the bedroom."
    assert second.target == {"room": "k", "nodes": ["d"]}


def test_exactly_so_many_steps_away_a_kind_may_also_be_nearer():
    labels = "kbhkbhk"  # k at d, one step, and at a, two
    assert asked(room_search_skill(2), labels) == ["b", "k"]
    assert asked(room_search_skill(3), labels) == []  # f is a hallway, as c is
    assert asked(room_search_skill(4), labels) == ["k"]


@pytest.mark.parametrize(("steps", "kinds"), [(1, ["b"]), (2, ["b", "k"]), (3, ["b", "k"]), (4, ["b", "k", "l"])])
def test_within_so_many_steps_are_all_that_are_nearer(steps, kinds):
    assert asked(room_search_skill(steps, within=True), "hbhhkhl") == kinds


def test_a_search_says_where_it_ends():
    text = studied(room_search_skill(2, within=True), "hhhkhhh").trials[0].episode.instruction.text
    assert text == "Go on. Walk towards the kitchen. This is your destination."


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ("hhhhhhh", "no other room type at that distance"),
        ("hhhzhhh", '"other room" is not a room type'),
        ("hhhZhhh", '"junk" is not a room type'),
        ("hhh-hhh", '"no label" is not a room type'),
        ("hhh.hhh", "no other room type at that distance"),
        ("hh-khhh", "room type unknown at the node"),
        ("hh.khhh", "room type unknown at the node"),
    ],
)
def test_what_cannot_be_asked_for_is_counted_with_its_reason(labels, reason):
    study = studied(adjacent_room_skill(), labels)
    asked_for = [trial.target["room"] for trial in study.trials]
    assert not asked_for
    assert reason in study.filter_counts["room-1"].dropped


def test_released_designs_take_no_label_for_a_kind_and_cut_anywhere():
    assert asked(adjacent_room_skill(released=True), "hhh-hhh") == ["-"]
    assert asked(adjacent_room_skill(released=True), "hh.khhh") == ["h", "k"]
    assert asked(adjacent_room_skill(released=True), "hhhzhhh") == []


def test_one_of_several_names_is_drawn():
    truncations = [truncate_at("b", "c", name=f"{i}_0") for i in range(60)]
    trials = design([adjacent_room_skill()], truncations, {"house": house("hhhehhh")}, seed=1).trials
    said = {trial.episode.instruction.text for trial in trials if trial.arm == "intervention"}
    assert said == {f"Go on. Walk towards the {name}." for name in ("entryway", "foyer", "lobby")}
    assert MATTERPORT_NAMES["p"] == ("porch", "terrace", "deck", "driveway")


def test_the_response_of_a_choice_is_how_much_nearer_it_leads_stopping_aside():
    skill, world = adjacent_room_skill(), house("hhhkhhh")
    trial = design([skill], [truncate_at("b", "c")], {"house": world}, seed=1).trials[0]
    answer = distribution(world, "c", {"b": 0.1, "d": 0.3}, stop=0.6)
    assert distance_changes(trial, answer, world) == pytest.approx([-2.0, 3.0])  # c is 3 m from d, b 5 m
    assert skill.response(trial, answer, world) == pytest.approx((0.1 * -2 + 0.3 * 3) / 0.4)
    assert skill.response(trial, distribution(world, "c", {}, stop=1.0), world) == 0.0


def test_the_response_of_a_search_is_how_far_it_ends_from_the_nearest_such_room():
    world = house("khhhhkh")
    trial = design([room_search_skill(3)], [truncate_at("b", "c")], {"house": world}, seed=1).trials[0]
    for end, metres in (("c", 4.0), ("b", 2.0), ("a", 0.0), ("e", 2.0)):
        answer = distribution(world, "c", {}, stop=1.0, greedy_path=("c", end))
        assert room_search_skill(3).response(trial, answer, world) == pytest.approx(metres)


def test_released_distances_are_to_rooms_within_those_steps_only():
    # Two kitchens: at b, one step from the cut, and at e, two steps. Ending at e is far from the one listed.
    world = house("hkhhkhh")
    paper, released = (
        design(
            [room_search_skill(1, within=True, released=old)], [truncate_at("b", "c")], {"house": world}, seed=1
        ).trials[0]
        for old in (False, True)
    )
    answer = distribution(world, "c", {}, stop=1.0, greedy_path=("c", "d", "e"))
    response = room_search_skill(1, within=True).response
    assert response(paper, answer, world) == 0.0
    assert response(released, answer, world) == pytest.approx(7.0)


def test_a_search_without_where_it_ended_is_refused():
    world = house("khhhhhh")
    trial = design([room_search_skill(2)], [truncate_at("b", "c")], {"house": world}, seed=1).trials[0]
    with pytest.raises(BadArgument, match="its record has no greedy_path"):
        room_search_skill(2).response(trial, distribution(world, "c", {}, stop=1.0), world)


def test_a_world_without_rooms_says_what_to_give():
    world = World("house", graph(STREET))
    for released in (False, True):
        with pytest.raises(BadArgument, match=r"World house has no room labels\. Give a table of rooms"):
            design([adjacent_room_skill(released=released)], [truncate_at("b", "c")], {"house": world}, seed=1)


@pytest.mark.parametrize("steps", [0, 9])
def test_searches_are_one_to_eight_steps_long(steps):
    with pytest.raises(BadArgument, match="between 1 and 8"):
        room_search_skill(steps)


@given(st.text("hkb.-z", min_size=7, max_size=7), st.sampled_from("abcdefg"), st.integers(1, 6), st.booleans())
def test_the_kinds_asked_for_agree_with_networkx(labels, at, steps, within):
    world = house(labels)
    if not world.rooms:
        return
    neighbour = require_graph(world).neighbors(at)[0]
    skill = room_search_skill(steps, within=within)
    study = design([skill], [truncate_at(neighbour, at)], {"house": world}, seed=1)
    found = {trial.target["room"] for trial in study.trials}
    known: Mapping[str, str] = {node: room.label for node, room in world.rooms.items()}
    hops = networkx.single_source_shortest_path_length(networkx_graph(require_graph(world)), at)
    reached = [node for node, away in hops.items() if (1 <= away <= steps if within else away == steps)]
    here = known.get(at, "-")
    expected = set() if here == "-" else {known.get(node, "-") for node in reached} - {here, "-", "z"}
    assert found == expected
