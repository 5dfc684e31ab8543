"""The effect of an intervention on a response, by linear mixed-effects models of scene > trajectory > episode.

Rows of one scene resemble each other, those of one trajectory in it even more, and a scene may respond to the
intervention in its own way; a mixed model estimates the effect and its uncertainty with these correlations in view. The
models are those of lme4 (restricted maximum likelihood) with lmerTest's degrees of freedom, and an interval that also
holds where the model is not quite right. Start with `fit_mixed`; the likelihood is in `_mixed/likelihood.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from itinera.errors import BadArgument
from itinera.stats._mixed.likelihood import Profile, Sums, contributions, deviance, deviance_at, group_sums, profile
from itinera.stats._mixed.newton import Minimum, derivatives, minimize
from itinera.stats._mixed.sandwich import robust_errors
from itinera.stats._t_distribution import quantile, upper_tail
from itinera.stats._validation import Floats, Integers, Labels, as_values, check_level, cluster_codes
from itinera.stats.intervals import Interval

Level: TypeAlias = Literal["scene", "trajectory", "episode"]

_SEVERAL = {"scene": "scenes", "trajectory": "trajectories", "episode": "episodes"}
_FLAT = 1e-6  # of a curvature in units of its own coordinates; differences of deviances leave errors below a tenth


@dataclass(frozen=True)
class Model:
    """Which rows share what, beside the intercept and the effect x of the intervention that all rows share."""

    formula: str  # in lme4's notation, y the response and x the intervention
    outer: Level | None  # rows of one such group share an intercept and an effect, which may correlate
    inner: Level | None  # rows of one such group share an intercept


MODELS = {
    "default": Model("y ~ x + (x | scene) + (1 | scene:trajectory)", "scene", "trajectory"),
    "fm1": Model("y ~ x + (1 | scene:trajectory:episode)", None, "episode"),
    "fm2": Model("y ~ x + (x | scene) + (1 | scene:trajectory:episode)", "scene", "episode"),
    # Of its two intercepts by trajectory the rows know only the sum, so one is left out; the likelihood is the same.
    "fm3": Model("y ~ x + (x | scene:trajectory) + (1 | scene:trajectory)", "trajectory", None),
}


@dataclass(frozen=True)
class Coefficient:
    """A fixed effect with its standard error and the test of its being zero: a line of lmerTest."""

    estimate: float
    standard_error: float
    df: float  # Satterthwaite's
    t: float
    p_value: float  # two-sided


@dataclass(frozen=True)
class Component:
    """One part of the random variation."""

    group: str  # "scene", "trajectory", "episode" or "residual"
    term: str  # "intercept", "intervention" or, for the residual, ""
    sd: float  # 0 for a part that the rows give no sign of


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model. `interval` and `p_value` are what to report of the effect."""

    model: str
    formula: str
    interval: Interval  # of the effect
    p_value: float  # two-sided, of no effect; below 1 - level where the interval leaves out 0
    intercept: Coefficient  # the response without intervention
    effect: Coefficient  # what the intervention adds
    effect_size: float  # effect / standard deviation of a response, see `fit_mixed`
    components: tuple[Component, ...]
    correlation: float  # between a group's intercept and its effect; nan where the model has none or one is constant
    log_likelihood: float  # restricted (REML); `likelihood_ratio` has the other
    converged: bool  # whether the optimization of the variances converged
    singular: bool  # whether a variance is zero or a correlation ±1, as often when groups are few
    rows: int
    groups: dict[str, int]  # how many of each level the model has


@dataclass(frozen=True)
class LikelihoodRatio:
    """A model with the intervention against the same model without it, both by maximum likelihood."""

    log_likelihood: float  # with the intervention as a fixed effect
    log_likelihood_without: float
    statistic: float  # twice the difference
    p_value: float  # by the chi-squared distribution with 1 degree of freedom
    converged: bool  # whether both optimizations converged


