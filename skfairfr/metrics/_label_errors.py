"""Group error rates if some labels of groups are wrong: bounds, and a correction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._jackknife import Contrasts, ErrorSums, rate_ends
from skfairfr._core._label_errors import (
    matrix_covariance,
    movable_genuine,
    movable_impostor,
    reweighted,
    shared_clusters,
    shared_with_all,
)
from skfairfr.metrics._roc._question import no_groups
from skfairfr.utils._errors import invalid, shown
from skfairfr.utils._frames import Framed, framed
from skfairfr.utils._validation import check_group, check_number, plain

SHARE = (lambda x: 0 <= x < 1, "must be a number in [0, 1)")
# Condition number of the matrix of shares above which rows of two groups are too similar.
MOST_CONDITION = 100
# Numbers of people are counted from shares up to rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class LabelErrorBounds(Framed):
    """Rates of groups and their ratios if a share of the labels may be wrong.

    Attributes
    ----------
    group : ndarray, shape (n_groups,)
    value : ndarray, shape (n_groups,)
        Rate of the labelled group. Lower is better.
    value_low, value_high : ndarrays, shape (n_groups,)
        Bounds of the rate of these people if labels are corrected, without sampling error.
    ratio : ndarray, shape (n_groups,)
        Rate over that of the reference, or over the geometric mean of the other groups. nan
        for the reference.
    low, high : ndarrays, shape (n_groups,)
        Ends of the interval of the ratio, for new people and for wrong labels.
    undo_share : ndarray, shape (n_groups,)
        Smallest share of wrong labels in each labelled group at which the interval may include
        1. 0 if it includes 1 in any case, inf if no share makes it.
    share : float
        That ``value_low``, ``value_high``, ``low`` and ``high`` allow.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    label_error_bounds : Returns it.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import label_error_bounds
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(method="jackknife").fit(data.X, data.y, data.sensitive_features)
    >>> found = label_error_bounds(roc, 0.05, 1e-2, rate="far")
    >>> print(found.to_frame()[["group", "value_low", "value", "value_high"]].round(4))
        group  value_low   value  value_high
    0  female     0.0147  0.0239      0.0319
    1    male     0.0083  0.0114      0.0138
    """

    group: np.ndarray
    value: np.ndarray
    value_low: np.ndarray
    value_high: np.ndarray
    ratio: np.ndarray
    low: np.ndarray
    high: np.ndarray
    undo_share: np.ndarray
    share: float


def label_error_bounds(
    roc: object,
    share: float,
    far: float | None = None,
    *,
    threshold: float | None = None,
    rate: str = "frr",
    reference: object = None,
) -> LabelErrorBounds:
    """Bounds of group rates if at most a share of each group's labels is wrong.

    Up to ``share`` of the people with each label may belong to another group, whoever they
    are. A rate is smallest or largest over all such corrections of labels: exactly for the
    FRR, and with wider bounds for the FAR, in which two people who both change groups count on
    the unfavourable side. Lower rates are better. A ratio above 1 means a higher rate. A ratio
    is bounded by the bounds of its rates, times what its interval adds for new people.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted with groups. All images of a person have one label.
    share : float in [0, 1)
        Largest share of wrong labels among the people of each labelled group.
    far : float in (0, 1), default=None
        Overall FAR level, which sets the threshold.
    threshold : float, default=None
        Similarity from which on a pair is accepted. Pass exactly one of far and threshold.
    rate : {"frr", "far"}, default="frr"
    reference : label, default=None
        Group to compare with. None compares with the geometric mean of the others
        that have enough errors.

    Returns
    -------
    bounds : LabelErrorBounds
        A row for each group with pairs.

    Raises
    ------
    ArgumentError
        A ValueError: if images of one person have labels of several groups.
    ValueError
        If there are no two groups with pairs, or an argument is out of range.

    References
    ----------
    Manski (2003), "Partial Identification of Probability Distributions".

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import label_error_bounds
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(method="jackknife").fit(data.X, data.y, data.sensitive_features)
    >>> found = label_error_bounds(roc, 0.05, 1e-2, rate="far")
    >>> bool((found.value_low < found.value).all())
    True
    """
    check_is_fitted(roc)
    share = check_number(share, "share", *SHARE)
    labelled = _Labelled(roc, far, threshold, rate, reference)
    bounds = labelled.bounds(share)
    low, high = labelled.interval(bounds)
    found = LabelErrorBounds(
        labelled.groups,
        labelled.value,
        *bounds,
        labelled.ratio,
        low,
        high,
        np.array([labelled.undo_share(row) for row in range(low.size)]),
        share,
    )
    return framed(found, roc._library)


@dataclass(frozen=True)
class LabelCorrection(Framed):
    """Rates of groups and their ratios, corrected for wrong labels.

    Attributes
    ----------
    group : ndarray, shape (n_groups,)
    labelled, labelled_low, labelled_high : ndarrays, shape (n_groups,)
        Rate of the labelled group and its interval. Lower is better.
    value, low, high : ndarrays, shape (n_groups,)
        Corrected rate and its interval, for new people and another sample of true groups.
    ratio, ratio_low, ratio_high : ndarrays, shape (n_groups,)
        Corrected rate over that of the reference, or over the geometric mean of the other
        groups. NaN of the reference.
    p_value : ndarray, shape (n_groups,)
        Two-sided, of a test that the ratio is 1.
    matrix, matrix_low, matrix_high : ndarrays, shape (n_groups, n_groups)
        Corrected FAR of each pair of groups and its interval, as in
        :meth:`SimilarityROC.far_matrix`. nan if labels leave no pairs, and of the FRR off the
        diagonal. Not in the frame.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    correct_for_label_errors : Returns it.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import correct_for_label_errors
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(method="jackknife").fit(data.X, data.y, data.sensitive_features)
    >>> found = correct_for_label_errors(roc, [[480, 20], [20, 480]], 1e-2, rate="far")
    >>> print(found.to_frame()[["group", "labelled", "value"]].round(4))
        group  labelled   value
    0  female    0.0239  0.0270
    1    male    0.0114  0.0117
    """

    group: np.ndarray
    labelled: np.ndarray
    labelled_low: np.ndarray
    labelled_high: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ratio: np.ndarray
    ratio_low: np.ndarray
    ratio_high: np.ndarray
    p_value: np.ndarray
    matrix: np.ndarray
    matrix_low: np.ndarray
    matrix_high: np.ndarray

    def _columns(self):
        """One row for each group, without matrices."""
        columns = super()._columns()
        return {name: of for name, of in columns.items() if np.ndim(of) < 2}


def correct_for_label_errors(
    roc: object,
    confusion: Sequence[Sequence[float]] | np.ndarray,
    far: float | None = None,
    *,
    threshold: float | None = None,
    rate: str = "frr",
    reference: object = None,
) -> LabelCorrection:
    """Group rates corrected for wrong labels, which a sample with true groups shows.

    The sample gives the shares K of labels that people of each true group get. Errors and pairs
    of labelled groups are in expectation K-weighted sums of those of the true groups, and the
    inverse of K restores these: for genuine pairs by person, for impostor pairs by both
    people. Intervals have people as units, and include the uncertainty of K. Lower rates are
    better. A ratio above 1 means a higher rate.

    Within a true group, a wrong label must not depend on the errors of the person. If people
    with many errors are labelled wrongly more often, corrected rates are wrong;
    :func:`label_error_bounds` is valid then too.

    Parameters
    ----------
    roc : SimilarityROC
        Fitted with groups. All images of a person have one label.
    confusion : array-like of int, shape (n_groups, n_groups)
        People of the sample, true group x label, both in the order of ``roc.groups_``.
    far : float in (0, 1), default=None
        Overall FAR level, which sets the threshold.
    threshold : float, default=None
        Similarity from which on a pair is accepted. Pass exactly one of far and threshold.
    rate : {"frr", "far"}, default="frr"
    reference : label, default=None
        Group to compare with. None compares with the geometric mean of the others
        that have enough errors.

    Returns
    -------
    correction : LabelCorrection
        A row for each group.

    Raises
    ------
    ArgumentError
        A ValueError: if images of one person have labels of several groups, or the sample has
        no person of a group, or its labels do not separate groups, or contradict the data.
    ValueError
        If there are no two groups with pairs, or an argument is out of range.

    References
    ----------
    Kuha & Skinner (1997), "Categorical Data Analysis and Misclassification".

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import correct_for_label_errors
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(method="jackknife").fit(data.X, data.y, data.sensitive_features)
    >>> found = correct_for_label_errors(roc, [[480, 20], [20, 480]], 1e-2, rate="far")
    >>> bool(found.ratio[0] > found.labelled[0] / found.labelled[1])
    True
    """
    check_is_fitted(roc)
    labelled = _Labelled(roc, far, threshold, rate, reference)
    sample = _check_confusion(confusion, roc.groups_)
    own = tuple((g, g) for g in range(roc.groups_.size))
    evidence, covariance = labelled.corrected(sample, own)
    sums, tail = evidence.sums.rows(0), labelled.tail
    weights = labelled.weights_of(evidence)
    added = np.einsum("ca,ad,cd->c", weights, covariance.between, weights)
    contrasts = Contrasts(sums, weights, evidence.added_to(0, weights) + added)
    alone = (weights == 0).all(axis=1)
    of_ratio = np.exp(contrasts.value), *contrasts.bounds(tail), contrasts.p_value
    labels, matrices = labelled.matrices(sample)
    found = LabelCorrection(
        roc.groups_,
        *map(np.diag, labels),
        *map(np.diag, matrices),
        *(np.where(alone, np.nan, of) for of in of_ratio),
        *matrices,
    )
    return framed(found, roc._library)


class _Labelled:
    """Rates of labelled groups at one threshold, and the people that they are of."""

    def __init__(self, roc, far, threshold, rate, reference):
        if not roc.groups_.size:
            raise no_groups("a share of wrong labels")
        engine = self.engine = roc._engine
        question = engine.question(far, threshold, rate, None, None, "overall")
        if question.shape != ():
            given = plain(far if threshold is None else threshold)
            raise ValueError(f"far and threshold must be one number, got {given!r}.")
        self.question = question
        self.rate, self.label = rate, label_of_people(engine.pairs)
        self.people = np.bincount(
            self.label[self.label >= 0], minlength=roc.groups_.size
        )
        own = tuple((g, g) for g in range(self.people.size))
        evidence = self.evidence = engine.evidence(question, own)
        n_known = 0 if evidence is None else len(evidence.scopes)
        if n_known < 2:
            raise ValueError(f"two groups with pairs are needed, got {n_known}.")
        self.codes = np.array([g for g, _ in evidence.scopes])
        self.groups = roc.groups_[self.codes]
        self.sums, self.value = evidence.sums.rows(0), evidence.sums.rate[0]
        self.tail, self.reference = (1 - roc.confidence_level) / 2, None
        if reference is not None:
            self.reference = check_group(reference, roc.groups_, "reference")
            if self.reference not in self.codes:
                problem = f"{shown(reference)} has no pairs;"
                raise invalid("reference", reference, problem, "choose another group.")
        self.weights = self.weights_of(evidence)
        self.contrasts = evidence.compared[0].contrasts(self.weights)
        self.alone = (self.weights == 0).all(axis=1)
        self.ratio = np.where(self.alone, np.nan, np.exp(self.contrasts.value))
        self.ends = np.where(self.alone, np.nan, self.contrasts.bounds(self.tail))
        self._known_bounds = {}

    def weights_of(self, evidence):
        """Weights of the logarithms of each group's rate and of what it is compared with."""
        if self.reference is None:
            return evidence.compared[0].weights
        groups = [g for g, _ in evidence.scopes]
        return np.eye(len(groups)) - (np.array(groups) == self.reference)

    def counts(self, evidence):
        """ErrorCounts of each scope of the evidence at the threshold, a list."""
        at = evidence.thresholds[0, :1]
        scopes = [(scope, at) for scope in evidence.scopes]
        return evidence.asked[0].counts(self.rate, scopes)

    @cached_property
    def every_evidence(self):
        """Evidence about each pair of labelled groups, for genuine pairs about each group."""
        return self.engine.evidence(self.question, self.scopes)

    @property
    def scopes(self):
        """Every two groups, in order if there are two sides. Each group for genuine pairs."""
        groups = range(self.people.size)
        if self.rate == "frr":
            return tuple((g, g) for g in groups)
        sides = self.engine.two_sides
        return tuple((g, h) for g in groups for h in groups[0 if sides else g :])

    @cached_property
    def movable(self):
        """Movable of each group with pairs, a list."""
        evidence = self.every_evidence
        of = movable_genuine if self.rate == "frr" else movable_impostor
        counts = zip(evidence.scopes, self.counts(evidence), strict=True)
        found = of(dict(counts), self.label, self.people.size)
        return [found[g] for g in self.codes]

    def bounds(self, share):
        """Smallest and largest rates, two (n_known,)."""
        most = np.floor(share * self.people + ROUNDING).astype(np.int64)
        key = most.tobytes()
        if key not in self._known_bounds:
            self._known_bounds[key] = [
                np.array([one.bound(most, upper) for one in self.movable])
                for upper in (False, True)
            ]
        return self._known_bounds[key]

    def interval(self, bounds):
        """Ends of the ratios for new people and wrong labels, two (n_known,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            down, up = (np.log(bound / self.value) for bound in bounds)
            above, below = np.maximum(self.weights, 0), np.minimum(self.weights, 0)
            lower = _weighted(above, down) + _weighted(below, up)
            upper = _weighted(above, up) + _weighted(below, down)
            low, high = self.ends[0] * np.exp(lower), self.ends[1] * np.exp(upper)
        # A rate without an error does not bound the ratio.
        low, high = np.nan_to_num(low), np.where(np.isnan(high), np.inf, high)
        return np.where(self.alone, np.nan, low), np.where(self.alone, np.nan, high)

    def undo_share(self, row):
        """Smallest share at which the interval of a ratio may include 1, or 0 if it does."""
        if self.alone[row]:
            return np.nan

        def is_certain(share):
            low, high = self.interval(self.bounds(share))
            return low[row] > 1 or high[row] < 1

        if not is_certain(0.0):
            return 0.0
        shares = [np.arange(1, n + 1) / n for n in self.people if n]
        shares = np.unique(np.concatenate(shares))
        first, last = 0, shares.size
        while first < last:
            middle = (first + last) // 2
            if is_certain(shares[middle]):
                first = middle + 1
            else:
                last = middle
        return float(shares[first]) if first < shares.size else np.inf

    def matrices(self, sample):
        """Labelled and corrected rates of scopes and their ends, two (3, n_groups, n_groups).

        An upper end of an audit never falls if errors grow. How much lower or higher it is for
        that than the end of these errors alone, the corrected one is too.
        """
        shape, evidence = (self.people.size,) * 2, self.every_evidence
        labels, found = np.full((2, 3, *shape), np.nan)
        changes, sides = np.ones(shape), self.engine.two_sides
        low, high = (end[0] for end in evidence.bounds(self.tail))
        alone = rate_ends(evidence.sums.rows(0), self.tail, evidence.added[0])[1]
        _place(labels, evidence.scopes, (evidence.sums.rate[0], low, high), sides)
        _place(changes[None], evidence.scopes, (high / alone,), sides)
        evidence, covariance = self.corrected(sample, self.scopes)
        sums = evidence.sums.rows(0)
        added = evidence.added[0] + np.diag(covariance.of_sample)
        ends = rate_ends(sums, self.tail, added)
        _place(found, evidence.scopes, (sums.rate, *ends), sides)
        found[2] = np.clip(found[2] * changes, found[0], 1.0)
        return labels, found

    def corrected(self, sample, scopes):
        """Evidence about scopes of true groups, and Covariances of logarithms of their rates."""
        evidence, sides = self.every_evidence, self.engine.two_sides
        counts, labelled = self.counts(evidence), np.array(evidence.scopes)
        ends, sums, n = counts[0].ends, evidence.sums.rows(0), len(scopes)
        inverse = np.linalg.inv(sample / sample.sum(axis=1, keepdims=True))
        how = labelled, np.array(scopes), inverse, ends, sides
        weights = _weights(*how)
        found = [reweighted(counts, row) for row in weights]
        true = ErrorSums.of_groups([one.sums for one in found])
        within = [g == h for g, h in scopes]
        _check_totals(true.pairs[0, within], self.engine.groups)
        true = true._replace(pairs=np.where(true.pairs > 0, true.pairs, np.nan))
        errors, rates = true.errors[0], true.errors[0] / true.pairs[0]
        influence = np.concatenate([one.influence for one in found])
        lost = np.concatenate([one.lost for one in found])
        between = lost @ lost.T
        if ends == 2:
            between -= shared_clusters(counts, weights, rates)
        slopes, of_pairs = (_slopes(of, *how) for of in (sums.errors, sums.pairs))
        slopes = slopes - rates[:, None, None] * of_pairs
        of_sample = matrix_covariance(sample, slopes)
        true = _within_range(true, np.sqrt(true.variance + np.diag(of_sample)))
        scale = np.divide(1.0, errors, out=np.zeros(n), where=errors > 0)
        np.fill_diagonal(between, 0.0)
        of_sample, between = (np.outer(scale, scale) * c for c in (of_sample, between))
        slope = scale * (weights @ (sums.errors * evidence.slope[0]))
        covariance = influence @ evidence.of_threshold[0].toarray()[0]
        if ends == 2 and self.question.levels is not None:
            of_all = [(None, evidence.thresholds[0, :1])]
            (setting,) = evidence.asked[0].counts("far", of_all)
            shared = shared_with_all(counts, weights, rates, setting.sums.rate[0])
            covariance -= shared * scale / max(setting.sums.errors[0], 1.0)
        evidence = replace(
            evidence,
            scopes=scopes,
            sums=true,
            influence=[sparse.csr_array(row[None]) for row in influence],
            slope=slope[None],
            of_threshold=evidence.of_threshold[:1] * n,
            variance=np.full((1, n), evidence.variance[0, 0]),
            covariance=covariance[None],
            thresholds=np.full((1, n), evidence.thresholds[0, 0]),
        )
        return evidence, Covariances(of_sample, of_sample + between)


def _within_range(sums, error):
    """ErrorSums without negative errors: then a cluster counts as one standard error."""
    none = sums.errors <= 0
    clustered = np.where(none, np.maximum(sums.clustered, error), sums.clustered)
    errors = np.clip(sums.errors, 0, sums.pairs)
    return sums._replace(errors=errors, clustered=clustered)


class Covariances(NamedTuple):
    """Covariances of the logarithms of corrected rates, each (n_scopes, n_scopes).

    Attributes
    ----------
    of_sample : ndarray
        By the sample of true groups.
    between : ndarray
        The same, and of two scopes also by the audited people whose labels both use.
    """

    of_sample: np.ndarray
    between: np.ndarray


def _weights(labelled, scopes, inverse, ends, two_sides):
    """Weights of the pairs of labelled scopes in those of true groups, (n_scopes, n_labelled)."""
    g, h = labelled.T
    if ends == 1:
        return inverse[g].T[scopes[:, 0]]
    of_two = np.einsum("sa,sd->ads", inverse[g], inverse[h])
    return _of_scopes(of_two, scopes, two_sides)


def _slopes(totals, labelled, scopes, inverse, ends, two_sides):
    """Derivatives of corrected weights by the shares of labels, but for their sign.

    Returns
    -------
    slopes : ndarray, shape (n_scopes, n_groups, n_groups)
        By the share of each true group (second axis) that gets each label.
    """
    total = np.zeros(inverse.shape)
    np.add.at(total, tuple(labelled.T), totals)
    if ends == 1:
        true = inverse.T @ np.diag(total)
        return np.einsum("la,t->atl", inverse, true)[scopes[:, 0]]
    true = inverse.T @ total @ inverse
    slopes = np.einsum("la,td->adtl", inverse, true)
    slopes += np.einsum("ld,at->adtl", inverse, true)
    return _of_scopes(slopes, scopes, two_sides)


def _of_scopes(ordered, scopes, two_sides):
    """Values of scopes, from those of each pair of groups (n_groups, n_groups, ...). Without sides, both orders are added."""
    g, h = scopes.T
    found = ordered[g, h]
    if not two_sides:
        found[g != h] += ordered[h, g][g != h]
    return found


def _place(matrices, scopes, rows, two_sides):
    """Set cells of matrices (n, n_groups, n_groups). Without sides both of each pair of groups."""
    g, h = np.transpose(scopes)
    matrices[:, g, h] = rows
    if not two_sides:
        matrices[:, h, g] = rows


def _check_confusion(confusion, groups):
    """Counts of a sample, true x labelled, (n_groups, n_groups)."""
    sample = np.asarray(confusion, dtype=np.float64)
    n = groups.size
    if sample.shape != (n, n):
        problem = f"has shape {sample.shape}, and there are {n} groups:"
        raise invalid("confusion", confusion, problem, f"{groups.tolist()}.")
    if not (np.isfinite(sample).all() and (sample >= 0).all()):
        problem = "needs numbers of people of each true group with each label."
        raise invalid("confusion", confusion, problem)
    if not sample.sum(axis=1).all():
        without = groups[np.flatnonzero(sample.sum(axis=1) == 0)[0]]
        problem = f"has no person of group {plain(without)!r};"
        raise invalid("confusion", confusion, problem, "label some of that group.")
    shares = sample / sample.sum(axis=1, keepdims=True)
    if np.linalg.cond(shares) > MOST_CONDITION:
        problem = "gives two groups the same labels, so rates cannot be corrected;"
        raise invalid("confusion", confusion, problem, "bound them by a share instead.")
    return sample


def _check_totals(pairs, groups):
    """Raise if the labels leave a true group without pairs."""
    if (pairs <= 0).any():
        without = groups[np.argmin(pairs)]
        problem = f"leaves no pairs of group {plain(without)!r}: as many labels of it would be"
        remedy = (
            "wrong ones of other groups. Validate labels on people like those audited."
        )
        raise invalid("confusion", None, problem, remedy)


def _weighted(weights, logs):
    """Sums (n_contrasts,) of weighted logarithms. Those without weight do not count."""
    return np.where(weights == 0, 0.0, weights * logs).sum(axis=1)


def label_of_people(pairs):
    """Group of each person, (n_people,), -1 of those whose images have none.

    Raises
    ------
    ArgumentError
        If images of one person have labels of several groups.
    """
    people, group = pairs.images.identity, pairs.images.group
    if pairs.totals is None:
        people, group = pairs.people_and_groups()
    people, group = people[group >= 0], group[group >= 0]
    label = np.full(pairs.images.n_identities, -1)
    label[people] = group
    several = np.unique(people[label[people] != group])
    if several.size:
        problem = "gives images of one person labels of several groups "
        problem += f"(people: {several.size:,});"
        remedy = "give each person one label, such as the most frequent one."
        raise invalid("sensitive_features", None, problem, remedy)
    return label
