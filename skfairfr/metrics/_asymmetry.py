"""Whether the FAR of (a, b) differs from that of (b, a): a comparison, with its interval."""

from dataclasses import dataclass

import numpy as np

from skfairfr._core._intervals import percentile
from skfairfr.metrics._comparison import p_values
from skfairfr.metrics._frames import Framed


@dataclass(frozen=True)
class FARAsymmetry(Framed):
    """FAR of probes of one group with references of another, against the reverse.

    One row for every two groups. Where the matrix of the FAR by group is symmetric, its
    differences say how large chance is; GEO20 therefore calls those of 0.3 (twofold) and
    more genuine. Here each is tested over the same resamples.

    Attributes
    ----------
    group_1, group_2 : ndarrays, shape (n_pairs,)
        Labels of every two groups.
    far_12 : ndarray, shape (n_pairs,)
        FAR in [0, 1] of probes of group_1 with references of group_2; lower is better.
    far_21 : ndarray, shape (n_pairs,)
        FAR of probes of group_2 with references of group_1, in [0, 1].
    difference : ndarray, shape (n_pairs,)
        log10(far_12) - log10(far_21): 0 where the two are equal, 0.3 where the first is
        twice the second; infinite where one of them is 0, nan where both are.
    low, high : ndarrays, shape (n_pairs,)
        Ends of the interval of the difference.
    p_value : ndarray, shape (n_pairs,)
        Two-sided, in (0, 1], of each pair of groups on its own; nan without an interval.
    p_holm : ndarray, shape (n_pairs,)
        The same after Holm's correction for all pairs that have one, in (0, 1]. The
        smallest that resamples can show is 2 / (n_resamples + 1) times that number.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.far_asymmetry : What builds it.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 5.4.
    .. [2] Holm, S. (1979). A Simple Sequentially Rejective Multiple Test Procedure.
       Scandinavian Journal of Statistics 6(2).
    """

    group_1: np.ndarray
    group_2: np.ndarray
    far_12: np.ndarray
    far_21: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_holm: np.ndarray


def to_asymmetry(answers, groups, confidence_level):
    """FARAsymmetry from the answers about every two groups, by scope."""
    pairs = [(g, h) for g in range(len(groups)) for h in range(g + 1, len(groups))]
    both = [[answers[g, h] for g, h in pairs], [answers[h, g] for g, h in pairs]]
    values = [np.array([a.value[0] for a in side]) for side in both]
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.log10(values[0]) - np.log10(values[1])
        replicates = [
            np.log10(np.array([a.adjusted[0] for a in side]).reshape(len(pairs), -1))
            for side in both
        ]
        differences = replicates[0] - replicates[1]
    low, high, _ = percentile(differences, confidence_level, (-np.inf, np.inf))
    # Without a pair, or an accepted one, on either side there is nothing to test; nor is
    # there where too many resamples are without to give an interval.
    untold = np.isnan(difference) | np.isnan(low) | np.isnan(high)
    p_value = np.where(untold, np.nan, p_values(differences))
    places = np.array(pairs, dtype=int).reshape(-1, 2)
    return FARAsymmetry(
        groups[places[:, 0]],
        groups[places[:, 1]],
        *values,
        difference,
        low,
        high,
        p_value,
        holm(p_value),
    )


def holm(p_values):
    """p-values (n_tests,) corrected for their number by Holm's step-down; nan stays."""
    corrected = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return corrected
