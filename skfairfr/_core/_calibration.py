"""Curves that turn scores into calibrated ones.

A curve is an array. "logistic" has a slope and an intercept, "beta" has a, b and c of
a log q - b log(1 - q) + c with q = (1 + s) / 2, and "isotonic" has scores and values between
which lines are drawn. Logarithms are natural, slopes are at least 0.

Logistic and beta curves are fitted by maximum likelihood. Genuine pairs weigh p_target in all
and impostor pairs 1 - p_target, whatever their numbers, and the logit of p_target is then
subtracted: Brümmer & du Preez (2006). As Platt (1999) does, n genuine scores are fitted to
(n + 1) / (n + 2) and m impostor ones to 1 / (m + 2): the fit exists even if no two scores
overlap. Beta is eq. (4)-(5) of Kull, Silva Filho & Flach (2017), whose -b is our b. Isotonic
curves are fitted by pooling adjacent violators, with one more genuine and impostor pair at
both ends (Laplace's rule), without which they would be infinite there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, logit

# q of a beta curve is kept so far away from 0 and 1 that curves stay finite.
EDGE = 2.0**-24
# Which coefficients are free, by preference. The loss is convex, so the best fit with slopes
# that are not negative is that of one of these.
FREE = {
    "beta": ([0, 1, 2], [1, 2], [0, 2], [2]),
    "logistic": ([0, 1], [1]),
}
# Log odds from which on probabilities may leave float64.
STEEP = 600.0
# A curve is inverted between scores of this size, to float64's resolution of 1.
LARGEST, HALVINGS = 2.0**64, 120
# Relative error that the values of a curve stay below, and half of float32's resolution.
ROUNDING = 2.0**-40 + 2.0**-23


@dataclass(frozen=True)
class Curves:
    """Curves of images: a pair has a mean of both images' values at its score.

    Attributes
    ----------
    kind : {"logistic", "isotonic", "beta"}
    curves : list of ndarray
    of_image : ndarray of int, shape (n_images,)
        The curve of each image.
    weights : ndarray, shape (n_images,), or None
        With weights the mean is one of probabilities, whose log odds the values are.
    """

    kind: str
    curves: list
    of_image: np.ndarray
    weights: np.ndarray | None = None

    def __getitem__(self, images):
        """The curves of some images."""
        weights = None if self.weights is None else self.weights[images]
        return Curves(self.kind, self.curves, self.of_image[images], weights)

    def values(self, scores):
        """Values of each image's curve at its scores, float64 (n_images, ...)."""
        values = np.empty(scores.shape)
        for k in np.unique(self.of_image):
            rows = self.of_image == k
            values[rows] = evaluate(self.kind, self.curves[k], scores[rows])
        return values

    def limits(self, floors):
        """Scores below which each curve is below each floor, (n_floors, n_curves)."""
        floors = floors.astype(np.float64)[:, None]
        floors = floors - ROUNDING * (1 + np.abs(floors))
        least = np.full((floors.size, len(self.curves)), -LARGEST)
        low, high = least, -least
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = self._at(middle) < floors
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.where(self._at(least) < floors, low, -np.inf)

    def _at(self, scores):
        """Values of every curve at its column of scores."""
        columns = zip(self.curves, scores.T, strict=True)
        return np.stack([evaluate(self.kind, *of) for of in columns], axis=1)


def joined(first, second, w=None, v=None):
    """Mean of both images' values. With weights, the log odds of the mean probability."""
    if w is None:
        return (first + second) / 2
    accept, reject = (
        w * expit(sign * first) + v * expit(sign * second) for sign in (1, -1)
    )
    steep = np.maximum(np.abs(first), np.abs(second)) > STEEP
    if not np.any(steep):
        return np.log(accept / reject)
    accept, reject = np.where(steep, 1.0, accept), np.where(steep, 1.0, reject)
    logs = [
        np.logaddexp(
            np.log(w) - np.logaddexp(0, -sign * first),
            np.log(v) - np.logaddexp(0, -sign * second),
        )
        for sign in (1, -1)
    ]
    return np.where(steep, logs[0] - logs[1], np.log(accept / reject))


