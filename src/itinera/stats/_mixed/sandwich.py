"""Cluster-robust standard errors of fixed effects, valid even where the model of the groups is wrong.

A mixed model's own standard errors depend on its variances: near zero these are estimated too high on average, and
correlations that a model omits (the two rows of an episode) bias them. The "sandwich" estimates the error from the
residuals of the groups instead.
"""

from __future__ import annotations

import numpy as np

from itinera.stats._mixed.likelihood import Contributions, Profile
from itinera.stats._validation import Floats


def robust_errors(parts: Contributions, found: Profile) -> tuple[Floats, Floats]:
    """Standard errors of the fixed effects and their degrees of freedom, (2,) each, with outer groups as clusters.

    The bias-reduced sandwich "CR2" of Bell and McCaffrey (2002) for generalised least squares, as Pustejovsky and
    Tipton (2018) have it, with the fitted model as the working model: if that is true, the squared errors are right on
    average, and their degrees of freedom are Satterthwaite's. `parts` and `found` are those of one point.
    """
    information = np.moveaxis(parts.information[0], -1, 0)  # (groups, 2, 2)
    covariance = np.linalg.inv(found.information[0])
    scores = parts.moments[0].T - information @ found.fixed_effects[0]  # (groups, 2)
    # Fitting draws the effects towards each group and so shrinks its score; `enlarge` undoes it, in root coordinates.
    root = _power(information, 0.5)
    enlarge = root @ _power(np.eye(2) - root @ covariance @ root, -0.5) @ _power(information, -0.5)
    arms = covariance @ enlarge  # (groups, 2, 2) from a group's score to its share in the error of each effect
    shares = np.einsum("gij,gj->ig", arms, scores)  # (2, groups)
    df = np.array([_freedom(arms[:, effect], information, covariance) for effect in range(2)])
    return np.sqrt((shares**2).sum(axis=1)), df


def _freedom(arms: Floats, information: Floats, covariance: Floats) -> float:
    """Satterthwaite's degrees of freedom of Σ (arm · score)² under the working model."""
    reach = np.einsum("gi,gij->gj", arms, information)
    joint = np.diag(np.einsum("gj,gj->g", reach, arms)) - reach @ covariance @ reach.T
    return float(np.trace(joint) ** 2 / (joint**2).sum())


def _power(matrices: Floats, exponent: float) -> Floats:
    """Symmetric matrices (groups, n, n) to a power; directions in which they are zero stay zero."""
    eigenvalues, directions = np.linalg.eigh(matrices)
    above = eigenvalues > 1e-10 * np.maximum(eigenvalues[..., -1:], 1e-300)
    powers = np.where(above, np.where(above, eigenvalues, 1.0) ** exponent, 0.0)
    return np.asarray((directions * powers[..., None, :]) @ np.swapaxes(directions, -1, -2))
