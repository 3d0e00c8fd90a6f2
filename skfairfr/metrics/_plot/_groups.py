"""Displays with a row, a cell or a line for each group: rates, the FAR between, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.metrics._plot import _from_roc, _style
from skfairfr.utils._errors import invalid
from skfairfr.utils._validation import check_option, check_sequence, plain, to_array

if TYPE_CHECKING:
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC

RATES = ("far", "frr")
FIELDS = ("", "_low", "_high", "_supported")
# A log axis spans at least this factor, which keeps two of its ticks in view.
LEAST_SPAN = 6.0
# Intervals below all rates are shown up to such a part of the smallest.
FURTHEST = 100
# Values are written next to points that have so many points of height each.
LEAST_HEIGHT = 11
# Characters in a line of a row's label, which has at most two lines or a word more.
ROW = 24
LIMIT_COLOUR = "#B00020"
EMPTY = {"facecolor": "white", "edgecolor": "0.6", "hatch": "////", "linewidth": 0}
DASHED = {"fill": False, "linestyle": (0, (3, 2)), "linewidth": 0.8}
MATRIX_FIELDS = ("groups", "far", "low", "high", "n_impostor", "supported")


@_style.display
class GroupRatesDisplay(_from_roc.BothRates):
    """The FAR and the FRR of every group at operating points, with intervals.

    One panel for each rate and one row for each group: further right is worse. A rate
    without an error is drawn at the left edge as "<", with its interval. One that the data
    do not support has a hollow marker and a dotted interval. Limits on rates are vertical
    lines. Build it with :meth:`from_roc` or :meth:`from_estimator`. Parameters are kept as
    attributes.

    Parameters
    ----------
    groups : tuple, shape (n_groups,)
        Label of each row. If None, everyone.
    far, frr : ndarrays, shape (n_levels, n_groups)
        Rates in [0, 1], lower is better. NaN without the pairs.
    far_low, far_high, frr_low, frr_high : ndarrays, shape (n_levels, n_groups)
        Ends of the intervals, in [0, 1], or nan where there is none.
    far_supported, frr_supported : ndarrays of bool, shape (n_levels, n_groups)
        Whether there are enough errors, of enough people.
    names : tuple of str, shape (n_levels,)
        Names of the operating points, such as "FMR 0.1 %".
    limits : dict of str -> float or ndarray, shape (n_levels,), default=None
        Largest ``far`` and ``frr`` allowed, or nan where there is none.
    name : str, default=None
        Name of the system or of its data, for the title.
    confidence_level : float in (0, 1), default=None
        Confidence level of the intervals, for the title.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        Axes drawn on, one for each rate.
    figure_ : matplotlib Figure
        Figure of the axes.
    points_ : dict of str -> list of matplotlib Line2D
        Markers by rate, one for each level.
    limits_ : dict of str -> list of matplotlib Line2D
        Lines of the limits by rate.

    See Also
    --------
    ErrorRateDisplay : The rates over all thresholds.
    skfairfr.metrics.SimilarityROC.estimate : Computes a rate.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import GroupRatesDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> axes = Figure().subplots(1, 2)
    >>> display = GroupRatesDisplay.from_roc(roc, far=1e-2, limits={"frr": 0.1}, ax=axes)
    >>> display.groups, display.frr.shape
    ((None, 'female', 'male'), (1, 3))
    """

    groups: tuple
    names: tuple
    limits: Mapping | None = None
    name: str | None = None
    confidence_level: float | None = None

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        far: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        groups: Sequence[object] | None = None,
        limits: dict | None = None,
        ax: Any = None,
        name: str | None = None,
        distance: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Compute the rates with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        far : float in (0, 1) or array-like, shape (n_levels,), default=None
            Overall FAR levels to operate at. 1e-3 where no threshold is given either.
        threshold : float or array-like, shape (n_levels,), default=None
            Similarities from which on a deployed system accepts, instead.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups to draw, None among them standing for everyone. By default everyone and
            every group.
        limits : dict of str -> float or array-like, shape (n_levels,), default=None
            Largest ``far`` and ``frr`` allowed, each in (0, 1), drawn as lines.
        ax : sequence of matplotlib Axes, shape (n_rates,), default=None
            Axes to draw on, one for each rate. None makes a new figure.
        name : str, default=None
            Name of the system or of its data, for the title.
        distance : bool, default=False
            Whether scores are minus distances, which the names of thresholds then show.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : GroupRatesDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.estimate`, if a limit is not one of a
            rate, or if there are not as many axes as rates.
        """
        if far is None and threshold is None:
            far = 1e-3
        groups = _from_roc.check_roc_groups(roc, groups)
        points = {
            key: None if values is None else np.atleast_1d(to_array(values, key))
            for key, values in (("far", far), ("threshold", threshold))
        }
        found, _ = _from_roc.both_rates(roc, groups, **points)
        columns = {field: values.T for field, values in found.items()}
        if far is not None and None in groups:
            # The overall FAR is the level itself, in every resample.
            row = groups.index(None)
            columns["far_low"][:, row] = columns["far_high"][:, row] = np.nan
        columns |= {"limits": limits, "name": name, "groups": groups}
        if far is None:
            nowhere = np.full(points["threshold"].shape, np.nan)
            names = _style.point_names(points["threshold"], nowhere, distance)
        else:
            names = map(_style.fmr, points["far"])
        columns["names"] = tuple(names)
        display = cls(**columns, confidence_level=roc.confidence_level)
        return display.plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        rates: Sequence[str] = RATES,
        **kwargs: Any,
    ) -> Self:
        """Draw one panel for each rate.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, shape (n_rates,), default=None
            Axes to draw on, one for each rate. None makes a new figure.
        name : str, default=None
            Name for the title. If None: the stored one.
        rates : sequence of {"far", "frr"}, shape (n_rates,), default=("far", "frr")
            Rates to draw.
        **kwargs : dict
            Keywords of ``ax.plot``, for the markers.

        Returns
        -------
        display : GroupRatesDisplay
            This one.

        Raises
        ------
        ValueError
            If there are not as many axes as rates, a limit is not one of a rate, or the
            name is no text.
        """
        name = _style.name_of(self, name)
        limits = self._limits_of_levels()
        rates = check_sequence(rates, "rates", "names of rates")
        for rate in rates or [rates]:  # an empty sequence is no choice either
            check_option(rate, "rates", RATES)
        size = 4.6 * len(rates), panel_height(len(self.groups), len(self.names))
        _style.begin_on(self, ax, len(rates), "rate", size, sharey=True)
        self.points_, self.limits_ = {}, {}
        for axes, rate in zip(self.axes_, rates, strict=True):
            self._draw(axes, rate, limits[rate], kwargs)
        self._entitle(name)
        return self

    def _limits_of_levels(self):
        """Limits by rate, (n_levels,) each, nan where there is none."""
        given = {} if self.limits is None else self.limits
        if not isinstance(given, Mapping) or not set(given) <= set(RATES):
            problem = (
                f"must be a dict with the largest 'far', 'frr' or both, got {given!r}."
            )
            raise invalid("limits", given, problem, "Give {'far': 1e-3}, for example.")
        shape = (len(self.names),)
        return {rate: np.full(shape, given.get(rate, np.nan), float) for rate in RATES}

    def _draw(self, ax, rate, limits, options):
        values, low, high, supported = (getattr(self, rate + f) for f in FIELDS)
        ends = ends_of_rates(np.append(values, limits), np.append(low, high))
        ax.set(xscale="log", xlim=ends)
        _style.percent_ticks(ax.xaxis, ends)
        n_levels, n_groups = values.shape
        self.points_[rate], self.limits_[rate] = [], []
        for level in range(n_levels):
            style = _style.line_style(level) | {"linestyle": "none", "zorder": 3}
            y = np.arange(n_groups) + offset(level, n_levels)
            found, solid = values[level], supported[level]
            for which, dashes in ((solid, "-"), (~solid, ":")):
                look = {"markerfacecolor": "white"}
                if which is solid:
                    look = {"label": _style.plain_text(self.names[level])}
                shown = np.where(which & (found > 0), found, np.nan)
                lines = ax.plot(shown, y, **style | look | options)
                self.points_[rate] += lines if which is solid else []
                # A rate without an error is drawn at the left edge.
                edge = np.where(which & (found == 0), ends[0] * 1.06, np.nan)
                look |= {"marker": "<", "label": "_nolegend_"}
                ax.plot(edge, y, **style | look)
                known = which & np.isfinite(low[level]) & np.isfinite(high[level])
                reach = (np.maximum(e[level][known], ends[0]) for e in (low, high))
                look = {"color": style["color"], "linewidth": 1.8, "linestyle": dashes}
                ax.hlines(y[known], *reach, **look, zorder=2)
            self._write_values(ax, found, y, ends)
        # The first panel explains both.
        if (~supported & (values >= 0)).any():
            _style.explain(self.axes_[0], _style.TOO_FEW)
        self._draw_limits(ax, rate, limits)
        name_rows(ax, self.groups)
        ax.set_xlabel(_style.RATE_TITLES[rate])
        ax.spines[["top", "right", "left"]].set_visible(False)

    def _write_values(self, ax, values, y, ends):
        if _style.size_of(ax)[1] < LEAST_HEIGHT * values.size * len(self.names):
            return
        # A limit or an interval does not cross a number.
        look = {"bbox": {"facecolor": "white", "linewidth": 0, "pad": 0.8}}
        look |= {"fontsize": "small", "va": "bottom", "zorder": 4}
        for value, row in zip(values, y, strict=True):
            place, text = np.sqrt(ends[0] * ends[1]), _style.NO_PAIRS
            if value == value:
                place, text = max(value, ends[0] * 1.06), _style.percent(value)
            side = "left" if place < ends[0] * 1.3 else "center"
            where = {"xytext": (0, 4.5), "textcoords": "offset points", "ha": side}
            ax.annotate(text, (place, row), **where, **look)

    def _draw_limits(self, ax, rate, limits):
        known = np.unique(limits[~np.isnan(limits)])
        for limit in known:
            level = np.flatnonzero(limits == limit)[0]
            colour = _style.COLOURS[level] if known.size > 1 else LIMIT_COLOUR
            line = ax.axvline(limit, color=colour, linestyle=(0, (5, 2)), linewidth=1.5)
            self.limits_[rate].append(line)
            side = "left" if limit**2 < np.prod(ax.get_xlim()) else "right"
            text = f"limit {_style.level_percent(limit)}"
            _style.write_above(ax, text, limit, ha=side, color=colour)

    def _entitle(self, name):
        """A title of what is shown, and legends of levels and of hollow markers."""
        parts = [name, self.names[0] if len(self.names) == 1 else None]
        if self.confidence_level is not None:
            parts.append(f"{100 * self.confidence_level:g} % intervals")
        parts = [_style.plain_text(part) for part in parts if part is not None]
        if len(self.axes_) > 1:
            self.figure_.suptitle(", ".join(parts), fontsize="medium")
        first = self.axes_[0]
        if len(first.get_legend_handles_labels()[1]) > 1:
            where = _style.stands_above(first, 0) | {"loc": "lower left", "ncols": 2}
            look = {"fontsize": "small", "frameon": False}
            first.legend(**where, **look, handletextpad=0.2, columnspacing=1.2)


