"""The display of disparities over FAR levels, or of their uncertainty."""

import numpy as np

from skfairfr._core._disparities import DISPARITIES
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import (
    FromEstimatorMixin,
    beyond_far_max,
    levels_of,
)
from skfairfr.metrics._plot._similarity_roc import FAR_LABELS
from skfairfr.utils._validation import check_option, check_sequence

HOW_LABELS = {
    "max_min": "max / min",
    "max_geomean": "max / geomean",
    "log_geomean": "log-geomean",
    "gini": "Gini",
    "difference": "max \N{MINUS SIGN} min",
    "std": "sd",
    "ratio": "ratio",
}


class DisparityCurveDisplay(FromEstimatorMixin):
    """One or several disparities over FAR levels, with their uncertainty.

    Build it with :meth:`from_roc` or :meth:`from_estimator`; parameters are kept as
    attributes. Larger disparities are less fair; the dotted line shows equal groups.

    Parameters
    ----------
    far : ndarray, shape (n_levels,)
        FAR levels in (0, 1), increasing.
    value : ndarray, shape (n_curves, n_levels)
        Disparities; larger is less fair.
    low, high : ndarrays, shape (n_curves, n_levels)
        Interval at each level on its own.
    band_low, band_high : ndarrays, shape (n_curves, n_levels)
        Band meant to hold a whole curve at once.
    normalized_uncertainty : ndarray, shape (n_curves, n_levels)
        Standard deviation over value, lower being more certain.
    supported : ndarray of bool, shape (n_curves, n_levels)
        Whether every group has enough errors, of enough people.
    curves : tuple of (str, str), shape (n_curves,)
        The rate, "far" or "frr", and the disparity of each curve.
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
    skfairfr.metrics.disparity : The formulas.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import DisparityCurveDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> display = DisparityCurveDisplay.from_roc(
    ...     roc, rate="far", how=("max_min", "max_geomean"), ax=Figure().subplots()
    ... )
    >>> display.curves
    (('far', 'max_min'), ('far', 'max_geomean'))
    """

    def __init__(
        self,
        *,
        far,
        value,
        low,
        high,
        band_low,
        band_high,
        normalized_uncertainty,
        supported,
        curves,
        operating_point="overall",
        name=None,
        far_max=None,
        beyond="",
    ):
        self.far = far
        self.value = value
        self.low = low
        self.high = high
        self.band_low = band_low
        self.band_high = band_high
        self.normalized_uncertainty = normalized_uncertainty
        self.supported = supported
        self.curves = curves
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
        rate=("far", "frr"),
        how="max_min",
        operating_point="overall",
        ax=None,
        name=None,
        **kwargs,
    ):
        """Compute disparities with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted, with groups.
        far : array-like, shape (n_levels,), default=None
            FAR levels in (0, 1); by default eight a decade, from the first power of ten
            with ten impostor pairs above its threshold up to 0.1.
        rate : {"far", "frr"} or sequence, shape (n_rates,), default=("far", "frr")
            Rates whose disparity is drawn.
        how : str, callable or sequence, shape (n_disparities,), default="max_min"
            Disparities, as ``how`` of :meth:`~skfairfr.metrics.SimilarityROC.estimate`;
            a sequence gives a curve for each, except ``("ratio", a, b)``, which is one.
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
        display : DisparityCurveDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.curve`.
        """
        one = isinstance(rate, str)
        rates = (rate,) if one else check_sequence(rate, "rate", "names of rates")
        several = isinstance(how, list | tuple) and how[0] != "ratio"
        hows = tuple(how) if several else (how,)
        levels = levels_of(roc, far, operating_point)
        questions = [
            {"rate": r, "how": h, "operating_point": operating_point}
            for r in rates
            for h in hows
        ]
        curves = [roc.curve(levels, **question) for question in questions]
        spread = [roc.estimate(levels, **q).normalized_uncertainty for q in questions]
        beyond = beyond_far_max(*curves)
        fields = ("value", "low", "high", "band_low", "band_high", "supported")
        stacked = {f: np.stack([getattr(c, f) for c in curves]) for f in fields}
        display = cls(
            far=levels,
            **stacked,
            normalized_uncertainty=np.stack(spread),
            curves=tuple((q["rate"], _how_name(q["how"])) for q in questions),
            operating_point=operating_point,
            name=name,
            far_max=roc.far_max if beyond else None,
            beyond=beyond,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, quantity="value", band="pointwise", **kwargs):
        """Draw the curves.

        Infinite disparities (a group without errors) are triangles at the upper edge, and
        bands may leave the axes, whose limits are those of the curves and of the
        supported bands; the stored arrays keep everything.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        quantity : {"value", "normalized_uncertainty"}, default="value"
            Whether the disparities themselves are drawn, or their uncertainty, on a
            log axis whose limits are those of the supported levels.
        band : {"pointwise", "simultaneous"} or None, default="pointwise"
            Which band of the values is drawn: filled, or for more than three curves as
            bars.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : DisparityCurveDisplay
            This one.

        Raises
        ------
        ValueError
            If quantity or band is not one of its options.
        """
        check_option(quantity, "quantity", ("value", "normalized_uncertainty"))
        low, high = _style.band_of(self, band)
        drawn = getattr(self, quantity)
        with_band = quantity == "value" and band is not None
        name = _style.name_of(self, name)
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        earlier = _style.earlier_limits(ax)
        self.lines_, self.unsupported_lines_ = [], []
        styles, name = self._styles(ax, name)
        for row, style in enumerate(styles):
            y = np.where(np.isfinite(drawn[row]), drawn[row], np.nan)
            line, doubtful = _style.draw_curve(
                ax,
                self.far,
                y,
                self.supported[row],
                {**style, **kwargs},
                self._label(row, drawn[row], name),
            )
            self.lines_.append(line)
            self.unsupported_lines_.append(doubtful)
            self._draw_infinite(drawn[row], line.get_color())
        # Unsupported levels are too uncertain to set the scale of uncertainties.
        trusted = np.where(self.supported, drawn, np.nan)
        shown = [
            drawn if quantity == "value" or not np.isfinite(trusted).any() else trusted
        ]
        if with_band:
            self._draw_bands(low, high)
            shown += [np.where(self.supported, b, np.nan) for b in (low, high)]
        self._finish(quantity, shown, earlier)
        return self

    def _styles(self, ax, name):
        """Colour and marker show the disparity, the line shows the rate."""
        hows = list(dict.fromkeys(how for _, how in self.curves))
        rates = list(dict.fromkeys(rate for rate, _ in self.curves))
        own, name = _style.styles_on(ax, hows if len(hows) > 1 else rates, name)
        styles = []
        for rate, how in self.curves:
            which = rates.index(rate)
            index = hows.index(how) if len(hows) > 1 else which
            styles.append({**own[index], "linestyle": _style.LINES[which]})
        return styles, name

    def _label(self, row, drawn, name):
        rate, how = self.curves[row]
        label = f"{rate.upper()}: {HOW_LABELS.get(how, how)}"
        label = label if name is None else _style.plain_text(f"{name}, {label}")
        undefined = np.isnan(drawn).all()
        return f"{label} (undefined)" if undefined else label

    def _draw_infinite(self, values, color):
        infinite = np.isposinf(values)
        if not infinite.any():
            return
        style = {"linestyle": "", "marker": "^", "markersize": 6}
        self.ax_.plot(
            self.far[infinite],
            np.ones(infinite.sum()),
            **style,
            color=color,
            markerfacecolor="white",
            transform=self.ax_.get_xaxis_transform(),
            clip_on=False,
        )
        _style.explain(self.ax_, _style.INFINITE, **style)

    def _draw_bands(self, low, high):
        # An infinite end reaches beyond any axes.
        largest = np.max(self.value, initial=1.0, where=np.isfinite(self.value))
        largest = np.max(high, initial=largest, where=np.isfinite(high))
        high = np.where(np.isposinf(high), 10 * largest, high)
        _style.draw_bands(self.ax_, self.far, low, high, self.supported, self.lines_)

    def _neutral(self):
        """Value of equal groups; None if it differs between the disparities."""
        names = {how.split()[0] for _, how in self.curves}
        values = {DISPARITIES[n].neutral if n in DISPARITIES else None for n in names}
        return values.pop() if len(values) == 1 else None

    def _finish(self, quantity, shown, earlier):
        ax = self.ax_
        values = np.concatenate([np.ravel(s) for s in shown])
        values = values[np.isfinite(values)]
        neutral = self._neutral() if quantity == "value" else None
        if neutral is not None:
            values = np.append(values, neutral)
            ax.axhline(neutral, color=_style.GREY, linewidth=1, linestyle=(0, (1, 1.5)))
        as_ratios = quantity == "value" and neutral == 1 and (values > 0).all()
        if as_ratios and values.size:
            ylim = _style.ends_of_ratios(values)
            ax.set_yscale("log")
        elif quantity == "value" and values.size:
            room = 0.06 * (np.ptp(values) or 1.0)
            ylim = values.min() - room, values.max() + room
        elif (values > 0).any():
            ax.set_yscale("log")
            ylim = values[values > 0].min() / 1.3, values.max() * 1.3
        else:
            ylim = 0.0, 1.0
        ax.set_xscale("log")
        _style.set_limits(ax, earlier, (self.far.min(), self.far.max()), ylim)
        _style.percent_ticks(ax.xaxis, sorted(ax.get_xlim()))
        if ax.get_yscale() == "log":
            _style.ratio_ticks(ax.yaxis, ax.get_ylim())
        ylabel = {
            "value": "Disparity of the groups"
            + (", log scale" if ax.get_yscale() == "log" else ""),
            "normalized_uncertainty": "Standard error / disparity\n(lower is more certain)",
        }
        ax.set(xlabel=FAR_LABELS[self.operating_point], ylabel=ylabel[quantity])
        if self.far_max is not None:
            ends = self.far_max, max(self.far.max(), self.far_max)
            _style.shade(ax, ends, f"above far_max = {self.far_max:g},\n{self.beyond}")
        _style.light_grid(ax)
        _style.add_legend(ax, above=True)


def _how_name(how):
    """A printable name of a disparity."""
    if isinstance(how, str):
        return how
    if isinstance(how, tuple):
        name, *groups = how
        return name if not groups else f"{name} {groups[1]} / {groups[0]}"
    return getattr(how, "__name__", "disparity")
