"""Conformance of a scorer: tiny worlds, trajectories and the values of each suite for them, worked by hand.

The cases are data, `conformance.json` beside this file, so that scorers in any language can be tested.
`check_scorer` compares a Python function with one suite, `rank_suites` with all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import msgspec

from itinera.errors import BadArgument, validate_choice

Place: TypeAlias = str | tuple[float, float, float]  # a node of a graph; metres in the open
Value: TypeAlias = float | Literal["inf"] | None  # None: undefined, or refused by the scorer the suite reproduces
Scorer: TypeAlias = Callable[[dict[str, Any]], Mapping[str, float | None]]


class World(msgspec.Struct, frozen=True, omit_defaults=True):
    """A graph whose edges are as long as the straight line between their ends, or open space without walls."""

    kind: Literal["graph", "open"] = "graph"
    nodes: dict[str, tuple[float, float, float]] = {}
    edges: list[tuple[str, str]] = []


class Episode(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    start: Place
    goals: list[Place]
    reference: list[Place]
    distance: float | None = None  # from start to goal as the tasks file states it, metres


class Trajectory(msgspec.Struct, frozen=True, omit_defaults=True):
    places: list[Place]
    stopped: bool = True


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """One world, its episodes and trajectories, and the values each suite gives them."""

    name: str
    why: str  # what the case shows, with its arithmetic
    world: World
    episodes: list[Episode]
    trajectories: dict[str, Trajectory]  # by episode
    expected: dict[str, dict[str, dict[str, Value]]]  # suite -> episode or tour -> metric
    radius: float = 3.0
    needs_stop: bool = False  # whether the protocol requires STOP; the suites of continuous scorers always do
    tours: dict[str, list[str]] = {}  # episodes in order, by tour
    split: dict[str, dict[str, Value]] = {}  # suite -> mean over tours, by metric


class _File(msgspec.Struct, frozen=True):
    about: str
    version: int
    cases: tuple[Case, ...]


@cache
def load_cases() -> tuple[Case, ...]:
    """Every golden case, in the order of the file."""
    data = files("itinera.metrics").joinpath("conformance.json").read_bytes()
    return msgspec.json.decode(data, type=_File).cases


@dataclass(frozen=True)
class CaseResult:
    """One value of a scorer beside the expected one; None is undefined."""

    case: str
    episode: str
    metric: str
    expected: float | None
    got: float | None
    agrees: bool


@dataclass(frozen=True)
class SuiteAgreement:
    """How many of the values that a suite expects the scorer gave."""

    suite: str
    agreed: int
    total: int

    @property
    def full(self) -> bool:
        """Whether the scorer gave all of them, and at least one was expected."""
        return 0 < self.total == self.agreed


def check_scorer(scorer: Scorer, *, suite: str = "paper", tolerance: float = 1e-6) -> tuple[CaseResult, ...]:
    """The scorer's values beside the expected ones, for every episode of every case and every metric it returned.

    The scorer receives a plain dict {"world", "episode", "trajectory", "radius", "needs_stop"}, shaped as in the file,
    and returns the values of its metrics by name; None, NaN and raising mean undefined. Metrics it never returns and
    kinds of world it never answers for are not compared. `tolerance` is absolute below 1 and relative above.
    """
    return _compare(_call(scorer), suite, tolerance)


def rank_suites(scorer: Scorer, *, tolerance: float = 1e-6) -> tuple[SuiteAgreement, ...]:
    """The agreement of the scorer with each suite, the best first."""
    answers = _call(scorer)
    suites = dict.fromkeys(suite for case in load_cases() for suite in case.expected)
    agreements = []
    for suite in suites:
        results = _compare(answers, suite, tolerance)
        agreements.append(SuiteAgreement(suite, sum(result.agrees for result in results), len(results)))
    return tuple(sorted(agreements, key=lambda a: -(a.agreed / a.total if a.total else 0.0)))


_Answers: TypeAlias = dict[tuple[str, str], Mapping[str, float | None]]  # by case and episode


def _call(scorer: Scorer) -> _Answers:
    """The scorer's values for each episode; empty where it raised."""
    answers: _Answers = {}
    failure: Exception | None = None
    for case in load_cases():
        for episode in case.episodes:
            try:
                answers[case.name, episode.id] = dict(scorer(_attempt(case, episode)))
            except Exception as error:  # a scorer may fail in any way; a failure means undefined
                answers[case.name, episode.id] = {}
                failure = failure or error
    if not any(answers.values()):
        reason = f"; first it raised {type(failure).__name__}: {failure}" if failure else ""
        raise BadArgument(f"The scorer returned no metric for any case{reason}.")
    return answers