def name_rows(ax, groups):
    """Name the rows of groups, from the top, and stripe them."""
    labels = [fill(_style.row_label(g, 2 * ROW), ROW) for g in groups]
    ax.set_yticks(range(len(groups)), labels)
    ax.set_ylim(len(groups) - 0.5, -0.6)
    ax.tick_params(axis="y", length=0)
    _style.light_grid(ax)
    ax.grid(False, axis="y")
    for row in range(0, len(groups), 2):
        ax.axhspan(row - 0.5, row + 0.5, facecolor="0.96", zorder=-1)


def panel_height(n_groups, n_levels):
    """Height in inches of a panel with a line of text for each point."""
    return 1.0 + n_groups * (0.12 + 0.32 * min(n_levels, 4))


def offset(level, n_levels):
    """Place of a level within a row, from top to bottom."""
    return 0.12 if n_levels == 1 else 0.56 * (level / (n_levels - 1) - 0.5) + 0.1


def ends_of_rates(values, reached=()):
    """Ends of a log axis about the positive values, and about intervals but for far ends."""
    shown = np.append(values, reached)
    shown = shown[np.isfinite(shown) & (shown > 0)]
    if shown.size == 0:
        return 1e-3, 1.0
    # An interval of few errors may end at a millionth of any rate.
    least = values[values > 0].min(initial=shown.max()) / FURTHEST
    low, high = max(shown.min(), least) / 1.35, min(shown.max() * 1.35, 1.15)
    widened = max(LEAST_SPAN * low / high, 1) ** 0.5
    high = min(high * widened, 1.15)
    low = min(low / widened, high / LEAST_SPAN)
    return float(low), float(high)


