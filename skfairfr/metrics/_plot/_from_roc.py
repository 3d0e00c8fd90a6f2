"""From a fitted SimilarityROC to curves, and default levels, groups and thresholds.

These functions change nothing of what is fitted. Drawing lives
in the displays and in ``_style``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skfairfr._core._score_costs import ScoreCost, cost_table
from skfairfr.metrics._pairs._rates import check_single_threshold
from skfairfr.metrics._plot import _style
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils import _validation
from skfairfr.utils._types import Column

LEVELS_PER_DECADE = 8
# At least this many impostor pairs lie above the threshold of a default level.
PAIRS_ABOVE = 10
# What legends say of values above far_max.
SAMPLED = "from a sample"


class FromEstimatorMixin:
    """Builds a display from a transformer, through its class's ``from_roc``."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: Column,
        sensitive_features: Column | None = None,
        *,
        domain: Column | None = None,
        roc: SimilarityROC | None = None,
        **kwargs: Any,
    ) -> Self:
        """Transform embeddings, compare all pairs and draw.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a ``transform`` whose result is compared, or a SimilarityROC, of
            which a clone is fitted to ``X`` itself.
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,)
            Identity of each row, or any other ``y`` of
            :meth:`~skfairfr.metrics.SimilarityROC.fit`.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row. None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            Domain of each row. With two values, only pairs across them are compared.
        roc : SimilarityROC, default=None
            How to compare. A clone is fitted. If None, one with the defaults of the class.
        **kwargs : dict
            Further arguments of ``from_roc``.

        Returns
        -------
        display : object of this class
            Already drawn.

        Raises
        ------
        ValueError
            If the estimator has no ``transform``, or numpy cannot read ``X``.
        """
        if isinstance(estimator, SimilarityROC):
            roc = estimator if roc is None else roc
        elif hasattr(estimator, "transform"):
            X = estimator.transform(X)
        else:
            expected = "must have a transform method or be a SimilarityROC"
            raise ValueError(f"estimator {expected}, got {estimator!r}.")
        roc = SimilarityROC() if roc is None else clone(roc)
        roc.fit(X, y, sensitive_features, domain=domain)
        return cls.from_roc(roc, **kwargs)


@_style.display
class OverLevels(FromEstimatorMixin):
    """Data of displays over FAR levels, besides their values."""

    far: np.ndarray
    low: np.ndarray
    high: np.ndarray
    supported: np.ndarray
    band_low: np.ndarray | None = None
    band_high: np.ndarray | None = None
    operating_point: str = "overall"
    name: str | None = None
    far_max: float | None = None

    def _shade_sampled(self):
        """Shade what lies above ``far_max``."""
        if self.far_max is not None:
            label = f"above {_style.fmr(self.far_max)}, {SAMPLED}"
            ends = self.far_max, max(self.far_max, self.far.max())
            _style.shade(self.ax_, ends, label)


@_style.display
class BothRates(FromEstimatorMixin):
    """Both rates and their intervals."""

    far: np.ndarray
    far_low: np.ndarray
    far_high: np.ndarray
    far_supported: np.ndarray
    frr: np.ndarray
    frr_low: np.ndarray
    frr_high: np.ndarray
    frr_supported: np.ndarray


def check_roc_groups(roc, groups, *, overall=True):
    """Groups to draw, None standing for overall, by default overall and every group."""
    if groups is None:
        return (*([None] if overall else []), *roc.groups_.tolist())
    return _style.given_groups(groups, roc.groups_)


def default_levels(roc, operating_point="overall"):
    """FAR levels, (n_levels,), from what the data can resolve up to 0.1."""
    scopes = slice(1) if operating_point == "overall" else slice(1, None)
    n_pairs = min((n for n in roc.n_impostor_[scopes].tolist() if n), default=1)
    decade = np.clip(np.ceil(np.log10(PAIRS_ABOVE / n_pairs)), -6, -2)
    n_levels = round((-1 - decade) * LEVELS_PER_DECADE) + 1
    return np.logspace(decade, -1, n_levels)


INTERVAL = ("value", "low", "high", "supported")
BANDS = ("band_low", "band_high")


def curves_of(roc, questions, *, far=None, threshold=None, bands=False):
    """Answers of a fitted SimilarityROC, a row for each question.

    Parameters
    ----------
    roc : SimilarityROC
    questions : list of dict
        Keywords of its ``estimate``.
    far, threshold : ndarray, shape (n_points,), default=None
        Levels or thresholds. One of them.
    bands : bool, default=False
        Whether bands that cover whole curves are needed.

    Returns
    -------
    curves : dict of str -> ndarray, shape (n_questions, n_points)
        "value", "low", "high" and "supported", with bands also their ends.
    sampled : ndarray of bool, shape (n_points,)
        Where a value comes from a sample, above ``far_max``.
    """
    if bands:
        answers = [roc.curve(far, **question) for question in questions]
    else:
        answers = [roc.estimate(far, threshold=threshold, **q) for q in questions]
    fields = INTERVAL + BANDS * bands
    curves = {f: np.stack([getattr(a, f) for a in answers]) for f in fields}
    return curves, np.any([is_sampled(answer) for answer in answers], axis=0)


