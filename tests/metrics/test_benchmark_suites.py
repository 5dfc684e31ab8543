"""Suites of single benchmarks, with values worked by hand: Habitat, NDH, REVERIE and SOON, ours beside the released.

The street has a node every 2 m: a-b-c-d-e-f.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import BadArgument, BadFile
from itinera.metrics import SUITES, score
from itinera.metrics.suites import default_suite
from itinera.records import Ending, Predictions, ScoreTable, Trajectory
from itinera.tasks import PROTOCOLS, Split
from itinera.tasks.protocol import POINTNAV
from itinera.worlds import Euclidean, VisibleObject, World
from released_benchmarks import cvdn, duet_reverie, duet_soon
from text_worlds import STREET, episode, graph, graph_distance, graph_scenes, quick

SQUARE = """
    a-b
    | |
    d-c
"""


def visible(object_id: str, *views: int) -> VisibleObject:
    return VisibleObject(object_id, "lamp", np.array(views, dtype=np.int64), np.zeros((len(views), 4)))


# Object 7 is visible from c and d, and listed at b without a view; 9 is visible from e only; 10 from nowhere.
OBJECTS = {
    "a": (),
    "b": (visible("7"), visible("10")),
    "c": (visible("7", 3),),
    "d": (visible("7", 13, 14), visible("8", 1)),
    "e": (visible("9", 0),),
}
HOUSE = World("house", graph(STREET), objects=OBJECTS)


def scored(suite: str, episodes, trajectories, world: World = HOUSE, protocol: str = "reverie") -> ScoreTable:
    split = Split("drawn", tuple(episodes), protocol=protocol)
    found = SUITES[suite](PROTOCOLS[protocol])
    return score(Predictions.from_trajectories("mine", tuple(trajectories)), split, {world.id: world}, found)


def values(table: ScoreTable, row: int = 0) -> dict[str, float]:
    return {column.name: float(table[column.name][row]) for column in table.columns}


# reference, walk, target, answer; then the values of `reverie` and of `duet-reverie` (None: undefined).
REVERIE = {
    "the reference and its object": (
        ("abcd", "abcd", 7, "7"),
        {"PL": 6, "steps": 3, "NE": 0, "ONE": 0, "SR": 1, "OSR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
        {"PL": 6, "steps": 3, "SR": 1, "OSR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
    ),
    # 2 m before the goal the object is visible already: SPL = 6 / max(4, 6).
    "an earlier place that sees it": (
        ("abcd", "abc", 7, "7"),
        {"NE": 2, "SR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
        {"SR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
    ),
    # 2 m past the goal it is not visible, though within 3 m. The name is right: RGSPL = 6 / max(8, 6) by DUET.
    "past it, named by memory": (
        ("abcd", "abcde", 7, "7"),
        {"NE": 2, "SR": 0, "OSR": 1, "SPL": 0, "RGS": 0, "RGSPL": 0},
        {"SR": 0, "OSR": 1, "SPL": 0, "RGS": 1, "RGSPL": 0.75},
    ),
    "a place that lists it without a view": (
        ("abcd", "ab", 7, None),
        {"SR": 0, "OSR": 0, "RGS": 0},
        {"SR": 0, "OSR": 0, "RGS": 0},
    ),
    # There and back once more: SPL = 6 / 10. Another object is named.
    "another object named": (
        ("abcd", "abcdcd", 7, "8"),
        {"PL": 10, "SR": 1, "SPL": 0.6, "RGS": 0, "RGSPL": 0},
        {"SR": 1, "SPL": 0.6, "RGS": 0, "RGSPL": 0},
    ),
    # The boxes see object 9 from e, but the reference ends at d: only `reverie` lets the annotated goal count.
    "a goal that the boxes do not confirm": (
        ("abcd", "abcd", 9, "9"),
        {"SR": 1, "OSR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
        {"SR": 0, "OSR": 0, "SPL": 0, "RGS": 1, "RGSPL": 1},
    ),
    # DUET's assertion fails where no viewpoint sees the object.
    "an object visible from nowhere": (
        ("abcd", "abcd", 10, "10"),
        {"SR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
        {"SR": None, "OSR": None, "SPL": None, "RGS": 1, "RGSPL": 1},
    ),
    # L = 0 and PL = 0: 0 / max(0, 0, 0.01) by DUET.
    "asked to stay": (
        ("c", "c", 7, "7"),
        {"SR": 1, "SPL": 1, "RGS": 1, "RGSPL": 1},
        {"SR": 1, "SPL": 0, "RGS": 1, "RGSPL": 0},
    ),
}


@pytest.mark.parametrize("suite", ["reverie", "duet-reverie"])
@pytest.mark.parametrize("name", REVERIE)
def test_reverie_as_worked_by_hand(name: str, suite: str) -> None:
    (reference, walk, target, answer), ours, released = REVERIE[name]
    asked = episode("1", tuple(reference), notes={"objId": target})
    found = values(scored(suite, [asked], [Trajectory("1", tuple(walk), object_id=answer)]))
    for metric, value in (ours if suite == "reverie" else released).items():
        np.testing.assert_allclose(found[metric], np.nan if value is None else value, atol=1e-12, err_msg=metric)


def test_reverie_compares_with_the_distance_and_duet_with_the_reference() -> None:
    """Round the square, 6 m, to a node 2 m away: SPL = 2 / 6 by distance, 6 / 6 by the reference."""
    square = World("house", graph(SQUARE), objects={"d": (visible("1", 0),)})
    asked = episode("1", ("a", "b", "c", "d"), notes={"objId": "1"})
    walk = Trajectory("1", ("a", "b", "c", "d"), object_id="1")
    assert values(scored("reverie", [asked], [walk], square))["SPL"] == pytest.approx(1 / 3)
    found = values(scored("duet-reverie", [asked], [walk], square))
    assert (found["SPL"], found["RGSPL"]) == (1.0, 1.0)


def test_a_missing_answer_earns_nothing_and_a_missing_trajectory_neither() -> None:
    asked = [episode(name, ("c", "d"), notes={"objId": 7}) for name in "12"]
    split = Split("drawn", tuple(asked), protocol="reverie")
    walks = Predictions.from_trajectories("mine", (Trajectory("1", ("c", "d")),))
    table = score(walks, split, {"house": HOUSE}, SUITES["reverie"](PROTOCOLS["reverie"]), missing="zero")
    assert (table["SR"].tolist(), table["RGS"].tolist()) == ([1.0, 0.0], [0.0, 0.0])  # 2 stays at c, which sees it


def test_suites_of_reverie_need_objects_in_tasks_and_worlds() -> None:
    walk = Trajectory("1", ("c", "d"))
    with pytest.raises(BadFile, match=r'episode "1": names no target object'):
        scored("reverie", [episode("1", ("c", "d"))], [walk])
    with pytest.raises(BadArgument, match="World house has no object boxes: give REVERIE's BBox folder"):
        scored("reverie", [episode("1", ("c", "d"), notes={"objId": 7})], [walk], replace(HOUSE, objects={}))


def test_default_suites_are_those_of_the_benchmark() -> None:
    chosen = {name: default_suite(protocol) for name, protocol in PROTOCOLS.items()}
    own = {"ndh": "ndh", "reverie": "reverie", "soon": "soon", "pointnav": "pointnav"}
    assert chosen == {name: own.get(name, "paper") for name in PROTOCOLS}


# SOON: the target has a box at d and at e, headings 0.1 to 0.5 clockwise from +y, elevations -0.2 to 0.2.


def box(left: float, right: float) -> list[list[float]]:
    return [[math.pi / 2 - h, e] for h, e in ((left, 0.2), (right, 0.2), (right, -0.2), (left, -0.2))]


def seeking(reference: str = "abcd", **boxes: list[list[float]]):
    shown = boxes or {"d": box(0.1, 0.5), "e": box(0.1, 0.5)}
    goals = tuple(dict.fromkeys((*shown, reference[-1])))
    return episode("1", tuple(reference), goals=goals, notes={"boxes": shown})


def pointing(walk: str, heading: float | None, elevation: float = 0.0) -> Trajectory:
    direction = None if heading is None else (math.pi / 2 - heading, elevation)
    return Trajectory("1", tuple(walk), object_direction=direction)


# walk and heading; then values of `soon` and of `duet-soon`.
SOON = {
    "the reference, pointing into the box": (
        ("abcd", 0.3),
        {"PL": 6, "NE": 0, "ONE": 0, "SR": 1, "OSR": 1, "SPL": 1, "GP": 6, "det-SR": 1, "det-SPL": 1},
        {"PL": 6, "NE": 0, "ONE": 0, "SR": 1, "OSR": 1, "SPL": 1, "GP": 6, "det-SR": 1, "det-SPL": 1},
    ),
    # e has a box too. Nearest goal d: L = 6, PL = 8, GP = 6 - 0. DUET: the goal is e, L = 8, GP = 8 - 0; its ONE is
    # from d, the place nearest to the reference's end, to e.
    "on to the second viewpoint": (
        ("abcde", 0.3),
        {"NE": 0, "ONE": 0, "SPL": 0.75, "GP": 6, "det-SR": 1, "det-SPL": 0.75},
        {"NE": 0, "ONE": 2, "OSR": 1, "SPL": 1, "GP": 8, "det-SR": 1, "det-SPL": 1},
    ),
    # c is 2 m from d: within 3 m, but without a box.
    "before the first viewpoint": (
        ("abc", 0.3),
        {"NE": 2, "SR": 1, "SPL": 1, "GP": 4, "det-SR": 0, "det-SPL": 0},
        {"NE": 2, "SR": 1, "SPL": 1, "GP": 4, "det-SR": 0, "det-SPL": 0},
    ),
    "beside the box": (("abcd", 0.6), {"SR": 1, "det-SR": 0}, {"SR": 1, "det-SR": 0}),
    "on the outline of the box": (("abcd", 0.5), {"det-SR": 1}, {"det-SR": 0}),
    "pointing nowhere": (("abcd", None), {"det-SR": 0, "det-SPL": 0}, {"det-SR": 0, "det-SPL": 0}),
}


@pytest.mark.parametrize("suite", ["soon", "duet-soon"])
@pytest.mark.parametrize("name", SOON)
def test_soon_as_worked_by_hand(name: str, suite: str) -> None:
    (walk, heading), ours, released = SOON[name]
    found = values(scored(suite, [seeking()], [pointing(walk, heading)], protocol="soon"))
    for metric, value in (ours if suite == "soon" else released).items():
        assert found[metric] == pytest.approx(value, abs=1e-12), metric


@pytest.mark.parametrize(("heading", "ours", "released"), [(0.0, 1, 0), (6.25, 1, 0), (math.pi, 0, 1), (0.2, 0, 1)])
def test_a_box_across_heading_zero_is_closed_there_but_not_by_duet(heading: float, ours: int, released: int) -> None:
    """From heading 6.2 on to 0.1, 0.18 wide: DUET's polygon lies between 0.1 and 6.2 instead."""
    asked, walk = seeking(d=box(6.2, 0.1)), pointing("abcd", heading)
    assert values(scored("soon", [asked], [walk], protocol="soon"))["det-SR"] == ours
    assert values(scored("duet-soon", [asked], [walk], protocol="soon"))["det-SR"] == released


