"""The golden cases: ours agree with them on every suite, and others' scorers can be held against them."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from golden.conformance import FILE, built, written
from itinera.errors import BadArgument, BadFile
from itinera.metrics import SUITES, conformance, score
from itinera.metrics.conformance import Case, check_scorer, load_cases, rank_suites
from itinera.records import Ending, Predictions, ScoreTable, Trajectory
from itinera.tasks import Episode, Instruction, Protocol, Split, Tour
from itinera.tasks.protocol import R2R
from itinera.worlds import Euclidean, NavGraph, Pose, World

CASES = {case.name: case for case in load_cases()}
each_case = pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.name)

# The cases are about following instructions; suites of single benchmarks have theirs in `test_benchmark_suites.py`.
PATH_SUITES = [name for name, make in SUITES.items() if make(R2R).needs_reference and not make(R2R).protocols]


def world_of(case: Case) -> World:
    if case.world.kind == "open":
        return World("here", Euclidean())
    return World("here", NavGraph.from_edges(case.world.nodes, case.world.edges))


def places(case: Case, given):
    return given if case.world.kind == "graph" else np.array(given, dtype=float).reshape(-1, 3)


def scored(case: Case, suite: str, only: str | None = None) -> ScoreTable:
    """The case (or one episode of it) by our own code."""
    episodes = tuple(
        Episode(
            id=e.id,
            world_id="here",
            start=Pose(e.start if case.world.kind == "graph" else np.array(e.start)),
            goals=places(case, e.goals),
            reference=places(case, e.reference),
            instruction=Instruction("go"),
            stated_distance=e.distance,
        )
        for e in case.episodes
        if only in (None, e.id)
    )
    tours = tuple(Tour(name, "here", tuple(ids)) for name, ids in case.tours.items()) if only is None else ()
    endings = {True: Ending.STOPPED, False: Ending.OUT_OF_STEPS}
    walks = tuple(
        Trajectory(e.id, places(case, case.trajectories[e.id].places), ending=endings[case.trajectories[e.id].stopped])
        for e in episodes
    )
    protocol = Protocol("golden", success_radius=case.radius, needs_stop=case.needs_stop)
    split = Split("golden", episodes, tours)
    return score(
        Predictions.from_trajectories("golden", walks), split, {"here": world_of(case)}, SUITES[suite](protocol)
    )


def told(table: ScoreTable | None, row: str, metric: str) -> float:
    """Our value, NaN where undefined or refused."""
    if table is None:
        return np.nan
    if row in table.episode_ids:
        return float(table[metric][table.episode_ids.index(row)])
    return float(table.tours[metric][table.tours.tour_ids.index(row)])


@each_case
def test_every_suite_gives_the_values_worked_by_hand(case):
    for suite, rows in case.expected.items():
        try:
            table = scored(case, suite)
        except BadFile:
            table = None
        for row, values in rows.items():
            if table is not None and row in table.episode_ids:
                assert set(values) == {column.name for column in table.columns}
            for metric, value in values.items():
                expected = np.nan if value is None else float(value)
                note = f"{suite}, {row}, {metric}"
                np.testing.assert_allclose(told(table, row, metric), expected, rtol=1e-12, atol=1e-12, err_msg=note)


@pytest.mark.parametrize("case", [case for case in load_cases() if case.split], ids=lambda case: case.name)
def test_tours_weigh_in_the_mean_of_a_split_as_their_suite_says(case):
    for suite, values in case.split.items():
        tours = scored(case, suite).tours
        for metric, value in values.items():
            weights, scores = tours.weights[metric], tours[metric]
            if value is None:
                assert np.isnan(scores).any() or weights.sum() == 0
            else:
                assert np.average(scores, weights=weights) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("suite", [name for name in PATH_SUITES if name != "paper"])
def test_some_case_shows_where_a_suite_differs_from_paper(suite):
    differing = [
        (case.name, row, metric)
        for case in load_cases()
        for row, values in case.expected.get(suite, {}).items()
        for metric, value in values.items()
        if value != case.expected["paper"][row].get(metric, value)
    ]
    assert differing


def test_the_file_is_what_the_cases_say():
    assert FILE.read_bytes() == written(built()), "Run: cd tests && python -m golden.conformance, and read the diff."


def by_suite(suite: str):
    """Our own suite in the shape others' scorers have."""

    def scorer(attempt: dict) -> dict[str, float]:
        episode = conformance.Episode(**attempt["episode"])
        case = Case(
            name="",
            why="",
            world=conformance.World(**attempt["world"]),
            episodes=[episode],
            trajectories={episode.id: conformance.Trajectory(**attempt["trajectory"])},
            expected={},
            radius=attempt["radius"],
            needs_stop=attempt["needs_stop"],
        )
        table = scored(case, suite)
        return {column.name: float(table[column.name][0]) for column in table.columns}

    return scorer


