"""Scores that are not inner products themselves: adjusted by a few numbers of each image.

The score of a pair is an increasing function of the inner product s of two rows and of
numbers of both images. Two kinds are known:

- ``"affine"``: s (g_i + g_j) - (o_i + o_j), with a gain g > 0 and an offset o of each
  image; so are score normalisation by a cohort, thresholds of groups or clusters, PLDA.
- ``"calibrated"``: the log odds of the mean, with weights w, of both images' probabilities
  1 / (1 + exp(-z)), z = a log q - b log(1 - q) + c and q = (1 + s) / 2, with a, b >= 0.
  q is kept ``EDGE`` away from 0 and 1, so that scores stay finite.

Either is computed in float64 from the float32 score s and rounded once to float32; the
order of the two images changes no bit. Curves of images, which increase, may then turn this
score into the mean of both images' values.

A pass dismisses a pair by its low-precision product. Let v be this product plus the largest
error that it may have, so that s <= v. An affine score is increasing in s, and so is each
of its roundings: computed from v it is at least the true one, and a pair may be dismissed
where it is below the floor. The log odds of a mean are at most the larger of both images'
z: a pair may be dismissed where v is below the lower of the two scores at which its
images' z reach the floor. Curves have such limits too, of the score that they are applied to.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from skfairfr._core._calibration import EDGE, Curves

AFFINE, CALIBRATED = 1, 2
KINDS = {"affine": AFFINE, "calibrated": CALIBRATED}
# Log odds from which on exp of them may leave float64.
STEEP = 600.0
# Relative error that the logarithms and exponentials of a calibrated score stay below.
ROUNDING = 2.0**-40
# Steps of a bisection of [-1, 1] in float64.
HALVINGS = 60


@dataclass(frozen=True)
class Adjustment:
    """Numbers of images, from which their inner products become scores.

    Attributes
    ----------
    kind : {"affine", "calibrated"}
    numbers : ndarray of float64, shape (n_numbers, n_images)
        Gain and offset of each image, or a, b, c and weight.
    curves : Curves or None
        What calibrates the adjusted scores.
    """

    kind: str
    numbers: np.ndarray
    curves: Curves | None = None

    @classmethod
    def affine(cls, gain: ArrayLike, offset: ArrayLike) -> Self:
        """The score s (g_i + g_j) - (o_i + o_j) of an inner product s.

        Parameters
        ----------
        gain : array-like, shape (n_images,)
            Above 0.
        offset : array-like, shape (n_images,)

        Returns
        -------
        adjustment : Adjustment
            Of kind "affine".
        """
        return cls("affine", np.array([gain, offset], dtype=np.float64))

    @classmethod
    def shifted(cls, offset: ArrayLike) -> Self:
        """The score s - (o_i + o_j) of an inner product s.

        Parameters
        ----------
        offset : array-like, shape (n_images,)

        Returns
        -------
        adjustment : Adjustment
            Of kind "affine".
        """
        return cls.affine(np.full(len(offset), 0.5), offset)

    @classmethod
    def calibrated(
        cls, a: ArrayLike, b: ArrayLike, c: ArrayLike, weight: ArrayLike
    ) -> Self:
        """Log odds of the weighted mean of two calibrated probabilities.

        Parameters
        ----------
        a, b : array-like, shape (n_images,)
            Slopes of log q and -log(1 - q), at least 0; q = (1 + s) / 2.
        c : array-like, shape (n_images,)
            Log odds at log q = log(1 - q) = 0.
        weight : array-like, shape (n_images,)
            Above 0.

        Returns
        -------
        adjustment : Adjustment
            Of kind "calibrated".
        """
        return cls("calibrated", np.array([a, b, c, weight], dtype=np.float64))

    @property
    def code(self) -> int:
        """The kind as a number."""
        return KINDS[self.kind]

    def __getitem__(self, images):
        """The numbers of some images."""
        curves = None if self.curves is None else self.curves[images]
        numbers = np.ascontiguousarray(self.numbers[:, images])
        return replace(self, numbers=numbers, curves=curves)

    def of_pairs(self, scores: np.ndarray, other: Self) -> np.ndarray:
        """Adjusted scores of pairs: image p of self and of other.

        Parameters
        ----------
        scores : ndarray of float32, shape (n_pairs,)
            Inner products of similar rows are larger.
        other : Adjustment
            Of the same kind, of the second image of each pair.

        Returns
        -------
        adjusted : ndarray of float32, shape (n_pairs,)
            Larger is more alike.
        """
        adjusted = np.empty(scores.size, dtype=np.float32)
        _adjust_pairs(self.code, scores, self.numbers, other.numbers, adjusted)
        if self.curves is not None:
            both = [of.curves.values(adjusted) for of in (self, other)]
            adjusted[:] = sum(both) / 2
        return adjusted

    def adjust_tile(self, tile: np.ndarray, other: Self) -> None:
        """Adjust inner products in place.

        Parameters
        ----------
        tile : ndarray of float32, shape (n_rows, n_columns)
            Of the images of self with those of other.
        other : Adjustment
            Of the same kind.
        """
        _adjust_tile(self.code, tile, self.numbers, other.numbers)
        if self.curves is not None:
            rows, columns = self.curves.values(tile), other.curves.values(tile.T)
            tile[:] = (rows + columns.T) / 2

    def limits(self, floors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lowest score at which each image's own z, or curve, reaches each floor.

        The score is that of the curves if there are any, the inner product otherwise.

        Parameters
        ----------
        floors : ndarray of float32, shape (...)
            Scores that a pair is to reach.

        Returns
        -------
        limits : ndarray of float32, shape (..., n_curves)
            -inf where every score does. Images of a cluster share a curve; an affine
            adjustment without curves has none.
        curve : ndarray of int64, shape (n_images,)
            The curve of each image.
        """
        if self.kind == "affine" and self.curves is None:
            none = np.empty((*floors.shape, 0), dtype=np.float32)
            return none, np.zeros(self.numbers.shape[1], dtype=np.int64)
        distinct, place = np.unique(floors, return_inverse=True)
        if self.curves is not None:
            limits, curve = self.curves.limits(distinct), self.curves.of_image
            if self.kind != "affine":  # its product is not bounded by two limits
                limits = np.full_like(limits, -np.inf)
        else:
            curves, curve = np.unique(self.numbers[:3], axis=1, return_inverse=True)
            limits = np.empty((distinct.size, curves.shape[1]))
            _find_limits(curves, distinct, limits)
        limits = np.nextafter(limits.astype(np.float32), np.float32(-np.inf))
        return limits[place.reshape(floors.shape)], curve.ravel()


