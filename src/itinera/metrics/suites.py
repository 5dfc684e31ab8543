"""Suites: metrics with every convention chosen. `paper` is ours; the others reproduce released scorers, with quirks.

A suite is made for a protocol, which decides success radius and stop rule. Read each one as a table. The suites of
single benchmarks (NDH, REVERIE, SOON, Habitat) are in `benchmark_suites.py`, those of several goals, falls and moving
targets in `task_suites.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal

import msgspec
import numpy as np

from itinera.metrics.attempts import Attempts
from itinera.metrics.fidelity import cls, dtw, length_score, ndtw, path_coverage, sdtw, sed, sed_nodes
from itinera.metrics.goal import navigation_error, oracle_error, oracle_success, path_length, spl, steps, success
from itinera.metrics.matching import MatchingRules
from itinera.metrics.tours import TourGroups, tour_mean, tour_ndtw
from itinera.records.scores import Column
from itinera.tasks.protocol import POINTNAV, R2R, Protocol
from itinera.worlds import Array

DEFINITIONS = 1  # increased whenever a definition in this package changes its values


@dataclass(frozen=True)
class Metric:
    """A number per attempt, with its name, unit and direction.

    Attempts weigh alike in the mean unless `weight` measures their weights: with steps for weights, the mean of a share
    of steps is the share of all steps.
    """

    name: str
    measure: Callable[[Attempts], Array]
    unit: Literal["", "m", "steps", "calls", "tokens", "USD"] = ""  # without a unit: a fraction between 0 and 1
    better: Literal["higher", "lower", "neither"] = "higher"
    weight: Callable[[Attempts], Array] | None = None

    @property
    def column(self) -> Column:
        return Column(self.name, self.unit, self.better)


@dataclass(frozen=True)
class TourMetric:
    """A number per tour, and the weight of a tour in the mean: its episodes, its changes of episode, or 1."""

    name: str
    measure: Callable[[Attempts, TourGroups], Array]
    weight: Literal["episodes", "changes", "tours"] = "episodes"

    @property
    def column(self) -> Column:
        return Column(self.name)


@dataclass(frozen=True)
class Suite:
    """Metrics that belong together, and what the scorer they come from accepts."""

    name: str
    about: str
    metrics: tuple[Metric, ...]
    tour_metrics: tuple[TourMetric, ...] = ()
    rules: MatchingRules = field(default_factory=MatchingRules)
    needs_reference: bool = True  # whether any metric compares paths
    protocols: tuple[str, ...] = ()  # of the only tasks it is for; empty: of any
    add_targets: Callable[..., tuple[Attempts, ...]] | None = None  # adds to attempts what metrics of objects read
    needs_objects: bool = False  # whether that needs the boxes of objects

    @property
    def fingerprint(self) -> str:
        """A short digest of every definition and convention: equal fingerprints, comparable numbers."""
        definition = [
            DEFINITIONS,
            asdict(self.rules),
            [[m.name, *_definition(m.measure), *_definition(m.weight)] for m in self.metrics],
            [[m.name, m.weight, *_definition(m.measure)] for m in self.tour_metrics],
        ]
        if self.add_targets is not None:
            definition.append(_definition(self.add_targets))
        return hashlib.blake2b(msgspec.json.encode(definition, order="sorted"), digest_size=8).hexdigest()


def _definition(measure: Any) -> list[Any]:
    if measure is None:
        return []
    if isinstance(measure, partial):
        options = {k: _definition(v) if callable(v) else v for k, v in measure.keywords.items()}
        # NaN means "undefined", and JSON has no NaN.
        return [measure.func.__name__, {k: "undefined" if v != v else v for k, v in options.items()}]
    return [measure.__name__, {}]


NE = Metric("NE", navigation_error, "m", "lower")
ONE = Metric("ONE", oracle_error, "m", "lower")
PL = Metric("PL", path_length, "m", "neither")
STEPS = Metric("steps", steps, "steps", "neither")


def paper(protocol: Protocol = R2R) -> Suite:
    """The papers' definitions: success within the radius inclusive, SPL against d(start, goal), exact DTW by the
    world's own distance, and a value for every edge case."""
    radius = protocol.success_radius
    arrived: dict[str, Any] = {"radius": radius, "needs_stop": protocol.needs_stop}
    succeeded = partial(success, **arrived)
    efficient = partial(spl, **arrived)
    return Suite(
        "paper",
        "the papers' definitions, every edge case decided",
        (
            PL,
            STEPS,
            NE,
            ONE,
            Metric("SR", succeeded),
            Metric("OSR", partial(oracle_success, radius=radius)),
            Metric("SPL", efficient),
            Metric("SED", partial(sed, **arrived)),
            Metric("SED_nodes", partial(sed_nodes, **arrived)),
            Metric("DTW", dtw, "m", "lower"),
            Metric("nDTW", partial(ndtw, threshold=radius)),
            Metric("SDTW", partial(sdtw, **arrived)),
            Metric("PC", partial(path_coverage, threshold=radius)),
            Metric("LS", partial(length_score, threshold=radius)),
            Metric("CLS", partial(cls, threshold=radius)),
        ),
        (
            TourMetric("t-nDTW", partial(tour_ndtw, threshold=radius)),
            TourMetric("t-SR", partial(tour_mean, measure=succeeded)),
            TourMetric("t-SPL", partial(tour_mean, measure=efficient)),
        ),
    )


