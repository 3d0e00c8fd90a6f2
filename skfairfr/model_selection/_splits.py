"""Splits by person, and what is searched over them: kappas, and the best compromise of two metrics."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold

from skfairfr._compat import Interval, count_rows, validate_params
from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._scorers import is_signed, mean_score
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import face_labels, label_images, split_labels
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import (
    check_level,
    random_state_of,
    to_float,
    warn_undefined,
)


class IdentityKFold(BaseCrossValidator):
    """K folds in which no person is on both sides, balanced over groups.

    A choice made on people used for training may not generalise to others: a default
    KFold over shuffled images has most people on both sides. Here the identities come
    from y, and no ``groups=`` is needed. Folds are those of scikit-learn's
    ``StratifiedGroupKFold``, with people as its groups. Its strata are the group of
    each image, and whether it forms a genuine pair with another image of the same
    person and group. Every fold therefore gets its share of each group's genuine pairs
    (eq. (3) of [1]_).

    Parameters
    ----------
    n_splits : int, at least 2, default=5
        Number of folds, at most the number of identities.
    shuffle : bool, default=False
        Whether people are shuffled before they are assigned to folds.
    random_state : int, RandomState instance or None, default=None
        Source of the order with ``shuffle=True``.

    See Also
    --------
    skfairfr.face_labels : Identity and group in one y.
    sklearn.model_selection.StratifiedGroupKFold : The folds of people.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Eq. (2)-(4).

    Examples
    --------
    >>> from skfairfr import IdentityKFold, face_labels, make_face_embeddings
    >>> faces = make_face_embeddings(n_identities=100, random_state=0)
    >>> y = face_labels(faces.y, faces.sensitive_features)
    >>> for train, test in IdentityKFold(n_splits=2).split(faces.X, y):
    ...     shared = set(y["identity"][train]) & set(y["identity"][test])
    ...     print(len(shared), round((y["group"][test] == "female").mean(), 1))
    0 0.4
    0 0.4
    """

    # Groups and domains may be routed, as to scorers.
    __metadata_request__split = {  # noqa: RUF012
        "sensitive_features": True,
        "domain": True,
    }

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self,
        X: ArrayLike,
        y: Columns | None = None,
        groups: object = None,
        *,
        sensitive_features: Column | None = None,
        domain: Column | None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of each split.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Only its length is used.
        y : array-like, shape (n_samples,), or frame
            Identity of each image, or the result of :func:`~skfairfr.face_labels`, or a
            frame with the columns ``identity``, ``group`` and ``domain``.
        groups : object, default=None
            Ignored, with a warning: identities come from y.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each image, where y contains none. None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            Two values. Only pairs across them are genuine pairs.

        Yields
        ------
        train : ndarray of int, shape (n_train,)
            Rows of the people that are fitted.
        test : ndarray of int, shape (n_test,)
            Rows of the people that are scored.

        Raises
        ------
        ValueError
            If X has no rows, there are fewer identities than splits, a parameter is out of
            range, there are not two domains, or a test fold has no genuine pair or no two
            people.

        Warns
        -----
        UndefinedMetricWarning
            If a group that has genuine pairs has none in a test fold.
        """
        if groups is not None:
            warnings.warn(
                "The groups parameter is ignored by IdentityKFold: identities come from y, "
                "and demographic groups from y or sensitive_features=.",
                UserWarning,
                stacklevel=2,
            )
        splitter = StratifiedGroupKFold(
            plain(self.n_splits), shuffle=self.shuffle, random_state=self.random_state
        )
        n_samples = count_rows(X)
        identity, group, domain = label_images(y, sensitive_features, domain, n_samples)
        codes = np.zeros(n_samples, dtype=int) if group is None else group.codes
        side = None if domain is None else domain.codes
        n_people = len(identity.values)
        if n_people < self.n_splits:
            problem = f"is {self.n_splits}, and there are {n_people} people;"
            raise invalid("n_splits", self.n_splits, problem, "use fewer splits.")
        # A pair of the overall frr may cross groups. A pair of a group's frr may not.
        paired = _has_partner((identity.codes,), side)
        paired_within = _has_partner((identity.codes, codes), side)
        dealt = _deal(splitter, 2 * codes + paired_within, identity.codes, n_samples)
        for fold, (train, test) in enumerate(dealt):
            n_people = np.unique(identity.codes[test]).size
            if n_people < 2 or not paired[test].any():
                lack = "two people" if n_people < 2 else "genuine pair"
                problem = f"is {self.n_splits}, and test fold {fold} has no {lack};"
                remedy = "use fewer splits, or people with several images each."
                raise invalid("n_splits", self.n_splits, problem, remedy)
            if group is not None:
                within = codes[paired_within & (codes >= 0)]
                missing = np.setdiff1d(within, codes[test][paired_within[test]])
                self._warn_of_missing(fold, group.values[missing])
            yield train, test

    def _warn_of_missing(self, fold, groups):
        if groups.size:
            named = ", ".join(repr(str(g)) for g in groups)
            warn_undefined(
                f"Test fold {fold} of n_splits={self.n_splits} has no genuine pair within "
                f"group {named}: its frr is undefined there. Use fewer splits."
            )

    def get_n_splits(
        self,
        X: object = None,
        y: object = None,
        groups: object = None,
        *,
        sensitive_features: object = None,
        domain: object = None,
    ) -> int:
        """Number of splits.

        Parameters
        ----------
        X, y, sensitive_features, domain : object, default=None
            Ignored: scikit-learn passes what it passes to :meth:`split`.
        groups : object, default=None
            Ignored.

        Returns
        -------
        n_splits : int
            Number of folds.
        """
        return self.n_splits


