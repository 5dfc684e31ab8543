"""Student's t distribution: its tail and its quantiles, normal where the degrees of freedom are infinite.

scipy.special has both, but importing it takes half as long as importing numpy and numba together, and a cold
`itinera score` needs nothing else of it. These lines agree with it to 1e-9 for degrees of freedom from 0.05 to 1e12 and
levels up to 0.9999; the tests compare them over that range.
"""

from __future__ import annotations

import math

_MANY = 10_000  # degrees of freedom from which on Hill's expansion is exact to rounding


def upper_tail(t: float, df: float) -> float:
    """The probability of a value above t, for t >= 0."""
    if math.isinf(df):
        return 0.5 * math.erfc(t / math.sqrt(2))
    if df >= _MANY:
        return 0.5 * math.erfc(_normal_equivalent(t, df) / math.sqrt(2))
    return 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t))


def quantile(level: float, df: float) -> float:
    """The value below which the fraction `level` lies, for 0.5 <= level < 1.

    >>> round(quantile(0.975, 10), 4), round(quantile(0.975, math.inf), 4)
    (2.2281, 1.96)
    """
    tail = 1 - level
    heavy = df < 2 and tail < 0.25  # the tail is then close to a power of t
    at = 1.0 if heavy else 0.0
    for _ in range(200):
        here, density = upper_tail(at, df), _density(at, df)
        if heavy:  # between logarithms, Newton's steps reach 1e30 as fast as 2
            following = at * math.exp(math.log(here / tail) * here / (density * at))
        else:  # above the middle the distribution function bends down, so steps from the left never overshoot
            following = at + (here - tail) / density
        if abs(following - at) <= 1e-13 * max(1.0, at):
            return following
        at = following
    return at


def _normal_equivalent(t: float, df: float) -> float:
    """The normal deviate with the tail of t, by the expansion of Hill (1970), Algorithm 395, for many df."""
    a = df - 0.5
    b = 48 * a * a
    y = a * math.log1p(t * t / df)
    second = (((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b)
    return ((second + y + 3) / b + 1) * math.sqrt(y)


def _density(t: float, df: float) -> float:
    if math.isinf(df):
        return math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
    scale = _log_gamma_ratio(df / 2) - 0.5 * math.log(df * math.pi)
    return math.exp(scale - (df + 1) / 2 * math.log1p(t * t / df))


def _log_gamma_ratio(a: float) -> float:
    """log Γ(a + 1/2) - log Γ(a), which are large and nearly equal for large a."""
    if a < 100:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function, by its continued fraction on the side where that converges fast.

    rest is 1 - x, given separately because the subtraction would lose the digits of a small one.
    """
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, rest, x)
    # One of a and b is 1/2, and Γ(1/2) = sqrt(π).
    scale = _log_gamma_ratio(max(a, b) if min(a, b) == 0.5 else min(a, b)) - 0.5 * math.log(math.pi)
    front = math.exp(scale + a * math.log(x) + b * math.log(rest)) / a
    # Lentz's method: the fraction is built from the front as a product of ratios c / d.
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