GOAL_METRICS = ("PL", "steps", "NE", "ONE", "SR", "OSR", "SPL")


def pointnav(protocol: Protocol = POINTNAV) -> Suite:
    """The papers' definitions that need a goal only, for tasks without reference paths."""
    metrics = tuple(metric for metric in paper(protocol).metrics if metric.name in GOAL_METRICS)
    about = "the papers' definitions that need a goal only"
    return Suite("pointnav", about, metrics, needs_reference=False)


def _goal_metrics(radius: float) -> tuple[Metric, ...]:
    """The metrics that all discrete scorers share: success strictly within the radius, however the episode ended."""
    return (
        NE,
        ONE,
        Metric("SR", partial(success, radius=radius, inclusive=False)),
        Metric("OSR", partial(oracle_success, radius=radius, inclusive=False)),
    )


def m3ds(protocol: Protocol = R2R) -> Suite:
    """Matterport3DSimulator's own scorer: refuses jumps; SPL is 0 / 0 where start and goal coincide."""
    radius = protocol.success_radius
    return Suite(
        "m3ds",
        "Matterport3DSimulator tasks/R2R/eval.py",
        (
            PL,
            STEPS,
            *_goal_metrics(radius),
            Metric("SPL", partial(spl, radius=radius, inclusive=False, standing_still=np.nan)),
        ),
    )


def envdrop(protocol: Protocol = R2R) -> Suite:
    """EnvDrop's scorer: jumps measured by graph distance; SPL is 0 where start and goal coincide."""
    radius = protocol.success_radius
    return Suite(
        "envdrop",
        "R2R-EnvDrop r2r_src/eval.py",
        (PL, STEPS, *_goal_metrics(radius), Metric("SPL", partial(spl, radius=radius, inclusive=False, floor=0.01))),
        rules=MatchingRules(jumps="measure"),
    )


def hamt(protocol: Protocol = R2R) -> Suite:
    """The scorer of HAMT, DUET, NavGPT and kin: SPL against the length of the reference path."""
    return Suite(
        "hamt",
        "VLN-HAMT finetune_src/r2r (also DUET, NavGPT, NaviLLM)",
        _hamt_metrics(protocol.success_radius),
        rules=MatchingRules(jumps="measure"),
    )


def _hamt_metrics(radius: float) -> tuple[Metric, ...]:
    return (
        PL,
        STEPS,
        *_goal_metrics(radius),
        Metric("SPL", partial(spl, radius=radius, inclusive=False, optimum="reference", floor=0.01)),
        Metric("nDTW", partial(ndtw, threshold=radius)),
        Metric("SDTW", partial(sdtw, radius=radius, inclusive=False)),
        Metric("CLS", partial(cls, threshold=radius, standing_still=np.nan)),
    )


def google(protocol: Protocol = R2R) -> Suite:
    """Google's R4R scripts: lengths, and so CLS, undefined where a step follows no edge, a repeated node included."""
    radius = protocol.success_radius
    return Suite(
        "google",
        "google-research r4r/cls.py and r4r/dtw.py",
        (
            Metric("PL", partial(path_length, undefined_off_edges=True), "m", "neither"),
            NE,
            Metric("SR", partial(success, radius=radius)),
            Metric("nDTW", partial(ndtw, threshold=radius)),
            Metric("SDTW", partial(sdtw, radius=radius)),
            Metric("CLS", partial(cls, threshold=radius, standing_still=np.nan, undefined_off_edges=True)),
        ),
        rules=MatchingRules(jumps="measure", starts="measure"),
    )


