"""The display of a bench: what every method does to the FRR and to both disparities."""

import textwrap

import numpy as np

from skfairfr.metrics._plot import _style

METRICS = ("bfar", "bfrr")
LABELS = {"bfar": "BFAR (1: equal FAR)", "bfrr": "BFRR (1: equal FRR)"}


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

    def __init__(self, *, names, before, ratio, low, high, far, winner=None):
        self.names = names
        self.before = before
        self.ratio = ratio
        self.low = low
        self.high = high
        self.far = far
        self.winner = winner

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
            raise ValueError(
                "The bench has no method with a result; its left_out says why."
            )

        def column(name):
            return {
                metric: np.array(
                    [getattr(m.changes[metric], name) for m in bench.methods]
                )
                for metric in ("frr_at_far", *METRICS)
            }

        display = cls(
            names=[method.name for method in bench.methods],
            before=bench.before,
            ratio=column("ratio"),
            low=column("low"),
            high=column("high"),
            far=bench.settings["far"],
            winner=bench.winner,
        )
        return display.plot(axes)

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
        shown = {}
        for ax in self.axes_:
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
                shown.setdefault(label, handle)
        self.figure_.legend(
            shown.values(),
            shown,
            loc="outside right upper",
            fontsize="small",
            numpoints=1,
        )
        return self

    def _draw(self, ax, metric):
        """Draw the arrows of one disparity, over the FRR."""
        start = self.before["frr_at_far"], self.before[metric]
        ends = [self._ends(name) for name in ("frr_at_far", metric)]
        known = np.isfinite(np.array(ends)).all(axis=(0, 1))
        if not known.all():
            missing = [
                str(n) for n, drawn in zip(self.names, known, strict=True) if not drawn
            ]
            ax.set_title(
                textwrap.fill(f"undefined, not drawn: {', '.join(missing)}", 60),
                fontsize="small",
            )
        for row, name in enumerate(self.names):
            if not known[row]:
                continue
            (x, *x_ends), (y, *y_ends) = (of[:, row] for of in ends)
            style = _style.line_style(row)
            color = style["color"]
            arrow = {"arrowstyle": "->", "color": color, "alpha": 0.5}
            ax.annotate("", (x, y), start, arrowprops=arrow)
            bars = {"color": color, "linewidth": 0.8, "alpha": 0.45}
            ax.hlines(y, *x_ends, **bars)
            ax.vlines(x, *y_ends, **bars)
            star = name == self.winner
            marker, size = ("*", 15) if star else (style["marker"], 6)
            ax.plot(x, y, linestyle="", marker=marker, markersize=size, color=color)
            label = _style.plain_text(name)
            if len(self.names) > len(_style.MARKERS):
                label = f"{row + 1}  {label}"
                self._number(ax, row + 1, (x, y))
            ax.lines[-1].set_label(label)
        ax.plot(*start, "s", color="black", markersize=8, label="nothing")
        ax.axhline(1, color=_style.GREY, linewidth=1, linestyle=(0, (1, 1.5)))
        for axis, of in zip((ax.xaxis, ax.yaxis), ends, strict=True):
            _style.scale_by_ratio(axis, of[:, known].ravel())
        ax.set(xlabel=f"FRR (FNMR) at FAR {self.far:g}", ylabel=LABELS[metric])
        _style.light_grid(ax)

    def _number(self, ax, number, point):
        """Write the number of a method beside its point: markers repeat after seven."""
        from matplotlib.patheffects import withStroke

        ax.annotate(
            str(number),
            point,
            (5, 4),
            textcoords="offset points",
            fontsize="small",
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )

    def _ends(self, metric):
        """Value, low and high of every method, (3, n_methods)."""
        scaled = (self.ratio[metric], self.low[metric], self.high[metric])
        return self.before[metric] * np.array(scaled, dtype=float)
