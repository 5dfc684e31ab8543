"""Views at poses on the ground: at the eye of a node they are those of the graph, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.formats import matterport, reverie, rooms
from itinera.formats.hearth_season import BOXES, season_houses
from itinera.hearth.ground import ground_world
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.simulators.candidates import graph_candidates, list_candidates
from itinera.simulators.inferred_views import InferredPoseViews, find_areas
from itinera.simulators.pose_views import AnnotatedPoseViews
from itinera.simulators.surroundings import Scene, Surroundings
from itinera.simulators.view_features import annotated_views, frequent_names
from itinera.simulators.views_at import NUM_ROOMS
from itinera.worlds import World

REACH = 10.0
EYE = np.array([0.0, 0.0, EYE_HEIGHT])


@pytest.fixture(scope="module")
def house(season):
    """The graph of the season's house with its annotations, and its ground."""
    (name, place), *_ = season_houses(season).items()
    graph = matterport.read_worlds(season / "connectivity", visible=True)[name]
    labels, objects = rooms.read_table(season / "rooms.csv")[name], reverie.read_objects(season / BOXES)[name]
    return World(name, graph.space, rooms=labels, objects=objects), Scene(ground_world(*place, id=name, radius=0.1))


@pytest.mark.parametrize("reach", [0.0, REACH])
def test_views_at_the_eye_of_a_node_are_those_of_the_graph(house, reach):
    world, scene = house
    graph, names = world.space, frequent_names({world.id: world})
    table = annotated_views({world.id: world}, names, reach=reach)
    source = AnnotatedPoseViews({world.id: world}, names, reach=reach)
    assert source.columns == table.columns
    candidates = graph_candidates(graph)
    for node in graph.nodes[:: len(graph.nodes) // 8]:
        own, ends = candidates[node], [graph.index[other] for other in candidates[node].nodes]
        eye = graph.positions[graph.index[node]]
        surroundings = Surroundings(scene, eye - EYE)
        surroundings.eye = eye  # to the last bit
        found = source.at(surroundings, own, graph.positions[ends] - EYE)
        assert (found == table.at(world.id, node)).all()


def test_candidates_at_a_node_are_those_of_the_graph(house):
    graph = house[0].space
    expected = graph_candidates(graph)
    for k, node in enumerate(graph.nodes):
        ends = np.flatnonzero(graph.adjacency[k])
        names = [graph.nodes[end] for end in ends]
        found, order = list_candidates(names, graph.positions[ends] - graph.positions[k])
        assert found.nodes == expected[node].nodes == tuple(names[k] for k in order)
        for column in ("headings", "elevations", "distances", "views"):
            assert (getattr(found, column) == getattr(expected[node], column)).all()


class KnowsRooms:
    """A classifier that calls every place a kitchen, and those more than 2 m away another room."""

    names = ("door", "table", "unicorn")

    def classify(self, nearness):
        kinds = np.zeros((len(nearness), NUM_ROOMS))
        kinds[:, 10] = 1
        return kinds, (nearness[:, -1] > np.exp(-2 / 3)).astype(float)


def test_inferred_views_have_the_objects_of_annotated_ones_and_the_rooms_of_the_classifier(house):
    world, scene = house
    names = ("door", "table", "chair")
    annotated = AnnotatedPoseViews({world.id: world}, names, reach=REACH)
    inferred = InferredPoseViews(KnowsRooms(), names, reach=REACH)
    assert inferred.columns == annotated.columns
    column = {name: k for k, name in enumerate(inferred.columns)}
    kitchen = list(column)[len(names) + 10].removeprefix("in ")
    place = world.space.positions[0] - EYE
    surroundings = Surroundings(scene, place)
    places = place + np.array([[1.5, 0, 0], [0, 2.5, 0]])
    candidates, order = list_candidates(["a", "b"], places - place)
    views = inferred.at(surroundings, candidates, places[order])
    assert (views[:, :3] == annotated.at(surroundings, candidates, places[order])[:, :3]).all()
    assert (views[:, column[f"in {kitchen}"]] == 1).all()
    assert np.flatnonzero(views[:, column[f"to {kitchen}"]]).tolist() == sorted(candidates.views.tolist())
    near = candidates.views[candidates.nodes.index("a")]
    assert np.flatnonzero(views[:, column["to the same room"]]).tolist() == [near]
    assert views[:, column[f"towards {kitchen}"]].any() == bool(len(find_areas(surroundings)))


def test_areas_are_where_floor_is_visible(house):
    world, scene = house
    seen = 0
    for eye in world.space.positions[::7]:
        surroundings = Surroundings(scene, eye - EYE)
        areas = find_areas(surroundings)
        distances = np.linalg.norm(areas, axis=1)
        assert (distances > 0).all()
        assert len(np.unique(areas.round(6), axis=0)) == len(areas)
        seen += len(areas)
    assert seen > 0
