"""Laws every metric keeps, over tables of metrics and of spaces.

A law that fails here is a bug in a definition, whatever the worked examples say.
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from itinera.metrics import SUITES, goal_progress, soft_spl, spl
from itinera.metrics.suites import paper
from itinera.metrics.tours import TourGroups
from itinera.tasks.protocol import R2R, Protocol
from itinera.worlds import Euclidean, NavGraph, Ragged
from laws.on_the_ground import ground_scenes
from text_worlds import SCENES, Scene, attempts, graph_scenes, graphs, open_scenes, quick, walks_in

PAPER = {metric.name: metric for metric in paper().metrics}
TOURS = {metric.name: metric for metric in paper().tour_metrics}
SUBTASKS = ("goat-bench", "lh-vln", "omninavbench")
IN_ORDER = ("CSR_conditional", "CGT", "CSR_completion")  # of the legs of a tour
FIDELITY = ("nDTW", "SDTW", "CLS", "PC", "LS", "SED", "SED_nodes", "t-nDTW", "t-SR")
RATES = (
    *(name for name, metric in PAPER.items() if metric.unit == ""),
    *TOURS,
    *("composite_success", "partial_success", "ISR", "CSR_conditional", "CGT", "CSR_completion", "SoftSR"),
)
ERRORS = ("NE", "ONE", "DTW")
WEIGHTED = (
    ("SR", "OSR"),
    ("SPL", "SR"),
    ("SED", "SR"),
    ("SED_nodes", "SR"),
    ("SDTW", "SR"),
    ("SDTW", "nDTW"),
    ("CLS", "PC"),
    ("t-SPL", "t-SR"),
    ("composite_success", "CSR_conditional"),
    ("CSR_conditional", "ISR"),
    ("composite_success", "partial_success"),
    ("CSR_completion", "SoftSR"),
)

SPACES = {**SCENES, "ground": ground_scenes()}
each_space = pytest.mark.parametrize("kind", SPACES)


def legs_of(scene: Scene) -> TourGroups:
    """All walks of a scene as one tour."""
    return TourGroups(np.zeros(len(scene.walks), dtype=np.int64), np.zeros(len(scene.walks), dtype=bool))


def every_value(scene: Scene, protocol: Protocol | None = None) -> dict[str, np.ndarray]:
    """Each metric of the paper suite, and all tour metrics of the tour of all walks, measured on the scene."""
    suite = paper(protocol) if protocol else paper()
    made = scene.attempts
    values = {metric.name: metric.measure(made) for metric in suite.metrics}
    # Those of sub-tasks measure straight lines, which need positions.
    positions = isinstance(scene.space, NavGraph) or made.path.values.ndim == 2
    suites = [suite, *(SUITES[name](protocol or R2R) for name in SUBTASKS if positions)]
    return values | {m.name: m.measure(made, legs_of(scene)) for each in suites for m in each.tour_metrics}


def assert_same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1e-7, atol=1e-9, err_msg=name)


@each_space
@quick
@given(data=st.data())
def test_following_the_reference_is_perfectly_faithful(kind, data):
    scene = data.draw(SPACES[kind])
    values = every_value(Scene(scene.space, scene.references, scene.references))
    for name in FIDELITY:
        np.testing.assert_allclose(values[name], 1.0, err_msg=name)


@quick
@given(graphs(connected=True), st.data())
def test_a_shortest_path_is_perfectly_efficient(space, data):
    start, goal = data.draw(st.sampled_from(space.nodes)), data.draw(st.sampled_from(space.nodes))
    made = attempts(space, [space.route(start, goal)], [data.draw(walks_in(space, start=start))], goals=[[goal]])
    np.testing.assert_allclose(PAPER["SPL"].measure(made), 1.0)


@each_space
@quick
@given(data=st.data())
def test_rates_stay_between_nothing_and_all_and_errors_above_nothing(kind, data):
    values = every_value(data.draw(SPACES[kind]))
    for name in values.keys() & RATES:
        assert ((values[name] >= 0) & (values[name] <= 1)).all(), name
    for name in ERRORS:
        assert (values[name] >= 0).all(), name


@each_space
@quick
@given(data=st.data())
def test_a_weighted_rate_never_exceeds_the_rate_it_weighs(kind, data):
    values = every_value(data.draw(SPACES[kind]))
    for weighted, whole in WEIGHTED:
        if weighted not in values:
            continue
        assert (values[weighted] <= values[whole] + 1e-12).all(), f"{weighted} <= {whole}"


@quick
@given(graph_scenes(connected=True), st.data())
def test_detours_never_raise_spl_on_a_graph(scene, data):
    walk = scene.walks[0]
    at = data.draw(st.integers(0, len(walk) - 1))
    beside = data.draw(st.sampled_from(scene.space.neighbors(walk[at])))
    longer = (*walk[: at + 1], beside, *walk[at:])
    made = attempts(scene.space, [walk, longer], [scene.references[0]] * 2)
    direct, detour = PAPER["SPL"].measure(made)
    assert detour <= direct


@quick
@given(open_scenes(), st.data())
def test_detours_never_raise_spl_in_the_open(scene, data):
    walk = scene.walks[0]
    assume(len(walk) > 1)
    at = data.draw(st.integers(1, len(walk) - 1))
    longer = (*walk[:at], data.draw(st.tuples(*[st.floats(-9, 9)] * 3)), *walk[at:])
    direct, detour = PAPER["SPL"].measure(attempts(scene.space, [walk, longer], [scene.references[0]] * 2))
    assert detour <= direct + 1e-12


@quick
@given(graph_scenes(), st.randoms(use_true_random=False))
def test_renaming_and_reordering_nodes_changes_nothing(scene, random):
    order = list(range(len(scene.space.nodes)))
    random.shuffle(order)
    called = {node: f"place {order[i]}" for i, node in enumerate(scene.space.nodes)}
    number = np.argsort(order)  # the old number of each new node
    renamed = NavGraph(
        tuple(f"place {i}" for i in range(len(order))),
        scene.space.positions[number],
        np.array(order)[scene.space.edges] if len(scene.space.edges) else scene.space.edges,
    )
    walks, references = ([[called[p] for p in row] for row in rows] for rows in (scene.walks, scene.references))
    assert_same(every_value(Scene(renamed, walks, references)), every_value(scene))


def moved(scene: Scene, move) -> Scene:
    """The scene with every position moved."""
    if isinstance(scene.space, NavGraph):
        space = NavGraph(scene.space.nodes, move(scene.space.positions), scene.space.edges)
        return Scene(space, scene.walks, scene.references)
    walks, references = (tuple(move(np.array(row)) for row in rows) for rows in (scene.walks, scene.references))
    return Scene(Euclidean(), walks, references)


each_movable = pytest.mark.parametrize("scenes", [graph_scenes(), open_scenes()], ids=["graph", "open"])


@each_movable
@quick
@given(data=st.data(), angle=st.floats(-3, 3), shift=st.tuples(*[st.floats(-50, 50)] * 3))
def test_turning_and_shifting_the_world_changes_nothing(scenes, data, angle, shift):
    scene = data.draw(scenes)

    def turned(points: np.ndarray) -> np.ndarray:  # point by point, so that equal points stay equal to the last bit
        x, y, z = points.T
        return np.stack([cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y, z], axis=-1) + shift

    assert_same(every_value(moved(scene, turned)), every_value(scene))


@each_movable
@quick
@given(data=st.data(), factor=st.floats(0.1, 20))
def test_measuring_in_other_units_changes_no_rate(scenes, data, factor):
    scene = data.draw(scenes)
    scaled = every_value(moved(scene, lambda points: factor * points), Protocol("scaled", success_radius=3.0 * factor))
    plain = every_value(scene)
    metres = {metric.name for metric in PAPER.values() if metric.unit == "m"}
    assert_same(scaled, {name: factor * values if name in metres else values for name, values in plain.items()})


@each_space
@quick
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_the_order_of_episodes_changes_nothing(kind, data, random):
    scene = data.draw(SPACES[kind])
    order = list(range(len(scene.walks)))
    random.shuffle(order)
    shuffled = Scene(scene.space, [scene.walks[i] for i in order], [scene.references[i] for i in order])
    plain, other = every_value(scene), every_value(shuffled)
    unordered = [name for name in plain if name not in IN_ORDER]
    assert_same({name: plain[name][order] if name in PAPER else plain[name] for name in unordered}, other)


@each_space
@quick
@given(data=st.data())
def test_one_batch_equals_many_single_attempts(kind, data):
    scene = data.draw(SPACES[kind])
    singles = [Scene(scene.space, [w], [r]) for w, r in zip(scene.walks, scene.references, strict=True)]
    measured = [every_value(single) for single in singles]
    together = every_value(scene)
    for name in PAPER:
        np.testing.assert_array_equal(np.concatenate([one[name] for one in measured]), together[name], err_msg=name)


@quick
@given(graph_scenes())
def test_a_goal_no_way_leads_to_earns_nothing_and_costs_everything(scene):
    inside = scene.space
    space = NavGraph((*inside.nodes, "island"), np.vstack([inside.positions, [99.0, 0.0, 0.0]]), inside.edges)
    walk = scene.walks[0]
    made = attempts(space, [walk], [(walk[0], "island")])
    for name, metric in PAPER.items():
        value = metric.measure(made)[0]
        if metric.better == "lower":
            assert value == np.inf, name
        elif name not in ("PL", "steps", "PC"):
            assert value == 0, name


@pytest.mark.parametrize("suite", SUITES)
@quick
@given(scene=graph_scenes(connected=True))
def test_every_suite_gives_a_rate_between_nothing_and_all_or_none(suite, scene):
    made = scene.attempts
    # Any places may be those that an object is visible from, and any answers right.
    made = replace(made, viewpoints=made.reference, grounded=np.arange(len(made)) % 2 == 0)
    made_for = SUITES[suite](Protocol("r2r"))
    measured = {m.name: m.measure(made) for m in made_for.metrics if not m.unit}
    measured |= {m.name: m.measure(made, legs_of(scene)) for m in made_for.tour_metrics}
    for name, values in measured.items():
        assert (np.isnan(values) | ((values >= 0) & (values <= 1 + 1e-12))).all(), name


@each_space
@quick
@given(data=st.data())
def test_asked_to_stay_all_or_nothing(kind, data):
    scene = data.draw(SPACES[kind])
    stay = [reference[:1] for reference in scene.references]
    stood, went = attempts(scene.space, stay, stay), attempts(scene.space, scene.walks, stay)
    gone = went.lengths > 0
    for name in ("SPL", "SED", "CLS"):
        assert (PAPER[name].measure(stood) == 1).all(), name
        assert (PAPER[name].measure(went)[gone] == 0).all(), name


@each_space
@quick
@given(data=st.data())
def test_soft_spl_is_a_rate_that_success_at_the_goal_cannot_exceed(kind, data):
    made = data.draw(SPACES[kind]).attempts
    soft = soft_spl(made)
    assert ((soft >= 0) & (soft <= 1)).all()
    assert (spl(made, radius=0.0) <= soft + 1e-12).all()


@each_space
@quick
@given(data=st.data())
def test_nobody_makes_more_progress_than_the_distance_to_the_goal(kind, data):
    made = data.draw(SPACES[kind]).attempts
    assert (goal_progress(made) <= made.shortest + 1e-9).all()


@quick
@given(graph_scenes(connected=True))
def test_nobody_loses_more_distance_than_the_path_is_long(scene):
    made = scene.attempts
    assert (goal_progress(made) >= -made.lengths - 1e-9).all()


@quick
@given(graph_scenes(connected=True), st.data())
def test_naming_an_object_needs_arrival_and_arrival_at_the_end_needs_passing(scene, data):
    made = scene.attempts
    seen = [data.draw(st.lists(st.sampled_from(range(len(scene.space.nodes))), max_size=3)) for _ in range(len(made))]
    named = np.array([data.draw(st.booleans()) for _ in range(len(made))])
    made = replace(made, viewpoints=Ragged.from_rows(seen, dtype=np.int64), grounded=named)
    for suite in ("reverie", "duet-reverie"):
        values = {metric.name: metric.measure(made) for metric in SUITES[suite](Protocol("reverie")).metrics}
        pairs = [("SR", "OSR"), ("SPL", "SR"), ("RGSPL", "RGS"), *([("RGS", "SR")] if suite == "reverie" else [])]
        for less, more in pairs:
            both = ~np.isnan(values[less]) & ~np.isnan(values[more])
            assert (values[less][both] <= values[more][both] + 1e-12).all(), (suite, less, more)
