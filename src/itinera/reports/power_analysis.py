"""Power analysis of a comparison planned from earlier scores: how many episodes detect a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from itinera.errors import BadArgument
from itinera.records import ScoreTable
from itinera.reports.alignment import align_values
from itinera.stats import ComparisonDesign, detectable_difference, episodes_needed, intra_cluster_correlation

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

    def __str__(self) -> str:
        whose = "on the same episodes" if self.design.correlation is not None else "each on scenes of its own"
        lines = [
            f"Detecting a difference of {100 * self.difference:g} points between two systems {whose} with power "
            f"{100 * self.requested_power:g} % needs {self.episodes:,} episodes in {self.scenes:,} scenes "
            f"({self.episodes_per_scene:g} per scene)."
        ]
        if self.detectable is not None:
            lines.append(
                f"{self.given_scenes} scenes of {self.episodes_per_scene:g} episodes detect a difference of "
                f"{100 * self.detectable:.1f} points or more."
            )
        return "\n".join(lines)

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
    smallest = None
    if scenes is not None:
        smallest = detectable_difference(design, scenes=scenes, episodes_per_scene=episodes_per_scene, power=power)
    return PowerAnalysis(
        design, difference, episodes_per_scene, size.scenes, size.episodes, size.power, power, scenes, smallest
    )


def estimate_design(names: Sequence[str], tables: Sequence[ScoreTable], metric: str) -> ComparisonDesign:
    """Standard deviation, scene effect and, from two tables, the correlation of a metric in earlier scores."""
    if len(tables) > 2:
        raise BadArgument(f"Give one or two score tables, not {len(tables)}.")
    if any(metric not in table.values for table in tables):
        raise BadArgument(f"The score tables have no metric {metric}. Use one of {', '.join(tables[0].values)}.")
    scores, clusters = align_values(names, tables, metric)
    if len(tables) == 1:
        return ComparisonDesign(float(scores[0].std()), max(0.0, intra_cluster_correlation(scores[0], clusters)))
    if not scores.std(axis=1).all():
        raise BadArgument(f"{metric} is the same in every episode of a score table, so its variance is unknown.")
    icc = max(0.0, intra_cluster_correlation(scores[1] - scores[0], clusters))
    correlation = float(np.corrcoef(scores[0], scores[1])[0, 1])
    return ComparisonDesign(float(scores.std()), icc, min(correlation, MAX_CORRELATION))
