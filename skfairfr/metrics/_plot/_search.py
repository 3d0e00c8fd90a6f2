"""Displays of what was tried: candidates of a search, and methods of a bench."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfairfr._text._words import RATES
from skfairfr.metrics._plot import _style
from skfairfr.metrics._scorers import is_signed, mean_score

# Axis labels of the entries of fairness_scores.
METRIC_LABELS = {
    "bfar": "BFAR (largest / smallest FMR)",
    "bfrr": "BFRR (largest / smallest FNMR)",
    "frr_at_far": "FNMR",
    "far_max_geomean": "largest FMR / geometric mean",
    "frr_max_geomean": "largest FNMR / geometric mean",
}
# Both ends differ from the middle equally in lightness, and in hue for all readers.
COLOUR_MAP = "PuOr_r"
# The scale of colours reaches at least this ratio, and its inverse.
LEAST_LIMIT = 1.12
DISPARITIES = ("bfar", "bfrr")
ALL = ("frr_at_far", *DISPARITIES)
NOTHING = "nothing"
# Offsets of a method's number from its marker, in points.
PLACES = [
    (radius * np.cos(turn), radius * np.sin(turn))
    for radius in (9, 16, 24, 34)
    for turn in np.radians([40, -40, 140, -140, 90, -90, 0, 180])
]
LABELS = {"bfar": "BFAR (1: equal FMR)", "bfrr": "BFRR (1: equal FNMR)"}


@_style.display
class KappaGridDisplay:
    """Ratio of a rate of two groups over a grid of two parameters, on a log scale about 1.

    Each cell is a candidate of a search. 1 is equal treatment, 2 means twice the errors
    for the group named first, 0.5 half of them. A black line runs between cells above and
    below 1, and a frame marks the chosen candidate. Several levels are drawn side by side,
    and a choice at one can be judged at another. Build it with :meth:`from_search`.
    Parameters are kept as attributes.

    Parameters
    ----------
    ratio : ndarray, shape (n_levels, n_y, n_x)
        Ratio in each cell. 1 is equal, and the further from 1, the less fair. NaN where
        there is no candidate, or no value.
    x, y : ndarrays, shape (n_x,) and (n_y,)
        Values of the parameters, in increasing order.
    labels : tuple of two str, default=("kappa0", "kappa1")
        Names of the parameters.
    titles : sequence of str, shape (n_levels,), default=None
        Quantity that each map shows.
    chosen : tuple of two int, default=None
        Row and column of the chosen candidate.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes, shape (n_levels,)
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    im_ : list of matplotlib AxesImage
        The coloured cells of each level.
    text_ : ndarray of matplotlib Text or None, shape (n_levels, n_y, n_x)
        The numbers. None in cells without a value.

    See Also
    --------
    skfairfr.fairness_scores : With ``ratio=(a, b)``, scores the ratio of b to a.
    TradeOffDisplay : Two metrics over all candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import KappaGridDisplay
    >>> display = KappaGridDisplay(
    ...     ratio=np.array([[[2.0, 3.5], [0.8, 1.6]]]), x=[10, 20], y=[15, 30])
    >>> display = display.plot(Figure().subplots())
    >>> [[cell.get_text() for cell in row] for row in display.text_[0]]
    [['2.0', '3.5'], ['0.80', '1.6']]
    """

    ratio: np.ndarray
    x: np.ndarray
    y: np.ndarray
    labels: tuple = ("kappa0", "kappa1")
    titles: list | None = None
    chosen: tuple | None = None

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        metric: str | Sequence[str] = "far_log_ratio",
        param_x: str = "kappa0",
        param_y: str = "kappa1",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Read a fitted search over a grid and draw it.

        Parameters
        ----------
        search : GridSearchCV or similar
            Fitted, with ``scoring=fairness_scores(far, ratio=(a, b))``.
        metric : str or sequence of str, shape (n_levels,), default="far_log_ratio"
            Names of scores, each drawn as one map: logarithms of a signed ratio, or minus
            a ratio, such as "bfar". With several levels of ``far``,
            ["far_log_ratio@1e-3", "far_log_ratio@1e-4"].
        param_x, param_y : str, default="kappa0" and "kappa1"
            Searched parameters along the axes. For a pipeline, with or without the step, as
            in "ethicalmodule__kappa0". The label of a kappa names the group it belongs to
            in the search's ``best_estimator_``, as in "kappa0 (female)".
        ax : matplotlib Axes or sequence of Axes, shape (n_levels,), default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : KappaGridDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If a name is not a score or parameter of the search, or several candidates
            share a cell because more was searched than two parameters.
        """
        metrics = [metric] if isinstance(metric, str) else list(metric)
        values = [metric_of_search(search, name) for name in metrics]
        named = [find_parameter(search, name) for name in (param_x, param_y)]
        x, column = _steps(search, named[0])
        y, row = _steps(search, named[1])
        _check_cells(search, named, row * len(x) + column)
        ratio = np.full((len(metrics), len(y), len(x)), np.nan)
        ratio[:, row, column] = values
        best = getattr(search, "best_index_", None)
        chosen = None if best is None else (int(row[best]), int(column[best]))
        labels = tuple(_label(search, name) for name in named)
        titles = [_title(search, name) for name in metrics]
        shared = {"labels": labels, "titles": titles, "chosen": chosen}
        return cls(ratio=ratio, x=x, y=y, **shared).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **kwargs: Any) -> Self:
        """Draw one map for each level.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of Axes, shape (n_levels,), default=None
            Axes to draw on. None makes a new figure.
        colorbar : bool, default=True
            Whether to draw the scale of the colours, which all levels share.
        **kwargs : dict
            Keywords of ``ax.imshow``. ``vmin`` and ``vmax`` are ratios.

        Returns
        -------
        display : KappaGridDisplay
            This one.

        Raises
        ------
        ValueError
            If there are not as many axes as levels.
        """
        n_levels = len(self.ratio)
        width = max(3.2, 0.5 * len(self.x) + 1.0) * n_levels + 1.2
        size = width, max(3.2, 0.38 * len(self.y) + 1.4)
        _style.begin_on(self, ax, n_levels, "level", size, sharey=True)
        ratio = np.asarray(self.ratio, dtype=float)
        shown = ratio[np.isfinite(ratio) & (ratio > 0)]
        limit = np.exp(np.abs(np.log(shown)).max(initial=np.log(LEAST_LIMIT)))
        ends = {"norm": "log", "vmin": 1 / limit, "vmax": limit}
        style = {"cmap": COLOUR_MAP, **ends, **kwargs}
        shown = np.clip(ratio, 1 / limit, limit)
        self.im_, self.text_ = [], np.full(ratio.shape, None, dtype=object)
        for level, ax in enumerate(self.axes_):
            ax.patch.set(hatch="////", edgecolor="0.6")
            image = ax.imshow(shown[level], origin="lower", aspect="auto", **style)
            self.im_.append(image)
            for cell in zip(*np.nonzero(shown[level] > 0), strict=True):
                self._write(level, cell, shown[level][cell])
            _draw_border(ax, ratio[level])
            self._finish(ax, level)
        if colorbar:
            chosen = ", frame: chosen" if self.chosen is not None else ""
            hatched = ", hatched: none" if np.isnan(ratio).any() else ""
            label = f"Ratio (log scale), 1: equal{chosen}{hatched}"
            known = self, self.im_[-1], list(self.axes_)
            _style.add_colorbar(*known, "{:g}".format, label)
        return self

    def _write(self, level, cell, shown):
        row, column = cell
        ax, image = self.axes_[level], self.im_[level]
        width, height = _style.size_of(ax)
        side = min(width / len(self.x), 1.6 * height / len(self.y))
        text = ratio_text(np.asarray(self.ratio)[level, row, column])
        place, size = (column, row), np.clip(0.36 * side, 3, 11)
        written = _style.write_cell(ax, image, shown, place, text, size)
        self.text_[level, row, column] = written

    def _finish(self, ax, level):
        from matplotlib.patches import Rectangle

        if self.chosen is not None:
            # Inside the cell: along its edges runs the line between above and below 1.
            row, column = self.chosen
            square = (column - 0.38, row - 0.38), 0.76, 0.76
            for color, width in (("white", 4.0), ("black", 2.0)):
                frame = {"fill": False, "edgecolor": color, "linewidth": width}
                ax.add_patch(Rectangle(*square, **frame, zorder=4))
        ax.set_xticks(range(len(self.x)), [f"{v:g}" for v in self.x])
        ax.set_yticks(range(len(self.y)), [f"{v:g}" for v in self.y])
        ax.tick_params(length=0)
        ax.set_xlabel(self.labels[0])
        if level == 0:
            ax.set_ylabel(self.labels[1])
        if self.titles is not None:
            ax.set_title(self.titles[level], fontsize="medium")


