"""Power analysis of a comparison planned from earlier scores: how many episodes detect a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from itinera.errors import BadArgument
from itinera.records import ScoreTable
from itinera.reports.alignment import align_runs
from itinera.stats import (
    ComparisonDesign,
    detectable_difference,
    episodes_needed,
    intra_cluster_correlation,
    run_variation,
    runs_needed,
)
from itinera.worlds import Array

MAX_CORRELATION = 0.999  # systems that agree on every episode would need none


@dataclass(frozen=True)
class PowerAnalysis:
    """The number of scenes and episodes a comparison needs. `print` shows it as a sentence."""

    design: ComparisonDesign
    difference: float  # to detect, a fraction
    episodes_per_scene: float
    scenes: int
    episodes: int
    power: float  # achieved
    requested_power: float
    given_scenes: int | None = None
    detectable: float | None = None  # the smallest difference that `given_scenes` detect
    runs_needed: int | None = None  # of each system, to detect the difference in `given_scenes`; None: no number does

    def __str__(self) -> str:
        whose = "on the same episodes" if self.design.correlation is not None else "each on scenes of its own"
        lines = [
            f"Detecting a difference of {100 * self.difference:g} points between two systems {whose} with power "
            f"{100 * self.requested_power:g} % needs {self.episodes:,} episodes in {self.scenes:,} scenes "
            f"({self.episodes_per_scene:g} per scene){self._runs}."
        ]
        if self.detectable is not None:
            lines.append(
                f"{self.given_scenes} scenes of {self.episodes_per_scene:g} episodes detect a difference of "
                f"{100 * self.detectable:.1f} points or more{self._runs}."
            )
        if self.given_scenes is not None and self.design.run_sd > 0:
            need = f"need {self.runs_needed} runs of each system" if self.runs_needed else "do not suffice for any runs"
            lines.append(f"To detect {100 * self.difference:g} points, {self.given_scenes} scenes {need}.")
        return "\n".join(lines)

    @property
    def _runs(self) -> str:
        """Words on runs, if there are several."""
        if self.design.runs == 1:
            return ""
        return f", with {self.design.runs} runs of each system that differ by {100 * self.design.run_sd:.2g} points"

    def to_dict(self) -> dict[str, Any]:
        """The analysis as plain values for JSON."""
        return {
            "difference": self.difference,
            "scenes": self.scenes,
            "episodes": self.episodes,
            "power": self.power,
            "sd": self.design.sd,
            "icc": self.design.icc,
            "correlation": self.design.correlation,
            "detectable": self.detectable,
            "runs": self.design.runs,
            "run_sd": self.design.run_sd,
            "run_correlation": self.design.run_correlation,
            "runs_needed": self.runs_needed,
        }


def analyze_power(
    design: ComparisonDesign,
    difference: float,
    *,
    episodes_per_scene: float,
    scenes: int | None = None,
    power: float = 0.8,
) -> PowerAnalysis:
    """The scenes and episodes that detect a difference; with `scenes`, also the difference that these detect."""
    size = episodes_needed(design, difference, episodes_per_scene=episodes_per_scene, power=power)
    smallest = runs = None
    if scenes is not None:
        smallest = detectable_difference(design, scenes=scenes, episodes_per_scene=episodes_per_scene, power=power)
        runs = runs_needed(design, difference, scenes=scenes, episodes_per_scene=episodes_per_scene, power=power)
    return PowerAnalysis(
        design, difference, episodes_per_scene, size.scenes, size.episodes, size.power, power, scenes, smallest, runs
    )


def estimate_design(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> ComparisonDesign:
    """Standard deviation, scene effect and, from two tables, the correlation of a metric in earlier scores."""
    if len(tables) > 2:
        raise BadArgument(f"Give one or two score tables, not {len(tables)}.")
    if any(metric not in table.values for table in tables):
        raise BadArgument(f"The score tables have no metric {metric}. Use one of {', '.join(tables[0].values)}.")
    systems, clusters = align_runs(names, tables, metric)
    scores = np.stack([runs.mean(axis=0) for runs in systems])
    sd = float(np.sqrt(np.mean([runs.var(axis=1).mean() for runs in systems])))  # of single runs
    of_runs = _estimate_runs(systems, clusters)
    if len(tables) == 1:
        icc = max(0.0, intra_cluster_correlation(scores[0], clusters))
        return ComparisonDesign(sd, icc, **of_runs)
    if not scores.std(axis=1).all():
        raise BadArgument(f"{metric} is the same in every episode of a score table, so its variance is unknown.")
    icc = max(0.0, intra_cluster_correlation(scores[1] - scores[0], clusters))
    covariance = float(np.cov(scores[0], scores[1], bias=True)[0, 1])
    deviations = [float(np.sqrt(runs.var(axis=1).mean())) for runs in systems]
    correlation = min(covariance / (deviations[0] * deviations[1]), MAX_CORRELATION)
    if "run_correlation" in of_runs:
        of_runs["run_correlation"] = max(of_runs["run_correlation"], correlation)
    return ComparisonDesign(sd, icc, correlation, **of_runs)


def _estimate_runs(systems: Sequence[Array], clusters: object) -> dict[str, Any]:
    """How runs differ, pooled over the systems that have several; empty if none has."""
    several = [runs for runs in systems if len(runs) > 1]
    if not several:
        return {}
    found = [run_variation(runs, clusters=clusters) for runs in several]  # type: ignore[arg-type]
    weights = [one.runs - 1 for one in found]
    variance = np.average([one.excess_sd**2 for one in found], weights=weights)
    alike = [float(np.asarray(np.corrcoef(runs))[np.triu_indices(len(runs), 1)].mean()) for runs in several]
    return {
        "runs": max(len(runs) for runs in systems),
        "run_sd": float(np.sqrt(variance)),
        "run_correlation": float(np.clip(np.nan_to_num(np.average(alike, weights=weights), nan=1.0), 0.0, 1.0)),
    }