def test_suites_of_soon_need_its_boxes() -> None:
    with pytest.raises(BadFile, match="has no boxes of target objects"):
        scored("soon", [episode("1", ("a", "b"))], [pointing("ab", None)], protocol="soon")


def test_ndh_measures_progress_to_the_nearest_goal_and_cvdn_the_rest_to_the_reference() -> None:
    """The planner's path ends at c, the goals are d and e: the agent at c has 2 m left of 6 m. GP 4 in both suites."""
    asked = episode("1", ("a", "b", "c"), goals=("d", "e"))
    walk = Trajectory("1", ("a", "b", "c"))
    ours, theirs = (values(scored(suite, [asked], [walk], protocol="ndh")) for suite in ("ndh", "cvdn"))
    assert (ours["GP"], ours["NE"], ours["SPL"]) == (4.0, 2.0, 1.0)  # 6 / max(4, 6)
    assert (theirs["GP"], theirs["NE"], theirs["ONE"], theirs["SR"], theirs["SPL"]) == (4.0, 0.0, 0.0, 1.0, 1.0)


def test_progress_is_negative_for_who_goes_away() -> None:
    """From c, 2 m before the goal d, to a, 6 m before it."""
    asked, walk = episode("1", ("c", "d")), Trajectory("1", ("c", "b", "a"))
    assert values(scored("ndh", [asked], [walk], protocol="ndh"))["GP"] == -4.0


