"""Sequential confidence intervals for the mean of a finite split: valid at every look, so that one may stop at any.

Episodes come in an order drawn at random. After each, `ConfidenceSequence` has an interval for the mean over the whole
split, and the chance that any of these intervals ever misses it is at most 5 %. An ordinary interval that is looked at
after each episode until it is short enough misses more often.
"""

from __future__ import annotations

import math

import numpy as np

from itinera.errors import BadArgument
from itinera.stats._validation import Floats, check_level
from itinera.stats.intervals import Interval

_GRID = 2000  # candidate means, whose spacing widens the interval by at most 1/2000
_LARGEST_BET = 0.5  # of what may be lost: larger bets win more and are ruined by an unlucky streak


class ConfidenceSequence:
    """A time-uniform confidence interval for the mean of `size` values between 0 and 1, drawn without replacement.

    Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", section 5. If the mean of
    all values were m, the mean of those left to draw would be known, and bets for or against the next value would be
    fair. For each m there are two fortunes, one that bets on larger values and one that bets on smaller ones. By
    Ville's inequality the fortunes of the true mean exceed 2 / (1 - level) with a probability of at most (1 - level)/2
    each, whatever the bets and whenever one looks; all m whose fortune ever did are excluded. Means that the values
    seen exclude by counting are too. The bets are chosen for an interval of mean ± `half_width`, and from the values
    before only.

    >>> sequence = ConfidenceSequence(4, half_width=0.1)
    >>> for value in (1.0, 1.0, 0.0, 1.0):
    ...     sequence.add(value)
    >>> sequence.interval().low, sequence.interval().high
    (0.75, 0.75)
    """

    def __init__(self, size: int, *, half_width: float, level: float = 0.95) -> None:
        check_level(level)
        if size < 1:
            raise BadArgument(f"A split has at least one episode (got {size}).")
        if not 0 < half_width < 0.5:
            raise BadArgument(f"The half-width of the interval of a rate lies between 0 and 0.5 (got {half_width:g}).")
        self.size, self.half_width, self.level = size, half_width, level
        self.count = 0
        self._sum = self._squares = 0.0  # of the values, and of their distances from 1/2
        self._means = np.linspace(0.0, 1.0, _GRID + 1)
        self._up, self._down = np.zeros(_GRID + 1), np.zeros(_GRID + 1)  # logarithms of the fortunes
        self._low, self._high = 0.0, 1.0

    def add(self, value: float) -> None:
        """Take the next value, which lies between 0 and 1."""
        if not 0 <= value <= 1:
            raise BadArgument(f"A value of {value} is not between 0 and 1.")
        if self.count == self.size:
            raise BadArgument(f"All {self.size} values have been added.")
        left = self.size - self.count
        fair = (self.size * self._means - self._sum) / left  # the mean of the values left, by candidate
        possible = (fair >= 0) & (fair <= 1)
        fair = np.clip(fair, 0.0, 1.0)
        bet = self.half_width * self.size / left / self._variance()
        with np.errstate(divide="ignore"):
            up = np.minimum(bet, _LARGEST_BET / fair)
            down = np.minimum(bet, _LARGEST_BET / (1 - fair))
        self._up += np.log1p(up * (value - fair))
        self._down += np.log1p(-down * (value - fair))
        self.count += 1
        self._sum += value
        self._squares += (value - 0.5) ** 2
        self._exclude(possible)

    def _variance(self) -> float:
        """The variance of the values so far, with two values at the ends and a floor."""
        count = self.count + 2
        mean = (self._sum + 1) / count
        return max((self._squares + 0.5) / count - (mean - 0.5) ** 2, 1e-3)

    def _exclude(self, possible: np.ndarray) -> None:
        limit = math.log(2 / (1 - self.level))
        # Fortunes of bets on larger values fall with the mean, the others rise: what is excluded lies at the ends.
        # A mean between two of the grid is excluded only if its neighbor nearer to the rest is.
        below = _last(self._means, possible & (self._up >= limit))
        above = _first(self._means, possible & (self._down >= limit))
        self._low = max(self._low, below, self._sum / self.size)
        self._high = min(self._high, above, (self._sum + self.size - self.count) / self.size)
        # Candidates beyond the ends stay excluded, and need no fortunes anymore.
        kept = slice(*np.searchsorted(self._means, (self._low, self._high + 1e-12)))
        self._means, self._up, self._down = self._means[kept], self._up[kept], self._down[kept]

    @property
    def is_done(self) -> bool:
        """Whether the interval is at most as wide as asked."""
        return self._high - self._low <= 2 * self.half_width + 1e-12

    def interval(self) -> Interval:
        """The mean of the values so far, with the interval for the mean of all."""
        mean = self._sum / self.count if self.count else 0.5
        low, high = min(self._low, self._high), max(self._low, self._high)
        return Interval(min(max(mean, low), high), low, high, self.level, "confidence sequence, without replacement")


def _last(means: Floats, excluded: np.ndarray) -> float:
    found = np.flatnonzero(excluded)
    return float(means[found[-1]]) if len(found) else 0.0


def _first(means: Floats, excluded: np.ndarray) -> float:
    found = np.flatnonzero(excluded)
    return float(means[found[0]]) if len(found) else 1.0