def _has_partner(columns, side):
    """Whether each image has another with the same labels (in the other domain)."""
    n_alike = _counts(columns)
    if side is None:
        return n_alike > 1
    return n_alike > _counts((*columns, side))


def _counts(columns):
    """How many rows share each row's labels, (n_samples,)."""
    _, inverse, counts = np.unique(
        np.stack(columns), axis=1, return_inverse=True, return_counts=True
    )
    return counts[inverse.ravel()]


def _deal(splitter, strata, identity, n_samples):
    """Splits of the images, without scikit-learn's warnings about small strata."""
    with warnings.catch_warnings():
        for message in ("The least populated class", "The number of unique classes"):
            warnings.filterwarnings("ignore", message, UserWarning)
        # The splitter raises if all strata are smaller than n_splits, except for one stratum.
        if np.bincount(strata - strata.min()).max() < splitter.n_splits:
            strata = np.zeros_like(strata)
        if splitter.shuffle:
            # Before 1.8, scikit-learn shuffles the counts of people and not the people, so
            # that its folds balance nothing. This is what it does from 1.8 on.
            order = np.arange(identity.max() + 1)
            random_state_of(splitter.random_state).shuffle(order)
            identity = np.argsort(order)[identity]
            splitter = StratifiedGroupKFold(splitter.n_splits)
        return list(splitter.split(np.empty(n_samples), strata, identity))


@dataclass(frozen=True)
class SplitROC:
    """FRR over FAR levels, in every split. Lower is better.

    Attributes
    ----------
    far : ndarray, shape (n_levels,)
        Levels in (0, 1), met on the people that thresholds come from.
    frr : ndarray, shape (n_splits, n_levels)
        FRR in [0, 1] of the remaining people, at those thresholds.
    far_reached : ndarray, shape (n_splits, n_levels)
        Their FAR there, in [0, 1].
    threshold : ndarray, shape (n_splits, n_levels)
        Similarity from which on a pair is accepted, in each split.
    frr_mean, frr_std : ndarrays, shape (n_levels,)
        Mean of the FRR over splits in [0, 1], and its standard deviation (``ddof=1``):
        how much it varies from split to split, no standard error, as splits share people.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    roc_over_splits : Returns it.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import roc_over_splits
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> roc = roc_over_splits(faces.X, faces.y, far=[1e-3, 1e-2])
    >>> roc.frr.shape, roc.frr_mean.round(3)
    ((5, 2), array([0.041, 0.01 ]))
    """

    far: np.ndarray
    frr: np.ndarray
    far_reached: np.ndarray
    threshold: np.ndarray
    frr_mean: np.ndarray
    frr_std: np.ndarray


