"""Power analysis: the smallest difference a set of episodes can detect, and how many episodes a difference needs.

Describe the comparison once (`ComparisonDesign`), then call `detectable_difference` or `episodes_needed`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from itinera.errors import BadArgument
from itinera.stats._t_distribution import quantile

_MOST_SCENES = 10**9
_MOST_RUNS = 1000


@dataclass(frozen=True)
class ComparisonDesign:
    """Two systems to be compared by their means, and how their scores vary.

    With a `correlation` both run on the same episodes, and `icc` is that of the differences. Without one, each runs on
    its own scenes, as many for each, and `icc` is that of the scores. `intra_cluster_correlation` estimates an icc
    from earlier scores.

    With several runs of each system, means over runs are compared. `run_sd` is how far runs differ beyond chance on
    episodes, which more scenes do not reduce, and `run_correlation` how alike two runs of a system are on one episode:
    1 if more runs do not average out any noise of episodes.
    """

    sd: float  # standard deviation of a system's score over episodes
    icc: float  # share of the variance that lies between scenes, in [0, 1]
    correlation: float | None = None  # of the two systems' scores on one episode, in [-1, 1)
    alpha: float = 0.05  # chance of a false alarm, two-sided
    runs: int = 1  # of each system
    run_sd: float = 0.0  # standard deviation between runs, in the unit of the scores
    run_correlation: float = 1.0  # of two runs' scores on one episode, at least `correlation`

    def __post_init__(self) -> None:
        if not 0 < self.sd < np.inf:
            raise BadArgument(f"The standard deviation of scores is {self.sd}. Give a number above 0.")
        if not 0 <= self.icc <= 1:
            raise BadArgument(f"The intra-scene correlation is {self.icc}. Give a fraction between 0 and 1.")
        if self.correlation is not None and not -1 <= self.correlation < 1:
            raise BadArgument(f"The correlation between the systems is {self.correlation}. Give -1 ≤ correlation < 1.")
        if not 0 < self.alpha < 1:
            raise BadArgument(f"alpha is {self.alpha}. Give a fraction between 0 and 1; 0.05 is usual.")
        if self.runs < 1 or not 0 <= self.run_sd < np.inf:
            raise BadArgument(f"There are {self.runs} runs that differ by {self.run_sd}. Give runs ≥ 1, run_sd ≥ 0.")
        if self.runs == 1 and self.run_sd > 0:
            raise BadArgument("One run does not show how runs differ. Give at least two runs, or run_sd 0.")
        if not (self.correlation or 0.0) <= self.run_correlation <= 1:
            raise BadArgument(
                f"Runs of a system correlate by {self.run_correlation} and systems by {self.correlation or 0.0:g}. "
                "Give a correlation of runs between that of the systems and 1."
            )

    @classmethod
    def from_success_rate(
        cls, rate: float, *, icc: float, correlation: float | None = None, alpha: float = 0.05
    ) -> ComparisonDesign:
        """The comparison of two success rates near `rate`, whose standard deviation is sqrt(rate (1 - rate))."""
        if not 0 < rate < 1:
            raise BadArgument(f"The success rate is {rate}. Give a fraction strictly between 0 and 1.")
        return cls(float(np.sqrt(rate * (1 - rate))), icc, correlation, alpha)


@dataclass(frozen=True)
class SampleSize:
    """The number of episodes a comparison needs; for systems on separate scenes, each needs as many."""

    scenes: int
    episodes: int
    power: float  # achieved, at least the one requested


def achieved_power(comparison: ComparisonDesign, difference: float, *, scenes: int, episodes_per_scene: float) -> float:
    """The probability that a true difference is found significant, and in the right direction.

    The test is the t-test of the default interval on scenes of equal size: scenes - 1 degrees of freedom for systems
    on the same episodes, 2 (scenes - 1) for systems on separate scenes.
    """
    from scipy.special import nctdtr  # slow to import, and only planning needs it

    error, df, critical = _test(comparison, scenes, episodes_per_scene)
    return float(1 - nctdtr(df, abs(difference) / error, critical))


def detectable_difference(
    comparison: ComparisonDesign, *, scenes: int, episodes_per_scene: float, power: float = 0.8
) -> float:
    """The smallest true difference that is found significant with this power.

    >>> design = ComparisonDesign.from_success_rate(0.5, icc=0.05, correlation=0.5)
    >>> round(detectable_difference(design, scenes=11, episodes_per_scene=213), 3)
    0.109
    """
    from scipy.special import nctdtrinc

    _check_power(comparison, power)
    error, df, critical = _test(comparison, scenes, episodes_per_scene)
    return error * float(nctdtrinc(df, 1 - power, critical))


def episodes_needed(
    comparison: ComparisonDesign, difference: float, *, episodes_per_scene: float, power: float = 0.8
) -> SampleSize:
    """The fewest scenes, and the episodes in them, that show this difference with this power.

    Episodes are added by adding scenes: more episodes in the same scenes soon stop helping, because what scenes have in
    common does not average out.
    """
    _check_power(comparison, power)
    if not 0 < abs(difference) < np.inf:
        raise BadArgument(f"A difference of {difference} cannot be planned for. Give one above 0, such as 0.02.")

    def enough(scenes: int) -> bool:
        return achieved_power(comparison, difference, scenes=scenes, episodes_per_scene=episodes_per_scene) >= power

    most = 2
    while not enough(most):
        most *= 2
        if most > _MOST_SCENES:
            if comparison.run_sd > 0:
                raise BadArgument(
                    f"{comparison.runs} runs of each system that differ by {comparison.run_sd:g} do not detect a "
                    f"difference of {difference}, however many scenes there are. Give more runs."
                )
            raise BadArgument(
                f"A difference of {difference} needs more than {_MOST_SCENES} scenes. Plan for a larger one."
            )
    least = max(2, most // 2)
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle + 1, most)
    reached = achieved_power(comparison, difference, scenes=most, episodes_per_scene=episodes_per_scene)
    return SampleSize(most, int(np.ceil(most * episodes_per_scene)), reached)


def runs_needed(
    comparison: ComparisonDesign, difference: float, *, scenes: int, episodes_per_scene: float, power: float = 0.8
) -> int | None:
    """The fewest runs of each system that show this difference in so many scenes; None if even many do not.

    >>> design = ComparisonDesign(0.5, icc=0.01, correlation=0.8, runs=2, run_sd=0.02)
    >>> runs_needed(design, 0.05, scenes=11, episodes_per_scene=213)
    7
    """
    _check_power(comparison, power)
    for runs in range(2 if comparison.run_sd > 0 else 1, _MOST_RUNS + 1):
        design = replace(comparison, runs=runs)
        if achieved_power(design, difference, scenes=scenes, episodes_per_scene=episodes_per_scene) >= power:
            return runs
    return None


def _test(comparison: ComparisonDesign, scenes: int, episodes_per_scene: float) -> tuple[float, float, float]:
    """The standard error of the difference, its degrees of freedom, and the critical value of t."""
    if scenes < 2:
        raise BadArgument(f"scenes must be ≥ 2 (got {scenes}): one scene does not show how scenes differ.")
    if not 1 <= episodes_per_scene < np.inf:
        raise BadArgument(f"There are {episodes_per_scene} episodes per scene. Give at least 1.")
    paired = comparison.correlation is not None
    agreement = 0.0 if comparison.correlation is None else comparison.correlation
    repeatable = comparison.run_correlation
    variance = 2 * comparison.sd**2 * (repeatable - agreement + (1 - repeatable) / comparison.runs)
    crowding = 1 + (episodes_per_scene - 1) * comparison.icc  # the "design effect" of clustered samples
    of_scenes = variance * crowding / (scenes * episodes_per_scene)
    of_runs = 2 * comparison.run_sd**2 / comparison.runs
    df = float(scenes - 1) if paired else 2.0 * (scenes - 1)
    if of_runs > 0:  # Satterthwaite, as `estimate_over_runs`
        parts = of_scenes**2 / df + of_runs**2 / (2 * (comparison.runs - 1))
        df = min(df, (of_scenes + of_runs) ** 2 / parts)
    return float(np.sqrt(of_scenes + of_runs)), df, quantile(1 - comparison.alpha / 2, df)


def _check_power(comparison: ComparisonDesign, power: float) -> None:
    if not comparison.alpha < power < 1:
        raise BadArgument(
            f"The power is {power}. Give a probability between alpha ({comparison.alpha}) and 1; 0.8 is usual."
        )