def fit_mixed(
    response: ArrayLike,
    intervention: ArrayLike,
    *,
    scenes: Labels,
    trajectories: Labels,
    episodes: Labels | None = None,
    model: str = "default",
    level: float = 0.95,
) -> MixedFit:
    """The effect of the intervention on the response, by the model of that name in `MODELS`.

    response: one finite number per row; drop undefined ones first.
    intervention: 1 for a row with it, 0 for its control.
    scenes, trajectories, episodes: the place of each row, as any labels. A trajectory label means the trajectory of
        that name in its scene, an episode label the episode of that name in its trajectory; the two rows of an
        intervened episode and its control share theirs. The default model and "fm3" need no episodes.

    Variances are found by restricted maximum likelihood, standard errors are those of generalised least squares at
    these variances, as in lme4. Degrees of freedom are Satterthwaite's as lmerTest computes them: twice the squared
    variance of an estimate over the variance of that variance, which follows from the curvature of the restricted
    likelihood. A variance that is estimated as zero counts as known to be zero. Where the likelihood does not curve in
    a direction on which a standard error depends, the fit is refused.

    Interval. With few scenes the model's own standard error is too large where effects hardly vary by scene (a variance
    cannot be estimated below zero) and where the two rows of an episode resemble each other, which the default model
    does not include. So `interval` and `p_value` rest on how the scenes disagree: the model's estimate, with the
    cluster-robust error and degrees of freedom of `_mixed/sandwich.py`. `recipes/skill_recovery.py` measures both. In
    "fm1" and "fm3", which have no scenes, and where scenes agree exactly, they are the model's own.

    effect_size is the effect over the standard deviation of a response around its fixed part, all components together,
    the variances of the two arms averaged: Cohen's d for a design with groups (Westfall, Kenny and Judd 2014).

    >>> fit = fit_mixed([1, 3, 2, 6, 4, 5, 4, 9], [0, 1] * 4, scenes=list("aaaabbbb"), trajectories=[1, 1, 2, 2] * 2)
    >>> round(fit.effect.estimate, 3), fit.converged
    (3.0, True)
    """
    check_level(level)
    rows = _arrange(response, intervention, {"scene": scenes, "trajectory": trajectories, "episode": episodes}, model)
    best = _search(rows, rows.first_guess, slope=True, restricted=True)
    spreads = _tidy(rows, best)
    found, sd = _settle(rows, spreads)
    intercept, effect = _coefficients(rows, spreads, found, sd)
    interval, p_value = _report(rows, spreads, found, effect, MODELS[model], level)
    return MixedFit(
        model=model,
        formula=MODELS[model].formula,
        interval=interval,
        p_value=p_value,
        intercept=intercept,
        effect=effect,
        effect_size=effect.estimate / (rows.unit * sd * _typical_spread(spreads)),
        components=_components(MODELS[model], spreads, sd * rows.unit),
        correlation=_correlation(spreads),
        log_likelihood=_log_likelihood(best.value, rows, rows.sums.rows - 2),
        converged=best.converged,
        singular=bool((spreads[rows.free[rows.free != 1]] == 0).any()),
        rows=rows.sums.rows,
        groups=rows.groups,
    )


def likelihood_ratio(
    response: ArrayLike,
    intervention: ArrayLike,
    *,
    scenes: Labels,
    trajectories: Labels,
    episodes: Labels | None = None,
    model: str = "default",
) -> LikelihoodRatio:
    """The likelihood-ratio test of the intervention; arguments are those of `fit_mixed`.

    Only the fixed effect is left out: groups keep effects of their own, as in R's anova(m, update(m, . ~ . - x)). With
    few scenes the test rejects too often, because it takes the variances as known; the t-test of `fit_mixed` does not.
    """
    rows = _arrange(response, intervention, {"scene": scenes, "trajectory": trajectories, "episode": episodes}, model)
    fitted = _search(rows, rows.first_guess, slope=True, restricted=False)
    # Without its fixed effect a model of few groups may have two local minima, with larger effects of groups or
    # without.
    starts = (fitted.point, rows.first_guess)
    without = min((_search(rows, start, slope=False, restricted=False) for start in starts), key=lambda low: low.value)
    statistic = max(0.0, without.value - fitted.value)
    return LikelihoodRatio(
        _log_likelihood(fitted.value, rows, rows.sums.rows),
        _log_likelihood(without.value, rows, rows.sums.rows),
        statistic,
        math.erfc(math.sqrt(statistic / 2)),
        fitted.converged and without.converged,
    )


