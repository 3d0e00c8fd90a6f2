"""Displays over scores: error rates at thresholds, scores, their reliability, and errors at thresholds set elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._replicate_intervals import percentile
from skfairfr._core._score_costs import binned_ratios
from skfairfr._text._words import RATES
from skfairfr.metrics._pairs._costs import expected_performance_curve
from skfairfr.metrics._pairs._rates import check_pair_groups
from skfairfr.metrics._plot import _from_roc, _style
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._types import Column
from skfairfr.utils._validation import (
    check_count,
    check_option,
    check_threshold,
    to_array,
    warn_undefined,
)

if TYPE_CHECKING:
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC


PAIR_KINDS = {"impostor": "far", "genuine": "frr"}
FEW_PAIRS = 30


@_style.display
class AtThresholds(_from_roc.FromEstimatorMixin):
    """Data of displays over scores, besides their values."""

    groups: tuple
    operating_thresholds: np.ndarray = ()
    levels: np.ndarray = ()
    name: str | None = None
    distance: bool = False

    def _finish(self, name, xlabel, ylabel):
        """Mark the thresholds, label the axes and add a legend."""
        score = "Distance" if self.distance else "Similarity"
        if self.distance:
            _style.as_distances(self.ax_)
        marked = self.operating_thresholds
        names = _style.point_names(marked, self.levels, self.distance)
        if name is not None:
            names = [_style.plain_text(f"{name}, {text}") for text in names]
        _style.mark(self.ax_, marked, names)
        return _style.finish(self, f"{score}{xlabel}", ylabel)


@_style.display
class ErrorRateDisplay(_from_roc.BothRates, AtThresholds):
    """The FAR and the FRR of every group over thresholds.

    A deployed system has one threshold for everybody: at a vertical line, read how far
    the curves of one kind lie apart. Build it with :meth:`from_roc` or
    :meth:`from_estimator`. Parameters are kept as attributes.

    Parameters
    ----------
    threshold : ndarray, shape (n_thresholds,)
        Similarities from which on a pair is accepted, increasing.
    far, frr : ndarrays, shape (n_curves, n_thresholds)
        Rates, each in [0, 1]. Lower is better.
    far_low, far_high, frr_low, frr_high : ndarrays, shape (n_curves, n_thresholds)
        Intervals at each threshold on its own.
    far_supported, frr_supported : ndarrays of bool, shape (n_curves, n_thresholds)
        Whether there are enough errors, of enough people.
    groups : tuple, shape (n_curves,)
        Label of each curve. If None, overall.
    operating_thresholds : ndarray, shape (n_levels,), default=()
        Thresholds to mark, at which a pair of that similarity is accepted.
    levels : ndarray, shape (n_levels,), default=()
        FAR levels that set them, or nan where they were given.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    distance : bool, default=False
        Whether scores are minus distances, which the axis then shows.
    sampled_to : float, default=None
        Largest threshold at which not all impostor pairs were counted, shaded up to it,
        or None where all were. The FRR is exact everywhere.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        Supported parts, the FAR of every group, then the FRR.
    unsupported_lines_ : list of matplotlib Line2D or None
        The rest of each curve, or None where all is supported.

    See Also
    --------
    SimilarityROCDisplay : One rate over the other, without thresholds.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import ErrorRateDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> display = ErrorRateDisplay.from_roc(roc, far=1e-2, ax=Figure().subplots())
    >>> display.far.shape == (2, display.threshold.size)
    True
    """

    threshold: np.ndarray
    sampled_to: float | None = None

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        threshold: ArrayLike | None = None,
        far: ArrayLike = 1e-3,
        operating_thresholds: ArrayLike | None = None,
        groups: Sequence[object] | None = None,
        ax: Any = None,
        name: str | None = None,
        distance: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Compute rates at thresholds with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        threshold : array-like, shape (n_thresholds,), default=None
            Similarities from which on a pair is accepted. By default 41 of them, from
            where the overall FAR is 0.2 to where it is as low as the data can resolve.
        far : float in (0, 1) or array-like, shape (n_levels,), default=1e-3
            Levels of the overall FAR whose thresholds are marked. None marks nothing.
        operating_thresholds : array-like, shape (n_levels,), default=None
            Thresholds to mark instead, at which a pair of that similarity is accepted:
            those of a deployed system or, with ``far``, those set on other data.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall. By default every group,
            or overall where there is none.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        distance : bool, default=False
            Whether scores are minus distances, which the axis then shows.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : ErrorRateDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.estimate`.
        """
        groups = _from_roc.check_roc_groups(roc, groups, overall=False) or (None,)
        marked, levels = _from_roc.operating_points(roc, far, operating_thresholds)
        if threshold is None:
            threshold = _from_roc.default_thresholds(roc, marked)
        grid = np.sort(check_threshold(threshold), axis=None)
        columns, sampled = _from_roc.both_rates(roc, groups, threshold=grid)
        if sampled.any():
            columns["sampled_to"] = float(grid[sampled].max())
        columns |= {"operating_thresholds": marked, "levels": levels, "name": name}
        display = cls(threshold=grid, groups=groups, distance=distance, **columns)
        return display.plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        band: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curves: the FAR with filled markers, the FRR with a thinner line.

        A rate of zero has no place on a log axis: it is drawn at the lower edge, half the
        smallest positive number shown. The stored arrays keep the zero.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        band : {"pointwise"} or None, default=None
            Whether intervals are drawn: filled, or for more than three curves as bars.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : ErrorRateDisplay
            This one.

        Raises
        ------
        ValueError
            If band is not one of its options.
        """
        if band is not None:
            check_option(band, "band", ("pointwise",))
        ax, name, earlier = _style.begin(self, ax, name)
        floor = _style.smallest_positive(self.far, self.frr)
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        thin = {"linewidth": 1.0, "markersize": 4.0}
        styles += [{**style, **thin} for style in styles]
        labels = _style.group_labels(self.groups, self.far, name, "no impostor pairs")
        # Both curves of a group share its style and one legend entry.
        labels += ["_nolegend_"] * len(labels)
        rows, supported, low, high = (
            np.concatenate([getattr(self, rate + field) for rate in RATES])
            for field in ("", "_supported", "_low", "_high")
        )
        drawn = np.maximum(rows, floor)
        _style.draw_curves(self, self.threshold, drawn, supported, styles, labels)
        low, high = np.maximum(low, floor), np.maximum(high, floor)
        n_groups = 0 if band is None else len(self.groups)
        for part in (slice(n_groups), slice(n_groups, 2 * n_groups)):
            edges = low[part], high[part], supported[part]
            _style.draw_bands(ax, self.threshold, *edges, self.lines_[part])
        for rate in RATES:
            self._name_rate(rate)
        ax.set_yscale("log")
        ends = self.threshold.min(), self.threshold.max()
        _style.set_limits(ax, earlier, ends, (floor, 3.0))
        _style.percent_ticks(ax.yaxis, (ax.get_ylim()[0], 1.0))
        if self.sampled_to is not None:
            label = f"FMR {_from_roc.SAMPLED}"
            _style.shade(ax, (ends[0], self.sampled_to), label)
        return self._finish(name, " threshold", "Rate of the group")

    def _name_rate(self, rate):
        """Write the name of a rate above the end where it is large."""
        values = getattr(self, rate)
        if np.isnan(values).all():
            return
        # Of distances, the axis runs the other way.
        side = "left" if (rate == "far") != self.distance else "right"
        end = 0 if rate == "far" else -1
        place = self.threshold[end], min(np.nanmax(values[:, end]), 0.9)
        offset = (4 if side == "left" else -4, 7)
        _style.write_once(self.ax_, RATES[rate], place, offset, ha=side)


@_style.display
class ScoreHistogramDisplay(AtThresholds):
    """Distributions of genuine and impostor scores by group, with the threshold.

    Impostor pairs at or above the threshold are falsely accepted, genuine pairs below it
    falsely rejected. Build it with :meth:`from_roc` or :meth:`from_estimator`. Parameters
    are kept as attributes.

    Parameters
    ----------
    edges : ndarray, shape (n_bins + 1,)
        Ends of the bins of the similarity, increasing.
    genuine, impostor : ndarrays, shape (n_curves, n_bins)
        Densities, which times the width of a bin give the share of pairs in it, or nan
        without a pair.
    n_genuine, n_impostor : ndarrays of int, shape (n_curves,)
        Number of pairs. For fewer than 30 no density is drawn, but marks at the bottom
        where a bin contains any.
    groups : tuple, shape (n_curves,)
        Label of each curve. If None, overall.
    operating_thresholds : ndarray, shape (n_levels,), default=()
        Thresholds to mark, at which a pair of that similarity is accepted.
    levels : ndarray, shape (n_levels,), default=()
        FAR levels that set them, or nan where they were given.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    distance : bool, default=False
        Whether scores are minus distances, which the axis then shows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        The impostor scores of every group, then the genuine.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.score_summary : Means and deviations of the scores.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import ScoreHistogramDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> display = ScoreHistogramDisplay.from_roc(roc, ax=Figure().subplots())
    >>> display.genuine.shape
    (2, 60)
    """

    edges: np.ndarray
    genuine: np.ndarray
    impostor: np.ndarray
    n_genuine: np.ndarray
    n_impostor: np.ndarray

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        edges: ArrayLike | None = None,
        far: ArrayLike = 1e-3,
        operating_thresholds: ArrayLike | None = None,
        groups: Sequence[object] | None = None,
        ax: Any = None,
        name: str | None = None,
        distance: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Count the pairs in each bin with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        edges : int or array-like, shape (n_bins + 1,), default=None
            Ends of the bins. A number of bins spreads them over the scores, of which
            those beyond five deviations from every group's mean are left out. None takes
            twice the square root of the number of genuine pairs, between 20 and 60.
        far : float in (0, 1) or array-like, shape (n_levels,), default=1e-3
            Levels of the overall FAR whose thresholds are marked. None marks nothing.
        operating_thresholds : array-like, shape (n_levels,), default=None
            Thresholds to mark instead, at which a pair of that similarity is accepted:
            those of a deployed system or, with ``far``, those set on other data.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall. By default every group,
            or overall where there is none.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        distance : bool, default=False
            Whether scores are minus distances, which the axis then shows.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : ScoreHistogramDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.estimate`.
        """
        groups = _from_roc.check_roc_groups(roc, groups, overall=False) or (None,)
        edges, fields = histograms(roc, groups, edges)
        marked, levels = _from_roc.operating_points(roc, far, operating_thresholds)
        fields |= {"operating_thresholds": marked, "levels": levels, "name": name}
        display = cls(edges=edges, groups=groups, distance=distance, **fields)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the histograms: impostor scores filled, genuine scores as lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for every line.

        Returns
        -------
        display : ScoreHistogramDisplay
            This one.
        """
        ax, name, _ = _style.begin(self, ax, name)
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        known = self.groups, self.impostor, name, "no impostor pairs"
        self.lines_ = []
        for kind in PAIR_KINDS:
            for row, label in enumerate(_style.group_labels(*known)):
                label = label if kind == "impostor" else "_nolegend_"
                self._draw(kind, row, styles[row] | {"label": label})
        top = max(np.nanmax(self._enough(k), initial=0.0) for k in PAIR_KINDS) or 1.0
        ax.set(xlim=(self.edges[0], self.edges[-1]), ylim=(0, 1.15 * top))
        for kind in PAIR_KINDS:
            self._name_hump(kind)
        return self._finish(name, "", "Density of pairs within the group")

    def _draw(self, kind, row, style):
        density = getattr(self, kind)[row]
        steps = np.append(density, density[-1])
        if getattr(self, f"n_{kind}")[row] < FEW_PAIRS:
            self.lines_.append(self._mark_bins(row, density, style))
            return
        high = steps > 0.02 * np.nanmax(steps, initial=0.0)
        marked = _style.thinned(high, max(1, density.size // 12))
        look = {"markevery": marked, **style, "drawstyle": "steps-post"}
        (line,) = self.ax_.plot(self.edges, steps, **look)
        if kind == "impostor":
            filled = {"step": "post", "color": line.get_color(), "alpha": 0.15}
            self.ax_.fill_between(self.edges, steps, **filled)
        self.lines_.append(line)

    def _mark_bins(self, row, density, style):
        """Draw hollow marks near the bottom, a row for each group, in bins with pairs."""
        held, middles = density > 0, (self.edges[:-1] + self.edges[1:]) / 2
        hollow = {**style, "linestyle": "", "markerfacecolor": "white"}
        if held.any():
            _style.explain(self.ax_, _style.FEW, linestyle="")
        height = np.full(held.sum(), 0.03 + 0.035 * row)
        look = {"marker": "|", **hollow, "transform": self.ax_.get_xaxis_transform()}
        return self.ax_.plot(middles[held], height, **look)[0]

    def _enough(self, kind):
        """Densities of the groups with enough pairs, or of all if none has enough."""
        densities, enough = getattr(self, kind), getattr(self, f"n_{kind}") >= FEW_PAIRS
        return densities[enough] if enough.any() else densities

    def _name_hump(self, kind):
        densities = self._enough(kind)
        if np.isnan(densities).all():
            return
        row, column = np.unravel_index(np.nanargmax(densities), densities.shape)
        place = self.edges[column : column + 2].mean(), densities[row, column]
        _style.write_once(self.ax_, f"{kind} pairs", place, (0, 6), ha="center")


def histograms(roc, groups, edges=None):
    """Ends of bins, and for each group both kinds of pairs: densities and numbers.

    Parameters
    ----------
    roc : SimilarityROC
    groups : sequence of labels, shape (n_groups,)
    edges : int or array-like, shape (n_bins + 1,), default=None
        See :meth:`ScoreHistogramDisplay.from_roc`.

    Returns
    -------
    edges : ndarray, shape (n_bins + 1,)
    columns : dict of str -> ndarray, of n_groups rows
        The fields of the display that have a row for each group.
    """
    if edges is None:
        edges = int(np.clip(2 * np.sqrt(_from_roc.n_pairs(roc, "frr")), 20, 60))
    edges = _edges(roc, groups, edges)
    rates = PAIR_KINDS.values()
    counts = [[_from_roc.n_pairs(roc, rate, g) for g in groups] for rate in rates]
    numbers = {f"n_{k}": np.array(c) for k, c in zip(PAIR_KINDS, counts, strict=True)}
    for kind in PAIR_KINDS:
        if not numbers[f"n_{kind}"].all():
            warn_undefined(f"No {kind} pair in a group: it has no density, and is nan.")
    return edges, numbers | {k: _densities(roc, groups, edges, k) for k in PAIR_KINDS}


def _densities(roc, groups, edges, kind):
    """Share of the pairs in each bin over its width, (n_groups, n_bins)."""
    # The share at or above an edge is a FAR, the share below it an FRR.
    rate = PAIR_KINDS[kind]
    shares = [_from_roc.rates_at(roc, edges, rate, group) for group in groups]
    # Differences of running shares may be negative by rounding.
    steps = np.diff(np.stack(shares), axis=1) * (-1 if rate == "far" else 1)
    return np.maximum(steps, 0) / np.diff(edges)


def _edges(roc, groups, edges):
    """Ends of bins, increasing, from the ends or from the number of bins."""
    given = to_array(edges, "edges")
    if given.ndim == 0:
        return _trimmed(roc, groups, check_count(edges, "edges", 1, _style.MOST_BINS))
    found = np.unique(check_threshold(edges, "edges"))
    if found.size < 2:
        problem = f"must be a number of bins, or two ends at least, got {plain(edges)}."
        raise invalid("edges", edges, problem)
    return found


def _trimmed(roc, groups, n_bins):
    """Edges of ``n_bins`` bins, where bins at the ends are not empty for everyone."""
    edges = np.linspace(*_from_roc.score_range(roc), n_bins + 1)
    held = [np.nan_to_num(_densities(roc, groups, edges, k)) for k in PAIR_KINDS]
    filled = np.flatnonzero(np.sum(held, axis=(0, 1)))
    if filled.size == 0:
        return edges
    return np.linspace(edges[filled[0]], edges[filled[-1] + 1], n_bins + 1)


# ---- costs and calibration -----------------------------------------------------------


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
        """The display of a fitted SimilarityROC, not drawn. Intervals are valid ``together`` or alone."""
        groups = _from_roc.check_roc_groups(roc, groups, overall=False) or (None,)
        if check_count(n_bins, "n_bins", 2) % 2:
            raise invalid("n_bins", n_bins, f"must be even, got {n_bins}.")
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
        Kind of error, as in :func:`~skfairfr.metrics.expected_performance_curve`.
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
            As in :func:`~skfairfr.metrics.expected_performance_curve`. A larger score means
            more similar.
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
