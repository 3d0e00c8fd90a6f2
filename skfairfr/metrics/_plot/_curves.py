"""Displays of curves: over FAR levels, over a covariate such as age, and over the size of a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from skfairfr._core._rates import DISPARITIES
from skfairfr._text._words import RATES
from skfairfr.metrics._plot import _from_roc, _style
from skfairfr.utils._errors import invalid
from skfairfr.utils._validation import check_count, check_option, check_sequence, plain

if TYPE_CHECKING:
    from skfairfr.metrics._explain import Explanation
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC


DET_TICKS = (*10.0 ** np.arange(-6, -1), 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.99)
FAR_LABELS = {
    "overall": "FMR over all impostor pairs",
    "worst_group": "FMR of the group where it is largest",
    "group": "FMR of the group itself",
}
# Points of detection costs.
COST_MARKERS = ("*", "X", "P", "d", "p", "h")
# Larger than any disparity drawn.
BEYOND = 1e9
HOW_LABELS = {
    "max_min": "largest / smallest",
    "max_geomean": "largest / geometric mean",
    "log_geomean": "sum of log10 distances from geometric mean",
    "gini": "Gini",
    "difference": "largest \N{MINUS SIGN} smallest",
    "std": "sd",
    "ratio": "ratio",
}


@_style.display
class SimilarityROCDisplay(_from_roc.OverLevels):
    """The frr over the far with its uncertainty, overall and by group.

    Build it with :meth:`from_roc` or :meth:`from_estimator`. Parameters are kept as
    attributes. Lower curves are better. ``operating_point="group", scale="det"`` draws the
    detection error tradeoff (DET) of every group [1]_, and ``p_target=`` marks where its
    detection cost is least.

    Parameters
    ----------
    far : ndarray, shape (n_levels,)
        FAR levels in (0, 1), increasing.
    frr : ndarray, shape (n_curves, n_levels)
        FRR in [0, 1] at each level. Lower is better.
    low, high : ndarrays, shape (n_curves, n_levels)
        Interval at each level on its own.
    supported : ndarray of bool, shape (n_curves, n_levels)
        Whether there are enough errors, of enough people.
    groups : tuple, shape (n_curves,)
        Label of each curve. If None, overall.
    band_low, band_high : ndarrays, shape (n_curves, n_levels), default=None
        Band meant to contain a whole curve at once, or None where none was computed.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        FAR to which the levels refer.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    far_max : float in (0, 1), default=None
        Level above which not all pairs were counted, shaded, or None where all were.
    cost_names : tuple of str, shape (n_costs,), default=()
        Mark on each curve, such as "minDCF, p_target 0.01".
    cost_far, cost_frr : ndarrays, shape (n_costs, n_curves), default=()
        Rates in [0, 1] there.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve, its supported part.
    unsupported_lines_ : list of matplotlib Line2D or None
        The rest of each curve, or None where all is supported.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.curve : Computes a curve.
    skfairfr.metrics.detection_cost : The cost of which points are marked.

    References
    ----------
    .. [1] Martin, A., Doddington, G., Kamm, T., Ordowski, M., & Przybocki, M. (1997). The DET
       curve in assessment of detection task performance. Eurospeech.

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

    frr: np.ndarray
    groups: tuple
    cost_names: tuple = ()
    cost_far: np.ndarray = ()
    cost_frr: np.ndarray = ()

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        far: ArrayLike | None = None,
        groups: Sequence[object] | None = None,
        operating_point: str = "overall",
        p_target: ArrayLike | None = None,
        threshold: float | str | None = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute curves with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        far : array-like, shape (n_levels,), default=None
            FAR levels in (0, 1). By default eight a decade, from the first power of ten
            with ten impostor pairs above its threshold up to 0.1.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall. By default overall and
            every group, and with ``operating_point="group"`` every group.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            Whether the levels are of the overall FAR, of the largest of the groups', or
            of each group's own.
        p_target : float in (0, 1) or array-like, shape (n_targets,), default=None
            Shares of genuine pairs among those to be decided. The point of each curve with
            the least detection cost is marked.
        threshold : float, {"bayes"} or None, default=None
            Similarity from which on a pair is accepted, whose actual cost is marked too: that
            of a deployed system or, if scores are natural logarithms of likelihood ratios,
            "bayes". Goes with ``p_target``.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
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
            As :meth:`~skfairfr.metrics.SimilarityROC.curve`, if there is nothing to draw (no
            groups, and each at its own threshold), and if costs of groups are to be marked
            over another FAR than their own.
        """
        overall = operating_point != "group"
        groups = _from_roc.check_roc_groups(roc, groups, overall=overall)
        if not groups:
            problem = "There is no group to draw a curve for: pass sensitive_features= to fit of"
            raise ValueError(f"{problem} roc, or use operating_point='overall'.")
        marked = {}
        if p_target is not None:
            if operating_point != "group" and groups != (None,):
                problem = "marks points at each group's own FAR;"
                remedy = "use operating_point='group', or groups=[None]."
                raise invalid("p_target", p_target, problem, remedy)
            marked = _from_roc.cost_points(roc, groups, p_target, threshold)
            if far is None:  # curves go through what is marked
                n_pairs = min(_from_roc.n_pairs(roc, "far", g) or 1 for g in groups)
                own = marked["cost_far"]
                own = own[(own >= 1 / n_pairs) & (own < 1)]
                far = np.union1d(_from_roc.default_levels(roc, operating_point), own)
        questions = [{"group": group} for group in groups]
        fields = _from_roc.over_levels(roc, questions, far, operating_point) | marked
        display = cls(frr=fields.pop("value"), groups=groups, name=name, **fields)
        return display.plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        scale: str = "log",
        band: str | None = "pointwise",
        **kwargs: Any,
    ) -> Self:
        """Draw the curves.

        A rate of zero has no place on either scale: it is drawn at the lower edge, half
        the smallest positive number shown. The stored arrays keep the zero. A marked point
        beyond the axes is drawn at their edge.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        scale : {"log", "det"}, default="log"
            Logarithms of both rates, or normal deviates, in which the scores of two
            normal distributions give a straight line.
        band : {"pointwise", "simultaneous"} or None, default="pointwise"
            Band that is drawn: filled, or for more than three curves as bars.
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
        ax, name, earlier = _style.begin(self, ax, name)
        floor = _style.smallest_positive(self.frr)
        if band is not None:
            # An interval of no errors may end at a millionth of any rate.
            floor = max(_style.smallest_positive(self.frr, low), floor / 5)
        # 0 and 1 have no normal deviate.
        drawn = np.clip(self.frr, floor, 1 - 1e-6)
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        labels = _style.group_labels(self.groups, self.frr, name)
        _style.draw_curves(self, self.far, drawn, self.supported, styles, labels)
        if band is not None:
            edges = np.clip((low, high), floor, 1 - 1e-6)
            _style.draw_bands(ax, self.far, *edges, self.supported, self.lines_)
        _set_axes(ax, scale, (self.far.min(), self.far.max()), floor, earlier)
        self._shade_sampled()
        for row, label in enumerate(self.cost_names):
            look = {"linestyle": "", "marker": COST_MARKERS[row % len(COST_MARKERS)]}
            look |= {"markersize": 9, "markeredgecolor": "black", "zorder": 4}
            x = np.clip(self.cost_far[row], *ax.get_xlim())
            y = np.clip(self.cost_frr[row], *ax.get_ylim())
            for line, *point in zip(self.lines_, x, y, strict=True):
                ax.plot(*point, color=line.get_color(), clip_on=False, **look)
            _style.explain(ax, label, **look, markerfacecolor=_style.GREY)
        return _style.finish(
            self, FAR_LABELS[self.operating_point], _style.RATE_TITLES["frr"]
        )


