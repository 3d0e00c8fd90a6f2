"""CohortNormalizer: scores in units of what each image scores with a cohort."""

from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr.comparators._base import Comparator, multiply_rows, unit_rows_of
from skfairfr.utils._errors import plain
from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Column
from skfairfr.utils._validation import validate_rows

# Without top, the nearest fifth of the cohort counts, and at least so many of it.
SHARE, FEWEST = 5, 20
# Scores with the cohort that differ by less than float32 resolves are equal.
SMALLEST_DEVIATION = 2.0**-23
# Products that are held at a time.
PRODUCTS = 2**22
# Of the cohort, whose own moments are averaged: to 3 % of their spread.
MEMBERS = 1000
# A gain that changes no sum with another one.
NO_GAIN = np.finfo(np.float64).tiny


class CohortNormalizer(Comparator):
    """Score normalisation by a cohort, as speaker verification does it.

    An image that scores high with everybody makes false matches with everybody. With the
    mean :math:`m_i` and the standard deviation :math:`\\sigma_i` of the cosines of image i
    with a cohort of other people, the score of a pair is

    .. math:: \\tfrac12 \\left[(s - m_i) / \\sigma_i + (s - m_j) / \\sigma_j\\right],

    eq. (5) of [1]_; s is the cosine of the pair. No group label is needed, in ``fit`` or
    later.

    Parameters
    ----------
    kind : {"as", "s", "z", "t"}, default="as"
        Which of the cohort count, and for which image of a pair. "s": the whole cohort,
        for both. "as" (adaptive): for each image its ``top`` nearest of the cohort. "z":
        the whole cohort for the reference alone, :math:`(s - m_j) / \\sigma_j`. "t": the
        whole cohort for the probe alone. These last two need to know which image is which:
        the rows of X1 are probes and those of X2 references, and so are the two sides of a
        SimilarityROC that was given ``domain`` or ``X_reference``. Within one set of
        images no image of a pair is the reference; the mean of both orders is "s".
    cohort : {"images", "centroids"}, default="images"
        Whether every image of the fitting set counts, or a person once, by the unit mean of
        the unit rows. Images gave the lower FRR in the study of the bench.
    top : int, default=None
        With ``kind="as"``, how many of the cohort count, at least 2. None: a fifth, but
        20 at least, or all where there are fewer.
    strength : float >= 0, default=1.0
        How far :math:`m_i` and :math:`\\sigma_i` are those of the image: 1 is the formula
        above, and 0 takes the cohort's own for all images, which orders pairs as the cosine
        does. Between, :math:`\\bar m + w (m_i - \\bar m)` and :math:`\\bar\\sigma
        (\\sigma_i / \\bar\\sigma)^w` of the strength w; above 1, the same. A search can
        move along it.

    Attributes
    ----------
    cohort_ : ndarray of float32, shape (n_cohort, n_features)
        Unit rows.
    top_ : int
        How many of the cohort count for an image.
    centre_ : tuple of two floats
        Mean of :math:`m` and geometric mean of :math:`\\sigma` of the cohort's members with
        the others, of 1,000 evenly spaced ones at most. Only if ``strength`` is not 1.
    n_features_in_ : int
        Number of features of the embeddings.
    feature_names_in_ : ndarray, shape (n_features,)
        Names of the features, where X has string names.

    See Also
    --------
    FairScoreNormalizer : Normalises by thresholds of clusters.

    Notes
    -----
    The cohort should be of other people than those who are compared: an image whose own
    person is in the cohort has a mean that is too high. It should look like them: take
    images of the same camera and population.

    The deviation divides by the number of scores, not by one less.

    References
    ----------
    .. [1] Matejka, P., et al. (2017). Analysis of Score Normalization in Multilingual
       Speaker Recognition. Interspeech.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.comparators import CohortNormalizer
    >>> faces = make_face_embeddings(n_identities=400, n_features=32,
    ...     kappa={"male": 60, "female": 40}, random_state=0)
    >>> cohort = faces.y < 200
    >>> normalizer = CohortNormalizer(top=40).fit(faces.X[cohort], faces.y[cohort])
    >>> normalizer.cohort_.shape
    (1014, 32)
    >>> roc = SimilarityROC(similarity=normalizer, n_resamples=50, random_state=0)
    >>> roc = roc.fit(faces.X[~cohort], faces.y[~cohort], faces.sensitive_features[~cohort])
    >>> round(roc.threshold_at(1e-2), 2)  # in standard deviations of the cohort's scores
    0.57
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        "kind": [StrOptions({"as", "s", "z", "t"})],
        "cohort": [StrOptions({"centroids", "images"})],
        "top": [None, Interval(Integral, 2, None, closed="left")],
        "strength": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kind: str = "as",
        *,
        cohort: str = "images",
        top: int | None = None,
        strength: float = 1.0,
    ) -> None:
        self.kind = kind
        self.cohort = cohort
        self.top = top
        self.strength = strength

    @property
    def takes_side(self) -> bool:
        """Whether probes and references are treated differently."""
        return self.kind in ("z", "t")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Column | None = None,
    ) -> Self:
        """Keep the cohort.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,), default=None
            Identity of each row, as :class:`~skfairfr.metrics.SimilarityROC` takes it.
            Only ``cohort="centroids"`` needs them.
        sensitive_features : array-like, shape (n_samples,), default=None
            Not used.

        Returns
        -------
        self : CohortNormalizer
            Fitted.

        Raises
        ------
        ValueError
            If X has a zero row or values that are not finite, y has another length than X,
            the cohort has one member, or ``top`` is more than it has.
        """
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        rows = unit_rows_of(X)
        if self.cohort == "centroids":
            rows = _centroids(rows, y)
        else:
            check_consistent_length(X, y)
        self.top_ = self._choose_top(len(rows))
        self.cohort_ = rows.astype(np.float32)
        if self.strength != 1:
            self.centre_ = _centre(self.cohort_, self.top_)
        return self

    def _prepare(self, X, sensitive_features, side=None):
        if self.takes_side and side is None:
            raise ValueError(
                f"kind={self.kind!r} normalises one image of a pair, and here neither is "
                "the probe or the reference; use kind='s', the mean of both orders, or "
                "give SimilarityROC two sides by domain or X_reference."
            )
        rows = unit_rows_of(X)
        gain, offset = np.full(len(rows), NO_GAIN), np.zeros(len(rows))
        counts, share = np.ones(len(rows), dtype=bool), 0.5
        if self.takes_side:
            counts, share = np.asarray(side) == (self.kind == "z"), 1.0
        if counts.any():
            mean, deviation = _moments(rows[counts], self.cohort_, self.top_)
            self._check_deviations(deviation, np.flatnonzero(counts))
            if self.strength != 1:
                centre, spread = self.centre_
                mean = centre + self.strength * (mean - centre)
                deviation = spread * (deviation / spread) ** self.strength
            gain[counts], offset[counts] = share / deviation, share * mean / deviation
        return PreparedImages(rows, Adjustment.affine(gain, offset))

    def _exported(self):
        # Strength is a power of sigma and a linear map of m.
        centre, spread = (0.0, 1.0) if self.strength == 1 else self.centre_
        strength = float(self.strength)
        return {
            "kind": "cohort",
            "normalises": {"z": ["reference"], "t": ["probe"]}.get(
                self.kind, ["probe", "reference"]
            ),
            "top": self.top_,
            "strength": strength,
            "mean_offset": (1 - strength) * centre,
            "deviation_factor": spread ** (1 - strength),
            "cohort": self.cohort_,
        }

    def _choose_top(self, n_cohort):
        if n_cohort < 2:
            raise ValueError(
                f"cohort={self.cohort!r} has one member, with which an image has one score "
                "and no deviation; fit on images of two people at least."
            )
        if self.kind != "as" and self.top is not None:
            raise ValueError(
                f"top={self.top} and kind={self.kind!r} were both given, and all of the "
                "cohort count with this kind; use kind='as', or leave top out."
            )
        if self.kind != "as":
            return n_cohort
        if self.top is None:
            return min(n_cohort, max(FEWEST, n_cohort // SHARE))
        if self.top > n_cohort:
            raise ValueError(
                f"top={self.top} is more than the cohort has, {n_cohort} {self.cohort}; "
                "lower it, or fit on more people."
            )
        return int(self.top)

    def _check_deviations(self, deviation, rows):
        equal = np.flatnonzero(deviation < SMALLEST_DEVIATION)
        if equal.size:
            raise ValueError(
                f"X has rows ({rows[equal[0]]}, {equal.size} in all) with the same score "
                f"with each of the {self.top_} of the cohort that count, so that sigma is "
                "0; give more of the cohort, or people who differ."
            )


def _centre(cohort, top):
    """Mean and geometric mean of the moments of members of the cohort with the others."""
    n = len(cohort)
    members = np.linspace(0, n - 1, min(n, MEMBERS)).astype(int)
    mean, deviation = _moments(cohort[members], cohort, min(top, n - 1), members)
    logs = np.log(np.maximum(deviation, SMALLEST_DEVIATION))
    return float(mean.mean()), float(np.exp(logs.mean()))


def _moments(rows, cohort, top, themselves=None):
    """Mean and deviation of the largest products of each row, (2, n_rows).

    ``themselves`` are the places of the rows in the cohort, which do not count.
    """
    found = np.empty((2, len(rows)))
    size = max(1, PRODUCTS // len(cohort))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        products = multiply_rows(rows[part], cohort)
        if themselves is not None:
            products[np.arange(len(products)), themselves[part]] = -np.inf
        some = np.partition(products, len(cohort) - top, axis=1)[:, -top:]
        found[0, part] = some.mean(axis=1, dtype=np.float64)
        found[1, part] = some.std(axis=1, dtype=np.float64)
    return found


def _centroids(rows, y):
    """Unit means (n_people, n_features) of the unit rows of each person."""
    identity, _, _ = label_images(y, None, None, len(rows), fields=("identity",))
    sums = np.zeros((identity.values.size, rows.shape[1]))
    np.add.at(sums, identity.codes, rows)
    zero = np.flatnonzero(~sums.any(axis=1))
    if zero.size:
        raise ValueError(
            f"y has a person, {plain(identity.values[zero[0]])!r}, whose images cancel, so "
            "that their mean has no direction; leave them out, or use cohort='images'."
        )
    return sums / np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
