"""Golden cases for anybody's scorer: tiny worlds, walks and the values each suite gives them, worked by hand.

The cases are data, `conformance.json` beside this file, so that a scorer in any language can be held against them.
`check` holds a Python function against one suite, `verdict` against all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import msgspec

from itinera.errors import BadArgument

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


class Rollout(msgspec.Struct, frozen=True, omit_defaults=True):
    places: list[Place]
    stopped: bool = True


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """One world, what was asked and walked in it, and what each suite makes of it."""

    name: str
    why: str  # what the case shows, with its arithmetic
    world: World
    episodes: list[Episode]
    walks: dict[str, Rollout]  # by episode
    expected: dict[str, dict[str, dict[str, Value]]]  # suite -> episode or tour -> metric
    radius: float = 3.0
    needs_stop: bool = False  # whether the protocol asks for STOP; the suites of continuous scorers always do
    tours: dict[str, list[str]] = {}  # episodes in order, by tour
    split: dict[str, dict[str, Value]] = {}  # suite -> mean over tours, by metric


class _File(msgspec.Struct, frozen=True):
    about: str
    version: int
    cases: tuple[Case, ...]


@cache
def load() -> tuple[Case, ...]:
    """Every golden case, in the order of the file."""
    data = files("itinera.metrics").joinpath("conformance.json").read_bytes()
    return msgspec.json.decode(data, type=_File).cases


@dataclass(frozen=True)
class Finding:
    """One value a scorer gave beside the one expected; None is undefined."""

    case: str
    episode: str
    metric: str
    expected: float | None
    got: float | None
    agrees: bool


@dataclass(frozen=True)
class Verdict:
    """How many of the values a suite expects a scorer gave."""

    suite: str
    agreed: int
    asked: int

    @property
    def full(self) -> bool:
        """Whether the scorer gave all of them, and at least one was asked for."""
        return 0 < self.asked == self.agreed


def check(scorer: Scorer, *, suite: str = "paper", tolerance: float = 1e-6) -> tuple[Finding, ...]:
    """What the scorer gave beside what the suite expects, for every episode of every case and metric it returned.

    The scorer gets a plain dict {"world", "episode", "walk", "radius", "needs_stop"}, shaped as in the file, and
    returns the values of the metrics it knows by name; None, NaN and raising mean undefined. Metrics it never returned
    and kinds of world it never answered for are not asked for. `tolerance` is absolute below 1 and relative above.
    """
    return _findings(_answers(scorer), suite, tolerance)


def verdict(scorer: Scorer, *, tolerance: float = 1e-6) -> tuple[Verdict, ...]:
    """How far the scorer agrees with each suite, the one it agrees with most first."""
    answers = _answers(scorer)
    suites = dict.fromkeys(suite for case in load() for suite in case.expected)
    verdicts = []
    for suite in suites:
        findings = _findings(answers, suite, tolerance)
        verdicts.append(Verdict(suite, sum(finding.agrees for finding in findings), len(findings)))
    return tuple(sorted(verdicts, key=lambda v: -(v.agreed / v.asked if v.asked else 0.0)))


_Answers: TypeAlias = dict[tuple[str, str], Mapping[str, float | None]]  # by case and episode


def _answers(scorer: Scorer) -> _Answers:
    """What the scorer says of each episode; nothing where it raised."""
    answers: _Answers = {}
    failure: Exception | None = None
    for case in load():
        for episode in case.episodes:
            try:
                answers[case.name, episode.id] = dict(scorer(_attempt(case, episode)))
            except Exception as error:  # a scorer may fail in any way; that it did is its answer
                answers[case.name, episode.id] = {}
                failure = failure or error
    if not any(answers.values()):
        told = f"; the first time it raised {type(failure).__name__}: {failure}" if failure else ""
        raise BadArgument(f"The scorer returned no metric for any case{told}.")
    return answers


def _attempt(case: Case, episode: Episode) -> dict[str, Any]:
    world: dict[str, Any] = {"kind": case.world.kind}
    if case.world.kind == "graph":
        world |= {"nodes": msgspec.to_builtins(case.world.nodes), "edges": msgspec.to_builtins(case.world.edges)}
    walk = case.walks[episode.id]
    return {
        "world": world,
        "episode": msgspec.to_builtins(episode),
        "walk": {"places": msgspec.to_builtins(walk.places), "stopped": walk.stopped},
        "radius": case.radius,
        "needs_stop": case.needs_stop,
    }


def _findings(answers: _Answers, suite: str, tolerance: float) -> tuple[Finding, ...]:
    if not any(suite in case.expected for case in load()):
        known = ", ".join(dict.fromkeys(name for case in load() for name in case.expected))
        raise BadArgument(f"No case knows the suite {suite!r}; they know {known}.")
    returned = {metric for answer in answers.values() for metric in answer}
    kinds = {case.world.kind for case in load() if any(answers[case.name, episode.id] for episode in case.episodes)}
    findings = []
    for case in load():
        if case.world.kind not in kinds:
            continue
        for episode in case.episodes:
            for metric, value in case.expected.get(suite, {}).get(episode.id, {}).items():
                if metric in returned:
                    expected = None if value is None else float(value)
                    got = _defined(answers[case.name, episode.id].get(metric))
                    agrees = _agree(expected, got, tolerance)
                    findings.append(Finding(case.name, episode.id, metric, expected, got, agrees))
    return tuple(findings)


def _defined(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _agree(expected: float | None, got: float | None, tolerance: float) -> bool:
    if expected is None or got is None:
        return expected is got
    return expected == got or abs(expected - got) <= tolerance * max(1.0, abs(expected))