@_style.display
class DisparityCurveDisplay(_from_roc.OverLevels):
    """One or several disparities over FAR levels, with their uncertainty.

    Build it with :meth:`from_roc` or :meth:`from_estimator`. Parameters are kept as
    attributes. Larger disparities are less fair. The dotted line shows equal groups.

    Parameters
    ----------
    far : ndarray, shape (n_levels,)
        FAR levels in (0, 1), increasing.
    value : ndarray, shape (n_curves, n_levels)
        Disparities. Larger is less fair.
    low, high : ndarrays, shape (n_curves, n_levels)
        Interval at each level on its own.
    supported : ndarray of bool, shape (n_curves, n_levels)
        Whether every group has enough errors, of enough people.
    curves : tuple of (str, str), shape (n_curves,)
        The rate, "far" or "frr", and the disparity of each curve.
    band_low, band_high : ndarrays, shape (n_curves, n_levels), default=None
        Band meant to contain a whole curve at once, or None where none was computed.
    normalized_uncertainty : ndarray, shape (n_curves, n_levels), default=None
        Standard deviation over value, lower being more certain, or None where it was not
        computed.
    operating_point : {"overall", "worst_group", "group"}, default="overall"
        FAR to which the levels refer.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    far_max : float in (0, 1), default=None
        Level above which not all pairs were counted, shaded, or None where all were.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve, its supported part.
    unsupported_lines_ : list of matplotlib Line2D or None
        The rest of each curve, or None where all is supported.

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

    value: np.ndarray
    curves: tuple
    normalized_uncertainty: np.ndarray | None = None

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        far: ArrayLike | None = None,
        rate: str | Sequence[str] = ("far", "frr"),
        how: Any = "max_min",
        operating_point: str = "overall",
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute disparities with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted, with groups.
        far : array-like, shape (n_levels,), default=None
            FAR levels in (0, 1). By default eight a decade, from the first power of ten
            with ten impostor pairs above its threshold up to 0.1.
        rate : {"far", "frr"} or sequence, shape (n_rates,), default=("far", "frr")
            Rates whose disparity is drawn.
        how : str, callable or sequence, shape (n_disparities,), default="max_min"
            Disparities, as ``how`` of :meth:`~skfairfr.metrics.SimilarityROC.estimate`.
            A sequence gives a curve for each, except ``("ratio", a, b)``, which is one.
        operating_point : {"overall", "worst_group", "group"}, default="overall"
            Whether the levels are of the overall FAR, of the largest of the groups', or
            of each group's own.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
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
        questions = [{"rate": r, "how": h} for r in rates for h in hows]
        fields = _from_roc.over_levels(roc, questions, far, operating_point)
        asked = {"far": fields["far"], "operating_point": operating_point}
        spread = [roc.estimate(**asked, **q).normalized_uncertainty for q in questions]
        curves = tuple((q["rate"], _how_name(q["how"])) for q in questions)
        fields |= {"normalized_uncertainty": np.stack(spread), "name": name}
        return cls(curves=curves, **fields).plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        quantity: str = "value",
        band: str | None = "pointwise",
        **kwargs: Any,
    ) -> Self:
        """Draw the curves.

        Infinite disparities (a group without errors) have their sign at the upper edge, and
        bands may leave the axes, whose limits are those of the curves and of the
        supported bands. The stored arrays keep everything.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
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
        ax, name, earlier = _style.begin(self, ax, name)
        styles, name = self._styles(ax, name, kwargs)
        labels = [self._label(row, values, name) for row, values in enumerate(drawn)]
        _style.draw_curves(self, self.far, drawn, self.supported, styles, labels)
        for values, line in zip(drawn, self.lines_, strict=True):
            self._draw_infinite(np.isposinf(values), line.get_color())
        shown = [drawn]
        if quantity == "value" and band is not None:
            # An infinite end reaches beyond any axes.
            edges = low, np.minimum(high, BEYOND)
            _style.draw_bands(ax, self.far, *edges, self.supported, self.lines_)
            shown += [np.where(self.supported, b, np.nan) for b in (low, high)]
        shown = np.concatenate([np.ravel(values) for values in shown])
        return self._finish(quantity, shown, earlier)

    def _styles(self, ax, name, options):
        """Colour and marker show the disparity, the line shows the rate."""
        rates, hows = zip(*self.curves, strict=True)
        keys = hows if len(set(hows)) > 1 else rates
        own, name = _style.styles_on(ax, list(dict.fromkeys(keys)), name)
        by_key = dict(zip(dict.fromkeys(keys), own, strict=True))
        lines = dict(zip(dict.fromkeys(rates), _style.LINES, strict=False))
        pairs = zip(keys, rates, strict=True)
        looks = [{**by_key[k], "linestyle": lines[r], **options} for k, r in pairs]
        return looks, name

    def _label(self, row, drawn, name):
        rate, how = self.curves[row]
        label = f"{RATES[rate]}: {HOW_LABELS.get(how, how)}"
        label = label if name is None else _style.plain_text(f"{name}, {label}")
        return f"{label} (undefined)" if np.isnan(drawn).all() else label

    def _draw_infinite(self, infinite, color):
        if infinite.any():
            style = {"linestyle": "", "marker": r"$\infty$", "markersize": 9}
            edge = {"transform": self.ax_.get_xaxis_transform(), "clip_on": False}
            ones = np.ones(infinite.sum())
            self.ax_.plot(self.far[infinite], ones, **style, **edge, color=color)
            solid = {"markerfacecolor": _style.GREY}
            _style.explain(self.ax_, _style.INFINITE, **style, **solid)

    def _neutral(self):
        """Value of equal groups, or None if it differs between the disparities."""
        names = {how.split()[0] for _, how in self.curves}
        values = {DISPARITIES[n].neutral if n in DISPARITIES else None for n in names}
        return values.pop() if len(values) == 1 else None

    def _finish(self, quantity, values, earlier):
        ax = self.ax_
        values = values[np.isfinite(values)]
        neutral = self._neutral() if quantity == "value" else None
        if neutral is not None:
            values = np.append(values, neutral)
            ax.axhline(neutral, **_style.REFERENCE)
        label = "Disparity of the groups"
        if quantity != "value":
            label = "Standard error / disparity\n(lower is more certain)"
        of_ratios = quantity != "value" or neutral == 1
        log = of_ratios and values.size > 0 and values.min() > 0
        ax.set_xscale("log")
        ylim = _style.ends_about(values, log)
        _style.set_limits(ax, earlier, (self.far.min(), self.far.max()), ylim)
        _style.percent_ticks(ax.xaxis, ax.get_xlim())
        if log:
            ax.set_yscale("log")
            _style.ratio_ticks(ax.yaxis, ax.get_ylim())
            label += ", log scale"
        self._shade_sampled()
        return _style.finish(self, FAR_LABELS[self.operating_point], label, above=True)


