"""Displays of costs and calibration: reliability, and errors at thresholds set elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._intervals import percentile
from skfairfr._core._score_costs import binned_ratios
from skfairfr.metrics._pairs._checks import check_pair_groups
from skfairfr.metrics._pairs._costs import expected_performance_curve
from skfairfr.metrics._plot import _from_roc, _style
from skfairfr.utils._errors import invalid
from skfairfr.utils._types import Column
from skfairfr.utils._validation import check_count, to_array

if TYPE_CHECKING:
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC

ERRORS = {"half": "Half total error rate", "weighted": "Weighted error rate"}
STATED = "Stated log-likelihood ratio"
OBSERVED = "Observed log-likelihood ratio"


@_style.display
class ReliabilityDisplay(_from_roc.FromEstimatorMixin):
    """Observed over stated log-likelihood ratios in bins of scores, by group.

    The observed ratio of a bin is the share of the genuine pairs in it over that of the
    impostor pairs. The stated one is the ratio that the scores of the same pairs predict.
    Below the diagonal, scores overstate that two samples are of one person, and decisions
    make more false acceptances than their threshold is meant to. Above it, they make more
    false rejections. Build it with :meth:`from_roc` or :meth:`from_estimator`. Parameters are
    kept as attributes.

    Parameters
    ----------
    groups : tuple, shape (n_curves,)
        Label of each curve. If None, overall.
    stated, observed : ndarrays, shape (n_curves, n_bins)
        Natural logarithms of likelihood ratios. Infinite if a bin lacks one kind of pairs,
        or nan if it lacks both.
    low, high : ndarrays, shape (n_curves, n_bins)
        Interval of the observed ratio of each bin on its own, or infinite if too many resamples
        lack one kind of pairs.
    name : str, default=None
        Name of the system, put before the labels of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve.

    See Also
    --------
    skfairfr.metrics.calibration_loss : How much calibration costs.
    ErrorRateDisplay : Both error rates over thresholds. For log-likelihood ratios, Tippett's plot.

    References
    ----------
    .. [1] DeGroot, M. H., & Fienberg, S. E. (1983). The comparison and evaluation of
       forecasters. The Statistician 32.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import ReliabilityDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(similarity="dot", n_resamples=100, random_state=0)
    >>> roc = roc.fit(4 * data.X, data.y, data.sensitive_features)
    >>> display = ReliabilityDisplay.from_roc(roc, n_bins=4, ax=Figure().subplots())
    >>> display.groups, display.observed.shape
    (('female', 'male'), (2, 4))
    """

    groups: tuple
    stated: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    name: str | None = None

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        groups: Sequence[object] | None = None,
        n_bins: int = 8,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the ratios with a fitted SimilarityROC, and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted to scores that are natural logarithms of likelihood ratios. Its resamples,
            of people by default, make the intervals.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall. By default every group, or
            overall where there is none.
        n_bins : int, default=8
            Even number of bins. They meet at the threshold of equal error of each group, and
            each has an equal share of the errors there on its side.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : ReliabilityDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If a group is unknown, or ``n_bins`` is no even number.
        """
        return cls._measured(roc, groups, n_bins, name).plot(ax, **kwargs)

    @classmethod
    def _measured(cls, roc, groups=None, n_bins=8, name=None, together=False):
        """The display of a fitted SimilarityROC, not drawn; intervals are valid ``together`` or alone."""
        groups = _from_roc.check_roc_groups(roc, groups, overall=False) or (None,)
        if check_count(n_bins, "n_bins", 2) % 2:
            raise invalid("n_bins", n_bins, f"must be even; got {n_bins}.")
        engine, columns = roc._engine, np.full((4, len(groups), n_bins), np.nan)
        scopes = {row: _from_roc.scope_of(roc, g) for row, g in enumerate(groups)}
        scopes = {row: s for row, s in scopes.items() if engine.pairs.count(s)}
        n_intervals = max(len(scopes) * n_bins, 1) if together else 1
        level = 1 - (1 - engine.confidence_level) / n_intervals
        for row, scope in scopes.items():
            asked = scope, n_bins, engine.resampling
            *found, replicates = binned_ratios(engine.pairs, *asked)
            *ends, _ = percentile(replicates, level, (-np.inf, np.inf))
            columns[:, row] = *found, *ends
        fields = zip(("stated", "observed", "low", "high"), columns, strict=True)
        return cls(groups=groups, name=name, **dict(fields))

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curves, with the interval of each bin.

        An infinite ratio is drawn at the edge. The stored arrays keep it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : ReliabilityDisplay
            This one.
        """
        ax, name, earlier = _style.begin(self, ax, name)
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        labels = _style.group_labels(self.groups, self.observed, name)
        ends = [
            _style.ends_about(values[np.isfinite(values)], log=False)
            for values in (np.asarray(self.stated), np.asarray(self.observed))
        ]
        self.lines_ = []
        columns = (self.stated, self.observed, self.low, self.high)
        for *row, style, label in zip(*columns, styles, labels, strict=True):
            stated, observed, low, high = row
            drawn = np.clip(observed, *ends[1])
            self.lines_ += ax.plot(stated, drawn, **style, label=label)
            look = {"color": self.lines_[-1].get_color(), "alpha": 0.6}
            ax.vlines(stated, *np.clip((low, high), -1e9, 1e9), **look, linewidth=1.2)
        ax.axline((0, 0), slope=1, **_style.REFERENCE)
        _style.set_limits(ax, earlier, *ends)
        return _style.finish(self, STATED, OBSERVED)


@_style.display
class ExpectedPerformanceDisplay:
    """Errors of a test set at thresholds chosen on a development set, by group.

    All groups have the same thresholds, each the best one of the development set for a
    weight of false acceptances. Build it with :meth:`from_pairs`. Parameters are kept as
    attributes. Lower curves are better.

    Parameters
    ----------
    alpha : ndarray, shape (n_alpha,)
        Weights of the FAR in (0, 1), increasing. That of the FRR is 1 - alpha.
    error : ndarray, shape (n_curves, n_alpha)
        Errors of the test set in [0, 1]. Lower is better.
    groups : tuple, shape (n_curves,)
        Label of each curve. If None, overall.
    kind : {"half", "weighted"}, default="half"
        Which error, as of :func:`~skfairfr.metrics.expected_performance_curve`.
    name : str, default=None
        Name of the system, put before the labels of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve.

    See Also
    --------
    skfairfr.metrics.expected_performance_curve : Computes a curve.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.metrics import ExpectedPerformanceDisplay, all_pairs
    >>> dev, test = (make_face_embeddings(n_identities=60, random_state=k) for k in (0, 1))
    >>> groups = test.sensitive_features
    >>> y_true, y_score, groups = all_pairs(test.X, test.y, sensitive_features=groups)
    >>> y_true_dev, y_score_dev, _ = all_pairs(dev.X, dev.y)
    >>> display = ExpectedPerformanceDisplay.from_pairs(
    ...     y_true, y_score, y_true_dev=y_true_dev, y_score_dev=y_score_dev,
    ...     sensitive_features=groups, ax=Figure().subplots())
    >>> display.groups, display.error.shape
    ((None, 'female', 'male'), (3, 49))
    """

    alpha: np.ndarray
    error: np.ndarray
    groups: tuple
    kind: str = "half"
    name: str | None = None

    @classmethod
    def from_pairs(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        y_true_dev: ArrayLike,
        y_score_dev: ArrayLike,
        sensitive_features: Column | None = None,
        alpha: ArrayLike | None = None,
        error: str = "half",
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute curves of everyone and of every group, and draw them.

        Parameters
        ----------
        y_true, y_score, y_true_dev, y_score_dev, alpha, error
            As of :func:`~skfairfr.metrics.expected_performance_curve`. A larger score is more
            alike.
        sensitive_features : array-like, shape (n_pairs,) or (n_pairs, 2), default=None
            Group of both images of each pair of the test set, or of each image. A pair is in
            a group when both images are.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : ExpectedPerformanceDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :func:`~skfairfr.metrics.expected_performance_curve`.
        """
        y_true, y_score = to_array(y_true, "y_true"), to_array(y_score, "y_score")
        rows, groups = [np.ones(len(y_score), dtype=bool)], (None,)
        if sensitive_features is not None:
            labels = check_pair_groups(sensitive_features, len(y_score))
            groups += tuple(labels.values.tolist())
            rows += [labels.codes == code for code in range(len(labels.values))]
        asked = {"y_true_dev": y_true_dev, "y_score_dev": y_score_dev}
        asked |= {"alpha": alpha, "error": error}
        found = [
            expected_performance_curve(y_true[of], y_score[of], **asked) for of in rows
        ]
        points, errors, _ = map(np.stack, zip(*found, strict=True))
        shared = {"groups": groups, "kind": error, "name": name}
        return cls(alpha=points[0], error=errors, **shared).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : ExpectedPerformanceDisplay
            This one.
        """
        ax, name, _ = _style.begin(self, ax, name)
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        labels = _style.group_labels(self.groups, self.error, name)
        supported = np.ones_like(self.error, dtype=bool)
        _style.draw_curves(self, self.alpha, self.error, supported, styles, labels)
        ax.set_xlim(0, 1)
        ax.yaxis.set_major_formatter(lambda rate, _: _style.level_percent(rate))
        xlabel = "Weight of the FMR (\N{GREEK SMALL LETTER ALPHA})"
        return _style.finish(self, xlabel, ERRORS[self.kind])