def ivln(protocol: Protocol = R2R) -> Suite:
    """IVLN's scorer: HAMT's for episodes; tours by a window that pins episode ends."""
    radius = protocol.success_radius
    succeeded = partial(success, radius=radius, inclusive=False)
    efficient = partial(spl, radius=radius, inclusive=False, optimum="reference", floor=0.01)
    return Suite(
        "ivln",
        "IVLN finetune_src/r2r/eval_utils.py",
        _hamt_metrics(radius),
        (
            TourMetric("t-nDTW", partial(tour_ndtw, threshold=radius, pinned=True)),
            TourMetric("t-SR", partial(tour_mean, measure=succeeded, weight="detour")),
            TourMetric("t-SPL", partial(tour_mean, measure=efficient, weight="detour")),
        ),
        MatchingRules(jumps="measure"),
    )


def vlnce(protocol: Protocol = R2R) -> Suite:
    """VLN-CE's measures: straight lines per step, STOP required, approximate DTW in straight lines."""
    return Suite("vlnce", "VLN-CE habitat_extensions/measures.py", _vlnce_metrics(protocol.success_radius))


def _vlnce_metrics(radius: float) -> tuple[Metric, ...]:
    arrived: dict[str, Any] = {"radius": radius, "inclusive": False, "needs_stop": True}
    warped: dict[str, Any] = {"distance": "straight", "repeats": "drop", "exact": False}
    return (
        Metric("PL", partial(path_length, straight=True), "m", "neither"),
        STEPS,
        NE,
        ONE,
        Metric("SR", partial(success, **arrived)),
        Metric("OSR", partial(oracle_success, radius=radius, inclusive=False)),
        Metric("SPL", partial(spl, **arrived, optimum="stated", straight=True, standing_still=np.nan)),
        Metric("nDTW", partial(ndtw, threshold=radius, **warped)),
        Metric("SDTW", partial(sdtw, **arrived, **warped)),
    )


def ivln_ce(protocol: Protocol = R2R) -> Suite:
    """IVLN-CE's scorer: VLN-CE's for episodes; tours by the pinned window in straight lines, weighted by one episode
    fewer than they have."""
    radius = protocol.success_radius
    toured = partial(tour_ndtw, threshold=radius, pinned=True, distance="straight", repeats="drop")
    return Suite(
        "ivln-ce",
        "IVLN-CE habitat_extensions/tour_ndtw.py",
        _vlnce_metrics(radius),
        (TourMetric("t-nDTW", toured, weight="changes"),),
    )


SUITE_FILES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "benchmark_suites": ("habitat", "ndh", "cvdn", "reverie", "duet-reverie", "soon", "duet-soon"),
        "task_suites": ("goat-bench", "lh-vln", "omninavbench", "vln-pe", "evt-bench", "safety", "usage"),
    }
)
"""Files of further suites, each imported only when one of its suites is chosen, and the suites' names."""


def _make(file: str, name: str, protocol: Protocol) -> Suite:
    make: Callable[[Protocol], Suite] = getattr(import_module(f"itinera.metrics.{file}"), name.replace("-", "_"))
    return make(protocol)


SUITES: MappingProxyType[str, Callable[[Protocol], Suite]] = MappingProxyType(
    {
        "paper": paper,
        "m3ds": m3ds,
        "envdrop": envdrop,
        "hamt": hamt,
        "google": google,
        "ivln": ivln,
        "vlnce": vlnce,
        "ivln-ce": ivln_ce,
        "pointnav": pointnav,
        **{name: partial(_make, file, name) for file, names in SUITE_FILES.items() for name in names},
    }
)
"""Every suite by name, as a function of the protocol."""


_OWN_SUITES = ("pointnav", "ndh", "reverie", "soon")  # protocols whose default suite has their name


def default_suite(protocol: Protocol) -> str:
    """The name of the suite a protocol is scored by unless another is chosen."""
    return protocol.name if protocol.name in _OWN_SUITES else "paper"