def _set_axes(ax, scale, xlim, lowest, earlier):
    """Set scales, limits and ticks of both axes of rates."""
    if scale == "log":
        ax.set(xscale="log", yscale="log")
    else:
        ax.set_xscale("function", functions=(ndtri, ndtr))
        ax.set_yscale("function", functions=(ndtri, ndtr))
    top = min(ax.get_ylim()[1], 1.0 if scale == "log" else 0.99)
    _style.set_limits(ax, earlier, xlim, (lowest, top))
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        if scale == "log":
            _style.percent_ticks(axis, (low, high))
        else:
            ticks = [rate for rate in DET_TICKS if low <= rate <= high]
            _style.set_ticks(axis, ticks, _style.level_percent)


def _how_name(how):
    """A printable name of a disparity."""
    if isinstance(how, str):
        return how
    if isinstance(how, tuple):
        return f"{how[0]} {how[2]} / {how[1]}" if how[1:] else how[0]
    return getattr(how, "__name__", "disparity")


# ---- over a number, at equal covariates ----------------------------------------------


@_style.display
class RateCurveDisplay:
    """An error rate over a number, such as age, at equal covariates.

    The darker band is the interval at each value alone, the lighter one is valid for all values
    together. Build it with :meth:`from_explanation`. Parameters are kept as attributes.

    Parameters
    ----------
    at, rate : ndarrays, shape (n_points,)
        Values of the number, and the average rate at each, in [0, 1]. Lower is better.
    low, high : ndarrays, shape (n_points,)
        Interval of each rate alone.
    band_low, band_high : ndarrays, shape (n_points,)
        Intervals of all rates together.
    covariate : str
        Name of the number.
    rate_title : str, default="Error rate"
        Label of the vertical axis.
    limit : float, default=None
        Largest rate allowed, drawn as a dotted line.
    name : str, default=None
        Name of the system, in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        The curve.

    See Also
    --------
    skfairfr.metrics.explain_errors : Computes the rates.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import RateCurveDisplay, explain_errors
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(2000), 5)
    >>> age, sex = rng.uniform(20, 70, 2000)[person], np.where(person % 2, "f", "m")
    >>> error = rng.random(person.size) < age / 700
    >>> found = explain_errors(
    ...     error, person, {"sex": sex}, covariates={"age": age}, curves=["age"])
    >>> display = RateCurveDisplay.from_explanation(found, ax=Figure().subplots())
    >>> bool(display.rate[0] < 0.05 < display.rate[-1])
    True
    """

    at: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    covariate: str
    rate_title: str = "Error rate"
    limit: float | None = None
    name: str | None = None

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        covariate: str | None = None,
        *,
        ax: Any = None,
        rate_title: str = "Error rate",
        limit: float | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a curve of what :func:`~skfairfr.metrics.explain_errors` returns.

        Parameters
        ----------
        explanation : Explanation
            With ``curves``.
        covariate : str, default=None
            Whose curve. If None: the first.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None: a new figure.
        rate_title, limit, name
            See the class.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : RateCurveDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If there is no such curve.
        """
        curves = {curve.name: curve for curve in explanation.curves}
        if (covariate or next(iter(curves), None)) not in curves:
            problem = f"{covariate!r} has no curve;" if covariate else "has no curve;"
            remedy = "name the covariate in curves of explain_errors."
            raise invalid("covariate", covariate, problem, remedy)
        found = dict(vars(curves[covariate or next(iter(curves))]))
        about = {"covariate": found.pop("name"), "name": name, "limit": limit}
        del found["p_value"]
        return cls(**found, **about, rate_title=rate_title).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve with both bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None: a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``.

        Returns
        -------
        display : RateCurveDisplay
            This one.
        """
        ax, name, _ = _style.begin(self, ax, name)
        (style,), name = _style.styles_on(ax, ("",), name, kwargs)
        style = style | {"marker": "", "label": _style.plain_text(name or "rate")}
        self.lines_ = ax.plot(self.at, self.rate, **style)
        for ends in ((self.low, self.high), (self.band_low, self.band_high)):
            look = {"color": self.lines_[0].get_color(), "alpha": 0.18, "linewidth": 0}
            ax.fill_between(self.at, *ends, **look)
        if self.limit is not None:
            ax.axhline(self.limit, **_style.REFERENCE, label="limit")
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(lambda rate, _: _style.level_percent(rate))
        return _style.finish(
            self, _style.plain_text(self.covariate), self.rate_title, above=True
        )


