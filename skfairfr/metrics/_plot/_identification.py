"""The display of searches: error rates over the size of the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.metrics._plot import _style
from skfairfr.utils._validation import check_count, check_option, check_sequence, plain

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
        known = identification.groups_.tolist()
        groups = _style.given_groups(
            (None, *known) if groups is None else groups, known
        )
        if fpir is not None and threshold is None:
            fpir, threshold = None, identification.threshold_at(fpir)
        enrolled = identification.gallery_.size
        if sizes is None:
            sizes = np.unique(np.rint(np.geomspace(1, enrolled, N_SIZES)).astype(int))
        sizes = check_sequence(sizes, "sizes", "numbers of people")
        sizes = np.unique([check_count(plain(n), "sizes", 1) for n in sizes])
        asked = {"fpir": fpir, "threshold": threshold, "rate": rate}
        found = [
            [identification.estimate(**asked, group=g, gallery_size=n) for n in sizes]
            for g in groups
        ]
        columns = {
            name: np.array([[getattr(one, name) for one in row] for row in found])
            for name in ("value", "low", "high", "supported")
        }
        formula = None
        if rate == "fpir":
            alone = [
                identification.estimate(**asked, group=g, gallery_size=1).value
                for g in groups
            ]
            formula = 1 - (1 - np.array(alone)[:, None]) ** sizes
        return cls(
            sizes=sizes, **columns, groups=groups, rate=rate, formula=formula
        ).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        A rate of zero has no place on the axis: it is drawn at the lower edge.

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
        drawn = np.clip(self.value, floor, 1.0)
        _style.draw_curves(self, self.sizes, drawn, self.supported, styles, labels)
        edges = np.clip((self.low, self.high), floor, 1.0)
        _style.draw_bands(ax, self.sizes, *edges, self.supported, self.lines_)
        self.formula_lines_ = []
        if self.formula is not None:
            look = {"linestyle": "", "marker": "x", "markersize": 5}
            for line, values in zip(self.lines_, self.formula, strict=True):
                values = np.clip(values, floor, 1.0)
                style = {"color": line.get_color(), **look}
                self.formula_lines_ += ax.plot(self.sizes, values, **style)
            _style.explain(ax, FORMULA, color=_style.GREY, **look)
        ax.set(xscale="log", yscale="log")
        top = min(ax.get_ylim()[1], 1.0)
        _style.set_limits(ax, earlier, (self.sizes[0], self.sizes[-1]), (floor, top))
        _style.percent_ticks(ax.yaxis, ax.get_ylim())
        _style.ratio_ticks(ax.xaxis, ax.get_xlim())
        return _style.finish(self, "People enrolled, n", TITLES[self.rate], above=True)