@dataclass(frozen=True)
class _Rows:
    """The rows summed up for one model, responses in units of their own standard deviation around their mean."""

    sums: Sums
    free: Integers  # which of the four spreads (see `likelihood.profile`) the model has
    centre: float
    unit: float
    groups: dict[str, int]

    @property
    def first_guess(self) -> Floats:
        return np.array([0.3, 0.0, 0.15, 0.3])[self.free]


def _arrange(response: ArrayLike, intervention: ArrayLike, labels: dict[Level, Labels | None], model: str) -> _Rows:
    if model not in MODELS:
        raise BadArgument(f'There is no mixed model "{model}". Choose one of: {", ".join(MODELS)}.')
    y, x = as_values(response, name="response"), as_values(intervention, name="intervention")
    if len(x) != len(y):
        raise BadArgument(f"There are {len(y)} responses and {len(x)} interventions. Give one of each per row.")
    if set(np.unique(x)) != {0.0, 1.0}:
        raise BadArgument(
            f"intervention runs from {x.min():g} to {x.max():g} in {len(np.unique(x))} values. "
            "Give 1 for rows with the intervention and 0 for their controls, some of each."
        )
    shape = MODELS[model]
    codes = _nest(labels, len(y), model)
    groups: dict[str, int] = {
        name: int(codes[name].max()) + 1 for name in (shape.outer, shape.inner) if name is not None
    }
    _check_groups(groups, shape, len(y))
    centre, unit = float(y.mean()), float(y.std())
    _check_variation(y, x, unit)
    outer = np.zeros(len(y), dtype=np.int64) if shape.outer is None else codes[shape.outer]
    sums = group_sums((y - centre) / unit, x, outer, None if shape.inner is None else codes[shape.inner])
    free = ([] if shape.outer is None else [0, 1, 2]) + ([] if shape.inner is None else [3])
    return _Rows(sums, np.array(free), centre, unit, groups)


def _nest(labels: dict[Level, Labels | None], size: int, model: str) -> dict[Level, Integers]:
    """Codes 0, 1, … of the groups of each level, where a label means the group of that name in its parent."""
    shape, codes, parent = MODELS[model], {}, np.zeros(size, dtype=np.int64)
    for name, given in labels.items():
        if given is None:
            if name in (shape.outer, shape.inner):
                raise BadArgument(
                    f'The model "{model}", {shape.formula}, needs {_SEVERAL[name]}. Give a label for each row.'
                )
            continue
        own = cluster_codes(given, size=size)
        parent = np.unique(parent * (own.max() + 1) + own, return_inverse=True)[1]
        codes[name] = parent
    return codes


def _check_groups(groups: dict[str, int], shape: Model, rows: int) -> None:
    for name, count in groups.items():
        several = _SEVERAL[name]
        if count < 2:
            raise BadArgument(
                f"All rows lie in one {name}, so the variation between {several} cannot be estimated. "
                f"Give rows of at least two {several}, or choose a model without them."
            )
        effects = 2 if name == shape.outer else 1
        if effects * count >= rows:
            raise BadArgument(
                f"{rows} rows in {count} {several} cannot separate the effects of {several} from residual variation. "
                f"Give more than {effects} rows per {name} on average, or choose a model without {several}."
            )


def _check_variation(y: Floats, x: Floats, unit: float) -> None:
    left = np.where(x == 1, y - y[x == 1].mean(), y - y[x == 0].mean())
    if np.abs(left).max() <= 1e-9 * max(np.abs(y).max(), 1e-300) or unit == 0:
        raise BadArgument(
            f"The response does not vary: it is {y[x == 0][0]:g} in every control row and {y[x == 1][0]:g} in every "
            "row with the intervention. There is no variation to compare the effect with; report the two numbers."
        )