def rates_at(roc, threshold, rate, group):
    """A rate at thresholds, (n_thresholds,), without an interval, or nan without the pairs."""
    question = roc._engine.question(None, threshold, rate, group, None, "overall")
    return question.in_shape(roc._engine.points(question))


def over_levels(roc, questions, far, operating_point):
    """Fields of OverLevels, and the values of the questions as "value"."""
    if far is None:
        levels = default_levels(roc, operating_point)
    else:
        levels = np.sort(_validation.check_level(far), axis=None)
    questions = [{**q, "operating_point": operating_point} for q in questions]
    curves, sampled = curves_of(roc, questions, far=levels, bands=True)
    far_max = roc.far_max if sampled.any() else None
    about = {"far": levels, "operating_point": operating_point, "far_max": far_max}
    return curves | about


def both_rates(roc, groups, **points):
    """Fields of BothRates, (n_groups, n_points), and where the FAR is from a sample."""
    columns = {}
    for rate in ("frr", "far"):
        questions = [{"rate": rate, "group": group} for group in groups]
        found, sampled = curves_of(roc, questions, **points)
        columns[rate] = found.pop("value")
        columns |= {f"{rate}_{field}": values for field, values in found.items()}
    return columns, sampled


def is_sampled(answer):
    """Whether each value of an answer comes from a sample, (n_points,)."""
    return np.ravel(answer.source) == "sample"


def default_thresholds(roc, marked=(), n_thresholds=41):
    """Thresholds, (n_thresholds,), from a FAR of 0.2 to the smallest that is resolved.

    They include those to be marked, as far as there are scores.
    """
    lowest = default_levels(roc)[0]
    loose, strict = roc.threshold_at(np.array([0.2, lowest]))
    if len(marked):
        room = 0.04 * (strict - loose)
        low, high = score_range(roc)
        loose = min(loose, max(np.min(marked) - room, low))
        strict = max(strict, min(np.max(marked) + room, high))
    return np.linspace(loose, strict, n_thresholds)


def operating_points(roc, far, thresholds):
    """Thresholds to mark and the levels that set them, nan where they were given.

    Parameters
    ----------
    roc : SimilarityROC
    far : float, array-like, shape (n_levels,), or None
    thresholds : float, array-like, shape (n_levels,), or None
        If None, those of the levels.

    Returns
    -------
    thresholds, levels : ndarrays, shape (n_levels,)
    """
    levels = np.empty(0) if far is None else np.ravel(_validation.check_level(far))
    if thresholds is None:
        return (roc.threshold_at(levels) if levels.size else levels), levels
    thresholds = _validation.check_threshold(thresholds, "operating_thresholds")
    thresholds = np.ravel(thresholds)
    if levels.size != thresholds.size:
        levels = np.full(thresholds.size, np.nan)
    return thresholds, levels


def cost_points(roc, groups, p_target, threshold):
    """Names of points of detection costs, and both rates there.

    Parameters
    ----------
    roc : SimilarityROC
    groups : tuple of labels, shape (n_groups,)
    p_target : float or array-like, shape (n_targets,)
    threshold : float, {"bayes"} or None
        See :func:`~skfairfr.metrics.detection_cost`. Adds points of actual costs.

    Returns
    -------
    points : dict
        "cost_names", tuple of str, and "cost_far" and "cost_frr", (n_points, n_groups).
    """
    targets = _validation.check_level(p_target, "p_target").ravel().tolist()
    asked = [(f"minDCF, p_target {p:g}", ScoreCost.of("dcf", p)) for p in targets]
    if isinstance(threshold, str) and threshold == "bayes":
        costs = [ScoreCost.of("dcf", p, threshold) for p in targets]
        asked += [(f"DCF, p_target {cost.p_target:g}", cost) for cost in costs]
    elif threshold is not None:
        at = check_single_threshold(threshold)
        cost = ScoreCost.of("dcf", targets[0], at)
        asked += [(*_style.point_names([at], [np.nan]), cost)]
    pairs, rates = roc._engine.pairs, np.full((2, len(asked), len(groups)), np.nan)
    for row, column in np.ndindex(rates.shape[1:]):
        (_, cost), group = asked[row], groups[column]
        if pairs.count(scope := scope_of(roc, group)):
            at = cost_table(pairs, scope, cost).threshold
            if np.isnan(at):  # no pair of one kind
                continue
            both = [rates_at(roc, at, rate, group)[0] for rate in ("far", "frr")]
            rates[:, row, column] = both
    names = tuple(name for name, _ in asked)
    return {"cost_names": names, "cost_far": rates[0], "cost_frr": rates[1]}


def n_pairs(roc, rate, group=None):
    """Pairs of a group, or of everyone, that a rate is about."""
    return roc._engine.pairs.count(scope_of(roc, group), rate)


def scope_of(roc, group):
    """Scope of the pairs of a group, or of everyone."""
    return None if group is None else (roc.groups_.tolist().index(group),) * 2


def score_range(roc):
    """Ends of a range of scores that contains nearly all: five deviations from any mean."""
    summary = roc.score_summary()
    means = np.concatenate([summary.genuine_mean, summary.impostor_mean])
    spreads = np.concatenate([summary.genuine_sd, summary.impostor_sd])
    return np.nanmin(means - 5 * spreads), np.nanmax(means + 5 * spreads)