@_style.display
class TradeOffDisplay:
    """Candidates of a search by two metrics, with those that no other beats in both.

    A disparity rarely falls for free: a point further down is less disparate, one further
    left has fewer errors, and nothing in the data prefers one point of the front to
    another. Build it with :meth:`from_search`. Parameters are kept as attributes.

    Parameters
    ----------
    x, y : ndarrays, shape (n_candidates,)
        Mean metric of each candidate over the test folds. Lower is better. NaN where a
        candidate has none, which is not drawn.
    front : ndarray of bool, shape (n_candidates,)
        Whether no candidate is at least as good in both and better in one.
    params : list of dict, shape (n_candidates,)
        Parameters of each candidate.
    chosen : int, default=None
        Row of the candidate that the search chose.
    baseline : tuple of two floats, default=None
        Metrics without any of the candidates, as of the embeddings as they were.
    labels : tuple of two str, default=("x", "y")
        Labels of the axes.
    name : str, default=None
        Name of the system, put before the labels of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    points_, front_, chosen_, baseline_ : matplotlib Line2D
        Drawn objects. The last two are None if there is nothing to draw.

    See Also
    --------
    skfairfr.model_selection.BestTradeOff : Chooses one of the candidates.
    KappaGridDisplay : One metric over two parameters.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import TradeOffDisplay
    >>> display = TradeOffDisplay(
    ...     x=[0.10, 0.12, 0.2], y=[6.0, 3.0, 4.0], front=[True, True, False],
    ...     params=[{"kappa1": k} for k in (10, 20, 30)], chosen=1)
    >>> display.plot(Figure().subplots()).chosen_.get_label()
    'chosen: kappa1=20'
    """

    x: np.ndarray
    y: np.ndarray
    front: np.ndarray
    params: list
    chosen: int | None = None
    baseline: tuple | None = None
    labels: tuple = ("x", "y")
    name: str | None = None

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        x: str = "frr_at_far",
        y: str = "bfar",
        baseline: dict | None = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Read a fitted search and draw it.

        Parameters
        ----------
        search : GridSearchCV, RandomizedSearchCV or similar
            Fitted, with several negated scores, as ``scoring=fairness_scores()`` gives.
        x, y : str, default="frr_at_far" and "bfar"
            Names of the scores.
        baseline : dict of str -> float or array-like, shape (n_splits,), default=None
            The same scores of what the candidates are compared with: what
            ``cross_validate`` returned for it on the same folds, or what the scorer did.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : TradeOffDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If a name is not a score of the search or of the baseline, or is the logarithm
            of a signed ratio.
        """
        for metric in filter(is_signed, (x, y)):
            problem = "is a signed ratio, which has no better end"
            raise ValueError(f"{metric!r} {problem}. Draw it with KappaGridDisplay.")
        values = [metric_of_search(search, metric) for metric in (x, y)]
        if baseline is not None:
            baseline = tuple(_of_baseline(baseline, metric) for metric in (x, y))
        labels = tuple(metric_label(n, level_of(search, n)) for n in (x, y))
        x, y = values
        found = {"x": x, "y": y, "front": pareto_front(x, y), "baseline": baseline}
        found["chosen"] = getattr(search, "best_index_", None)
        found |= {"params": search.cv_results_["params"], "labels": labels}
        return cls(name=name, **found).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the candidates.

        An axis is logarithmic where its values are positive and span a factor of five.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for the candidates and their front.

        Returns
        -------
        display : TradeOffDisplay
            This one.
        """
        ax, name, _ = _style.begin(self, ax, name)
        prefix = _style.plain_text(f"{name}, ") if name else ""
        x, y = (np.asarray(values, dtype=float) for values in (self.x, self.y))
        defined = np.isfinite(x + y)
        color = {"color": _style.COLOURS[0], **kwargs}
        missing = f" ({(~defined).sum()} without a value)" * (not defined.all())
        light = {"linestyle": "", "marker": "o", "markersize": 5, "alpha": 0.4, **color}
        (self.points_,) = ax.plot(x, y, **light, label=f"{prefix}candidates{missing}")
        # The front is a staircase from the left.
        front = np.flatnonzero(self.front)
        front = front[np.lexsort((-y[front], x[front]))]
        steps = {"drawstyle": "steps-post", "marker": "o", "markersize": 6}
        steps = {"linewidth": 1.2, **steps, **color}
        steps["label"] = f"{prefix}no candidate better in both"
        (self.front_,) = ax.plot(x[front], y[front], **steps)
        self.baseline_ = self.chosen_ = None
        if self.baseline is not None:
            look = {"linestyle": "", "marker": "s", "color": "black", "markersize": 8}
            look["label"] = f"{prefix}baseline"
            (self.baseline_,) = ax.plot(*self.baseline, **look)
        if self.chosen is not None and defined[self.chosen]:
            text = _style.plain_text(parameter_text(self.params[self.chosen]))
            look = {"linestyle": "", "marker": "*", "markersize": 16, "zorder": 4}
            look |= {"color": _style.COLOURS[1], "markeredgecolor": "black"}
            look["label"] = f"{prefix}chosen{': ' * bool(text)}{text}"
            (self.chosen_,) = ax.plot(x[self.chosen], y[self.chosen], **look)
        _style.scale_by_ratio(ax)
        return _style.finish(self, *self.labels, above=True)


