"""The display of a signed ratio of rates over a grid of two parameters."""

import numpy as np

from skfairfr.metrics._plot import _from_search, _style

# Both ends differ from the middle equally in lightness, and in hue for all readers.
COLOUR_MAP = "PuOr_r"
# Ticks of the scale are powers of the first base with at most MAX_TICKS a side.
TICK_BASES = (1.1, 1.25, 1.5, 2, 3, 5, 10, 100)
MAX_TICKS = 3


class KappaGridDisplay:
    """Ratio of a rate of two groups over a grid of two parameters, on a log scale about 1.

    Each cell is a candidate of a search; 1 is equal treatment, 2 means twice the errors
    for the group named first, 0.5 half of them. A black line runs between cells above and
    below 1, and a frame marks the chosen candidate. Several levels are drawn side by side,
    so that a choice at one can be judged at another. Build it with :meth:`from_search`;
    parameters are kept as attributes.

    Parameters
    ----------
    ratio : ndarray, shape (n_levels, n_y, n_x)
        Ratio in each cell; 1 is equal, and the further from 1, the less fair. nan where
        there is no candidate, or no value.
    x, y : ndarrays, shape (n_x,) and (n_y,)
        Values of the parameters, in increasing order.
    labels : tuple of two str, default=("kappa0", "kappa1")
        Names of the parameters.
    titles : sequence of str, shape (n_levels,), default=None
        What each map shows.
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
        The numbers; None in cells without a value.

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

    def __init__(
        self, *, ratio, x, y, labels=("kappa0", "kappa1"), titles=None, chosen=None
    ):
        self.ratio = ratio
        self.x = x
        self.y = y
        self.labels = labels
        self.titles = titles
        self.chosen = chosen

    @classmethod
    def from_search(
        cls,
        search,
        *,
        metric="far_log_ratio",
        param_x="kappa0",
        param_y="kappa1",
        ax=None,
        **kwargs,
    ):
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
            Searched parameters along the axes; of a pipeline, with or without the step, as
            in "ethicalmodule__kappa0". The label of a kappa names the group it belongs to
            in the search's ``best_estimator_``, as in "kappa0 (female)".
        ax : matplotlib Axes or sequence of Axes, shape (n_levels,), default=None
            Axes to draw on; None makes a new figure.
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
        values = [_from_search.metric_of_search(search, name) for name in metrics]
        named = [
            _from_search.find_parameter(search, name) for name in (param_x, param_y)
        ]
        x, column = _steps(search, named[0])
        y, row = _steps(search, named[1])
        _check_cells(search, named, row * len(x) + column)
        ratio = np.full((len(metrics), len(y), len(x)), np.nan)
        ratio[:, row, column] = values
        best = _from_search.chosen_of(search)
        display = cls(
            ratio=ratio,
            x=x,
            y=y,
            labels=tuple(_label(search, name) for name in named),
            titles=[_title(search, name) for name in metrics],
            chosen=None if best is None else (int(row[best]), int(column[best])),
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, colorbar=True, **kwargs):
        """Draw one map for each level.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of Axes, shape (n_levels,), default=None
            Axes to draw on; None makes a new figure.
        colorbar : bool, default=True
            Whether to draw the scale of the colours, which all levels share.
        **kwargs : dict
            Keywords of ``ax.imshow``.

        Returns
        -------
        display : KappaGridDisplay
            This one.

        Raises
        ------
        ValueError
            If there are not as many axes as levels.
        """
        self.axes_ = self._get_axes(ax)
        self.figure_ = _style.figure_of(self.axes_[0])
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(self.ratio, dtype=float))
        shown = np.abs(logs[np.isfinite(logs)])
        limit = max(np.log(TICK_BASES[0]), shown.max() if shown.size else 0)
        style = {"cmap": COLOUR_MAP, "vmin": -limit, "vmax": limit, **kwargs}
        self.im_ = []
        self.text_ = np.full(logs.shape, None, dtype=object)
        for level, ax in enumerate(self.axes_):
            ax.patch.set(hatch="////", edgecolor="0.6")
            masked = np.ma.masked_invalid(np.clip(logs[level], -limit, limit))
            self.im_.append(ax.imshow(masked, origin="lower", aspect="auto", **style))
            for cell in zip(*np.nonzero(~np.isnan(logs[level])), strict=True):
                self._write(level, cell, np.clip(logs[level][cell], -limit, limit))
            _draw_border(ax, logs[level])
            self._finish(ax, level)
        if colorbar:
            self._draw_colorbar(limit)
        return self

    def _get_axes(self, ax):
        n_levels = len(self.ratio)
        if ax is not None:
            return _style.several_axes(ax, n_levels, "ax", "level")
        import matplotlib.pyplot as plt

        width = max(3.2, 0.5 * len(self.x) + 1.0) * n_levels + 1.2
        height = max(3.2, 0.38 * len(self.y) + 1.4)
        size = {"figsize": (width, height), "layout": "constrained"}
        _, axes = plt.subplots(1, n_levels, squeeze=False, sharey=True, **size)
        return axes[0]

    def _write(self, level, cell, log):
        row, column = cell
        ax, image = self.axes_[level], self.im_[level]
        dark = _style.luminance(image.to_rgba(log)) < 0.5
        box = ax.get_window_extent()
        side = (
            72
            / ax.figure.dpi
            * min(box.width / len(self.x), 1.6 * box.height / len(self.y))
        )
        self.text_[level, row, column] = ax.text(
            column,
            row,
            ratio_text(np.asarray(self.ratio)[level, row, column]),
            ha="center",
            va="center",
            color="white" if dark else "black",
            fontsize=np.clip(0.36 * side, 3, 11),
        )

    def _finish(self, ax, level):
        from matplotlib.patches import Rectangle

        if self.chosen is not None:
            row, column = self.chosen
            square = (column - 0.5, row - 0.5), 1, 1
            for color, width in (("white", 4.5), ("black", 2.2)):
                frame = {"fill": False, "edgecolor": color, "linewidth": width}
                ax.add_patch(Rectangle(*square, **frame, zorder=4))
        ax.set_xticks(range(len(self.x)), [_tick(v) for v in self.x])
        ax.set_yticks(range(len(self.y)), [_tick(v) for v in self.y])
        ax.tick_params(length=0)
        ax.set_xlabel(self.labels[0])
        place = ax.get_subplotspec()
        if level == 0 or (place is not None and place.is_first_col()):
            ax.set_ylabel(self.labels[1])
        if self.titles is not None:
            ax.set_title(self.titles[level], fontsize="medium")

    def _draw_colorbar(self, limit):
        bar = self.figure_.colorbar(self.im_[-1], ax=list(self.axes_))
        powers, names = scale_ticks(limit)
        bar.set_ticks(powers, labels=names)
        bar.minorticks_off()
        label = "Ratio (log scale); 1: equal"
        if self.chosen is not None:
            label += "; frame: chosen"
        if np.isnan(self.ratio).any():
            label += "; hatched: none"
        bar.set_label(label)


def scale_ticks(limit):
    """Logarithms up to ``limit`` on either side of 0, and their ratios as text."""
    for base in TICK_BASES:
        n_ticks = int(limit / np.log(base) + 1e-9)
        if n_ticks <= MAX_TICKS:
            break
    steps = range(1, n_ticks + 1)
    up = [f"{base**k:.3g}" for k in steps]
    logs = [k * np.log(base) for k in range(-n_ticks, n_ticks + 1)]
    return logs, [*(f"1/{text}" for text in up[::-1]), "1", *up]


def ratio_text(ratio):
    """A ratio with two digits, and infinity as such."""
    if np.isinf(ratio):
        return "\N{INFINITY}"
    if ratio >= 9.95:
        return f"{ratio:.0f}"
    return f"{ratio:.1f}" if ratio >= 0.995 else f"{ratio:.2f}"


def _draw_border(ax, logs):
    """Draw a line along the edges between cells above and below 1."""
    above = np.where(np.isnan(logs), np.nan, logs > 0)
    edges = []
    for row, column in np.argwhere(np.abs(np.diff(above, axis=1)) == 1):
        edges.append([(column + 0.5, row - 0.5), (column + 0.5, row + 0.5)])
    for row, column in np.argwhere(np.abs(np.diff(above, axis=0)) == 1):
        edges.append([(column - 0.5, row + 0.5), (column + 0.5, row + 0.5)])
    if edges:
        from matplotlib.collections import LineCollection

        lines = LineCollection(edges, colors="black", linewidths=1.6, capstyle="round")
        ax.add_collection(lines, autolim=False)


def _steps(search, name):
    """Sorted values of a searched parameter, and each candidate's place among them."""
    values = np.ma.getdata(search.cv_results_[f"param_{name}"])
    try:
        return np.unique(values.astype(float), return_inverse=True)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name!r} is not a number for every candidate, so that it has no place on an "
            "axis; search it apart."
        ) from None