@pytest.mark.parametrize(("walk", "spl"), [("a", 1.0), ("aba", 0.0)])
def test_cvdn_asks_who_is_there_already_to_stay(walk: str, spl: float) -> None:
    found = values(scored("cvdn", [episode("1", ("a",))], [Trajectory("1", tuple(walk))], protocol="ndh"))
    assert (found["SR"], found["SPL"], found["GP"]) == (1.0, spl, 0.0)


# Habitat: goal 4 m ahead, radius 0.2 m. Places, stopped; NE, SR, SPL and SoftSPL.
HABITAT = {
    "three of four metres": ([(0, 0), (3, 0)], True, (1, 0, 0, 0.75)),  # (1 - 1/4) 4 / max(3, 4)
    "arrived": ([(0, 0), (4, 0)], True, (0, 1, 1, 1)),
    "arrived without STOP": ([(0, 0), (4, 0)], False, (0, 0, 0, 1)),
    "a detour that ends beside it": ([(0, 0), (0, 3), (4, 3)], True, (3, 0, 0, 1 / 7)),  # (1 - 3/4) 4 / 7
    "farther away": ([(0, 0), (-1, 0)], True, (5, 0, 0, 0)),
    "exactly at the radius": ([(0, 0), (3.8, 0)], True, (0.2, None, None, 0.95)),  # (1 - 0.05) 4 / 4
}


