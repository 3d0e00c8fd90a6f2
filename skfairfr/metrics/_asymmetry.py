"""Whether the FAR of two groups depends on which is the probe's: one test of every two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skfairfr._core._jackknife import holm
from skfairfr._core._paired import SymmetricContrasts, stacked
from skfairfr._core._replicate_intervals import percentile
from skfairfr.metrics._roc._paired import agreeing, p_values
from skfairfr.utils._frames import Framed


@dataclass(frozen=True)
class FARAsymmetry(Framed):
    """FAR of probes of one group with references of another, against the reverse.

    One row for each pair of groups. If the matrix of the FAR by group is symmetric, the
    logarithms of its ratios show how large chance effects are. GEO20 therefore calls those
    of 0.3 (twofold) and more genuine. Here each is tested: with ``resample="identities"`` by
    the contribution of each person and each pair of people to either direction, otherwise
    over the same resamples for both.

    Attributes
    ----------
    group_1, group_2 : ndarrays, shape (n_pairs,)
        Labels of each pair of groups.
    far_12 : ndarray, shape (n_pairs,)
        FAR in [0, 1] of probes of group_1 with references of group_2. Lower is better.
    far_21 : ndarray, shape (n_pairs,)
        FAR of probes of group_2 with references of group_1, in [0, 1].
    difference : ndarray, shape (n_pairs,)
        log10(far_12 / far_21), in decades: a ratio on a logarithmic scale, and no difference
        of rates. Above 0 where probes of group_1 with references of group_2 are accepted
        more often than the reverse, 0 where the two are equal, 0.3 where the first is twice
        the second, or infinite where one of them is 0, nan where both are.
    low, high : ndarrays, shape (n_pairs,)
        Ends of the interval of ``difference``, in decades too, or nan where there is
        none, as where a group has one person.
    p_value : ndarray, shape (n_pairs,)
        Two-sided, in [0, 1], of each pair of groups on its own, or nan without an interval.
        With ``resample="identities"`` it is below ``1 - confidence_level`` where the
        interval excludes 0.
    p_holm : ndarray, shape (n_pairs,)
        The same after Holm's correction for all pairs that have one, in [0, 1]. The
        smallest that resamples can show is 2 / (n_resamples + 1) times that number.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.far_asymmetry : Returns it.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Section 5.4.
    .. [2] Holm, S. (1979). A Simple Sequentially Rejective Multiple Test Procedure.
       Scandinavian Journal of Statistics 6(2).

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(
    ...     data.X, data.y, data.sensitive_features, domain=np.arange(len(data.y)) % 2
    ... )
    >>> found = roc.far_asymmetry(1e-2)
    >>> found.group_1, found.group_2, found.p_holm.round(3)
    (array(['female'], dtype='<U6'), array(['male'], dtype='<U6'), array([0.278]))
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


def asymmetry(engine, question):
    """FARAsymmetry about the FAR at one level, of an engine with two sides and groups."""
    answers, codes = engine.cells(question), range(engine.groups.size)
    pairs = [(g, h) for g in codes for h in codes[g + 1 :]]
    both = [[answers[g, h] for g, h in pairs], [answers[h, g] for g, h in pairs]]
    values = [np.array([a.value[0] for a in side]) for side in both]
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.log10(values[0]) - np.log10(values[1])
        replicates = [np.log10([a.adjusted[0] for a in side]) for side in both]
        differences = replicates[0] - replicates[1]
    if engine.resampling.mode == "identities":
        low, high, p_value = _by_people(engine, question, pairs)
    else:
        level = engine.confidence_level
        found = percentile(differences, level, (-np.inf, np.inf))
        # There is nothing to test if a side has no pair, if neither side accepts one, or
        # if too many resamples are undefined to give an interval.
        p_value = p_values(differences)
        low, high = agreeing(found, 0.0, p_value, level)
        p_value[np.isnan(difference) | np.isnan(low) | np.isnan(high)] = np.nan
    alone = ~np.isnan(p_value)
    p_holm = p_value.copy()
    p_holm[alone] = holm(p_value[alone])
    labels = engine.groups[np.array(pairs).T]
    return FARAsymmetry(*labels, *values, difference, low, high, p_value, p_holm)


def _by_people(engine, question, pairs_of_groups):
    """Low, high, p-value of the two directions of two groups, (n_pairs,) each."""
    scopes = tuple(s for g, h in pairs_of_groups for s in ((g, h), (h, g)))
    evidence = engine.evidence(replace(question, scope=scopes[0]), scopes)
    # Ends are of the difference of the logarithms to base 10: infinite where one
    # direction has no error, nan where the two cannot be compared.
    low, high, p_value = np.full((3, len(pairs_of_groups)), np.nan)
    images = engine.pairs.images
    people = [
        np.unique(images.identity[images.group == g]).size
        for g in range(images.n_groups)
    ]
    tail = (1 - engine.confidence_level) / 2
    for row, (g, h) in enumerate(pairs_of_groups):
        both = [s for s in ((g, h), (h, g)) if evidence and s in evidence.scopes]
        # One person does not show how people of a group vary.
        if len(both) < 2 or min(people[g], people[h]) < 2:
            continue
        places = [evidence.scopes.index(scope) for scope in both]
        sums = evidence.sums.rows(0).columns(places)
        if not sums.errors.any():
            continue
        # The common threshold affects both directions equally: its influence is left out.
        influence = np.array([evidence.influence[p].toarray()[0] for p in places])
        clustered = [
            evidence.asked[0].shares(scope, evidence.thresholds[0, p])
            for scope, p in zip(both, places, strict=True)
        ]
        weights = np.array([[1.0, -1.0]])
        found = SymmetricContrasts.of(weights, sums, influence, stacked(clustered))
        ends = (float(np.log10(end[0])) for end in found.bounds(tail))
        low[row], high[row] = ends
        if not sums.errors[0]:
            low[row] = -np.inf
        if not sums.errors[1]:
            high[row] = np.inf
        p_value[row] = found.p_value[0]
    return low, high, p_value