def roc_over_splits(
    X: ArrayLike,
    y: Column,
    *,
    far: ArrayLike,
    sensitive_features: Column | None = None,
    domain: Column | None = None,
    group: object = None,
    cv: Any = None,
) -> SplitROC:
    """ROC with thresholds from one part of the people and rates from the other.

    A deployed system works like this: its threshold was set on some people and applies to
    others.
    Repeated over splits, it shows how stable the ROC is [1]_.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings.
    y : array-like, shape (n_samples,)
        Identity of each row, or the result of :func:`~skfairfr.face_labels`.
    far : array-like, shape (n_levels,)
        FAR levels in (0, 1).
    sensitive_features : array-like, shape (n_samples,), default=None
        Group of each row. Folds are balanced over them.
    domain : array-like, shape (n_samples,), default=None
        With two values, only pairs across them are compared.
    group : label, default=None
        Whose FRR and FAR are reported, at thresholds of the overall FAR. If None, overall.
    cv : cross-validator, default=None
        With ``split(X, y)``: thresholds come from its training parts, rates from its test
        parts. None is ``IdentityKFold(5, shuffle=True, random_state=0)``.

    Returns
    -------
    roc : SplitROC
        Rates of each split, their mean and standard deviation.

    Raises
    ------
    ValueError
        If a level is out of range, or somebody is in both parts of a split.

    Warns
    -----
    UndefinedMetricWarning
        Where the pairs of a part do not resolve a level.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops.
       Figure 2.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import roc_over_splits
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> roc = roc_over_splits(faces.X, faces.y, far=[1e-3, 1e-2])
    >>> roc.frr.shape, bool((roc.frr_std < roc.frr_mean).all())
    ((5, 2), True)
    """
    levels = np.atleast_1d(check_level(far))
    X = np.asarray(X)
    identity, sensitive_features, domain = split_labels(y, sensitive_features, domain)
    labels = face_labels(identity, sensitive_features, domain)
    if cv is None:
        cv = IdentityKFold(5, shuffle=True, random_state=0)
    found = []
    for others, judged in cv.split(X, labels):
        shared = np.intersect1d(labels["identity"][others], labels["identity"][judged])
        if shared.size:
            problem = f"{cv!r} puts {shared.size} identities on both sides of a split;"
            remedy = "use IdentityKFold, or another splitter by person."
            raise invalid("cv", cv, problem, remedy)
        thresholds = _measure(X, labels, others, levels).threshold_at(levels)
        roc = _measure(X, labels, judged, levels)
        rates = (
            roc.estimate(threshold=thresholds, rate=rate, group=group).value
            for rate in ("frr", "far")
        )
        found.append((*rates, thresholds))
    frr, far_reached, threshold = (np.stack(c) for c in zip(*found, strict=True))
    spread = frr.std(axis=0, ddof=1) if len(frr) > 1 else np.full(levels.shape, np.nan)
    return SplitROC(levels, frr, far_reached, threshold, frr.mean(axis=0), spread)


def _measure(X, labels, rows, levels):
    """A SimilarityROC fitted on some rows, with a single resample."""
    roc = SimilarityROC(n_resamples=1, far_max=max(1e-2, float(levels.max())))
    return roc.fit(X[rows], labels[rows])


# ---- the best compromise -------------------------------------------------------------