def _search(rows: _Rows, start: Floats, *, slope: bool, restricted: bool) -> Minimum:
    def function(points: Floats) -> Floats:
        return deviance(rows.sums, profile(rows.sums, _widen(rows, points), slope=slope), restricted=restricted)

    # Where a spread is zero the likelihood may have a saddle, which no slope leads away from.
    near = np.where(np.abs(start) < 0.05, 0.05, start)
    # Where the residual is small, spreads are large, and a search from afar may end in a minimum that is not lowest.
    starts = np.array([[1.0], [10.0], [100.0], [1000.0]]) * near
    chosen = {0, int(function(starts).argmin())}
    bottom = min((minimize(function, starts[index]) for index in sorted(chosen)), key=lambda low: low.value)
    if np.abs(bottom.point).max() > 1e4:
        raise BadArgument(
            "The rows of a group agree exactly, or to a ten-thousandth of how groups differ, so there is no residual "
            "variation to compare the effect with. "
            "Choose a model with coarser groups."
        )
    return bottom


def _widen(rows: _Rows, points: Floats) -> Floats:
    """All four spreads, (k, 4), of points in the model's own, (k, free)."""
    spreads = np.zeros((len(points), 4))
    spreads[:, rows.free] = points
    return spreads


def _tidy(rows: _Rows, best: Minimum) -> Floats:
    """The four spreads of the best point in their usual form: only b negative, and zero where zero does as well."""
    a, b, c, d = _widen(rows, best.point[None])[0]
    spreads = np.array([abs(a), b if a >= 0 else -b, abs(c), abs(d)])
    for simplify in (_without_intercepts, _without_own_effects, _without_inner):
        simpler = simplify(*spreads)
        found = profile(rows.sums, simpler[None], slope=True)
        if deviance(rows.sums, found, restricted=True)[0] <= best.value + 1e-7:
            spreads = simpler
    return spreads


def _without_intercepts(a: float, b: float, c: float, d: float) -> Floats:
    return np.array([0.0, 0.0, math.hypot(b, c), d])


def _without_own_effects(a: float, b: float, c: float, d: float) -> Floats:
    return np.array([a, b, 0.0, d])  # a group's effect, if any, follows from its intercept


def _without_inner(a: float, b: float, c: float, d: float) -> Floats:
    return np.array([a, b, c, 0.0])


def _settle(rows: _Rows, spreads: Floats) -> tuple[Profile, float]:
    """The profile at these spreads and the residual standard deviation that goes with it."""
    found = profile(rows.sums, spreads[None], slope=True)
    return found, math.sqrt(float(found.misfit[0]) / (rows.sums.rows - 2))


def _log_likelihood(lowest: float, rows: _Rows, freedom: int) -> float:
    """The log-likelihood of the responses as they were given, from the deviance in their own unit."""
    return -lowest / 2 - freedom * math.log(rows.unit)


def _coefficients(rows: _Rows, spreads: Floats, found: Profile, sd: float) -> tuple[Coefficient, Coefficient]:
    covariance = sd**2 * np.linalg.inv(found.information[0])
    estimates = found.fixed_effects[0] * rows.unit + [rows.centre, 0.0]
    errors = np.sqrt(np.diag(covariance)) * rows.unit
    freedoms = _satterthwaite(rows, spreads, sd)
    first, second = zip(estimates.tolist(), errors.tolist(), freedoms.tolist(), strict=True)
    return _coefficient(*first), _coefficient(*second)


def _coefficient(estimate: float, error: float, df: float) -> Coefficient:
    t = estimate / error
    return Coefficient(estimate, error, df, t, 2 * upper_tail(abs(t), df))