@_style.display
class MitigationsDisplay:
    """FRR against BFAR and against BFRR, with an arrow from nothing to every method.

    An arrow that goes down lowers the disparity, one that goes to the right rejects more
    of everybody's genuine pairs. Bars are intervals of the method over nothing. Build it
    with :meth:`from_bench`. Parameters are kept as attributes.

    Parameters
    ----------
    names : sequence of str, shape (n_methods,)
        Names of the methods.
    before : dict of str -> float
        "frr_at_far", "bfar" and "bfrr" with nothing.
    ratio, low, high : dict of str -> ndarray, shape (n_methods,)
        Ratio by name, method over nothing, and its interval.
    far : float in (0, 1)
        Level.
    winner : str, default=None
        The method that is drawn with a star.

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfairfr.model_selection.compare_mitigations : Makes what is drawn.
    TradeOffDisplay : Candidates of a search.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import MitigationsDisplay
    >>> metrics = ("frr_at_far", "bfar", "bfrr")
    >>> display = MitigationsDisplay(
    ...     names=["as-norm"], before=dict(zip(metrics, (0.1, 4.0, 2.0))),
    ...     ratio=dict.fromkeys(metrics, [0.5]), low=dict.fromkeys(metrics, [0.4]),
    ...     high=dict.fromkeys(metrics, [0.7]), far=1e-3)
    >>> [ax.get_ylabel() for ax in display.plot(Figure().subplots(1, 2)).axes_]
    ['BFAR (1: equal FMR)', 'BFRR (1: equal FNMR)']
    """

    names: list
    before: dict
    ratio: dict
    low: dict
    high: dict
    far: float
    winner: str | None = None

    @classmethod
    def from_bench(cls, bench: Any, *, axes: tuple | None = None) -> Self:
        """Read a bench and draw it.

        Parameters
        ----------
        bench : Bench
            With one method at least.
        axes : tuple of two matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : MitigationsDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If no method has a result.
        """
        if not bench.methods:
            problem = "The bench has no method with a result"
            raise ValueError(f"{problem}. The reason is in its left_out.")

        changes = [method.changes for method in bench.methods]
        columns = {
            field: {m: np.array([getattr(c[m], field) for c in changes]) for m in ALL}
            for field in ("ratio", "low", "high")
        }
        names = [method.name for method in bench.methods]
        settings = {"before": bench.before, "far": bench.settings["far"]}
        return cls(names=names, winner=bench.winner, **settings, **columns).plot(axes)

    def plot(self, axes: tuple | None = None) -> Self:
        """Draw both panels.

        Parameters
        ----------
        axes : tuple of two matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : MitigationsDisplay
            This one.

        Raises
        ------
        ValueError
            If there are not two axes.
        """
        _style.begin_on(self, axes, 2, "disparity", (11, 5), "axes")
        points = [
            self._draw(*pair) for pair in zip(self.axes_, DISPARITIES, strict=True)
        ]
        look = {"loc": "outside right upper", "fontsize": "small", "numpoints": 1}
        self.figure_.legend(*self.axes_[0].get_legend_handles_labels(), **look)
        self.figure_.draw_without_rendering()  # numbers need the places of what is drawn
        for ax, of_methods in zip(self.axes_, points, strict=True):
            self._write_numbers(ax, of_methods)
        return self

    def _draw(self, ax, metric):
        """Draw the arrows of one disparity, over the FRR. Points of "nothing" and methods."""
        points = {}
        start = self.before["frr_at_far"], self.before[metric]
        ends = [self._ends(name) for name in ("frr_at_far", metric)]
        known = np.isfinite(np.array(ends)).all(axis=(0, 1))
        if not known.all():
            missing = ", ".join(str(self.names[row]) for row in np.flatnonzero(~known))
            title = textwrap.fill(f"undefined, not drawn: {missing}", 60)
            ax.set_title(title, fontsize="small")
        for row, name in enumerate(self.names):
            (x, *x_ends), (y, *y_ends) = (of[:, row] for of in ends)
            style = _style.line_style(row)
            color = {"color": style["color"]}
            marker, size = ("*", 15) if name == self.winner else (style["marker"], 6)
            look = {"linestyle": "", "marker": marker, "markersize": size, **color}
            # Markers repeat after seven: each method has its number too.
            label = f"{row + 1}  {_style.plain_text(name)}"
            if not known[row]:
                ax.plot([], [], **look, label=label)
                continue
            ax.plot(x, y, **look, label=label)
            arrow = {"arrowstyle": "->", **color, "alpha": 0.5}
            ax.annotate("", (x, y), start, arrowprops=arrow)
            ax.hlines(y, *x_ends, **color, linewidth=0.8, alpha=0.45)
            ax.vlines(x, *y_ends, **color, linewidth=0.8, alpha=0.45)
            points[row + 1] = x, y
        ax.plot(*start, "s", color="black", markersize=8, label=NOTHING)
        ax.axhline(1, **_style.REFERENCE)
        _style.scale_by_ratio(ax)
        ax.set(xlabel=f"FNMR at {_style.fmr(self.far)}", ylabel=LABELS[metric])
        _style.light_grid(ax)
        return {NOTHING: start, **points}

    def _write_numbers(self, ax, points):
        """Write the number of each method next to its point, over no other point or number."""
        from matplotlib.patheffects import withStroke
        from matplotlib.transforms import Bbox

        taken = [
            Bbox.from_bounds(*(at - 5), 10, 10)
            for at in ax.transData.transform(list(points.values()))
        ]
        halo = [withStroke(linewidth=2.5, foreground="white")]
        look = {"fontsize": "small", "fontweight": "bold", "path_effects": halo}
        look |= {"ha": "center", "va": "center", "textcoords": "offset points"}
        for number, point in points.items():
            if number == NOTHING:
                continue
            text = ax.annotate(str(number), point, PLACES[0], **look)
            for text.xyann in PLACES:
                if not text.get_window_extent().count_overlaps(taken):
                    break
            taken.append(text.get_window_extent())

    def _ends(self, metric):
        """Value, low and high of every method, (3, n_methods), as far as a rate or ratio goes."""
        scaled = (self.ratio[metric], self.low[metric], self.high[metric])
        with np.errstate(invalid="ignore"):  # 0 times infinity is undefined
            ends = self.before[metric] * np.array(scaled, dtype=float)
        return np.clip(ends, *((1, np.inf) if metric in DISPARITIES else (0, 1)))


