from __future__ import annotations

import gc
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import on_foot
from itinera.errors import BadArgument
from itinera.formats import matterport, r2r, reverie, rooms
from itinera.hearth.language.scene_description import DescribedCandidate, DescribedObject, SceneDescription
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import STOP
from itinera.simulators.view_features import annotated_views, frequent_names
from itinera.worlds import Euclidean, Pose, World
from matterport_twin import Simulator, candidates, choose
from simulators.test_candidates import tall_graphs
from text_worlds import thorough

WORLD = World("house", on_foot.WORLD)


def test_the_recorded_walk_goes_as_worked_by_hand():
    walk = GraphSimulator()
    place, heading, elevation = on_foot.START
    pose = Pose(place, math.radians(heading), math.radians(elevation))
    for moment in on_foot.PLAY:
        seen = walk.reset(WORLD, pose) if moment.action is None else walk.step(moment.action)
        assert (seen.world_id, seen.place, "".join(seen.candidates.nodes)) == ("house", moment.place, moment.candidates)
        assert tuple(seen.candidates.views) == moment.views
        angles = seen.heading, seen.elevation, *seen.candidates.headings, *seen.candidates.elevations
        by_hand = moment.heading, moment.elevation, *moment.headings, *moment.elevations
        assert np.degrees(angles).tolist() == pytest.approx(by_hand, abs=1e-6)
        assert tuple(seen.candidates.distances) == pytest.approx(moment.distances)
        assert (walk.pose.place, walk.pose.heading, walk.pose.elevation) == (seen.place, seen.heading, seen.elevation)
        assert walk.actions == 1 + len(moment.candidates)


@thorough
@given(graph=tall_graphs(), heading=st.floats(-9, 9), elevation=st.floats(-1, 1), draw=st.data())
def test_walks_are_those_of_the_plain_simulator(graph, heading, elevation, draw):
    node = draw.draw(st.sampled_from(graph.nodes))
    walk, twin = GraphSimulator(), Simulator(graph)
    seen = walk.reset(World("w", graph), Pose(node, math.pi / 2 - heading, elevation))
    twin.new_episode(node, heading, elevation)
    for _ in range(5):
        assert seen.place == twin.node
        assert math.cos(math.pi / 2 - seen.heading - math.radians(30) * twin.turns) == pytest.approx(1.0)
        assert seen.elevation == pytest.approx(math.radians(30) * (twin.row - 1))
        action = draw.draw(st.integers(0, walk.actions - 1))
        if action != STOP:
            choose(twin, candidates(twin)[action - 1])
        seen = walk.step(action)


class NumberedViews:
    """Views that are told apart by a number."""

    size = 1

    def __init__(self) -> None:
        self.views = {("house", node): np.full((36, 1), k) for k, node in enumerate("abcde")}

    def at(self, world_id: str, node: str) -> np.ndarray:
        return self.views[world_id, node]


def test_the_views_of_the_node_are_shown_and_not_copied():
    source = NumberedViews()
    walk = GraphSimulator(source)
    assert walk.reset(WORLD, Pose("a")).views is source.views["house", "a"]
    assert walk.step(2).views is source.views["house", "c"]


def test_candidates_are_computed_once_for_a_world_and_dropped_with_it():
    walk = GraphSimulator()
    world = World("passing", on_foot.WORLD)
    first = walk.reset(world, Pose("a"))
    assert walk.step(STOP).candidates is first.candidates is walk.reset(world, Pose("a")).candidates
    walk.reset(WORLD, Pose("a"))
    del world
    gc.collect()
    assert list(walk._nodes_by_world) == [WORLD]


def description(node: str, candidates: str) -> SceneDescription:
    lamp = DescribedObject("lamp", "red", "", 0.0, 1.0, 0.5, instance=7)
    # The kind of room tells where a way leads, once its node is no longer named.
    return SceneDescription(
        node, "k", (lamp,), tuple(DescribedCandidate(other, 0.0, 1.0, 0, f"to {other}", "") for other in candidates), ()
    )


ONWARD = {"a": "dcb", "b": "ac", "c": "abe", "d": "a", "e": "c"}
DESCRIPTIONS = {"house": {node: description(node, candidates) for node, candidates in ONWARD.items()}}


def test_descriptions_have_no_names_and_their_candidates_in_the_order_of_the_actions():
    walk = GraphSimulator(descriptions=DESCRIPTIONS)
    for node in "abcde":
        seen = walk.reset(WORLD, Pose(node))
        assert [way.room for way in seen.description.candidates] == [f"to {other}" for other in seen.candidates.nodes]
        assert {seen.description.node, *(way.node for way in seen.description.candidates)} == {""}
        assert seen.description.objects[0].instance == 0


@pytest.mark.parametrize(
    ("descriptions", "message"),
    [
        ({}, "There are no scene descriptions of world house"),
        ({"house": {}}, "The scene description of a does not have the candidates of world house there"),
        (
            {"house": DESCRIPTIONS["house"] | {"b": description("b", "a")}},
            "The scene description of b does not have the candidates",
        ),
    ],
)
def test_descriptions_of_another_house_are_refused(descriptions, message):
    with pytest.raises(BadArgument, match=message):
        GraphSimulator(descriptions=descriptions).reset(WORLD, Pose("a"))


@pytest.mark.parametrize("action", [-1, 4, math.nan])
def test_an_action_that_is_not_there_is_refused_and_changes_nothing(action):
    walk = GraphSimulator()
    walk.reset(WORLD, Pose("a"))
    with pytest.raises(BadArgument, match=r"action must be 0 \(STOP\) to 3, the candidates of a, not"):
        walk.step(action)
    assert walk.pose.place == "a"


def test_standing_off_the_graph_is_refused():
    with pytest.raises(BadArgument, match="z is not a node of world house"):
        GraphSimulator().reset(WORLD, Pose("z"))
    with pytest.raises(BadArgument, match="is not a node of world house"):
        GraphSimulator().reset(WORLD, Pose(np.zeros(3)))
    with pytest.raises(BadArgument, match="World field is not a navigation graph"):
        GraphSimulator().reset(World("field", Euclidean()), Pose(np.zeros(3)))


def test_nothing_can_be_done_before_the_start():
    with pytest.raises(BadArgument, match="call reset first"):
        GraphSimulator().step(STOP)


@pytest.mark.real
def test_real_paths_can_be_walked_seeing_objects_and_rooms(data):
    split = r2r.read_split(data / "r2r" / "R2R_val_unseen.json.gz")
    graphs = matterport.read_worlds(data / "connectivity.tar.xz")
    objects = reverie.read_objects(data / "reverie" / "BBox.tar.xz")
    labels = rooms.read_table(data / "rooms" / "viewpoint_rooms.csv.gz")
    worlds = {name: World(name, graphs[name].space, labels[name], objects.get(name, {})) for name in split.world_ids}
    walk = GraphSimulator(annotated_views(worlds, frequent_names(worlds)))
    for episode in split.episodes:
        seen = walk.reset(worlds[episode.world_id], episode.start)
        for node in episode.reference[1:]:
            assert seen.views.any()
            seen = walk.step(1 + seen.candidates.nodes.index(node))
        assert seen.place == episode.goals[0]
