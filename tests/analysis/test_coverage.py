"""What was seen before each episode, worked by hand on a street of six places."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.analysis.coverage import (
    OracleRoute,
    coverage_curve,
    has_visibility,
    measure_coverage,
    part_ids,
    routes_from_parts,
    routes_from_tours,
)
from itinera.errors import BadArgument, BadFile, GoalsWithheld, NoRoute
from itinera.formats import matterport
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.worlds import Euclidean, NavGraph, Pose, Ragged, World
from text_worlds import STREET, episode, graph, graphs, walks_in
from text_worlds import split as drawn_split

LINE = graph(STREET)  # a-b-c-d-e-f


def seeing(graph: NavGraph, pairs: dict[str, str]) -> NavGraph:
    """The graph where each named place sees these letters, and itself without saying so."""
    visible = np.zeros((len(graph.nodes), len(graph.nodes)), dtype=bool)
    for node, others in pairs.items():
        visible[graph.index[node], graph.locate(list(others))] = True
    return NavGraph(graph.nodes, graph.positions, graph.edges, visible)


def route(*paths: str, scene: str = "house") -> OracleRoute:
    return OracleRoute(scene, tuple(map(tuple, paths)))


def rows(shares: Ragged) -> list[list[float]]:
    return [shares[i].tolist() for i in range(len(shares))]


def test_what_was_walked_and_where_one_was_led_counts_as_visited():
    # 1: a b.  Led: b c d.  2: d e, of which d was seen.  Led: e.  3: e d c b: all seen.  f is never visited.
    found = measure_coverage([route("ab", "de", "edcb")], {"house": World("house", LINE)})
    assert rows(found.upcoming) == [[0.0, 1 / 2, 1.0]]
    assert rows(found.tour) == [[0.0, 4 / 5, 1.0]]  # a b c d, then e too, of five
    assert rows(found.scene) == [[0.0, 4 / 6, 5 / 6]]
    assert found.world_ids == ("house",)


def test_what_was_in_sight_counts_as_seen():
    # b sees c and f; the second path, e d, shows c too, as d sees it. Led from b: b c d e, and e sees f.
    world = seeing(LINE, {"b": "cf", "d": "c", "e": "f"})
    found = measure_coverage([route("ab", "ed")], {"house": World("house", world)}, by="visible")
    assert rows(found.upcoming) == [[0.0, 1.0]]  # of e, d, c, f: all, as one was led there
    assert rows(found.tour) == [[0.0, 1.0]]
    # Two paths that follow each other closely: nothing is passed between them.
    found = measure_coverage([route("ab", "bc", "cde")], {"house": World("house", world)}, by="visible")
    assert rows(found.upcoming) == [[0.0, 1.0, 2 / 4]]  # b c f; c d e f, of which c and f
    assert rows(found.tour) == [[0.0, 4 / 6, 4 / 6]]  # a b c f of all six
    assert rows(found.scene) == [[0.0, 4 / 6, 4 / 6]]


def test_sight_need_not_go_both_ways():
    world = {"house": World("house", seeing(LINE, {"a": "f"}))}
    assert rows(measure_coverage([route("a", "af")], world, by="visible").upcoming) == [[0.0, 1.0]]
    assert rows(measure_coverage([route("f", "fa")], world, by="visible").upcoming) == [
        [0.0, 0.5]
    ]  # from f one sees no a


def test_places_that_cannot_be_reached_are_no_part_of_the_scene():
    island = NavGraph.from_edges({"a": (0, 0, 0), "b": (2, 0, 0), "x": (9, 9, 0)}, [("a", "b")])
    found = measure_coverage([route("ab", "ba")], {"house": World("house", island)})
    assert rows(found.scene) == [[0.0, 1.0]]


def test_a_repeated_place_is_one_place():
    found = measure_coverage([route("aba", "abc")], {"house": World("house", LINE)})
    assert rows(found.upcoming) == [[0.0, 2 / 3]]


def sets_seen(graph: NavGraph, paths: list[tuple[str, ...]], sees: dict[str, set[str]]) -> list[list[float]]:
    """The slow twin: sets of names, episode by episode."""

    def shown(places: list[str] | tuple[str, ...]) -> set[str]:
        return set().union(*(sees[place] for place in places))  # fmt: skip

    whole = [place for path in paths for place in path]
    for before, after in pairwise(paths):
        whole += graph.route(before[-1], after[0])
    passed: list[str] = []
    upcoming, tour = [], []
    for k, path in enumerate(paths):
        if k:
            passed += graph.route(paths[k - 1][-1], path[0])
        known = shown(passed) if passed else set()
        upcoming.append(len(known & shown(path)) / len(shown(path)))
        tour.append(len(known) / len(shown(whole)))
        passed += path
    return [upcoming, tour]


@given(st.data())
def test_the_shares_are_those_of_sets(data):
    graph = data.draw(graphs(connected=True))
    paths = data.draw(st.lists(walks_in(graph), min_size=1, max_size=4))
    n = len(graph.nodes)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    world = {"house": World("house", NavGraph(graph.nodes, graph.positions, graph.edges, flags))}
    itself = {node: {node} for node in graph.nodes}
    in_sight = {
        node: {node} | {other for j, other in enumerate(graph.nodes) if flags[i, j]}
        for i, node in enumerate(graph.nodes)
    }
    for by, sees in (("visited", itself), ("visible", in_sight)):
        found = measure_coverage([OracleRoute("house", tuple(paths))], world, by=by)
        upcoming, tour = sets_seen(graph, paths, sees)
        assert found.upcoming[0].tolist() == pytest.approx(upcoming)
        assert found.tour[0].tolist() == pytest.approx(tour)
        assert np.all(np.diff(found.scene[0]) >= 0)
        assert np.all((found.scene[0] >= 0) & (found.scene[0] <= 1))


def test_a_curve_is_the_mean_over_the_tours_that_go_on():
    shares = Ragged.from_rows([[0.0, 0.5, 1.0], [0.0, 0.3], [0.0]])
    found = coverage_curve(shares, ["oak", "elm", "oak"])
    assert found.mean.tolist() == pytest.approx([0.0, 0.4, 1.0])
    assert found.tours.tolist() == [3, 2, 1]
    assert found.low[0] == found.high[0] == 0.0  # nothing can have been seen before the first
    assert found.low[1] < 0.4 < found.high[1]
    assert math.isnan(found.low[2])  # one scene says nothing about others
    assert math.isnan(found.high[2])
    assert len(coverage_curve(Ragged.from_rows([], dtype=np.float64), [])) == 0


def test_tours_of_one_scene_do_not_narrow_the_interval():
    once = coverage_curve(Ragged.from_rows([[0.0, 0.5], [0.0, 0.3], [0.0, 0.6]]), ["oak", "elm", "ash"])
    thrice = coverage_curve(Ragged.from_rows([[0.0, 0.5], [0.0, 0.3], [0.0, 0.6]] * 3), ["oak", "elm", "ash"] * 3)
    assert (thrice.low[1], thrice.high[1]) == pytest.approx((once.low[1], once.high[1]))


def test_routes_follow_the_tours():
    of = drawn_split({"1": "ab", "2": "cd", "3": "ef"}, ["3", "1"], ["2"])
    assert routes_from_tours(of) == (route("ef", "ab"), route("cd"))


def test_tours_without_answers_have_no_routes():
    hidden = Episode("1", "house", Pose("a"), (), (), Instruction("go"))
    with pytest.raises(GoalsWithheld, match="needs its paths"):
        routes_from_tours(Split("test", (hidden,), (Tour("0", "house", ("1",)),)))


def journey(path_id: str, **parts: object) -> Episode:
    return episode(f"{path_id}_0", "abcd", path_id=path_id, notes=parts)


SHORT = Split("short", (episode("1_0", "ab", path_id="1"), episode("2_0", "cd", path_id="2")))


def test_journeys_are_tours_of_their_parts_once_however_many_instructions_they_have():
    twice = [journey("7", first_path_id=1, second_path_id=2, third_path_id="1") for _ in range(2)]
    assert routes_from_parts(Split("long", tuple(twice)), SHORT) == (route("ab", "cd", "ab"),)
    assert part_ids(twice[0].notes) == (1, 2, "1")
    assert part_ids({}) == ()


def test_journeys_whose_parts_are_unknown_are_all_named():
    strange = [journey("7", first_path_id=1, second_path_id=99), journey("8")]
    with pytest.raises(BadFile) as error:
        routes_from_parts(Split("long", tuple(strange)), SHORT)
    assert [fault.problem for fault in error.value.faults] == ["names parts that are not in short.", "names no parts."]


def test_sight_must_be_known_to_be_counted():
    with pytest.raises(BadArgument, match="visible=True"):
        measure_coverage([route("ab")], {"house": World("house", LINE)}, by="visible")


def test_open_ground_is_refused():
    with pytest.raises(BadArgument, match="continuous"):
        measure_coverage([route("ab")], {"house": World("house", Euclidean())})
    points = np.zeros((2, 3))
    ground = Split("g", (episode("1", points),), (Tour("0", "house", ("1",)),))
    with pytest.raises(BadArgument, match="continuous"):
        routes_from_tours(ground)


def test_a_tour_that_cannot_be_walked_is_refused():
    apart = NavGraph.from_edges({"a": (0, 0, 0), "x": (9, 9, 0)}, [])
    with pytest.raises(NoRoute):
        measure_coverage([route("a", "x")], {"house": World("house", apart)})
    with pytest.raises(BadFile, match="world cave"):
        measure_coverage([route("ab", scene="cave")], {})


def test_sight_is_read_only_when_asked_for_and_written_again(tmp_path):
    matterport.write_worlds(tmp_path / "w", {"house": World("house", seeing(LINE, {"a": "f", "b": "ac"}))})
    assert matterport.read_worlds(tmp_path / "w")["house"].space.visible is None
    visible = matterport.read_worlds(tmp_path / "w", visible=True)["house"].space.visible
    assert np.argwhere(visible).tolist() == [[0, 5], [1, 0], [1, 2]]


def test_sight_must_fit_the_nodes(tmp_path):
    with pytest.raises(BadArgument, match=r"6 nodes but visibility of shape \(2, 2\)"):
        NavGraph(LINE.nodes, LINE.positions, LINE.edges, np.eye(2, dtype=bool))
    matterport.write_worlds(tmp_path / "w", {"house": World("house", graph("a-b"))})
    file = tmp_path / "w" / "house_connectivity.json"
    panoramas = json.loads(file.read_text())
    panoramas[1]["visible"] = [True]
    file.write_text(json.dumps(panoramas))
    assert matterport.read_worlds(tmp_path / "w")["house"].space.nodes == ("a", "b")
    with pytest.raises(BadFile, match="record 1, field visible: has 1 entries for 2 panoramas"):
        matterport.read_worlds(tmp_path / "w", visible=True)["house"]


def test_worlds_tell_sight_if_all_that_are_toured_do():
    worlds = {"house": World("house", seeing(LINE, {})), "hut": World("hut", LINE), "lawn": World("lawn", Euclidean())}
    assert has_visibility([route("ab")], worlds)
    assert not has_visibility([route("ab"), route("ab", scene="hut")], worlds)
    assert not has_visibility([route("ab", scene="lawn")], worlds)
