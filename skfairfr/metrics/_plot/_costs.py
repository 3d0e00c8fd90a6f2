"""Displays of costs and calibration: reliability of log-likelihood ratios."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skfairfr._core._intervals import percentile
from skfairfr._core._score_costs import binned_ratios
from skfairfr.metrics._plot import _from_roc, _style
from skfairfr.utils._errors import refused
from skfairfr.utils._validation import check_count

if TYPE_CHECKING:
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC

STATED = "Stated log-likelihood ratio"
OBSERVED = "Observed log-likelihood ratio"


@_style.display
class ReliabilityDisplay(_from_roc.FromEstimatorMixin):
    """Observed over stated log-likelihood ratios in bins of scores, by group.

    The observed ratio of a bin is the share of the genuine pairs in it over that of the
    impostor pairs. The stated one is the ratio that the scores of the same pairs predict.
    Below the diagonal, scores overstate that two samples are of one person, and decisions
    make more false acceptances than their threshold is meant to. Above it, they make more
    false rejections. Build it with :meth:`from_roc` or :meth:`from_estimator`; parameters are
    kept as attributes.

    Parameters
    ----------
    groups : tuple, shape (n_curves,)
        Label of each curve; None is overall.
    stated, observed : ndarrays, shape (n_curves, n_bins)
        Natural logarithms of likelihood ratios. Infinite if a bin lacks one kind of pairs;
        nan if it lacks both.
    low, high : ndarrays, shape (n_curves, n_bins)
        Interval of the observed ratio of each bin on its own; infinite if too many resamples
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
    ErrorRateDisplay : Both error rates over thresholds; of log-likelihood ratios, Tippett's plot.

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
        roc: "SimilarityROC",
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
            Groups to draw, None among them standing for overall; by default every group, or
            overall where there is none.
        n_bins : int, default=8
            Even number of bins. They meet at the threshold of equal error of each group, and
            each has an equal share of the errors there on its side.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
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
        """The display of a fitted SimilarityROC, not drawn; intervals hold ``together`` or alone."""
        groups = _from_roc.check_roc_groups(roc, groups, overall=False) or (None,)
        if check_count(n_bins, "n_bins", 2) % 2:
            raise refused("n_bins", n_bins, f"must be even; got {n_bins}.")
        pairs, known = roc._engine.pairs, roc.groups_.tolist()
        scopes = [None if g is None else (known.index(g),) * 2 for g in groups]
        there = [row for row, scope in enumerate(scopes) if pairs.count(scope)]
        columns = np.full((4, len(groups), n_bins), np.nan)
        tail = 1 - roc._engine.confidence_level
        level = 1 - tail / (len(there) * n_bins if together else 1)
        for row in there:
            asked = scopes[row], n_bins, roc._engine.resampling
            *found, replicates = binned_ratios(pairs, *asked)
            *ends, _ = percentile(replicates, level, (-np.inf, np.inf))
            columns[:, row] = *found, *ends
        fields = zip(("stated", "observed", "low", "high"), columns, strict=True)
        return cls(groups=groups, name=name, **dict(fields))

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curves, with the interval of each bin.

        An infinite ratio is drawn at the edge; the stored arrays keep it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
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