def evaluate(kind, curve, scores):
    """Values of a curve at scores, float64 of their shape."""
    if kind == "isotonic":
        return np.interp(scores, *curve)
    columns = _columns(kind, scores)
    return sum(a * x for a, x in zip(curve, columns, strict=False)) + curve[-1]


def _columns(kind, scores):
    scores = scores.astype(np.float64)
    if kind == "logistic":
        return scores[None]
    q = np.clip((1 + scores) / 2, EDGE, 1 - EDGE)
    return np.stack([np.log(q), -np.log1p(-q)])


def fit_curve(kind, genuine, impostor, p_target=0.5):
    """The curve of genuine and impostor scores.

    Parameters
    ----------
    kind : {"logistic", "isotonic", "beta"}
    genuine, impostor : ndarrays, shape (n_genuine,) and (n_impostor,)
        Of each one at least. In [-1, 1] for "beta".
    p_target : float in (0, 1), default=0.5
        Share of genuine pairs that likelihoods are weighed for. No matter for "isotonic".

    Returns
    -------
    curve : ndarray of float64
    """
    scores = np.concatenate([genuine, impostor]).astype(np.float64)
    sizes = [genuine.size, impostor.size]
    if kind == "isotonic":
        return _fit_isotonic(scores, sizes)
    columns = _columns(kind, scores)
    target = np.repeat([(sizes[0] + 1) / (sizes[0] + 2), 1 / (sizes[1] + 2)], sizes)
    weight = np.repeat([p_target / sizes[0], (1 - p_target) / sizes[1]], sizes)
    # Columns of mean 0 and deviation 1: those of beta are nearly the same line. Of equal scores
    # nothing is left but rounding, and no slope.
    center, spread = columns.mean(axis=1), columns.std(axis=1)
    scale = np.where(spread > EDGE, spread, np.inf)
    columns = (columns - center[:, None]) / scale[:, None]
    columns = np.vstack([columns, np.ones(scores.size)])
    found = []
    for free in FREE[kind]:
        fitted, loss = _minimise(columns[free], target, weight)
        slopes = np.zeros(len(columns))
        slopes[free] = fitted
        if (slopes[:-1] >= 0).all():
            found.append((loss, slopes))
        if len(free) == len(columns) and found:
            break
    _, slopes = min(found, key=lambda pair: pair[0])
    curve = np.append(slopes[:-1] / scale, slopes[-1])
    for k in range(len(center)):
        curve[-1] -= curve[k] * center[k]
    curve[-1] -= logit(p_target)
    return curve


def _fit_isotonic(scores, sizes):
    ends = [scores.min(), scores.max()]
    is_genuine = np.append(np.repeat([1.0, 0.0], sizes), [1.0, 1.0, 0.0, 0.0])
    weight = np.where(is_genuine == 1, 1 / sizes[0], 1 / sizes[1])
    scores, place = np.unique(np.append(scores, ends * 2), return_inverse=True)
    weight, genuine = (np.bincount(place, w) for w in (weight, weight * is_genuine))
    share = isotonic_regression(genuine / weight, weights=weight).x
    # Between equal neighbours the curve is the line that joins them.
    inner = (share[1:-1] == share[:-2]) & (share[1:-1] == share[2:])
    kept = ~np.concatenate([[False], inner, [False]])[: scores.size]
    return np.stack([scores[kept], logit(share[kept])])


def _minimise(columns, target, weight):
    """Coefficients of the best logistic curve of some columns, and its loss."""

    def loss(coefficients):
        z = coefficients @ columns
        value = weight @ (np.logaddexp(0, z) - target * z)
        return value, columns @ (weight * (_sigmoid(z) - target))

    def curvature(coefficients):
        p = _sigmoid(coefficients @ columns)
        return (columns * (weight * p * (1 - p))) @ columns.T

    start = np.zeros(len(columns))
    options = {"gtol": 1e-10, "maxiter": 500}
    found = minimize(
        loss, start, jac=True, hess=curvature, method="trust-exact", options=options
    )
    return found.x, found.fun


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(z / 2))