def metric_of_search(search, name):
    """Mean metric of each candidate, (n_candidates,): a negated score with its own sign.

    The logarithm of a signed ratio becomes the ratio: the geometric mean over folds.
    """
    check_is_fitted(search, "cv_results_")
    score = mean_score(search.cv_results_, name)
    return np.exp(score) if is_signed(name) else 0.0 - score


def level_of(search, name):
    """FAR level of a score, or None: from its name, or from the scorer."""
    if "@" in name:
        return float(name.split("@")[1])
    far = getattr(getattr(search, "scorer_", None), "far", None)
    return None if far is None or np.ndim(far) else far


def metric_label(name, level):
    """Axis label of a metric. An unknown name is its own label."""
    label = METRIC_LABELS.get(name.split("@")[0])
    if label is None:
        return name
    return label if level is None else f"{label} at {_style.fmr(level)}"


def parameter_text(parameters):
    """Parameters of a candidate, without the steps of a pipeline before their names."""
    floats = float, np.floating
    shown = {k: f"{v:g}" if isinstance(v, floats) else v for k, v in parameters.items()}
    return ", ".join(f"{k.split('__')[-1]}={v}" for k, v in shown.items())


def find_parameter(search, name):
    """Full name of a searched parameter, from that name or from its end."""
    searched = _searched(search)
    if name in searched:
        return name
    ending = [full for full in searched if full.endswith(f"__{name}")]
    if len(ending) != 1:
        problem = f"{name!r} is not a parameter of the search, or of several steps"
        known = ", ".join(map(repr, searched)) or "none"
        raise ValueError(f"{problem}. The parameters are: {known}.")
    return ending[0]