@_style.display
class GroupFARDisplay(_from_roc.FromEstimatorMixin):
    """The FAR of the impostor pairs of each pair of groups, in percent.

    At one overall threshold, a cell shows who is mistaken for whom: 0.1 % is one
    false acceptance in a thousand comparisons, and lower is better. A cell without an
    error shows the upper end of its interval after "<", if it has one. A cell that the data
    do not support has a dashed frame, and one without pairs is hatched. Build it with
    :meth:`from_roc` or :meth:`from_estimator`. Parameters are kept as attributes.

    Parameters
    ----------
    groups : ndarray, shape (n_groups,)
        Labels of rows and columns.
    far : ndarray, shape (n_groups, n_groups)
        FAR of each pair of groups in [0, 1], lower is better. NaN without a pair.
    low, high : ndarrays, shape (n_groups, n_groups)
        Ends of the interval, in [0, 1].
    n_impostor : ndarray of int, shape (n_groups, n_groups)
        Number of impostor pairs.
    supported : ndarray of bool, shape (n_groups, n_groups)
        Whether there are enough errors, of enough people.
    level : float in (0, 1), default=None
        Overall FAR level that set the threshold.
    name : str, default=None
        Name of the system, for the colour bar.
    is_sampled : bool, default=False
        Whether the rates come from a sample, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    im_ : matplotlib AxesImage
        The coloured cells.
    text_ : ndarray of matplotlib Text or None, shape (n_groups, n_groups)
        The numbers. None in cells without pairs.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.far_matrix : Computes the rates.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import GroupFARDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> display = GroupFARDisplay.from_roc(roc, far=1e-2, ax=Figure().subplots())
    >>> [cell.get_text() for cell in display.text_[0]]
    ['2.39 %', '0.473 %']
    """

    groups: np.ndarray
    far: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_impostor: np.ndarray
    supported: np.ndarray
    level: float | None = None
    name: str | None = None
    is_sampled: bool = False

    @classmethod
    def from_roc(
        cls,
        roc: SimilarityROC,
        *,
        far: float | None = None,
        threshold: float | None = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the FAR of each pair of groups with a fitted SimilarityROC and draw it.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted, with groups.
        far : float in (0, 1), default=None
            Overall FAR level. 1e-3 where no threshold is given either.
        threshold : float, default=None
            Similarity from which on a deployed system accepts, instead.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, for the colour bar.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : GroupFARDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.far_matrix`.
        """
        far = 1e-3 if far is None and threshold is None else far
        matrix = roc.far_matrix(far, threshold=threshold)
        is_sampled = _from_roc.is_sampled(matrix).any()
        known = {field: getattr(matrix, field) for field in MATRIX_FIELDS}
        return cls(level=far, name=name, is_sampled=is_sampled, **known).plot(
            ax, **kwargs
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        colorbar: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        colorbar : bool, default=True
            Whether to draw the scale of the colours, with the overall level marked.
        **kwargs : dict
            Keywords of ``ax.imshow``. ``vmin`` and ``vmax`` are rates.

        Returns
        -------
        display : GroupFARDisplay
            This one.
        """
        ax, name, _ = _style.begin(self, ax, name, matrix_size(self.groups))
        low, high = ends_of_rates(np.append(self.far, self.level or np.nan))
        ends = {"norm": "log", "vmin": low, "vmax": min(high, 1.0)}
        shown = np.where(self.far > 0, self.far, np.nan)
        self.im_ = ax.imshow(shown, **{"cmap": "cividis_r", **ends, **kwargs})
        self._label_axes()
        self._explain_cells()
        if colorbar:
            self._draw_colorbar(name)
        # The layout sets the size of the cells, into which the numbers must fit.
        self.figure_.draw_without_rendering()
        self.text_ = np.full(self.far.shape, None, dtype=object)
        texts = list(map(_cell_text, self.far.flat, self.high.flat))
        size = 1.3 * self._cell_points() / max(4, *map(len, texts))
        for cell, text in zip(np.ndindex(self.far.shape), texts, strict=True):
            self._draw_cell(cell, text, np.clip(size, 3, 12))
        return self

    def _draw_cell(self, cell, text, size):
        from matplotlib.patches import Rectangle

        row, column = cell
        if self.n_impostor[cell] == 0:
            self.ax_.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **EMPTY))
            return
        known = self.ax_, self.im_, self.far[cell], (column, row)
        self.text_[cell] = written = _style.write_cell(*known, text, size)
        if not self.supported[cell]:
            look = DASHED | {"edgecolor": written.get_color()}
            place = column - 0.43, row - 0.43
            self.ax_.add_patch(Rectangle(place, 0.86, 0.86, **look))

    def _cell_points(self):
        """Side of a cell in points."""
        box, dots = self.ax_.get_window_extent(), self.ax_.figure.dpi
        return 72 / dots * min(box.width, box.height) / max(1, len(self.groups))

    def _label_axes(self):
        ticks = range(len(self.groups))
        labels = [_style.row_label(group) for group in self.groups]
        crowded = len(labels) > 3 or max(map(len, labels)) > 10
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        self.ax_.set_xticks(ticks, labels, **(turned if crowded else {}))
        self.ax_.set_yticks(ticks, labels)
        self.ax_.tick_params(length=0, labelsize=min(10, 0.75 * self._cell_points()))
        # Two sides make (g, h) and (h, g) different pairs.
        symmetric = np.allclose(self.far, self.far.T, equal_nan=True)
        labels = ("Group", "Group") if symmetric else ("Reference", "Probe")
        self.ax_.set(xlabel=labels[0], ylabel=labels[1])

    def _explain_cells(self):
        from matplotlib.patches import Patch

        empty, few = self.n_impostor == 0, ~self.supported & (self.n_impostor > 0)
        looks = (
            (_style.TOO_FEW, few.any(), DASHED),
            (_style.NO_PAIRS, empty.any(), EMPTY),
            (_from_roc.SAMPLED, self.is_sampled, {"fill": False, "linewidth": 0}),
        )
        handles = [Patch(**look, label=label) for label, known, look in looks if known]
        if handles:
            where = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": 2}
            look = {"fontsize": "small", "frameon": False, "borderaxespad": 0.2}
            self.ax_.legend(handles=handles, **where, **look)

    def _draw_colorbar(self, name):
        label = "" if name is None else f"{name}: "
        label += "FMR, log scale"
        if self.level is not None:
            label += " (line: everyone)"
        known = self, self.im_, self.ax_
        bar = _style.add_colorbar(*known, _style.level_percent, label)
        if self.level is not None:
            for color, width in (("white", 3), ("black", 1)):
                bar.ax.axhline(self.level, color=color, linewidth=width)


def matrix_size(groups):
    """Width and height in inches of a figure whose cells fit readable numbers."""
    side = 0.42 * len(groups)
    labels = 0.075 * max((len(str(group)) for group in groups), default=0)
    return max(6.0, side + labels + 2.0), max(4.0, side + labels + 1.0)


def _cell_text(far, high):
    """A FAR in percent. Without an error, the upper end."""
    if np.isnan(far):
        return ""
    if far == 0 and not high > 0:
        return "none"
    return _style.percent(far) if far else f"<{_style.percent(high)}"


@_style.display
class GroupWeightsDisplay:
    """Sampling weights of groups over the epochs of a fit, or the FAR they follow.

    The FARs within groups over training are Fig. 6 of GEO20. Build it with
    :meth:`from_projector`. Parameters are kept as attributes.

    Parameters
    ----------
    weights : ndarray, shape (n_epochs, n_groups)
        Weights that each epoch drew by, >= 0, their mean 1.
    fars : ndarray, shape (n_epochs, n_groups), default=None
        FAR within each group after each epoch, in [0, 1]. Lower is better.
    groups : sequence of labels, shape (n_groups,)
        Label of each column.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each group.

    See Also
    --------
    skfairfr.projectors.TripletProjector : Whose weights and FARs these are.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import GroupWeightsDisplay
    >>> from skfairfr.samplers import dynamic_weights, equal_weights
    >>> weights = [equal_weights(2)]
    >>> for _ in range(5):
    ...     weights.append(dynamic_weights(weights[-1], [100, 10], [1000, 1000]))
    >>> display = GroupWeightsDisplay(weights=weights, groups=["AF", "EU"])
    >>> len(display.plot(Figure().subplots()).lines_)
    2
    """

    weights: np.ndarray
    groups: tuple
    fars: np.ndarray | None = None

    @classmethod
    def from_projector(cls, projector: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw what a projector recorded while it was fitted.

        Parameters
        ----------
        projector : TripletProjector
            Fitted, or any object with ``group_weights_``, ``group_fars_`` and
            ``groups_``.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : GroupWeightsDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If the projector was fitted without groups or keeps no weights.
        """
        if not hasattr(projector, "group_weights_"):
            expected = (
                "must be fitted and keep group_weights_, as a TripletProjector does"
            )
            raise ValueError(f"projector {expected}, got {plain(projector)!r}.")
        weights, fars = projector.group_weights_, projector.group_fars_
        display = cls(weights=weights, fars=fars, groups=projector.groups_.tolist())
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, kind: str = "weights", **kwargs: Any) -> Self:
        """Draw a line for each group over the epochs.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        kind : {"weights", "far"}, default="weights"
            Sampling weights, or the FAR within groups on a log axis, on which a FAR of 0
            leaves a gap.
        **kwargs : dict
            Keywords of the lines of every group.

        Returns
        -------
        display : GroupWeightsDisplay
            This one.

        Raises
        ------
        ValueError
            If kind is not one of its options, or there are no groups or FARs to draw.
        """
        check_option(kind, "kind", ("weights", "far"))
        given = self.weights if kind == "weights" else self.fars
        values = np.array(np.nan if given is None else given, dtype=np.float64)
        if len(self.groups) == 0 or np.isnan(values).all():
            remedy = "fit with groups, and for the FAR with validation_fraction above 0"
            raise ValueError(f"There is nothing to draw for kind={kind!r}: {remedy}.")
        ax, _, _ = _style.begin(self, ax)
        epochs = np.arange(1, len(values) + 1)
        if kind == "far":
            values = np.where(values > 0, values, np.nan)
        self.lines_ = []
        labels = _style.group_labels(self.groups, values.T)
        styles, _ = _style.styles_on(ax, self.groups, options=kwargs)
        for column, label, style in zip(values.T, labels, styles, strict=True):
            style = {"markevery": max(1, epochs.size // 12), **style}
            self.lines_ += ax.plot(epochs, column, label=label, **style)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if kind == "weights":
            return _style.finish(self, "Epoch", "Sampling weight (mean 1)")
        ax.set_yscale("log")
        _style.percent_ticks(ax.yaxis, ax.get_ylim())
        return _style.finish(self, "Epoch", "FMR within the group")