def _report(
    rows: _Rows, spreads: Floats, found: Profile, effect: Coefficient, shape: Model, level: float
) -> tuple[Interval, float]:
    """The interval of the effect and the p-value that belongs to it."""
    error, df, method = effect.standard_error, effect.df, "mixed model, Satterthwaite's t"
    if shape.outer == "scene":
        errors, freedoms = robust_errors(contributions(rows.sums, spreads[None]), found)
        if errors[1] * rows.unit > 1e-6 * error:  # scenes that agree exactly give no error
            error, df = float(errors[1]) * rows.unit, float(freedoms[1])
            method = f"mixed model, cluster-robust t ({rows.groups['scene']} scenes)"
    reach = quantile((1 + level) / 2, df) * error
    p_value = 2 * upper_tail(abs(effect.estimate) / error, df)
    return Interval(effect.estimate, effect.estimate - reach, effect.estimate + reach, level, method), p_value


def _satterthwaite(rows: _Rows, spreads: Floats, sd: float) -> Floats:
    """The degrees of freedom of both fixed effects, (2,).

    The variances of the estimates depend on the spreads and the residual standard deviation, which are known as well as
    the restricted likelihood is curved around them. Spreads of zero are left out: the variances do not change, to
    first order, when a spread leaves zero, nor does its curvature mix with that of others.

    Spreads are in units of the residual, so a small residual makes them large and itself known far better: curvatures
    then differ by many powers of ten although nothing is unknown. Steps are therefore relative to each spread, and
    each direction is compared with the curvature of its own coordinates.
    """
    a, b, c, d = spreads
    own = math.hypot(b, c)
    # A spread of a fiftieth of the residual is next to none, and smaller steps would drown in rounding.
    scale = np.append(np.maximum([a, own, own, d], 0.02), sd)
    active = np.append(np.flatnonzero(spreads), 4)
    scale, at = scale[active], np.append(spreads, sd)[active]

    def likelihood_and_variances(points: Floats) -> Floats:
        whole = np.zeros((len(points), 5))
        whole[:, active] = at + (points - 1) * scale
        there = profile(rows.sums, whole[:, :4], slope=True)
        variances = whole[:, 4:] ** 2 * np.linalg.inv(there.information)[:, [0, 1], [0, 1]]
        return np.column_stack([deviance_at(rows.sums, there, whole[:, 4]), variances])

    values, slopes, bends = derivatives(likelihood_and_variances, np.ones(len(active)))
    unit = np.sqrt(np.where(np.diag(bends[0]) > 0, np.diag(bends[0]), 1.0))
    eigenvalues, directions = np.linalg.eigh(bends[0] / np.outer(unit, unit))
    along = (slopes[1:] / unit) @ directions
    flat = eigenvalues < _FLAT
    # A flat direction is one of which the rows know nothing. It does no harm if the errors do not depend on it.
    if (np.abs(along[:, flat]) > 1e-4 * np.linalg.norm(along, axis=1, keepdims=True)).any():
        raise BadArgument(
            "The rows do not determine the variances on which the errors of the effects depend: the likelihood is flat "
            "in one direction. Give rows of more groups, or choose a model with fewer random effects."
        )
    # Half the deviance's curvature is the information about the spreads, and its inverse their covariance.
    doubt = (along[:, ~flat] ** 2 * (2 / eigenvalues[~flat])).sum(axis=1)
    return np.asarray(2 * values[1:] ** 2 / doubt)


def _typical_spread(spreads: Floats) -> float:
    """The standard deviation of a response around its fixed part in units of the residual one, both arms averaged."""
    a, b, c, d = spreads
    with_intervention, control = (a + b) ** 2 + c**2, a**2
    return math.sqrt((with_intervention + control) / 2 + d**2 + 1)


def _components(shape: Model, spreads: Floats, sd: float) -> tuple[Component, ...]:
    a, b, c, d = (float(spread) * sd for spread in spreads)
    found = [Component("residual", "", sd)]
    if shape.inner is not None:
        found.insert(0, Component(shape.inner, "intercept", d))
    if shape.outer is not None:
        found[:0] = [Component(shape.outer, "intercept", a), Component(shape.outer, "intervention", math.hypot(b, c))]
    return tuple(found)


def _correlation(spreads: Floats) -> float:
    a, b, c, _ = (float(spread) for spread in spreads)
    return b / math.hypot(b, c) if a > 0 and math.hypot(b, c) > 0 else math.nan