@pytest.mark.parametrize("suite", PATH_SUITES)
def test_a_scorer_that_follows_a_suite_is_told_so(suite):
    findings = check_scorer(by_suite(suite), suite=suite)
    assert findings
    assert [finding for finding in findings if not finding.agrees] == []
    best = next(v for v in rank_suites(by_suite(suite)) if v.suite == suite)
    assert best.full


def hop_counter(attempt: dict) -> dict[str, float]:
    """A scorer that counts hops instead of metres, and only knows graphs."""
    graph = networkx.Graph(attempt["world"]["edges"])
    last = attempt["trajectory"]["places"][-1]
    hops = networkx.shortest_path_length(graph, last, attempt["episode"]["goals"][-1])
    return {"NE": hops, "SR": float(hops <= 1), "my own metric": 1.0}


def test_a_scorer_that_differs_is_shown_where():
    wrong = [finding for finding in check_scorer(hop_counter) if not finding.agrees]
    assert ("one short", "1", "NE", 2.0, 1.0) in [(f.case, f.episode, f.metric, f.expected, f.got) for f in wrong]
    assert {finding.metric for finding in check_scorer(hop_counter)} == {"NE", "SR"}
    assert not any(v.full for v in rank_suites(hop_counter))


def test_a_kind_of_world_a_scorer_never_answers_for_is_not_asked():
    kinds = {CASES[finding.case].world.kind for finding in check_scorer(hop_counter)}
    assert kinds == {"graph"}
    assert next(v for v in rank_suites(hop_counter) if v.suite == "vlnce").total == 0


def test_the_suite_a_scorer_agrees_with_most_comes_first():
    verdicts = rank_suites(by_suite("hamt"))
    assert {verdicts[0].suite, verdicts[1].suite} == {"hamt", "ivln"}
    shares = [v.agreed / v.total for v in verdicts]
    assert shares == sorted(shares, reverse=True)


def test_raising_counts_as_undefined():
    def careful(attempt: dict) -> dict[str, float]:
        if attempt["trajectory"]["places"] == ["a", "b", "d"]:
            raise ValueError("no edge from b to d")
        return {"SR": 1.0}

    (finding,) = [f for f in check_scorer(careful, suite="m3ds") if f.case == "a jump over a node"]
    assert finding.expected is finding.got is None
    assert finding.agrees


def test_a_scorer_that_never_answers_is_told_why():
    def broken(attempt: dict) -> dict[str, float]:
        return attempt["path"]

    with pytest.raises(BadArgument, match=r"no metric for any case; first it raised KeyError: 'path'"):
        check_scorer(broken)


def test_an_unknown_suite_is_named_beside_the_known():
    with pytest.raises(BadArgument, match=r"'hampt'; there are paper, m3ds"):
        check_scorer(hop_counter, suite="hampt")


def test_tolerance_is_absolute_below_one_and_relative_above():
    def off(attempt: dict) -> dict[str, float]:
        return {"PL": 6.0 + 3e-6}

    (finding,) = [f for f in check_scorer(off) if f.case == "the reference itself"]
    assert finding.agrees
    (finding,) = [f for f in check_scorer(off, tolerance=1e-7) if f.case == "the reference itself"]
    assert not finding.agrees


@each_case
def test_every_case_explains_itself_and_answers_every_episode(case):
    assert len(case.why) > 40
    assert set(case.trajectories) == {episode.id for episode in case.episodes}
