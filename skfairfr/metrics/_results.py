"""What SimilarityROC answers with: frozen records of arrays, nothing computed here."""

from dataclasses import dataclass

import numpy as np

from skfairfr.metrics._frames import Framed


class EstimandWarning(UserWarning):
    """The interval speaks of the people in the data, and they vary much more.

    Issued by :class:`~skfairfr.metrics.SimilarityROC` with ``resample="images"`` when the
    standard error over other people of the same population is more than 1.5 times that
    over other photographs of these people.
    """


class ReversedScoresWarning(UserWarning):
    """Genuine scores lie below impostor ones, as distances do.

    Issued by :meth:`SimilarityROC.fit_pairs <skfairfr.metrics.SimilarityROC.fit_pairs>`
    where chance alone would seldom put them there.
    """


@dataclass(frozen=True)
class Estimate(Framed):
    """A rate or a disparity with its uncertainty.

    Fields follow the shape of the ``far`` or ``threshold`` asked for: floats for a number,
    arrays of shape (n_levels,) for several.

    Attributes
    ----------
    value : float or ndarray, shape (n_levels,)
        In the data. Rates lie in [0, 1], lower is better; a disparity is larger where the
        groups are treated less alike (larger is less fair).
    low, high : float or ndarray, shape (n_levels,)
        Ends of the interval, intersected with the natural range of the quantity; nan where
        too many replicates are undefined.
    standard_error : float or ndarray, shape (n_levels,)
        Standard deviation, >= 0, of the replicates the interval is made of.
    normalized_uncertainty : float or ndarray, shape (n_levels,)
        sd(replicate - centre) / value, eq. (11) of [1]_; >= 0, lower is more certain.
    n_genuine, n_impostor : int or ndarray of int, shape (n_levels,)
        Pairs of the scope: all of them, or those within the groups.
    n_undefined : int or ndarray of int, shape (n_levels,)
        Replicates without a value (0/0); never dropped.
    supported : bool or ndarray of bool, shape (n_levels,)
        Whether every group used has at least 30 errors, from at least 10 people, no one of
        whom is in more than a third of them.
    reason : str or ndarray of str, shape (n_levels,)
        Why not; and, after it, what comes from a histogram of all scores or from a sample
        of the pairs, above ``far_max``. Empty if all is supported and exact.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.estimate : What builds it.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 3.2.
    """

    value: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    standard_error: float | np.ndarray
    normalized_uncertainty: float | np.ndarray
    n_genuine: int | np.ndarray
    n_impostor: int | np.ndarray
    n_undefined: int | np.ndarray
    supported: bool | np.ndarray
    reason: str | np.ndarray

    def _columns(self):
        """One row for each level, which comes first."""
        return {**self._asked, **super()._columns()}


@dataclass(frozen=True)
class ROCCurve(Framed):
    """A rate or a disparity over FAR levels, with a pointwise and a simultaneous band.

    Attributes
    ----------
    far : ndarray, shape (n_levels,)
        FAR levels in (0, 1).
    value : ndarray, shape (n_levels,)
        In the data; rates in [0, 1], lower is better, and larger disparities are less
        fair.
    low, high : ndarrays, shape (n_levels,)
        Interval at each level on its own.
    band_low, band_high : ndarrays, shape (n_levels,)
        Band meant to hold the whole curve at once: value +- c standard errors, with c the
        quantile of the largest studentised deviation over the levels; never narrower than
        the interval.
    threshold : ndarray, shape (n_levels,)
        Similarity from which on a pair is accepted, higher being stricter; nan where every
        group has its own.
    supported : ndarray of bool, shape (n_levels,)
        As in :class:`Estimate`.
    reason : ndarray of str, shape (n_levels,)
        As in :class:`Estimate`.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.curve : What builds it.
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


@dataclass(frozen=True)
class GroupFARMatrix(Framed):
    """FAR of the impostor pairs of every two groups at one overall threshold.

    Attributes
    ----------
    groups : ndarray, shape (n_groups,)
        Labels of rows and columns, sorted.
    far : ndarray, shape (n_groups, n_groups)
        In [0, 1], lower is better; nan without a pair. Rows are the groups of probes and
        columns those of references where there are two sides; symmetric otherwise.
    low, high : ndarrays, shape (n_groups, n_groups)
        Ends of the interval, in [0, 1].
    n_impostor : ndarray of int, shape (n_groups, n_groups)
        Number of impostor pairs.
    supported : ndarray of bool, shape (n_groups, n_groups)
        Of each cell, as in :class:`Estimate`.
    reason : ndarray of str, shape (n_groups, n_groups)
        Of each cell, as in :class:`Estimate`.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.far_matrix : What builds it.
    """

    groups: np.ndarray
    far: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_impostor: np.ndarray
    supported: np.ndarray
    reason: np.ndarray

    def _columns(self):
        """One row for each cell, the groups of the probes changing slowest."""
        n_groups = len(self.groups)
        cells = ("far", "low", "high", "n_impostor", "supported", "reason")
        return {
            "probe_group": np.repeat(self.groups, n_groups),
            "reference_group": np.tile(self.groups, n_groups),
            **{name: np.ravel(getattr(self, name)) for name in cells},
        }


@dataclass(frozen=True)
class ScoreSummary(Framed):
    """Moments of genuine and impostor scores, overall and by group; every pair counts once.

    Attributes
    ----------
    groups : tuple, shape (1 + n_groups,)
        None (overall), then the sorted labels: row r of the arrays speaks of groups[r].
    n_genuine, n_impostor : ndarrays of int, shape (1 + n_groups,)
        Number of pairs.
    genuine_mean, genuine_sd : ndarrays, shape (1 + n_groups,)
        Of the similarity of genuine pairs; a larger mean is better, nan without a pair.
    impostor_mean, impostor_sd : ndarrays, shape (1 + n_groups,)
        Of the similarity of impostor pairs; a lower mean is better. The standard
        deviation (>= 0) divides by the number of pairs.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.score_summary : What builds it.
    """

    groups: tuple
    n_genuine: np.ndarray
    genuine_mean: np.ndarray
    genuine_sd: np.ndarray
    n_impostor: np.ndarray
    impostor_mean: np.ndarray
    impostor_sd: np.ndarray

    def _columns(self):
        """One row for each group; the first, overall, has no label."""
        columns = super()._columns()
        return {"group": columns.pop("groups"), **columns}