class BestTradeOff(BaseEstimator):
    """Callable ``refit`` of a search: the best compromise of two negated metrics.

    The distance of a candidate from the best, in each metric, is log(metric / best). The
    candidate whose larger distance is smallest wins. With ("bfar", "frr_at_far") that is
    how a compromise such as EM-FAR of [1]_ can be made. ("bfrr", "frr_at_far") makes
    EM-FRR and ("bfar", "bfrr") EM-C. Ratios make the choice independent of either metric's
    unit.

    Parameters
    ----------
    metrics : sequence of str, shape (n_metrics,), default=("bfar", "frr_at_far")
        Names of scores of the search that are minus a metric (an error rate or a
        disparity of at least 0), as :func:`~skfairfr.fairness_scores` returns them, or of
        the dict given to ``scoring``. One alone is minimised.
    tolerance : float >= 0, "1se" or None, default=None
        Candidates that count as good as the best compromise, among which ``prefer`` chooses.
        A float: those that in each metric are at most this share
        larger. 0.05 allows 5 %. "1se": those that in each metric are at most one standard
        error larger, over the folds of the best one, which is the rule of [2]_. None: the
        best compromise itself.
    prefer : str, default="frr_at_far"
        With a tolerance, the metric whose smallest mean wins among them. It need not be one
        of ``metrics``.
    at_most : dict of str -> float, default=None
        Largest mean allowed of some metrics, which need not be among ``metrics``: other
        candidates cannot win. For a metric in ``before`` it is a multiple of the value there,
        and {"frr_at_far": 1.1} allows an FRR larger by 10 %. Otherwise it is the value itself.
    before : dict of str -> float, default=None
        Metrics of doing nothing, on the same folds.

    See Also
    --------
    skfairfr.fairness_scores : A scorer with these names.
    skfairfr.metrics.TradeOffDisplay : Draws the candidates and the chosen one.

    Notes
    -----
    Candidates with a mean that is not finite in one of the metrics never win, and never
    are the best that others are compared with. A mean of 0, whose logarithm is infinite,
    counts as half the smallest positive mean of its metric among the others: it is better
    than what the folds can resolve, by an unknown amount. Among equals the first
    candidate wins. The paper does not say how it weighed the two metrics of a compromise.
    The larger of two logarithms is this package's choice.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Section 4.1 and eq. (3)-(4).
    .. [2] Breiman, L., Friedman, J. H., Olshen, R. A., & Stone, C. J. (1984).
       Classification and Regression Trees. Section 3.4.3.

    Examples
    --------
    >>> from skfairfr import BestTradeOff
    >>> results = {
    ...     "mean_test_bfar": [-8.0, -3.0, -2.0],
    ...     "mean_test_frr_at_far": [-0.10, -0.12, -0.30],
    ... }
    >>> BestTradeOff(("bfar", "frr_at_far"))(results)
    1
    >>> BestTradeOff(("bfar",), tolerance=0.6)(results)
    1
    >>> costs = {"at_most": {"frr_at_far": 1.1}, "before": {"frr_at_far": 0.11}}
    >>> BestTradeOff(("bfar",), **costs)(results)
    1
    """

    def __init__(
        self,
        metrics: Sequence[str] = ("bfar", "frr_at_far"),
        *,
        tolerance: float | str | None = None,
        prefer: str = "frr_at_far",
        at_most: Mapping[str, float] | None = None,
        before: Mapping[str, float] | None = None,
    ) -> None:
        self.metrics = metrics
        self.tolerance = tolerance
        self.prefer = prefer
        self.at_most = at_most
        self.before = before

    def __call__(self, cv_results: dict) -> int:
        """Choose a candidate.

        Parameters
        ----------
        cv_results : dict of str -> array-like, shape (n_candidates,)
            ``cv_results_`` of a search.

        Returns
        -------
        best_index : int
            Row of the chosen candidate.

        Raises
        ------
        ValueError
            If a metric is not among the scores, a score is not a negated metric, no
            candidate is finite in all of them or keeps ``at_most``, or the tolerance is none.
        """
        names, limits = self._names(), self._limits()
        values = np.stack([_metric(cv_results, name) for name in names])
        usable = np.isfinite(values).all(axis=0)
        if not usable.any():
            counts = dict(
                zip(names, np.isfinite(values).sum(axis=1).tolist(), strict=True)
            )
            raise ValueError(
                f"No candidate has a finite mean of {' and '.join(names)} (finite: "
                f"{counts}, of {usable.size} candidates), so none can be chosen. Give "
                "the search error_score='raise' to see why: groups missing from y or from "
                "fit, a far below what a fold's impostor pairs resolve, or folds in which a "
                "group makes no error (a larger far, fewer folds, skfairfr.IdentityKFold)."
            )
        for name, limit in limits.items():
            metric = _metric(cv_results, name)
            kept = usable & (metric <= limit)
            if not kept.any():
                problem = (
                    f"allows {name!r} to be {limit:.4g}, and the smallest left is "
                )
                problem += f"{np.nanmin(np.where(usable, metric, np.nan)):.4g}."
                remedy = "Allow more, or search other parameters."
                raise invalid("at_most", self.at_most, problem, remedy)
            usable = kept
        regret = np.full(usable.size, np.inf)
        regret[usable] = np.max([_log_over_best(row[usable]) for row in values], axis=0)
        best = int(regret.argmin())
        if self.tolerance is None:
            return best
        allowed = values[:, best] * (1 + to_float(self.tolerance))
        if self.tolerance == "1se":
            errors = [_standard_error(cv_results, name, best) for name in names]
            allowed = values[:, best] + errors
        as_good = usable & (values <= allowed[:, None]).all(axis=0)
        preferred = _metric(cv_results, self.prefer)
        preferred = np.where(as_good & np.isfinite(preferred), preferred, np.inf)
        # The better compromise wins if both are equally preferred.
        return int(np.lexsort((regret, preferred))[0])

    def _names(self):
        """The metrics, once all parameters are found to make sense."""
        names, tolerance = self.metrics, self.tolerance
        if tolerance not in (None, "1se") and not 0 <= to_float(tolerance) < np.inf:
            problem = "must be None, a share of at least 0 as 0.05, or '1se', got "
            raise invalid("tolerance", tolerance, f"{problem}{tolerance!r}.")
        if isinstance(names, str) or not names or len(set(names)) < len(names):
            problem = f"must be names of different scores, got {names!r}."
            raise invalid("metrics", names, problem)
        chosen_by = () if tolerance is None else (self.prefer,)
        signed = [n for n in (*names, *chosen_by) if is_signed(n)]
        if signed:
            problem = f"has {signed[0]!r}, a signed ratio, which cannot be minimised;"
            raise invalid("metrics", names, problem, "choose by 'bfar' or 'bfrr'.")
        return list(names)

    def _limits(self):
        """The largest mean allowed of each metric of ``at_most``."""
        at_most, before = (
            {} if given is None else given for given in (self.at_most, self.before)
        )
        for name, given in (("at_most", at_most), ("before", before)):
            if not isinstance(given, Mapping) or any(
                not to_float(value) >= 0 for value in given.values()
            ):
                problem = f"must be a dict of metrics of at least 0, got {given!r}."
                raise invalid(name, given, problem)
        limits = {n: float(most) * before.get(n, 1.0) for n, most in at_most.items()}
        signed = [name for name in limits if is_signed(name)]
        if signed:
            problem = f"has {signed[0]!r}, a signed ratio, which has no largest value;"
            raise invalid("at_most", at_most, problem, "limit 'bfar' or 'bfrr'.")
        return limits


