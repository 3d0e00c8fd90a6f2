"""The display of a bench: what every method does to the FRR and to both disparities."""

import textwrap

import numpy as np

from skfairfr.metrics._plot import _style

METRICS = ("bfar", "bfrr")
ALL = ("frr_at_far", *METRICS)
NOTHING = "nothing"
LABELS = {"bfar": "BFAR (1: equal FAR)", "bfrr": "BFRR (1: equal FRR)"}


@_style.display
class MitigationsDisplay:
    """FRR against BFAR and against BFRR, with an arrow from nothing to every method.

    An arrow that goes down lowers the disparity, one that goes to the right rejects more
    of everybody's genuine pairs. Bars are intervals of the method over nothing. Build it
    with :meth:`from_bench`; parameters are kept as attributes.

    Parameters
    ----------
    names : sequence of str, shape (n_methods,)
        Of the methods.
    before : dict of str -> float
        "frr_at_far", "bfar" and "bfrr" with nothing.
    ratio, low, high : dict of str -> ndarray, shape (n_methods,)
        By the same names: method over nothing, and its interval.
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
    ['BFAR (1: equal FAR)', 'BFRR (1: equal FRR)']
    """

    names: list
    before: dict
    ratio: dict
    low: dict
    high: dict
    far: float
    winner: str | None = None

    @classmethod
    def from_bench(cls, bench, *, axes=None):
        """Read a bench and draw it.

        Parameters
        ----------
        bench : Bench
            With one method at least.
        axes : tuple of two matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

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
            raise ValueError(f"{problem}; its left_out says why.")

        changes = [method.changes for method in bench.methods]
        columns = {
            field: {m: np.array([getattr(c[m], field) for c in changes]) for m in ALL}
            for field in ("ratio", "low", "high")
        }
        names = [method.name for method in bench.methods]
        settings = {"before": bench.before, "far": bench.settings["far"]}
        return cls(names=names, winner=bench.winner, **settings, **columns).plot(axes)

    def plot(self, axes=None):
        """Draw both panels.

        Parameters
        ----------
        axes : tuple of two matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : MitigationsDisplay
            This one.

        Raises
        ------
        ValueError
            If there are not two axes.
        """
        if axes is None:
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
        self.axes_ = _style.several_axes(axes, len(METRICS), "axes", "disparity")
        self.figure_ = _style.figure_of(self.axes_[0])
        for ax, metric in zip(self.axes_, METRICS, strict=True):
            self._draw(ax, metric)
        # A method may be undefined in one panel and drawn in the other.
        entries = [
            zip(*ax.get_legend_handles_labels(), strict=True) for ax in self.axes_
        ]
        shown = {label: handle for of in entries for handle, label in of}
        order = [*map(self._label, range(len(self.names))), NOTHING]
        shown = {label: shown[label] for label in order if label in shown}
        look = {"loc": "outside right upper", "fontsize": "small", "numpoints": 1}
        self.figure_.legend(shown.values(), shown, **look)
        return self

    def _label(self, row):
        """A method in the legend: numbered where markers repeat."""
        label = _style.plain_text(self.names[row])
        numbered = len(self.names) > len(_style.MARKERS)
        return f"{row + 1}  {label}" if numbered else label

    def _draw(self, ax, metric):
        """Draw the arrows of one disparity, over the FRR."""
        start = self.before["frr_at_far"], self.before[metric]
        ends = [self._ends(name) for name in ("frr_at_far", metric)]
        known = np.isfinite(np.array(ends)).all(axis=(0, 1))
        if not known.all():
            missing = ", ".join(str(self.names[row]) for row in np.flatnonzero(~known))
            title = textwrap.fill(f"undefined, not drawn: {missing}", 60)
            ax.set_title(title, fontsize="small")
        for row in np.flatnonzero(known):
            (x, *x_ends), (y, *y_ends) = (of[:, row] for of in ends)
            style = _style.line_style(row)
            color = {"color": style["color"]}
            arrow = {"arrowstyle": "->", **color, "alpha": 0.5}
            ax.annotate("", (x, y), start, arrowprops=arrow)
            ax.hlines(y, *x_ends, **color, linewidth=0.8, alpha=0.45)
            ax.vlines(x, *y_ends, **color, linewidth=0.8, alpha=0.45)
            star = self.names[row] == self.winner
            marker, size = ("*", 15) if star else (style["marker"], 6)
            look = {"linestyle": "", "marker": marker, "markersize": size, **color}
            ax.plot(x, y, **look, label=self._label(row))
            if len(self.names) > len(_style.MARKERS):
                self._number(ax, row + 1, (x, y))
        ax.plot(*start, "s", color="black", markersize=8, label=NOTHING)
        ax.axhline(1, **_style.REFERENCE)
        for axis, of in zip((ax.xaxis, ax.yaxis), ends, strict=True):
            _style.scale_by_ratio(axis, of[:, known].ravel())
        ax.set(xlabel=f"FRR (FNMR) at FAR {self.far:g}", ylabel=LABELS[metric])
        _style.light_grid(ax)

    def _number(self, ax, number, point):
        """Write the number of a method beside its point: markers repeat after seven."""
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=2.5, foreground="white")]
        look = {"fontsize": "small", "fontweight": "bold", "path_effects": halo}
        where = {"xytext": (5, 4), "textcoords": "offset points"}
        ax.annotate(str(number), point, **where, **look)

    def _ends(self, metric):
        """Value, low and high of every method, (3, n_methods)."""
        scaled = (self.ratio[metric], self.low[metric], self.high[metric])
        return self.before[metric] * np.array(scaled, dtype=float)
