"""The display of both error rates over thresholds, by group."""

import numpy as np

from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import (
    FromEstimatorMixin,
    beyond_far_max,
    check_roc_groups,
    default_thresholds,
    is_beyond,
    operating_points,
)
from skfairfr.utils._validation import check_threshold

RATES = ("far", "frr")


class ErrorRateDisplay(FromEstimatorMixin):
    """The FAR and the FRR of every group over thresholds.

    A deployed system has one threshold for everybody: at a vertical line, read how far
    the curves of one kind lie apart. Build it with :meth:`from_roc` or
    :meth:`from_estimator`; parameters are kept as attributes.

    Parameters
    ----------
    threshold : ndarray, shape (n_thresholds,)
        Similarities from which on a pair is accepted, increasing.
    far, frr : ndarrays, shape (n_curves, n_thresholds)
        Rates, each in [0, 1]; lower is better.
    far_low, far_high, frr_low, frr_high : ndarrays, shape (n_curves, n_thresholds)
        Intervals at each threshold on its own.
    far_supported, frr_supported : ndarrays of bool, shape (n_curves, n_thresholds)
        Whether there are enough errors, of enough people.
    groups : tuple, shape (n_curves,)
        Label of each curve; None is overall.
    operating_thresholds : ndarray, shape (n_levels,), default=()
        Thresholds to mark, at which a pair of that similarity is accepted.
    levels : ndarray, shape (n_levels,), default=()
        FAR levels that set them; nan where they were given.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    distance : bool, default=False
        Whether scores are minus distances, which the axis then shows.
    sampled_to : float, default=None
        Largest threshold at which not all impostor pairs were counted, shaded up to it;
        None where all were. The FRR is exact everywhere.
    beyond : str, default=""
        Where the FAR and its interval come from there, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        Supported parts, the FAR of every group, then the FRR.
    unsupported_lines_ : list of matplotlib Line2D or None
        The rest of each curve; None where all is supported.

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

    def __init__(
        self,
        *,
        threshold,
        far,
        frr,
        far_low,
        far_high,
        frr_low,
        frr_high,
        far_supported,
        frr_supported,
        groups,
        operating_thresholds=(),
        levels=(),
        name=None,
        distance=False,
        sampled_to=None,
        beyond="",
    ):
        self.threshold = threshold
        self.far = far
        self.frr = frr
        self.far_low = far_low
        self.far_high = far_high
        self.frr_low = frr_low
        self.frr_high = frr_high
        self.far_supported = far_supported
        self.frr_supported = frr_supported
        self.groups = groups
        self.operating_thresholds = operating_thresholds
        self.levels = levels
        self.name = name
        self.distance = distance
        self.sampled_to = sampled_to
        self.beyond = beyond

    @classmethod
    def from_roc(
        cls,
        roc,
        *,
        threshold=None,
        far=1e-3,
        operating_thresholds=None,
        groups=None,
        ax=None,
        name=None,
        distance=False,
        **kwargs,
    ):
        """Compute rates at thresholds with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        threshold : array-like, shape (n_thresholds,), default=None
            Similarities from which on a pair is accepted; by default 41 of them, from
            where the overall FAR is 0.2 to where it is as low as the data can resolve.
        far : float in (0, 1) or array-like, shape (n_levels,), default=1e-3
            Levels of the overall FAR whose thresholds are marked; None marks nothing.
        operating_thresholds : array-like, shape (n_levels,), default=None
            Thresholds to mark instead, at which a pair of that similarity is accepted:
            those of a deployed system or, with ``far``, those that other data set.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall; by default every group,
            or overall where there is none.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
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
        groups = check_roc_groups(roc, groups, overall=False) or (None,)
        marked, levels = operating_points(roc, far, operating_thresholds)
        grid = default_thresholds(roc, marked) if threshold is None else threshold
        grid = np.sort(check_threshold(grid), axis=None)
        columns = {}
        for rate in RATES:
            found = [roc.estimate(threshold=grid, rate=rate, group=g) for g in groups]
            if rate == "far":
                beyond, sampled_to = beyond_far_max(*found), _sampled_to(grid, found)
            columns[rate] = np.stack([estimate.value for estimate in found])
            for field in ("low", "high", "supported"):
                stacked = np.stack([getattr(estimate, field) for estimate in found])
                columns[f"{rate}_{field}"] = stacked
        display = cls(
            threshold=grid,
            **columns,
            groups=groups,
            operating_thresholds=marked,
            levels=levels,
            name=name,
            distance=distance,
            sampled_to=sampled_to,
            beyond=beyond,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, band=None, **kwargs):
        """Draw the curves: the FAR with filled markers, the FRR with a thinner line.

        A rate of zero has no place on a log axis: it is drawn at the lower edge, half the
        smallest positive number shown; the stored arrays keep the zero.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        band : {"pointwise"} or None, default=None
            Whether intervals are drawn: filled, or for more than three curves as bars.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : ErrorRateDisplay
            This one.
        """
        name = _style.name_of(self, name)
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        earlier = _style.earlier_limits(ax)
        floor = _style.smallest_positive(self.far, self.frr)
        styles, name = _style.styles_on(ax, self.groups, name)
        styles = [{**style, **kwargs} for style in styles]
        self.lines_, self.unsupported_lines_ = [], []
        for rate in RATES:
            for row, style in enumerate(styles):
                thin = {} if rate == "far" else {"linewidth": 1.0, "markersize": 4.0}
                self._draw(rate, row, {**style, **thin}, floor, name)
            if band is not None:
                self._draw_bands(rate, floor)
            self._name_rate(rate)
        ax.set_yscale("log")
        ends = self.threshold.min(), self.threshold.max()
        _style.set_limits(ax, earlier, ends, (floor, 3.0))
        _style.percent_ticks(ax.yaxis, (ax.get_ylim()[0], 1.0))
        if self.sampled_to is not None:
            label = f"FAR beyond far_max,\n{self.beyond}"
            _style.shade(ax, (ends[0], self.sampled_to), label)
        score = "Distance" if self.distance else "Similarity"
        ax.set(xlabel=f"{score} threshold", ylabel="Rate of the group")
        if self.distance:
            _style.as_distances(ax)
        _style.light_grid(ax)
        marks = self.operating_thresholds, self.levels
        _style.mark_thresholds(ax, *marks, self.distance)
        _style.add_legend(ax, min(len(self.levels), 2))
        return self

    def _draw(self, rate, row, style, floor, name):
        ax, group = self.ax_, self.groups[row]
        values = getattr(self, rate)[row]
        supported = getattr(self, f"{rate}_supported")[row]
        y = np.maximum(values, floor)
        label = _style.group_label(group, values, name, "no impostor pairs")
        # Both curves of a group share its style and one legend entry.
        label = label if rate == "far" else "_nolegend_"
        line, doubtful = _style.draw_curve(
            ax, self.threshold, y, supported, style, label
        )
        self.lines_.append(line)
        self.unsupported_lines_.append(doubtful)

    def _draw_bands(self, rate, floor):
        low, high, supported = (
            getattr(self, f"{rate}_{field}") for field in ("low", "high", "supported")
        )
        edges = np.maximum(low, floor), np.maximum(high, floor)
        lines = self.lines_[-len(self.groups) :]
        _style.draw_bands(self.ax_, self.threshold, *edges, supported, lines)

    def _name_rate(self, rate):
        """Write the name of a rate above the end where it is large."""
        values = getattr(self, rate)
        if np.isnan(values).all():
            return
        # Of distances, the axis runs the other way.
        end, side = (0, "left") if rate == "far" else (-1, "right")
        if self.distance:
            side = {"left": "right", "right": "left"}[side]
        n_near = max(self.threshold.size // 5, 1)
        near = values[:, -n_near:] if rate == "frr" else values[:, :n_near]
        self.ax_.annotate(
            _style.RATE_LABELS[rate],
            (self.threshold[end], min(np.nanmax(near), 0.9)),
            (4 if side == "left" else -4, 7),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize="small",
        )


def _sampled_to(thresholds, estimates):
    """Largest threshold with values from a sample; None if all are exact."""
    sampled = np.any([is_beyond(found) for found in estimates], axis=0)
    return float(thresholds[sampled].max()) if sampled.any() else None