def _attempt(case: Case, episode: Episode) -> dict[str, Any]:
    world: dict[str, Any] = {"kind": case.world.kind}
    if case.world.kind == "graph":
        world |= {"nodes": msgspec.to_builtins(case.world.nodes), "edges": msgspec.to_builtins(case.world.edges)}
    trajectory = case.trajectories[episode.id]
    return {
        "world": world,
        "episode": msgspec.to_builtins(episode),
        "trajectory": {"places": msgspec.to_builtins(trajectory.places), "stopped": trajectory.stopped},
        "radius": case.radius,
        "needs_stop": case.needs_stop,
    }


def _compare(answers: _Answers, suite: str, tolerance: float) -> tuple[CaseResult, ...]:
    if not any(suite in case.expected for case in load_cases()):
        known = ", ".join(dict.fromkeys(name for case in load_cases() for name in case.expected))
        raise BadArgument(f"No case has values of suite {suite!r}; there are {known}.")
    returned = {metric for answer in answers.values() for metric in answer}
    kinds = {
        case.world.kind for case in load_cases() if any(answers[case.name, episode.id] for episode in case.episodes)
    }
    results = []
    for case in load_cases():
        if case.world.kind not in kinds:
            continue
        for episode in case.episodes:
            for metric, value in case.expected.get(suite, {}).get(episode.id, {}).items():
                if metric in returned:
                    expected = None if value is None else float(value)
                    got = _defined(answers[case.name, episode.id].get(metric))
                    agrees = _agree(expected, got, tolerance)
                    results.append(CaseResult(case.name, episode.id, metric, expected, got, agrees))
    return tuple(results)


def _defined(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _agree(expected: float | None, got: float | None, tolerance: float) -> bool:
    if expected is None or got is None:
        return expected is got
    return expected == got or abs(expected - got) <= tolerance * max(1.0, abs(expected))


@dataclass(frozen=True, repr=False)
class ConformanceReport:
    """The agreement of a scorer with one suite, value by value, and with every suite."""

    suite: str
    results: tuple[CaseResult, ...]
    agreements: tuple[SuiteAgreement, ...]  # the best first

    @property
    def differences(self) -> tuple[CaseResult, ...]:
        """The values that differ from the suite's."""
        return tuple(result for result in self.results if not result.agrees)

    @property
    def agrees(self) -> bool:
        """Whether the scorer gave every value of the suite, and at least one."""
        return bool(self.results) and not self.differences

    def __repr__(self) -> str:
        full = ", ".join(agreement.suite for agreement in self.agreements if agreement.full) or "no suite"
        return f"ConformanceReport({len(self.differences)} differences from {self.suite}; agrees fully with {full})"


def evaluate_scorer(scorer: Scorer | str, *, suite: str = "paper") -> ConformanceReport:
    """The conformance of a scorer, a function or its "module:function"."""
    known = dict.fromkeys(name for case in load_cases() for name in case.expected)
    validate_choice("suite", suite, known)
    function = import_scorer(scorer) if isinstance(scorer, str) else scorer
    return ConformanceReport(suite, check_scorer(function, suite=suite), rank_suites(function))


def import_scorer(name: str) -> Scorer:
    """The function that "module:function" names."""
    module, _, function = name.partition(":")
    if not (module and function):
        raise BadArgument(f"{name!r} is not module:function, such as my_package.evaluation:score_one.")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise BadArgument(f"{name} cannot be imported: {error}.") from None
    if not callable(found):
        raise BadArgument(f"{name} is not a function.")
    scorer: Scorer = found
    return scorer