def _searched(search):
    return [key[6:] for key in search.cv_results_ if key.startswith("param_")]


def ratio_text(ratio):
    """A ratio with two digits, and infinity as such."""
    if np.isinf(ratio):
        return "\N{INFINITY}"
    if ratio >= 9.95:
        return f"{ratio:.0f}"
    return f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2f}"


def _draw_border(ax, ratio):
    """Draw a line along the edges between cells above and below 1."""
    above = np.where(np.isnan(ratio), np.nan, ratio > 1)
    line = {"colors": "black", "linewidths": 1.6}
    row, column = np.nonzero(np.abs(np.diff(above, axis=1)) == 1)
    ax.vlines(column + 0.5, row - 0.5, row + 0.5, **line)
    row, column = np.nonzero(np.abs(np.diff(above, axis=0)) == 1)
    ax.hlines(row + 0.5, column - 0.5, column + 0.5, **line)


def _steps(search, name):
    """Sorted values of a searched parameter, and each candidate's place among them."""
    values = np.ma.getdata(search.cv_results_[f"param_{name}"])
    try:
        return np.unique(values.astype(float), return_inverse=True)
    except (TypeError, ValueError):
        problem = "is not a number for every candidate, and has no place on an axis"
        raise ValueError(f"{name!r} {problem}. Search over it separately.") from None