# ---- over the size of the gallery ----------------------------------------------------


TITLES = {
    "fpir": "False positive identification rate (FPIR)",
    "fnir": "False negative identification rate (FNIR)",
}
FORMULA = "1 \N{MINUS SIGN} (1 \N{MINUS SIGN} FMR)ⁿ, as if independent"
N_SIZES = 9


@_style.display
class GallerySizeDisplay:
    """FPIR or FNIR over the number of people in random galleries, overall and by group.

    Build it with :meth:`from_identification`. Parameters are kept as attributes. Lower curves
    are better. Crosses show what is often taken for the FPIR instead,
    1 - (1 - FMR)**n.

    Parameters
    ----------
    sizes : ndarray of int, shape (n_sizes,)
        People in the gallery, up to those enrolled.
    value : ndarray, shape (n_curves, n_sizes)
        Rates in [0, 1]. Lower is better.
    low, high : ndarrays, shape (n_curves, n_sizes)
        Interval at each size on its own.
    supported : ndarray of bool, shape (n_curves, n_sizes)
        Whether there are enough errors, of enough people.
    groups : tuple, shape (n_curves,)
        Label of each curve. If None, overall.
    rate : {"fpir", "fnir"}, default="fpir"
    formula : ndarray, shape (n_curves, n_sizes), default=None
        1 - (1 - FMR)**n, in [0, 1]. None of the FNIR.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve, its supported part.
    unsupported_lines_ : list of matplotlib Line2D or None
        The rest of each curve, or None where all is supported.
    formula_lines_ : list of matplotlib Line2D
        One for each curve. Empty of the FNIR.

    See Also
    --------
    skfairfr.metrics.IdentificationROC.estimate : Computes a point.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import GallerySizeDisplay, IdentificationROC
    >>> rng = np.random.default_rng(0)
    >>> X, X_gallery = rng.normal(size=(300, 8)), rng.normal(size=(60, 8))
    >>> search = IdentificationROC(n_resamples=20, random_state=0)
    >>> search = search.fit(X, np.arange(300), X_gallery=X_gallery, y_gallery=np.arange(60))
    >>> display = GallerySizeDisplay.from_identification(
    ...     search, fpir=0.1, ax=Figure().subplots()
    ... )
    >>> display.sizes[[0, -1]].tolist()
    [1, 60]
    """

    sizes: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    supported: np.ndarray
    groups: tuple
    rate: str = "fpir"
    formula: np.ndarray | None = None

    @classmethod
    def from_identification(
        cls,
        identification: Self,
        *,
        fpir: float | None = None,
        threshold: float | None = None,
        rate: str = "fpir",
        sizes: ArrayLike | None = None,
        groups: Sequence[object] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compute rates at one threshold with a fitted IdentificationROC and draw them.

        Parameters
        ----------
        identification : IdentificationROC
            Fitted.
        fpir : float in (0, 1), default=None
            Level that the threshold meets with the whole gallery.
        threshold : float, default=None
            Similarity from which on a search alarms, instead. Exactly one of the two.
        rate : {"fpir", "fnir"}, default="fpir"
        sizes : array-like of int, shape (n_sizes,), default=None
            Sizes of galleries. By default nine from 1 to that of the whole one.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups of probes to draw, None among them standing for overall. By default overall
            and every group.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : GallerySizeDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.IdentificationROC.estimate`.
        """
        check_option(rate, "rate", tuple(TITLES))
        groups = _from_roc.check_roc_groups(identification, groups)
        if fpir is not None and threshold is None:
            fpir, threshold = None, identification.threshold_at(fpir)
        enrolled = identification.gallery_.size
        if sizes is None:
            sizes = np.unique(np.rint(np.geomspace(1, enrolled, N_SIZES)).astype(int))
        sizes = check_sequence(sizes, "sizes", "numbers of people")
        sizes = np.unique([check_count(plain(n), "sizes", 1) for n in sizes])
        asked = {"fpir": fpir, "threshold": threshold, "rate": rate}
        ask = partial(identification.estimate, **asked)
        found = [[ask(group=g, gallery_size=n) for n in sizes] for g in groups]
        columns = {
            name: np.array([[getattr(one, name) for one in row] for row in found])
            for name in ("value", "low", "high", "supported")
        }
        formula = None
        if rate == "fpir":
            alone = np.array([[ask(group=g, gallery_size=1).value] for g in groups])
            formula = 1 - (1 - alone) ** sizes
        about = {"sizes": sizes, "groups": groups, "rate": rate, "formula": formula}
        return cls(**columns, **about).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        A rate of zero has no place on the axis and is not drawn. The legend has the groups
        without errors in the whole gallery.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : GallerySizeDisplay
            This one.
        """
        ax, name, earlier = _style.begin(self, ax)
        floor = _style.smallest_positive(self.value)
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        labels = _style.group_labels(self.groups, self.value, name, "no searches")
        none = (name + ", 0 errors" for name in labels)
        zero = self.value[:, -1] == 0
        labels = [*np.where(zero, [*none], labels)]
        # The legend has the look of the intervals, as there is no line.
        undrawn = {"marker": "", "linestyle": ":", "linewidth": 1.3}
        styles = [s | undrawn if z else s for s, z in zip(styles, zero, strict=True)]
        drawn = np.where(self.value == 0, np.nan, np.clip(self.value, floor, 1.0))
        _style.draw_curves(self, self.sizes, drawn, self.supported, styles, labels)
        edges = np.clip((self.low, self.high), floor, 1.0)
        _style.draw_bands(ax, self.sizes, *edges, self.supported, self.lines_)
        self.formula_lines_ = []
        if self.formula is not None:
            look = {"linestyle": "", "marker": "x", "markersize": 5}
            for line, values in zip(self.lines_, self.formula, strict=True):
                values = np.where(values > 0, values, np.nan)
                style = {"color": line.get_color(), **look}
                self.formula_lines_ += ax.plot(self.sizes, values, **style)
            _style.explain(ax, FORMULA, color=_style.GREY, **look)
        ax.set(xscale="log", yscale="log")
        top = min(ax.get_ylim()[1], 1.0)
        _style.set_limits(ax, earlier, (self.sizes[0], self.sizes[-1]), (floor, top))
        _style.percent_ticks(ax.yaxis, ax.get_ylim())
        _style.ratio_ticks(ax.xaxis, ax.get_xlim())
        return _style.finish(self, "People enrolled, n", TITLES[self.rate], above=True)
