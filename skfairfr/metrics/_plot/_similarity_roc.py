"""The display of the FRR over the FAR, overall and by group."""

import numpy as np

from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import (
    FromEstimatorMixin,
    beyond_far_max,
    check_roc_groups,
    levels_of,
)
from skfairfr.utils._validation import check_option

DET_TICKS = np.array(
    [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99]
)
FAR_LABELS = {
    "overall": "FAR (FMR) over all impostor pairs",
    "worst_group": "FAR (FMR) of the group where it is largest",
    "group": "FAR (FMR) of the group itself",
}


class SimilarityROCDisplay(FromEstimatorMixin):
    """The frr over the far with its uncertainty, overall and by group.

    Build it with :meth:`from_roc` or :meth:`from_estimator`; parameters are kept as
    attributes. Lower curves are better.

    Parameters
    ----------
    far : ndarray, shape (n_levels,)
        FAR levels in (0, 1), increasing.
    frr : ndarray, shape (n_curves, n_levels)
        FRR in [0, 1] at each level; lower is better.
    low, high : ndarrays, shape (n_curves, n_levels)
        Interval at each level on its own.
    band_low, band_high : ndarrays, shape (n_curves, n_levels)
        Band meant to hold a whole curve at once.
    supported : ndarray of bool, shape (n_curves, n_levels)
        Whether there are enough errors, of enough people.
    groups : tuple, shape (n_curves,)
        Label of each curve; None is overall.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        Which FAR the levels are of.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    far_max : float in (0, 1), default=None
        Level above which not all pairs were counted, shaded; None where all were.
    beyond : str, default=""
        Where values and intervals come from there, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve, its supported part.
    unsupported_lines_ : list of matplotlib Line2D or None
        The rest of each curve; None where all is supported.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.curve : Computes a curve.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import SimilarityROCDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> display = SimilarityROCDisplay.from_roc(roc, ax=Figure().subplots())
    >>> display.groups
    (None, 'female', 'male')
    """

    def __init__(
        self,
        *,
        far,
        frr,
        low,
        high,
        band_low,
        band_high,
        supported,
        groups,
        operating_point="overall",
        name=None,
        far_max=None,
        beyond="",
    ):
        self.far = far
        self.frr = frr
        self.low = low
        self.high = high
        self.band_low = band_low
        self.band_high = band_high
        self.supported = supported
        self.groups = groups
        self.operating_point = operating_point
        self.name = name
        self.far_max = far_max
        self.beyond = beyond

    @classmethod
    def from_roc(
        cls,
        roc,
        *,
        far=None,
        groups=None,
        operating_point="overall",
        ax=None,
        name=None,
        **kwargs,
    ):
        """Compute curves with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        far : array-like, shape (n_levels,), default=None
            FAR levels in (0, 1); by default eight a decade, from the first power of ten
            with ten impostor pairs above its threshold up to 0.1.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall; by default overall and
            every group, and with ``operating_point="group"`` every group.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            Whether the levels are of the overall FAR, of the largest of the groups', or
            of each group's own.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : SimilarityROCDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.curve`, and if there is nothing to
            draw: no groups, and each at its own threshold.
        """
        groups = check_roc_groups(roc, groups, overall=operating_point != "group")
        if not groups:
            raise ValueError(
                "There is no group to draw a curve for: pass sensitive_features= to fit of "
                "roc, or use operating_point='overall'."
            )
        levels = levels_of(roc, far, operating_point)
        curves = [
            roc.curve(levels, group=group, operating_point=operating_point)
            for group in groups
        ]
        beyond = beyond_far_max(*curves)
        fields = ("low", "high", "band_low", "band_high", "supported")
        stacked = {f: np.stack([getattr(c, f) for c in curves]) for f in fields}
        display = cls(
            far=levels,
            frr=np.stack([curve.value for curve in curves]),
            **stacked,
            groups=groups,
            operating_point=operating_point,
            name=name,
            far_max=roc.far_max if beyond else None,
            beyond=beyond,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, scale="log", band="pointwise", **kwargs):
        """Draw the curves.

        A rate of zero has no place on either scale: it is drawn at the lower edge, half
        the smallest positive number shown; the stored arrays keep the zero.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        scale : {"log", "det"}, default="log"
            Logarithms of both rates, or normal deviates, in which the scores of two
            normal distributions give a straight line.
        band : {"pointwise", "simultaneous"} or None, default="pointwise"
            Which band is drawn: filled, or for more than three curves as bars.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : SimilarityROCDisplay
            This one.

        Raises
        ------
        ValueError
            If scale or band is not one of its options.
        """
        check_option(scale, "scale", ("log", "det"))
        low, high = _style.band_of(self, band)
        name = _style.name_of(self, name)
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        earlier = _style.earlier_limits(ax)
        shown = [self.frr] if band is None else [self.frr, low]
        place = _Place(scale, _style.smallest_positive(*shown))
        x = _Place(scale, 0.0)(self.far)
        styles, name = _style.styles_on(ax, self.groups, name)
        styles = [{**style, **kwargs} for style in styles]
        self.lines_, self.unsupported_lines_ = [], []
        for row, (group, style) in enumerate(zip(self.groups, styles, strict=True)):
            supported = self.supported[row]
            label = _style.group_label(group, self.frr[row], name)
            y = place(self.frr[row])
            line, doubtful = _style.draw_curve(ax, x, y, supported, style, label)
            self.lines_.append(line)
            self.unsupported_lines_.append(doubtful)
        if band is not None:
            edges = place(low), place(high)
            _style.draw_bands(ax, x, *edges, self.supported, self.lines_)
        place.finish(ax, x, earlier)
        if self.far_max is not None:
            start = float(_Place(scale, 0.0)(self.far_max))
            ends = start, max(x.max(), start)
            _style.shade(ax, ends, f"above far_max = {self.far_max:g},\n{self.beyond}")
        ax.set(xlabel=FAR_LABELS[self.operating_point], ylabel="FRR (FNMR)")
        _style.light_grid(ax)
        _style.add_legend(ax)
        return self


class _Place:
    """Position of a rate: itself on log axes, or its normal deviate."""

    def __init__(self, scale, floor):
        self.scale = scale
        self.floor = floor

    def __call__(self, rates):
        """Positions, (n_levels,), with zero at the floor; one stays finite."""
        kept = np.clip(rates, self.floor, 1.0)
        if self.scale == "log":
            return kept
        from scipy.stats import norm

        return norm.ppf(np.minimum(kept, 1 - 1e-6))

    def finish(self, ax, x, earlier):
        """Set scales, ticks and limits of the axes."""
        if self.scale == "log":
            ax.set(xscale="log", yscale="log")
            ylim = self.floor, min(ax.get_ylim()[1], 1.0)
            _style.set_limits(ax, earlier, (x.min(), x.max()), ylim)
            for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
                _style.percent_ticks(axis, ends)
            return
        from scipy.stats import norm

        ticks = norm.ppf(DET_TICKS)
        labels = [f"{100 * tick:g}%" for tick in DET_TICKS]
        ylim = norm.ppf(self.floor), min(ax.get_ylim()[1], norm.ppf(0.99))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(ticks, labels)
        _style.set_limits(ax, earlier, (x.min(), x.max()), ylim)
