"""Results of SimilarityROC (estimate, curve, matrix, summary, comparison) and of searches (ranks, FPIRs)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skfairfr.utils._frames import Framed


@dataclass(frozen=True)
class Estimate(Framed):
    """A rate or a disparity with its uncertainty.

    Fields have the shape of the argument ``far`` or ``threshold``: floats for a number,
    arrays of shape (n_levels,) for several.

    Attributes
    ----------
    value : float or ndarray, shape (n_levels,)
        Value in the data. Rates are in [0, 1], lower is better. A disparity is larger if the
        rates of the groups differ more (larger is less fair).
    low, high : float or ndarray, shape (n_levels,)
        Ends of the interval, intersected with the natural range of the quantity, or nan where
        too many replicates are undefined.
    standard_error : float or ndarray, shape (n_levels,)
        Standard deviation, >= 0, of the replicates. With ``method="jackknife"`` that of leaving
        people out, and nan of disparities other than a ratio and of equal error rates.
    normalized_uncertainty : float or ndarray, shape (n_levels,)
        sd(replicate - centre) / value, eq. (11) of [1]_. >= 0, lower is more certain.
    n_genuine, n_impostor : int or ndarray of int, shape (n_levels,)
        Pairs of the scope: all of them, or those within the groups.
    n_undefined : int or ndarray of int, shape (n_levels,)
        Replicates without a value (0/0). Never dropped.
    corrected : float or ndarray, shape (n_levels,), or None
        Of a disparity with ``method="jackknife"``: that of rates which were moved together by
        as much as they are noise. A disparity of noisy rates is too large. This one is its
        neutral value where equal groups would look as different. None otherwise.
    p_value : float or ndarray, shape (n_levels,), or None
        Of a disparity with ``method="jackknife"``: of the hypothesis that all groups have the
        same rate in the population, in (0, 1], small where they differ. None otherwise.
    supported : bool or ndarray of bool, shape (n_levels,)
        Whether every group used has at least 30 errors, from at least 10 people, no one of
        whom is in more than a third of them. For a disparity also whether some rate is
        below 1.
    reason : str or ndarray of str, shape (n_levels,)
        Why it is not supported, in words. Then, above ``far_max``, that a sample of the
        pairs was used. Empty if all is supported and exact.
    source : str or ndarray of str, shape (n_levels,)
        "all pairs" (exact) or "sample" (of the impostor pairs).
    reasons : tuple of Reason, or ndarray of such tuples, shape (n_levels,)
        Why it is not supported, as records with a code, or empty where it is.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.estimate : Returns it.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 3.2.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> found = roc.estimate(1e-2, rate="far", group="female")
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.0239 [0.0184, 0.0303]
    >>> found.supported, found.reason
    (True, '')
    """

    value: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    standard_error: float | np.ndarray
    normalized_uncertainty: float | np.ndarray
    n_genuine: int | np.ndarray
    n_impostor: int | np.ndarray
    n_undefined: int | np.ndarray
    corrected: float | np.ndarray | None
    p_value: float | np.ndarray | None
    supported: bool | np.ndarray
    reason: str | np.ndarray
    source: str | np.ndarray
    reasons: tuple | np.ndarray = field(repr=False)

    def __str__(self):
        """One line: each value with its interval and, if there is one, its reason."""
        columns = (self.value, self.low, self.high, self.reason)
        return ", ".join(
            f"{value:.3g} [{low:.3g}, {high:.3g}]" + (f" ({reason})" if reason else "")
            for value, low, high, reason in zip(
                *map(np.atleast_1d, columns), strict=True
            )
        )

    def _columns(self):
        """One row for each level, without fields of another ``method``."""
        columns = super()._columns().items()
        return {name: values for name, values in columns if values is not None}


@dataclass(frozen=True)
class ROCCurve(Framed):
    """A rate or a disparity over FAR levels, with a pointwise and a simultaneous band.

    Attributes
    ----------
    far : ndarray, shape (n_levels,)
        FAR levels in (0, 1).
    value : ndarray, shape (n_levels,)
        Values in the data. Rates in [0, 1], lower is better, and larger disparities are less
        fair.
    low, high : ndarrays, shape (n_levels,)
        Interval at each level on its own.
    band_low, band_high : ndarrays, shape (n_levels,)
        Band meant to cover the whole curve at once: value +- c standard errors, with c the
        quantile of the largest studentised deviation over the levels. Never narrower than
        the interval.
    threshold : ndarray, shape (n_levels,)
        Similarity from which on a pair is accepted, higher being stricter, or nan where every
        group has its own.
    supported : ndarray of bool, shape (n_levels,)
        As in :class:`Estimate`.
    reason, source : ndarrays of str, shape (n_levels,)
        As in :class:`Estimate`.
    reasons : ndarray of tuples of Reason, shape (n_levels,)
        As in :class:`Estimate`.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.curve : Returns it.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> curve = roc.curve([1e-2, 1e-3])
    >>> curve.value.round(3), curve.band_high.round(3)
    (array([0.032, 0.073]), array([0.077, 0.14 ]))
    """

    far: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    threshold: np.ndarray
    supported: np.ndarray
    reason: np.ndarray
    source: np.ndarray
    reasons: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class GroupFARMatrix(Framed):
    """FAR of the impostor pairs of each pair of groups at one overall threshold.

    Attributes
    ----------
    groups : ndarray, shape (n_groups,)
        Labels of rows and columns, sorted.
    far : ndarray, shape (n_groups, n_groups)
        FAR in [0, 1], lower is better. NaN without a pair. Rows are the groups of probes and
        columns those of references where there are two sides. Symmetric otherwise.
    low, high : ndarrays, shape (n_groups, n_groups)
        Ends of the interval, in [0, 1].
    n_impostor : ndarray of int, shape (n_groups, n_groups)
        Number of impostor pairs.
    supported : ndarray of bool, shape (n_groups, n_groups)
        Array with an entry for each cell, as in :class:`Estimate`.
    reason, source : ndarrays of str, shape (n_groups, n_groups)
        Array with an entry for each cell, as in :class:`Estimate`.
    reasons : ndarray of tuples of Reason, shape (n_groups, n_groups)
        Array with an entry for each cell, as in :class:`Estimate`.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.far_matrix : Returns it.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> matrix = roc.far_matrix(1e-2)
    >>> matrix.groups
    array(['female', 'male'], dtype='<U6')
    >>> matrix.far.round(4)
    array([[0.0239, 0.0047],
           [0.0047, 0.0114]])
    """

    groups: np.ndarray
    far: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_impostor: np.ndarray
    supported: np.ndarray
    reason: np.ndarray
    source: np.ndarray
    reasons: np.ndarray = field(repr=False)

    def _columns(self):
        """One row for each cell, the groups of the probes changing slowest."""
        n_groups = len(self.groups)
        cells = ("far", "low", "high", "n_impostor", "supported", "reason", "source")
        return {
            "probe_group": np.repeat(self.groups, n_groups),
            "reference_group": np.tile(self.groups, n_groups),
            **{name: np.ravel(getattr(self, name)) for name in cells},
        }


@dataclass(frozen=True)
class ScoreSummary(Framed):
    """Moments of genuine and impostor scores, overall and by group. Every pair counts once.

    Attributes
    ----------
    groups : tuple, shape (1 + n_groups,)
        None (overall), then the sorted labels: row r of the arrays is that of groups[r].
    n_genuine, n_impostor : ndarrays of int, shape (1 + n_groups,)
        Number of pairs.
    genuine_mean, genuine_sd : ndarrays, shape (1 + n_groups,)
        Mean and sd of genuine similarities. A larger mean is better, nan without a pair.
    impostor_mean, impostor_sd : ndarrays, shape (1 + n_groups,)
        Mean and sd of impostor similarities. A lower mean is better. The standard
        deviation (>= 0) divides by the number of pairs.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.score_summary : Returns it.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> found = roc.score_summary()
    >>> found.groups
    (None, 'female', 'male')
    >>> found.genuine_mean.round(2), found.impostor_mean.round(2)
    (array([0.49, 0.43, 0.53]), array([0.02, 0.06, 0.03]))
    """

    groups: tuple
    n_genuine: np.ndarray
    genuine_mean: np.ndarray
    genuine_sd: np.ndarray
    n_impostor: np.ndarray
    impostor_mean: np.ndarray
    impostor_sd: np.ndarray

    def _columns(self):
        """One row for each group. The first, overall, has no label."""
        columns = super()._columns()
        return {"group": columns.pop("groups"), **columns}


@dataclass(frozen=True)
class PairedRates:
    """The numbers of a :class:`Comparison`, each (n_levels,), levels increasing."""

    difference: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    p_value: float | np.ndarray
    ratio: float | np.ndarray
    ratio_low: float | np.ndarray
    ratio_high: float | np.ndarray


@dataclass(frozen=True)
class Comparison(PairedRates, Framed):
    """A rate or disparity of one system against another's on the same images.

    Fields have the shape of the argument ``far`` or ``threshold``.

    Attributes
    ----------
    difference : float or ndarray, shape (n_levels,)
        First minus second. Below 0 the first system has the lower rate, which is better,
        or the smaller disparity (larger is less fair).
    low, high : float or ndarray, shape (n_levels,)
        Ends of the interval of the difference. If the ratio's is by contrasts, what the
        intervals of the ratio and of both disparities leave of it.
    p_value : float or ndarray, shape (n_levels,)
        Two-sided, in [0, 1], of no difference. For a rate with ``resample="identities"``
        Student's test of the sum of what each person and each pair of people add to the
        difference. For "max_min" and "max_geomean" by contrasts that of the largest of them,
        times their number (Bonferroni). Both are below ``1 - confidence_level`` where the
        interval of the difference excludes 0, and that of the ratio 1, or nan where a group has
        but one person, or the difference is undefined. Else twice the smaller share of
        replicates of the difference on either side of 0, each share counted with one
        replicate more.
    ratio : float or ndarray, shape (n_levels,)
        First over second, >= 0. +inf where the second is 0, nan where both are.
    ratio_low, ratio_high : float or ndarray, shape (n_levels,)
        Ends of the interval of the ratio.
    supported : bool or ndarray of bool, shape (n_levels,)
        Whether the answers of both systems are, as in :class:`Estimate`.
    reason : str or ndarray of str, shape (n_levels,)
        The reasons of both in words, each after "first" or "second".
    source : str or ndarray of str, shape (n_levels,)
        The less exact of the sources of the two: "all pairs" or "sample".
    reasons : tuple of Reason, or ndarray of such tuples, shape (n_levels,)
        Reasons of both systems, with ``system`` "first" or "second".

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.compare : Returns it.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> noisy = data.X + np.random.default_rng(0).normal(0, 0.05, data.X.shape)
    >>> other = SimilarityROC(random_state=0).fit(noisy, data.y, data.sensitive_features)
    >>> change = other.compare(roc, 1e-2)
    >>> print(f"{change.difference:+.4f} [{change.low:+.4f}, {change.high:+.4f}]")
    +0.0527 [+0.0249, +0.0986]
    """

    supported: bool | np.ndarray
    reason: str | np.ndarray
    source: str | np.ndarray
    reasons: tuple | np.ndarray = field(repr=False)


# ---- searches ------------------------------------------------------------------------


@dataclass(frozen=True)
class CMC(Framed):
    """Cumulative match characteristic: how often the mate is among the first.

    Attributes
    ----------
    ranks : ndarray of int, shape (n_ranks,)
    value, low, high : ndarrays, shape (n_ranks,)
        Share of the mated searches whose mate fewer than ``rank`` others reach, in [0, 1],
        higher being better, with its interval for new people.
    n_searches : int
        Mated searches.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    IdentificationROC.cmc : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import IdentificationROC, make_face_embeddings
    >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
    >>> gallery = np.unique(data.y, return_index=True)[1][::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ... )
    >>> roc.cmc([1, 5, 20]).value.round(3)
    array([0.955, 0.988, 0.995])
    """

    ranks: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_searches: int


@dataclass(frozen=True)
class GroupFPIRMatrix(Framed):
    """FPIR of the searches of each group, by the group of the person returned.

    Attributes
    ----------
    groups : ndarray, shape (n_groups,)
        Labels of rows, those of probes, and of columns, those of people returned.
    fpir : ndarray, shape (n_groups, n_groups)
        Share of all non-mated searches of the row's group that return, first, a person of
        the column's, in [0, 1], lower is better. A row adds up to the FPIR of its group, less
        those that return people of unknown group, or nan without a search.
    low, high : ndarrays, shape (n_groups, n_groups)
        Ends of the interval, for new people who search.
    n_nonmated : ndarray of int, shape (n_groups,)
        Searches of each row.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    IdentificationROC.fpir_matrix : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import IdentificationROC, make_face_embeddings
    >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
    >>> gallery = np.unique(data.y, return_index=True)[1][::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ...     sensitive_features_gallery=data.sensitive_features[gallery],
    ... )
    >>> matrix = roc.fpir_matrix(1e-1)
    >>> matrix.groups
    array(['female', 'male'], dtype='<U6')
    >>> matrix.fpir.round(3)
    array([[0.086, 0.052],
           [0.01 , 0.069]])
    """

    groups: np.ndarray
    fpir: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_nonmated: np.ndarray

    def _columns(self):
        """One row for each cell, the groups of the probes changing slowest."""
        n_groups = len(self.groups)
        return {
            "probe_group": np.repeat(self.groups, n_groups),
            "returned_group": np.tile(self.groups, n_groups),
            **{name: np.ravel(getattr(self, name)) for name in ("fpir", "low", "high")},
            "n_nonmated": np.repeat(self.n_nonmated, n_groups),
        }


@dataclass(frozen=True)
class GalleryAlarms(Framed):
    """Which enrolled people false alarms return, those with the most first.

    Attributes
    ----------
    identity : ndarray, shape (n_people,)
        Enrolled people who are returned first by some false alarm.
    group : ndarray, shape (n_people,)
        Theirs, or None where it is unknown.
    n_alarms : ndarray of int, shape (n_people,)
        False alarms that return each.
    n_searchers : ndarray of int, shape (n_people,)
        Different people whose searches these are.
    p_value : ndarray, shape (n_people,)
        Of so many of them, if every false alarm of a person returned anyone enrolled with one
        probability. Times the number enrolled, at most 1.
    share : ndarray, shape (n_people,)
        Share of all false alarms, in (0, 1]. Without these people other candidates may still
        alarm.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    IdentificationROC.alarms : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import IdentificationROC, make_face_embeddings
    >>> data = make_face_embeddings(400, images_per_identity=3, random_state=0)
    >>> gallery = np.unique(data.y, return_index=True)[1][::2]
    >>> probes = np.setdiff1d(np.arange(len(data.y)), gallery)
    >>> roc = IdentificationROC(random_state=0).fit(
    ...     data.X[probes], data.y[probes], data.sensitive_features[probes],
    ...     X_gallery=data.X[gallery], y_gallery=data.y[gallery],
    ... )
    >>> found = roc.alarms(1e-1)
    >>> found.n_alarms[:3].tolist(), found.share[:3].round(3).tolist()
    ([4, 3, 2], [0.067, 0.05, 0.033])
    """

    identity: np.ndarray
    group: np.ndarray
    n_alarms: np.ndarray
    n_searchers: np.ndarray
    p_value: np.ndarray
    share: np.ndarray
