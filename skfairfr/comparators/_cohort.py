"""CohortNormalizer: scores in units of what each image scores with a cohort."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from skfairfr._compat import Interval, StrOptions, fit_context
from skfairfr._core._adjustments import Adjustment
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr.comparators._base import (
    Comparator,
    WithGroups,
    identities_and_attributes,
    multiply_rows,
    unit_rows_of,
)
from skfairfr.utils._errors import plain
from skfairfr.utils._labels import label_images
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import validate_rows

# Without top, the nearest fifth of the cohort counts, and at least so many of it.
SHARE, FEWEST = 5, 20
# Scores with the cohort that differ by less than float32 resolves are equal.
SMALLEST_DEVIATION = 2.0**-23
# Products that are stored at a time.
PRODUCTS = 2**22
# Of the cohort, whose own moments are averaged: to 3 % of their spread.
MEMBERS = 1000
# A gain that changes no sum with another one.
NO_GAIN = np.finfo(np.float64).tiny


class CohortNormalizer(WithGroups, Comparator):
    """Score normalisation by a cohort, as speaker verification does it.

    An image that scores high with everybody makes false matches with everybody. With the
    mean :math:`m_i` and the standard deviation :math:`\\sigma_i` of the cosines of image i
    with a cohort of different people, the score of a pair is

    .. math:: \\tfrac12 \\left[(s - m_i) / \\sigma_i + (s - m_j) / \\sigma_j\\right],

    eq. (5) of [1]_, if s is the cosine of the pair. No group label is needed, in ``fit`` or
    later, unless ``by="group"``.

    Parameters
    ----------
    kind : {"as", "s", "z", "t"}, default="as"
        Members of the cohort that count, and for which image of a pair. "s": the whole cohort,
        for both. "as" (adaptive): for each image its ``top`` nearest of the cohort. "z":
        the whole cohort for the reference alone, :math:`(s - m_j) / \\sigma_j`. "t": the
        whole cohort for the probe alone. These last two need to know which image is which:
        the rows of X1 are probes and those of X2 references, and so are the two sides of a
        SimilarityROC that was given ``domain`` or ``X_reference``. Within one set of
        images no image of a pair is the reference. The mean of both orders is "s".
    cohort : {"images", "centroids"}, default="images"
        Whether every image of the fitting set counts, or a person once, by the unit mean of
        the unit rows. Images gave the lower FRR in the study of the bench.
    top : int, default=None
        Number of cohort members that count with ``kind="as"``, at least 2. If None, a
        fifth, but at least 20, or all if there are fewer.
    by : {"all", "group"}, default="all"
        Whether the cohort of an image is everyone, or those of its own group, which must
        then be known of every image that is compared. One of unknown group has everyone.
        Within groups, "z" and "t" are then the methods M1.1 and M2.1 of [2]_. For pairs of
        two groups these take the cohort of the other image's group.
    strength : float >= 0, default=1.0
        How far :math:`m_i` and :math:`\\sigma_i` are those of the image: 1 is the formula
        above, and 0 takes the cohort's own for all images, which orders pairs as the cosine
        does. Between, :math:`\\bar m + w (m_i - \\bar m)` and :math:`\\bar\\sigma
        (\\sigma_i / \\bar\\sigma)^w` of the strength w. Above 1, the same. A search can
        move along it.

    Attributes
    ----------
    cohort_ : ndarray of float32, shape (n_cohort, n_features)
        Unit rows.
    top_ : int or ndarray of int, shape (n_groups + 1,)
        Number of cohort members used for an image. With ``by="group"`` for one of each group,
        and of unknown group.
    groups_ : ndarray, shape (n_groups,)
        Sorted labels, with ``by="group"``. ``attributes_`` are the names of their columns.
    cohort_groups_ : ndarray of int, shape (n_cohort,)
        Place of each one's group in ``groups_``, with ``by="group"``. -1 is unknown, and so
        is that of a centroid of images of several groups.
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
    The cohort should be of different people than those who are compared: an image whose own
    person is in the cohort has a mean that is too high. It should look like them: take
    images of the same camera and population.

    The deviation divides by the number of scores, not by one less.

    References
    ----------
    .. [1] Matejka, P., et al. (2017). Analysis of Score Normalization in Multilingual
       Speaker Recognition. Interspeech.
    .. [2] Linghu, Y., de Freitas Pereira, T., Ecabert, C., Marcel, S., & Günther, M.
       (2024). Score Normalization for Demographic Fairness in Face Recognition. IJCB.
       arXiv 2407.14087.

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
        "by": [StrOptions({"all", "group"})],
        "top": [None, Interval(Integral, 2, None, closed="left")],
        "strength": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kind: str = "as",
        *,
        cohort: str = "images",
        top: int | None = None,
        by: str = "all",
        strength: float = 1.0,
    ) -> None:
        self.kind = kind
        self.cohort = cohort
        self.top = top
        self.by = by
        self.strength = strength

    @property
    def takes_side(self) -> bool:
        """Whether probes and references are treated differently."""
        return self.kind in ("z", "t")

    @property
    def takes_groups(self) -> bool:
        """Whether the groups of both images are needed to score a pair."""
        return self.by == "group"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Column | None = None,
        sensitive_features: Columns | None = None,
    ) -> Self:
        """Keep the cohort.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,), default=None
            Identity of each row, as in :class:`~skfairfr.metrics.SimilarityROC`.
            Only ``cohort="centroids"`` and ``by="group"`` need them.
        sensitive_features : array-like, frame or dict, shape (n_samples,), default=None
            Group of each row, for ``by="group"``.

        Returns
        -------
        self : CohortNormalizer
            Fitted.

        Raises
        ------
        ValueError
            If X has a zero row or values that are not finite, y has another length than X,
            a cohort has one member, or ``top`` is more than it has.

        Warns
        -----
        UserWarning
            If ``by="group"`` and there are no two groups.
        """
        X = validate_rows(self, X, dtype=(np.float32, np.float64), ensure_min_samples=2)
        rows = unit_rows_of(X)
        if self.by == "group":
            asked = (y, sensitive_features, len(X))
            identity, attributes = identities_and_attributes(*asked)
            codes = self._read_groups(attributes, len(X), "cohort")
            if self.cohort == "centroids":
                of_person = [codes[identity == k] for k in range(identity.max() + 1)]
                codes = np.array([c[0] if np.ptp(c) == 0 else -1 for c in of_person])
            self.cohort_groups_ = codes
        if self.cohort == "centroids":
            rows = _centroids(rows, y)
        else:
            check_consistent_length(X, y)
        self.cohort_ = rows.astype(np.float32)
        self.top_ = self._choose_top(len(rows))
        if self.by == "group":
            sizes = np.bincount(codes[codes >= 0], minlength=self.groups_.size)
            tops = [
                self._choose_top(n, g) for n, g in zip(sizes, self.groups_, strict=True)
            ]
            self.top_ = np.append(tops, self.top_).astype(int)
        if self.strength != 1:
            members = np.linspace(0, len(rows) - 1, min(len(rows), MEMBERS)).astype(int)
            codes = self.cohort_groups_[members] if self.by == "group" else None
            moments = self._moments(self.cohort_[members], codes, members)
            mean, deviation = moments
            logs = np.log(np.maximum(deviation, SMALLEST_DEVIATION))
            self.centre_ = float(mean.mean()), float(np.exp(logs.mean()))
        return self

    def _prepare(self, X, sensitive_features, side=None):
        if self.takes_side and side is None:
            raise ValueError(
                f"kind={self.kind!r} normalises one image of a pair, and here no image is "
                "marked as the probe. Use kind='s', the mean of both orders, or "
                "give SimilarityROC two sides by domain or X_reference."
            )
        rows = unit_rows_of(X)
        gain, offset = np.full(len(rows), NO_GAIN), np.zeros(len(rows))
        counts, share = np.ones(len(rows), dtype=bool), 0.5
        if self.takes_side:
            counts, share = np.asarray(side) == (self.kind == "z"), 1.0
        codes = np.zeros(len(rows), dtype=int)
        if self.by == "group":
            codes = self._codes(sensitive_features, len(rows))
        if counts.any():
            mean, deviation = self._moments(rows[counts], codes[counts])
            self._check_deviations(deviation, np.flatnonzero(counts))
            if self.strength != 1:
                centre, spread = self.centre_
                mean = centre + self.strength * (mean - centre)
                deviation = spread * (deviation / spread) ** self.strength
            gain[counts], offset[counts] = share / deviation, share * mean / deviation
        return PreparedImages(rows, Adjustment.affine(gain, offset))

    def _moments(self, rows, codes, themselves=None):
        """Mean and deviation of each row with its cohort, (2, n_rows). Code -1 has everyone."""
        if self.by == "all":
            return _moments(rows, self.cohort_, self.top_, themselves)
        found = np.empty((2, len(rows)))
        for k in np.unique(codes):
            of, members = codes == k, (self.cohort_groups_ == k) | (k < 0)
            own = None if themselves is None else np.cumsum(members)[themselves[of]] - 1
            found[:, of] = _moments(rows[of], self.cohort_[members], self.top_[k], own)
        return found

    def _exported(self):
        # Strength is a power of sigma and a linear map of m.
        centre, spread = (0.0, 1.0) if self.strength == 1 else self.centre_
        strength = float(self.strength)
        groups = {}
        if self.by == "group":
            groups = {"groups": self.groups_, "cohort_groups": self.cohort_groups_}
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
            **groups,
        }

    def _choose_top(self, n_cohort, group=None):
        of_group = "" if group is None else f" of group {plain(group)!r}"
        if n_cohort < 2:
            raise ValueError(
                f"cohort={self.cohort!r} has fewer than two members{of_group}, so an image "
                "has no deviation of its scores. Fit on images of at least two people."
            )
        if self.kind != "as" and self.top is not None:
            raise ValueError(
                f"top={self.top} and kind={self.kind!r} were both given, and all of the "
                "cohort count with this kind. Use kind='as', or leave top out."
            )
        if self.kind != "as":
            return n_cohort
        if self.top is None:
            return min(n_cohort, max(FEWEST, n_cohort // SHARE))
        if self.top > n_cohort:
            raise ValueError(
                f"top={self.top} is more than the cohort has, {n_cohort} "
                f"{self.cohort}{of_group}. "
                "Lower it, or fit on more people."
            )
        return int(self.top)

    def _check_deviations(self, deviation, rows):
        equal = np.flatnonzero(deviation < SMALLEST_DEVIATION)
        if equal.size:
            raise ValueError(
                f"X has rows ({rows[equal[0]]}, {equal.size} in all) with the same score "
                "with each member of the cohort that counts, so sigma is 0. Pass a larger "
                "cohort, or people who differ."
            )


def _moments(rows, cohort, top, themselves=None):
    """Mean and deviation of the largest products of each row, (2, n_rows).

    ``themselves`` are the places of the rows in the cohort, which do not count.
    """
    top = min(top, len(cohort) - (themselves is not None))
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
            f"y has a person, {plain(identity.values[zero[0]])!r}, whose images cancel: "
            "their mean has no direction. Leave them out, or use cohort='images'."
        )
    return sums / np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