def _check_cells(search, named, cells):
    if np.unique(cells).size == cells.size:
        return
    searched = [key[6:] for key in search.cv_results_ if key.startswith("param_")]
    others = [name for name in searched if name not in named]
    raise ValueError(
        f"Several candidates share values of {named[0]!r} and {named[1]!r}: the search "
        f"also varied {', '.join(map(repr, others)) or 'nothing else'}. A map needs one "
        "candidate a cell; search over these two alone."
    )


def _label(search, name):
    """A parameter without its step; kappa0 and kappa1 with the group of the best estimator."""
    *step, name = name.split("__")
    best = getattr(search, "best_estimator_", None)
    if best is not None and step:
        best = best.get_params()["__".join(step)]
    of_each = zip(("kappa0", "kappa1"), getattr(best, "groups_", ()), strict=False)
    group = dict(of_each).get(name)
    return name if group is None else f"{name} ({group})"


def _title(search, metric):
    level = _from_search.level_of(search, metric)
    groups = getattr(getattr(search, "scorer_", None), "ratio", None)
    rate = metric.split("_")[0].upper()
    if not _from_search.is_signed(metric) or groups is None:
        return _from_search.metric_label(metric, level)
    title = f"{rate} of {groups[1]} / {rate} of {groups[0]}"
    return title if level is None else f"{title}\nno group's FAR above {level}"


def _tick(value):
    return f"{value:g}"
