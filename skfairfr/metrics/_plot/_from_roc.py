"""A fitted SimilarityROC for displays, and default levels, groups and thresholds.

These functions use public methods only. Drawing lives in the displays and in ``_style``.
"""

import numpy as np
from sklearn.base import clone

from skfairfr.metrics._plot import _style
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._validation import (
    check_group,
    check_level,
    check_threshold,
    transform_rows,
)

LEVELS_PER_DECADE = 8
# At least this many impostor pairs lie above the threshold of a default level.
PAIRS_ABOVE = 10


class FromEstimatorMixin:
    """Builds a display from a transformer, through its class's ``from_roc``."""

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        sensitive_features=None,
        *,
        domain=None,
        roc=None,
        **kwargs,
    ):
        """Transform embeddings, compare all pairs and draw.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a ``transform`` whose result is compared; or a SimilarityROC, of
            which a clone is fitted to ``X`` itself.
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,)
            Identity of each row, or any other ``y`` of
            :meth:`~skfairfr.metrics.SimilarityROC.fit`.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row; None and NaN are unknown.
        domain : array-like, shape (n_samples,), default=None
            With two values, only pairs across them are compared.
        roc : SimilarityROC, default=None
            How to compare; a clone is fitted. None takes the defaults of the class.
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
        fitted = fit_roc(estimator, X, y, sensitive_features, domain, roc)
        return cls.from_roc(fitted, **kwargs)


def fit_roc(estimator, X, y, sensitive_features=None, domain=None, roc=None):
    """A SimilarityROC fitted on the embeddings ``estimator.transform(X)``."""
    if isinstance(estimator, SimilarityROC):
        roc = estimator if roc is None else roc
    elif hasattr(estimator, "transform"):
        X = transform_rows(estimator, X)
    else:
        raise ValueError(
            f"estimator must have a transform method or be a SimilarityROC; got "
            f"{estimator!r}."
        )
    roc = SimilarityROC() if roc is None else clone(roc)
    return roc.fit(X, y, sensitive_features, domain=domain)


def check_roc_groups(roc, groups, *, overall=True):
    """Groups to draw, None standing for overall; by default overall and every group."""
    if groups is not None:
        groups = _style.given_groups(groups)
        for group in groups:
            if group is not None:
                check_group(group, roc.groups_, "groups")
        return groups
    return (*([None] if overall else []), *roc.groups_.tolist())


def default_levels(roc, operating_point="overall"):
    """FAR levels, (n_levels,), from what the data can resolve up to 0.1."""
    counts = roc.n_impostor_[:1]
    if operating_point != "overall":
        counts = roc.n_impostor_[1:]
    counts = counts[counts > 0]
    n_pairs = counts.min() if counts.size else 1
    decade = np.clip(np.ceil(np.log10(PAIRS_ABOVE / n_pairs)), -6, -2)
    n_levels = round((-1 - decade) * LEVELS_PER_DECADE) + 1
    return np.logspace(decade, -1, n_levels)


def levels_of(roc, far, operating_point="overall"):
    """The levels given, checked and increasing, (n_levels,); the default ones for None."""
    if far is None:
        return default_levels(roc, operating_point)
    return np.sort(check_level(far), axis=None)


def beyond_far_max(*answers):
    """What legends say of answers from a sample, above far_max; empty without any.

    Parameters
    ----------
    *answers : Estimate, ROCCurve or GroupFARMatrix
    """
    return "from a sample" if any(is_beyond(answer).any() for answer in answers) else ""


def is_beyond(answer):
    """Whether each value comes from a sample, (n_levels,)."""
    return np.ravel(answer.source) == "sample"


def default_thresholds(roc, marked=(), n_thresholds=41):
    """Thresholds, (n_thresholds,), where the FAR falls from 0.2 to what is resolved.

    They hold those to be marked, as far as there are scores.
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
        None takes those of the levels.

    Returns
    -------
    thresholds, levels : ndarrays, shape (n_levels,)
    """
    levels = np.empty(0) if far is None else np.ravel(check_level(far))
    if thresholds is None:
        return (roc.threshold_at(levels) if levels.size else levels), levels
    thresholds = np.ravel(check_threshold(thresholds, "operating_thresholds"))
    if levels.size != thresholds.size:
        levels = np.full(thresholds.size, np.nan)
    return thresholds, levels


def score_range(roc):
    """Ends of a range of scores that holds nearly all: five deviations from any mean."""
    summary = roc.score_summary()
    means = np.concatenate([summary.genuine_mean, summary.impostor_mean])
    spreads = np.concatenate([summary.genuine_sd, summary.impostor_sd])
    return np.nanmin(means - 5 * spreads), np.nanmax(means + 5 * spreads)
