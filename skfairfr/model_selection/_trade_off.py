"""The best trade-off between a disparity and its cost, in a grid search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator

from skfairfr.metrics._scorers import is_signed, mean_score
from skfairfr.utils._errors import invalid
from skfairfr.utils._validation import (
    to_float,
)


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