@njit(nogil=True, cache=True, inline="always")
def adjusted(kind, score, numbers, i, others, j):
    """Adjusted score of image i of one table of numbers and image j of another."""
    if kind == AFFINE:
        return score * (numbers[0, i] + others[0, j]) - (numbers[1, i] + others[1, j])
    low, high = _logs(score)
    first = _combine(low, high, numbers[0, i], numbers[1, i], numbers[2, i])
    second = _combine(low, high, others[0, j], others[1, j], others[2, j])
    w, v = numbers[3, i], others[3, j]
    if max(abs(first), abs(second)) > STEEP:
        return _log_of_mean(first, second, w, v) - _log_of_mean(-first, -second, w, v)
    odds, others_odds = np.exp(first), np.exp(second)
    reject, rejected = w / (1 + odds), v / (1 + others_odds)
    accept = odds * reject + others_odds * rejected
    return np.log(accept / (reject + rejected))


@njit(nogil=True, cache=True)
def _log_of_mean(first, second, w, v):
    """Logarithm of w p + v q, where p and q have these log odds, however small they are."""
    top = min(max(first, second), 0.0)
    return top + np.log(w * _raised(first, top) + v * _raised(second, top))


@njit(nogil=True, cache=True)
def _raised(odds, top):
    """The probability of log odds, times exp(-top); odds above zero have a top of zero."""
    if odds < 0:
        return np.exp(odds - top) / (1 + np.exp(odds))
    return 1 / (1 + np.exp(-odds))


@njit(nogil=True, cache=True)
def _logs(score):
    """Logarithms of q and of 1 - q."""
    q = min(max((1 + score) / 2, EDGE), 1 - EDGE)
    return np.log(q), np.log(1 - q)


@njit(nogil=True, cache=True)
def _combine(low, high, a, b, c):
    """Log odds of one image."""
    return a * low - b * high + c


@njit(nogil=True, cache=True)
def _log_odds(score, a, b, c):
    low, high = _logs(score)
    return _combine(low, high, a, b, c)


@njit(nogil=True, cache=True)
def _adjust_pairs(kind, scores, numbers, others, out):
    for p in range(scores.size):
        score = np.float64(scores[p])
        out[p] = np.float32(adjusted(kind, score, numbers, p, others, p))


@njit(nogil=True, cache=True)
def _adjust_tile(kind, tile, numbers, others):
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            score = np.float64(tile[i, j])
            tile[i, j] = np.float32(adjusted(kind, score, numbers, i, others, j))


@njit(nogil=True, cache=True)
def _find_limits(numbers, floors, limits):
    """The last score of a bisection whose z is below the floor."""
    for f in range(limits.shape[0]):
        floor = np.float64(floors[f])
        floor -= ROUNDING * (1 + abs(floor)) + 2.0**-23 * abs(floor)
        for k in range(limits.shape[1]):
            a, b, c = numbers[0, k], numbers[1, k], numbers[2, k]
            if not _log_odds(-1.0, a, b, c) < floor:
                limits[f, k] = -np.inf
                continue
            low, high = -1.0, 1.0
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                if _log_odds(middle, a, b, c) < floor:
                    low = middle
                else:
                    high = middle
            limits[f, k] = low