def _metric(cv_results, name):
    """Mean of a metric, the negated score, for each candidate."""
    values = -mean_score(cv_results, name)
    if (values[np.isfinite(values)] < 0).any():
        problem = f"has {name!r}, which is positive for some candidate;"
        remedy = "give scores that are minus a rate or a disparity, as skfairfr's are."
        raise invalid("metrics", name, problem, remedy)
    return values


def _standard_error(cv_results, name, candidate):
    """Standard error of a candidate's mean score over the folds, with ddof=1."""
    of_fold = re.compile(rf"split\d+_test_{re.escape(name)}")
    folds = [v[candidate] for key, v in cv_results.items() if of_fold.fullmatch(key)]
    if len(folds) < 2:
        problem = f"is '1se', which needs the score {name!r} of at least two folds, but the search "
        remedy = "Give tolerance=0.05, or more folds."
        raise invalid("tolerance", "1se", f"{problem}has {len(folds)}.", remedy)
    return np.std(folds, ddof=1) / np.sqrt(len(folds))


def _log_over_best(metric):
    """log(metric / best) of each candidate, zeros at half the smallest positive value."""
    positive = metric[metric > 0]
    if positive.size == 0:
        return np.zeros_like(metric)
    logs = np.log(np.where(metric > 0, metric, positive.min() / 2))
    return logs - logs.min()


