"""Scores that are not inner products themselves: adjusted by a few numbers of each image.

The score of a pair is s (g_i + g_j) - (o_i + o_j), with the inner product s of two rows, a gain
g > 0 and an offset o of each image. So are score normalisation by a cohort, thresholds of
groups or clusters, PLDA. It is computed in float64 from the float32 product and rounded once
to float32. Curves of images, which increase, may then make a calibrated score of it. The order
of the two images changes no bit.

A pass dismisses a pair by its low-precision product. Let v be this product plus the largest
error that it may have: s <= v. The score is increasing in s, and so is each of its
roundings: computed from v it is at least the true one, and a pair may be dismissed if it is
below the floor. A calibrated score is at most the larger value of both images' curves, so a
pair may be dismissed if the score computed from v is below the lower of the two scores at
which its images' curves reach the floor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._calibration import Curves, joined


@dataclass(frozen=True)
class Adjustment:
    """Numbers of images, from which their inner products become scores.

    Attributes
    ----------
    numbers : ndarray of float64, shape (2, n_images)
        Gain and offset of each image.
    curves : Curves or None
        Curves that calibrate the adjusted scores.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.comparators import Adjustment
    >>> adjustment = Adjustment.affine(gain=np.array([1.0, 2.0]), offset=np.array([0.1, 0.0]))
    >>> adjustment.numbers
    array([[1. , 2. ],
           [0.1, 0. ]])
    """

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
            Without curves.
        """
        return cls(np.array([gain, offset], dtype=np.float64))

    @classmethod
    def shifted(cls, offset: ArrayLike) -> Self:
        """The score s - (o_i + o_j) of an inner product s.

        Parameters
        ----------
        offset : array-like, shape (n_images,)

        Returns
        -------
        adjustment : Adjustment
            Without curves.
        """
        return cls.affine(np.full(len(offset), 0.5), offset)

    @classmethod
    def calibrated(
        cls, a: ArrayLike, b: ArrayLike, c: ArrayLike, weight: ArrayLike
    ) -> Self:
        """Log odds of the weighted mean of two calibrated probabilities.

        Those of an image are a log q - b log(1 - q) + c, with q = (1 + s) / 2.

        Parameters
        ----------
        a, b : array-like, shape (n_images,)
            Slopes of log q and -log(1 - q), at least 0.
        c : array-like, shape (n_images,)
            Log odds at log q = log(1 - q) = 0.
        weight : array-like, shape (n_images,)
            Above 0.

        Returns
        -------
        adjustment : Adjustment
            With curves.

        Raises
        ------
        ValueError
            If a slope or a weight is out of range.
        """
        numbers = np.array([a, b, c], dtype=np.float64)
        weights = np.asarray(weight, dtype=np.float64)
        if (numbers[:2] < 0).any() or (weights <= 0).any():
            raise ValueError("a and b must be at least 0, and weight must be above 0.")
        curves, of_image = np.unique(numbers, axis=1, return_inverse=True)
        curves = Curves("beta", list(curves.T), of_image.ravel(), weights)
        return replace(cls.shifted(np.zeros(weights.size)), curves=curves)

    def __getitem__(self, images):
        """The numbers of some images."""
        curves = None if self.curves is None else self.curves[images]
        return Adjustment(np.ascontiguousarray(self.numbers[:, images]), curves)

    def of_pairs(self, scores: np.ndarray, other: Self) -> np.ndarray:
        """Adjusted scores of pairs: image p of self and of other.

        Parameters
        ----------
        scores : ndarray of float32, shape (n_pairs,)
            Inner products of similar rows are larger.
        other : Adjustment
            Adjustment of the second image of each pair, with curves if self has them.

        Returns
        -------
        adjusted : ndarray of float32, shape (n_pairs,)
            Larger is more similar.
        """
        gain, offset = self.numbers + other.numbers
        adjusted = (scores.astype(np.float64) * gain - offset).astype(np.float32)
        if self.curves is None:
            return adjusted
        values = [of.curves.values(adjusted) for of in (self, other)]
        weights = self.curves.weights, other.curves.weights
        return joined(*values, *weights).astype(np.float32)

    def adjust_tile(self, tile: np.ndarray, other: Self) -> None:
        """Adjust inner products in place.

        Parameters
        ----------
        tile : ndarray of float32, shape (n_rows, n_columns)
            Of the images of self with those of other.
        other : Adjustment
            With curves if self has them.
        """
        gain, offset = self.numbers[:, :, None] + other.numbers[:, None]
        tile[:] = tile.astype(np.float64) * gain - offset
        if self.curves is not None:
            rows, columns = self.curves.values(tile), other.curves.values(tile.T).T
            weights = self.curves.weights, other.curves.weights
            if weights[0] is not None:
                weights = weights[0][:, None], weights[1]
            tile[:] = joined(rows, columns, *weights)

    def limits(self, floors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lowest score, before it is calibrated, at which each curve reaches each floor.

        Parameters
        ----------
        floors : ndarray of float32, shape (...)
            Scores that a pair is to reach.

        Returns
        -------
        limits : ndarray of float32, shape (..., n_curves)
            -inf where every score does. Without curves there are none.
        curve : ndarray of int64, shape (n_images,)
            The curve of each image.
        """
        if self.curves is None:
            none = np.empty((*floors.shape, 0), dtype=np.float32)
            return none, np.zeros(self.numbers.shape[1], dtype=np.int64)
        distinct, place = np.unique(floors, return_inverse=True)
        limits = self.curves.limits(distinct).astype(np.float32)
        limits = np.nextafter(limits, np.float32(-np.inf))
        return limits[place.reshape(floors.shape)], self.curves.of_image
