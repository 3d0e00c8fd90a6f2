"""The display of the FAR within and between groups."""

import numpy as np

from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import SAMPLED, FromEstimatorMixin, is_sampled

EMPTY = {"facecolor": "white", "edgecolor": "0.6", "hatch": "////", "linewidth": 0}
DASHED = {"fill": False, "linestyle": (0, (3, 2))}
FIELDS = ("groups", "far", "low", "high", "n_impostor", "supported")


@_style.display
class GroupFARDisplay(FromEstimatorMixin):
    """The FAR of the impostor pairs of every two groups, in percent.

    At one overall threshold, a cell says whom the system mistakes for whom: 0.1 % is one
    false acceptance in a thousand comparisons, and lower is better. A cell without an
    error shows the upper end of its interval after "<", or none where it has none; one
    the data do not support has a dashed frame; one without pairs is hatched. Build it
    with :meth:`from_roc` or :meth:`from_estimator`; parameters are kept as attributes.

    Parameters
    ----------
    groups : ndarray, shape (n_groups,)
        Labels of rows and columns.
    far : ndarray, shape (n_groups, n_groups)
        FAR of every two groups in [0, 1], lower is better; nan without a pair.
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
    beyond : str, default=""
        Where values and intervals come from, if above ``far_max``, for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    im_ : matplotlib AxesImage
        The coloured cells.
    text_ : ndarray of matplotlib Text or None, shape (n_groups, n_groups)
        The numbers; None in cells without pairs.

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
    ['2.4 %', '0.47 %']
    """

    groups: np.ndarray
    far: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_impostor: np.ndarray
    supported: np.ndarray
    level: float | None = None
    name: str | None = None
    beyond: str = ""

    @classmethod
    def from_roc(cls, roc, *, far=None, threshold=None, ax=None, name=None, **kwargs):
        """Compute the FAR of every two groups with a fitted SimilarityROC and draw it.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted, with groups.
        far : float in (0, 1), default=None
            Overall FAR level; 1e-3 where no threshold is given either.
        threshold : float, default=None
            Similarity from which on a deployed system accepts, instead.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
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
        beyond = SAMPLED if is_sampled(matrix).any() else ""
        known = {field: getattr(matrix, field) for field in FIELDS}
        return cls(level=far, name=name, beyond=beyond, **known).plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, colorbar=True, **kwargs):
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        colorbar : bool, default=True
            Whether to draw the scale of the colours, with the overall level marked.
        **kwargs : dict
            Keywords of ``ax.imshow``.

        Returns
        -------
        display : GroupFARDisplay
            This one.
        """
        name = _style.name_of(self, name)
        ax, *_ = _style.begin(self, ax, name, matrix_size(self.groups))
        logs = np.log10(np.where(self.far > 0, self.far, np.nan))
        style = {"cmap": "cividis_r", **_limits(logs, self.level), **kwargs}
        self.im_ = ax.imshow(np.ma.masked_invalid(logs), **style)
        self._label_axes()
        self._explain_cells()
        if colorbar:
            self._draw_colorbar(name)
        # The layout sets the size of the cells, into which the numbers must fit.
        self.figure_.draw_without_rendering()
        self.text_ = np.full(self.far.shape, None, dtype=object)
        texts = map(_cell_text, self.far.flat, self.high.flat)
        longest = max(map(len, texts), default=0)
        for cell in np.ndindex(self.far.shape):
            self._draw_cell(cell, logs[cell], longest)
        return self

    def _draw_cell(self, cell, log, longest):
        from matplotlib.patches import Rectangle

        row, column = cell
        if self.n_impostor[cell] == 0:
            self.ax_.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **EMPTY))
            return
        points = self._cell_points()
        text = _cell_text(self.far[cell], self.high[cell])
        size = np.clip(1.3 * points / max(4, longest), 3, 12)
        written = _style.write_cell(self.ax_, self.im_, log, (column, row), text, size)
        self.text_[cell] = written
        if not self.supported[cell]:
            look = DASHED | {
                "edgecolor": written.get_color(),
                "lw": np.clip(points / 25, 0.4, 1),
            }
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

        handles = []
        if (~self.supported & (self.n_impostor > 0)).any():
            handles.append(Patch(**DASHED, label=_style.TOO_FEW))
        if (self.n_impostor == 0).any():
            handles.append(Patch(**EMPTY, label=_style.NO_PAIRS))
        if self.beyond:
            label = f"beyond far_max,\n{self.beyond}"
            handles.append(Patch(facecolor="none", edgecolor="none", label=label))
        if handles:
            where = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": 2}
            look = {"fontsize": "small", "frameon": False, "borderaxespad": 0.2}
            self.ax_.legend(handles=handles, **where, **look)

    def _draw_colorbar(self, name):
        bar = self.figure_.colorbar(self.im_, ax=self.ax_)
        ends = [10.0**end for end in self.im_.get_clim()]
        places = _style.percent_places(ends)
        bar.set_ticks(np.log10(places), labels=[_style.percent(v) for v in places])
        bar.ax.minorticks_off()
        label = "" if name is None else f"{name}: "
        label += "FAR (FMR), log scale"
        if self.level is not None:
            label += "; line: overall"
            for color, width in (("white", 3), ("black", 1)):
                bar.ax.axhline(np.log10(self.level), color=color, linewidth=width)
        bar.set_label(_style.plain_text(label))


def matrix_size(groups):
    """Width and height in inches of a figure whose cells hold readable numbers."""
    side = 0.42 * len(groups)
    labels = 0.075 * max((len(str(group)) for group in groups), default=0)
    return max(6.0, side + labels + 2.0), max(4.0, side + labels + 1.0)


def _limits(logs, level):
    """Ends of the colour scale: whole tenths about the values, at least a decade."""
    level = [] if level is None else [np.log10(level)]
    shown = np.append(logs[np.isfinite(logs)], level)
    if shown.size == 0:
        return {}
    low, high = np.floor(10 * shown.min()) / 10, np.ceil(10 * shown.max()) / 10
    missing = max(0.0, 1 - (high - low)) / 2
    return {"vmin": low - missing, "vmax": min(high + missing, 0.0)}


def _cell_text(far, high):
    """A FAR in percent, with two digits; without an error, the upper end."""
    if np.isnan(far):
        return ""
    if far == 0 and not high > 0:
        return "none"
    return _style.percent(far, 2) if far else f"<{_style.percent(high, 2)}"