# ---- concentrations to search --------------------------------------------------------


# Odds that a pair of kappas adds between people of two groups: a mild and a firm step. In
# 512 features they are those of (18, 20) and (15, 20), which the study of the bench tried.
ODDS = (2.5, 10.0)


@validate_params(
    {
        "n_features": [Interval(Integral, 2, None, closed="left")],
        "kappa": [Interval(Real, 0, None, closed="neither")],
    },
    prefer_skip_nested_validation=True,
)
def kappa_grid(
    n_features: int, groups: Sequence[Any], *, kappa: float = 20.0
) -> dict[str, list]:
    """Concentrations of groups that a search should try in so many dimensions.

    In the Fair von Mises-Fisher loss the logit of a person whose group has the
    concentration :math:`\\kappa` is :math:`\\log C_d(\\kappa) + \\kappa t` for an image at the
    cosine t from that person's centroid. The logits of two people, whose groups have
    :math:`\\kappa_0 < \\kappa_1`, cross at

    .. math:: t^* = \\frac{\\log C_d(\\kappa_0) - \\log C_d(\\kappa_1)}{\\kappa_1 - \\kappa_0}
        \\approx \\frac{\\kappa_0 + \\kappa_1}{2 d},

    and the odds of the second person grow by :math:`\\exp[(\\kappa_1 - \\kappa_0)(t - t^*)]`.
    Many dimensions move the crossing towards 0, so the same pair has a larger effect. The
    grid has pairs of equal effect: halfway between the crossing and 1 the odds are 2.5 and 10.

    Parameters
    ----------
    n_features : int, at least 2
        Dimension d of the embeddings that the head returns.
    groups : sequence of labels, shape (n_groups,)
        Two or more.
    kappa : float > 0, default=20.0
        Concentration of all groups but one.

    Returns
    -------
    grid : dict
        ``{"kappas": [...]}``: equal concentrations first, then for each group two smaller
        ones, the nearer first, with two digits. Odds that no concentration reaches, in few
        dimensions, are left out.

    Raises
    ------
    ValueError
        If there are fewer than two different groups, or an argument is out of range.

    See Also
    --------
    skfairfr.EthicalModule : Its parameter ``kappas``.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Section 3.

    Examples
    --------
    >>> from skfairfr.model_selection import kappa_grid
    >>> for kappas in kappa_grid(512, ["male", "female"])["kappas"]:
    ...     print(kappas)
    {'male': 20.0, 'female': 20.0}
    {'male': 18.0, 'female': 20.0}
    {'male': 15.0, 'female': 20.0}
    {'male': 20.0, 'female': 18.0}
    {'male': 20.0, 'female': 15.0}
    """
    if isinstance(groups, str) or len(dict.fromkeys(groups)) < max(2, len(groups)):
        problem = "must be two or more different labels, each once."
        raise invalid("groups", groups, problem)
    smaller = [found for odds in ODDS if (found := _smaller(n_features, kappa, odds))]
    equal = dict.fromkeys(groups, float(kappa))
    return {"kappas": [equal, *(equal | {g: k} for g in groups for k in smaller)]}


def _smaller(n_features, kappa, odds):
    """The concentration that adds these odds to kappa's, or None if there is none."""

    def beyond(smaller):
        # (kappa - smaller) (1 - crossing) / 2, without a quotient that is 0 / 0 at kappa.
        logs = log_vmf_normalizer([smaller, kappa], n_features)
        return (kappa - smaller - (logs[0] - logs[1])) / 2 - math.log(odds)

    if beyond(0.0) < 0:
        return None
    return float(f"{brentq(beyond, 0.0, kappa):.2g}")