def _check_cells(search, named, cells):
    if np.unique(cells).size < cells.size:
        others = [repr(name) for name in _searched(search) if name not in named]
        raise ValueError(
            f"Several candidates share values of {named[0]!r} and {named[1]!r}: the search "
            f"also varied {', '.join(others) or 'nothing else'}. A map needs one candidate "
            "a cell: search over these two alone."
        )


def _label(search, name):
    """A parameter without its step. ``kappa0`` and ``kappa1`` with the group of the best estimator."""
    *step, name = name.split("__")
    best = getattr(search, "best_estimator_", None)
    if best is not None and step:
        best = best.get_params()["__".join(step)]
    of_each = zip(("kappa0", "kappa1"), getattr(best, "groups_", ()), strict=False)
    group = dict(of_each).get(name)
    return name if group is None else f"{name} ({group})"


def _title(search, metric):
    level = level_of(search, metric)
    groups = getattr(getattr(search, "scorer_", None), "ratio", None)
    rate = RATES.get(metric.split("_")[0])
    if not is_signed(metric) or groups is None:
        return metric_label(metric, level)
    title = f"{rate} of {groups[1]} / {rate} of {groups[0]}"
    return title if level is None else f"{title}\nno group above {_style.fmr(level)}"


def pareto_front(x, y):
    """Whether no candidate is at least as good (as low) in both and better in one.

    Parameters
    ----------
    x, y : ndarrays, shape (n_candidates,)
        nan where a candidate has no value, which is then not in the front.

    Returns
    -------
    front : ndarray of bool, shape (n_candidates,)
    """
    front = np.isfinite(x) & np.isfinite(y)
    for i in np.flatnonzero(front):
        as_good = (x <= x[i]) & (y <= y[i])
        front[i] = not (as_good & ((x < x[i]) | (y < y[i]))).any()
    return front


def _of_baseline(baseline, metric):
    """Minus a score of a baseline, averaged over folds."""
    for key in (f"test_{metric}", metric):
        if key in baseline:
            return 0.0 - float(np.mean(baseline[key]))
    known = ", ".join(map(repr, baseline)) or "none"
    raise ValueError(f"baseline has no {metric!r}. Its entries are: {known}.")
