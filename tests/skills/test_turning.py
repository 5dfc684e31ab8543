from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crossroads import crossroads, distribution, truncate_at
from itinera.errors import BadArgument
from itinera.simulators.candidates import graph_candidates
from itinera.simulators.graph import GraphSimulator
from itinera.skills.trials import design, require_graph
from itinera.skills.turning import (
    PAPER,
    RANGES,
    RELEASED,
    degrees_right,
    direction_skill,
    is_in_direction,
    panorama_heading,
)
from itinera.worlds import NavGraph, Pose, World


def outcome(direction: str, *degrees: float, **options: object) -> str | list[str]:
    """The neighbours a trial asks for, or why there is none."""
    study = design(
        [direction_skill(direction, **options)], [truncate_at("s", "c")], {"house": crossroads(*degrees)}, seed=1
    )
    dropped = next(iter(study.filter_counts.values())).dropped
    return next(iter(dropped)) if dropped else study.trials[0].target["nodes"]


@pytest.mark.parametrize(
    ("degrees", "direction"),
    [
        (0, "forward"),
        (15, "forward"),
        (15.1, "right"),
        (90, "right"),
        (90.1, "back right"),
        (165, "back right"),
        (165.1, "backward"),
        (180, "backward"),
        (-165, "backward"),
        (-164.9, "back left"),
        (-90, "back left"),
        (-89.9, "left"),
        (-15, "left"),
        (-14.9, "forward"),
    ],
)
def test_every_angle_lies_in_one_direction(degrees, direction):
    assert [name for name in RANGES if is_in_direction(name, degrees)] == [direction]


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_to_the_right_is_clockwise_and_never_minus_180(heading, facing):
    degrees = degrees_right(heading, facing)
    assert -180 < degrees <= 180
    assert sum(is_in_direction(name, degrees) for name in RANGES) == 1
    assert math.isclose(math.cos(math.radians(degrees)), math.cos(facing - heading), abs_tol=1e-6)
    assert math.isclose(math.sin(math.radians(degrees)), math.sin(facing - heading), abs_tol=1e-6)


@given(st.integers(0, 7199))
def test_one_faces_where_the_simulator_says_even_half_way_between_two_views(twentieths):
    world = crossroads(twentieths / 20)
    assume(math.dist((0, -2, 0), require_graph(world).positions[2]) > 0.01)
    simulator = GraphSimulator()
    seen = simulator.reset(world, Pose("c", 0.3))
    assert seen.candidates is not None
    after = simulator.step(1 + seen.candidates.nodes.index("n0"))
    assert panorama_heading(require_graph(world), "c", "n0") == pytest.approx(after.heading, abs=1e-12)


def test_a_neighbour_there_and_two_elsewhere_are_needed():
    assert outcome("left", -60, 60, 0) == ["n0"]
    assert outcome("left", -60, -30, 60) == ["n0", "n1"]  # s lies behind, n2 to the right
    assert outcome("left", 60, 0, 100) == "no neighbour in the direction"
    assert outcome("left", -60) == "fewer than two neighbours elsewhere"


def test_the_released_filter_wants_two_neighbours_elsewhere_to_be_met_first():
    first, last = ({"house": {"c": order}} for order in (("n0", "n1", "s"), ("n1", "s", "n0")))
    assert outcome("left", -60, 60, orders=last) == ["n0"] == outcome("left", -60, 60)
    assert outcome("left", -60, 60, orders=first) == "fewer than two neighbours elsewhere come first"


def test_the_order_of_agents_fits_the_released_filter():
    world = crossroads(-60, 60)
    orders = {"house": {node: candidates.nodes for node, candidates in graph_candidates(require_graph(world)).items()}}
    assert outcome("right", -60, 60, orders=orders) == "fewer than two neighbours elsewhere come first"
    assert outcome("left", -60, 60, orders=orders) == ["n0"]


def test_the_sentences_are_those_of_the_paper_or_composed_as_released():
    assert {direction: len(sentences) for direction, sentences in RELEASED.items()} == {
        "forward": 5,
        "right": 35,
        "back right": 35,
        "backward": 5,
        "back left": 35,
        "left": 35,
    }
    assert "Turn to your left and walk ahead." in RELEASED["left"]
    assert "Turn around and go forward." in RELEASED["backward"]
    # Once turned around, what was behind to the left lies to the right.
    assert "Turn around and take a right, move ahead." in RELEASED["back left"]
    assert PAPER["back left"] == ("Turn around and go to your right.",)
    assert all(len(set(sentences)) == len(sentences) for sentences in RELEASED.values())


def test_the_response_is_the_mass_in_the_direction_without_stopping():
    world = crossroads(-60, -30, 60)
    skill = direction_skill("left")
    trial = design([skill], [truncate_at("s", "c")], {"house": world}, seed=1).trials[0]
    assert trial.target["heading"] == math.pi / 2
    answer = distribution(world, "c", {"n0": 0.2, "n1": 0.1, "n2": 0.4}, stop=0.3)
    assert skill.response(trial, answer, world) == pytest.approx(0.3)


def test_turning_the_whole_house_changes_nothing():
    def nodes(turn: float) -> list[list[str]]:
        places = {"s": (0, -2), "c": (0, 0), "n0": (-2, 1), "n1": (2, 1), "n2": (1, 2)}
        turned = {
            n: (x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn), 0.0)
            for n, (x, y) in places.items()
        }
        world = World("house", NavGraph.from_edges(turned, [("c", n) for n in places if n != "c"]))
        study = design([direction_skill(d) for d in RANGES], [truncate_at("s", "c")], {"house": world}, seed=1)
        return [trial.target["nodes"] for trial in study.trials]

    assert nodes(0.0) == nodes(math.pi / 6) == nodes(-2 * math.pi / 3)


def test_an_unknown_direction_is_refused_with_those_there_are():
    with pytest.raises(BadArgument, match=r"'up' is not a direction\. Use one of forward, right"):
        direction_skill("up")