@pytest.mark.parametrize("name", HABITAT)
def test_habitat_as_worked_by_hand(name: str) -> None:
    places, stopped, expected = HABITAT[name]
    goal = np.array([[4.0, 0.0, 0.0]])
    walk = np.pad(np.array(places, dtype=float), ((0, 0), (0, 1)))
    ending = Ending.STOPPED if stopped else Ending.OUT_OF_STEPS
    asked = episode("1", walk[:1], goals=goal)
    world = World("house", Euclidean())
    found = values(scored("habitat", [asked], [Trajectory("1", walk, ending=ending)], world, "pointnav"))
    for metric, value in zip(("NE", "SR", "SPL", "SoftSPL"), expected, strict=True):
        if value is not None:  # 4 - 3.8 is not 0.2 to the last bit
            assert found[metric] == pytest.approx(value), metric


def test_habitat_divides_nothing_by_nothing_where_the_goal_is_the_start() -> None:
    world, place = World("house", Euclidean()), np.zeros((1, 3))
    found = values(scored("habitat", [episode("1", place)], [Trajectory("1", place)], world, "pointnav"))
    assert np.isnan(found["SoftSPL"])
    assert not SUITES["habitat"](POINTNAV).needs_reference


def assert_as_released(suite: str, protocol: str, asked, walks, world: World, expected) -> None:
    table = scored(suite, asked, walks, world, protocol)
    for row, released in enumerate(expected):
        assert values(table, row).keys() == released.keys()
        for metric, value in released.items():
            wanted = np.nan if value is None else value
            np.testing.assert_allclose(values(table, row)[metric], wanted, atol=1e-9, err_msg=f"{suite}, {metric}")


@quick
@given(scene=graph_scenes(connected=True), data=st.data())
def test_duets_scorer_of_reverie_gives_the_same(scene, data) -> None:
    nodes = scene.space.nodes
    shown = {node: data.draw(st.sets(st.sampled_from("xyz"))) for node in nodes}
    world = World("house", scene.space, objects={n: tuple(visible(o, 0) for o in sorted(shown[n])) for n in nodes})
    asked, walks, expected = [], [], []
    for i, (walk, reference) in enumerate(zip(scene.walks, scene.references, strict=True)):
        target, answer = data.draw(st.sampled_from("xyz")), data.draw(st.sampled_from([None, *"xyz"]))
        asked.append(episode(str(i), reference, notes={"objId": target}))
        walks.append(Trajectory(str(i), walk, object_id=answer))
        seen = [node for node in nodes if target in shown[node]]
        expected.append(duet_reverie(walk, reference, seen, answer == target, graph_distance(scene.space)))
    if any(shown.values()):
        assert_as_released("duet-reverie", "reverie", asked, walks, world, expected)


angles = st.sampled_from([0.05 * k for k in range(1, 125)])


@quick
@given(scene=graph_scenes(connected=True), data=st.data())
def test_duets_scorer_of_soon_gives_the_same(scene, data) -> None:
    asked, walks, expected = [], [], []
    for i, (walk, reference) in enumerate(zip(scene.walks, scene.references, strict=True)):
        viewpoints = sorted({reference[-1], *data.draw(st.lists(st.sampled_from(scene.space.nodes), max_size=3))})
        edges = {node: data.draw(st.lists(angles, min_size=2, max_size=2, unique=True)) for node in viewpoints}
        pointed = data.draw(st.none() | st.tuples(angles.map(lambda h: h + 0.02), st.sampled_from([-0.3, 0.0, 0.1])))
        notes = {"boxes": {node: box(*pair) for node, pair in edges.items()}}
        asked.append(episode(str(i), reference, goals=tuple(viewpoints), notes=notes))
        direction = None if pointed is None else (math.pi / 2 - pointed[0], pointed[1])
        walks.append(Trajectory(str(i), walk, object_direction=direction))
        boxes = {node: (*pair, -0.2, 0.2) for node, pair in edges.items()}
        expected.append(duet_soon(walk, reference, boxes, pointed, graph_distance(scene.space)))
    assert_as_released("duet-soon", "soon", asked, walks, World("house", scene.space), expected)


@quick
@given(scene=graph_scenes(connected=True), data=st.data())
def test_cvdns_scorer_gives_the_same(scene, data) -> None:
    asked, walks, expected = [], [], []
    for i, (walk, reference) in enumerate(zip(scene.walks, scene.references, strict=True)):
        goals = tuple(data.draw(st.lists(st.sampled_from(scene.space.nodes), min_size=1, max_size=3)))
        asked.append(episode(str(i), reference, goals=goals))
        walks.append(Trajectory(str(i), walk))
        expected.append(cvdn(walk, reference, goals, graph_distance(scene.space)))
    assert_as_released("cvdn", "ndh", asked, walks, World("house", scene.space), expected)
