"""The display of genuine and impostor scores by group."""

import numpy as np

from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_roc import (
    FromEstimatorMixin,
    check_roc_groups,
    operating_points,
    score_range,
)
from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._validation import check_count, to_array

PAIR_KINDS = ("impostor", "genuine")
FEW_PAIRS = 30


class ScoreHistogramDisplay(FromEstimatorMixin):
    """Distributions of genuine and impostor scores by group, with the threshold.

    Impostor pairs at or above the threshold are falsely accepted, genuine pairs below it
    falsely rejected. Build it with :meth:`from_roc` or :meth:`from_estimator`; parameters
    are kept as attributes.

    Parameters
    ----------
    edges : ndarray, shape (n_bins + 1,)
        Ends of the bins of the similarity, increasing.
    genuine, impostor : ndarrays, shape (n_curves, n_bins)
        Densities, which times the width of a bin give the share of pairs in it; nan
        without a pair.
    n_genuine, n_impostor : ndarrays of int, shape (n_curves,)
        Number of pairs; of fewer than 30 no density is drawn, but marks at the bottom
        where a bin holds any.
    groups : tuple, shape (n_curves,)
        Label of each curve; None is overall.
    operating_thresholds : ndarray, shape (n_levels,), default=()
        Thresholds to mark, at which a pair of that similarity is accepted.
    levels : ndarray, shape (n_levels,), default=()
        FAR levels that set them; nan where they were given.
    name : str, default=None
        Name of the system, put before the labels of the legend.
    distance : bool, default=False
        Whether scores are minus distances, which the axis then shows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        The impostor scores of every group, then the genuine.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.score_summary : Means and deviations of the scores.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.metrics import ScoreHistogramDisplay
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> roc = SimilarityROC(n_resamples=100, random_state=0)
    >>> roc = roc.fit(data.X, data.y, data.sensitive_features)
    >>> display = ScoreHistogramDisplay.from_roc(roc, ax=Figure().subplots())
    >>> display.genuine.shape
    (2, 60)
    """

    def __init__(
        self,
        *,
        edges,
        genuine,
        impostor,
        n_genuine,
        n_impostor,
        groups,
        operating_thresholds=(),
        levels=(),
        name=None,
        distance=False,
    ):
        self.edges = edges
        self.genuine = genuine
        self.impostor = impostor
        self.n_genuine = n_genuine
        self.n_impostor = n_impostor
        self.groups = groups
        self.operating_thresholds = operating_thresholds
        self.levels = levels
        self.name = name
        self.distance = distance

    @classmethod
    def from_roc(
        cls,
        roc,
        *,
        edges=None,
        far=1e-3,
        operating_thresholds=None,
        groups=None,
        ax=None,
        name=None,
        distance=False,
        **kwargs,
    ):
        """Count the pairs in each bin with a fitted SimilarityROC and draw them.

        Parameters
        ----------
        roc : SimilarityROC
            Fitted.
        edges : int or array-like, shape (n_bins + 1,), default=None
            Ends of the bins; a number of bins spreads them over the scores, of which
            those beyond five deviations from every group's mean are left out. None takes
            twice the square root of the number of genuine pairs, between 20 and 60.
        far : float in (0, 1) or array-like, shape (n_levels,), default=1e-3
            Levels of the overall FAR whose thresholds are marked; None marks nothing.
        operating_thresholds : array-like, shape (n_levels,), default=None
            Thresholds to mark instead, at which a pair of that similarity is accepted:
            those of a deployed system or, with ``far``, those that other data set.
        groups : sequence of labels, shape (n_curves,), default=None
            Groups to draw, None among them standing for overall; by default every group,
            or overall where there is none.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        distance : bool, default=False
            Whether scores are minus distances, which the axis then shows.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : ScoreHistogramDisplay
            Already drawn.

        Raises
        ------
        ValueError
            As :meth:`~skfairfr.metrics.SimilarityROC.estimate`.
        """
        groups = check_roc_groups(roc, groups, overall=False) or (None,)
        summary = roc.score_summary()
        rows = [summary.groups.index(group) for group in groups]
        if edges is None:
            edges = int(np.clip(2 * np.sqrt(summary.n_genuine[0]), 20, 60))
        edges = _edges(roc, groups, edges)
        densities = {kind: _densities(roc, groups, edges, kind) for kind in PAIR_KINDS}
        marked, levels = operating_points(roc, far, operating_thresholds)
        display = cls(
            edges=edges,
            **densities,
            n_genuine=summary.n_genuine[rows],
            n_impostor=summary.n_impostor[rows],
            groups=groups,
            operating_thresholds=marked,
            levels=levels,
            name=name,
            distance=distance,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the histograms: impostor scores filled, genuine scores as lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for every line.

        Returns
        -------
        display : ScoreHistogramDisplay
            This one.
        """
        name = _style.name_of(self, name)
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        self.lines_ = []
        styles, name = _style.styles_on(ax, self.groups, name)
        styles = [{**style, **kwargs} for style in styles]
        for kind in PAIR_KINDS:
            for row, style in enumerate(styles):
                self._draw(kind, row, style, name)
        score = "Distance" if self.distance else "Similarity"
        ax.set(xlabel=score, ylabel="Density of pairs within the group")
        ax.set(xlim=(self.edges[0], self.edges[-1]))
        if self.distance:
            _style.as_distances(ax)
        ax.set_ylim(0, 1.15 * self._top())
        _style.light_grid(ax)
        for kind in PAIR_KINDS:
            self._name_hump(kind)
        marks = self.operating_thresholds, self.levels
        _style.mark_thresholds(ax, *marks, self.distance)
        _style.add_legend(ax, min(len(self.levels), 2))
        return self

    def _draw(self, kind, row, style, name):
        density = getattr(self, kind)[row]
        steps = np.append(density, density[-1])
        label = _style.group_label(
            self.groups[row], self.impostor[row], name, "no impostor pairs"
        )
        label = label if kind == "impostor" else "_nolegend_"
        if self._n_pairs(kind)[row] < FEW_PAIRS:
            self.lines_.append(self._mark_bins(row, density, style, label))
            return
        every = max(1, density.size // 12)
        high = steps > 0.02 * np.nanmax(steps, initial=0.0)
        (line,) = self.ax_.plot(
            self.edges,
            steps,
            **{"markevery": _style.thinned(high, every), **style},
            drawstyle="steps-post",
            label=label,
        )
        if kind == "impostor":
            self.ax_.fill_between(
                self.edges, steps, step="post", color=line.get_color(), alpha=0.15
            )
        self.lines_.append(line)

    def _mark_bins(self, row, density, style, label):
        """Draw hollow marks near the bottom, a row for each group, in bins with pairs."""
        held = density > 0
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        hollow = {**style, "linestyle": "", "markerfacecolor": "white"}
        if held.any():
            _style.explain(self.ax_, _style.FEW, linestyle="")
        (line,) = self.ax_.plot(
            middles[held],
            np.full(held.sum(), 0.03 + 0.035 * row),
            **{"marker": "|", **hollow},
            transform=self.ax_.get_xaxis_transform(),
            label=label,
        )
        return line

    def _n_pairs(self, kind):
        return self.n_genuine if kind == "genuine" else self.n_impostor

    def _enough(self, kind):
        """Densities of the groups with enough pairs, or of all if none has enough."""
        densities, enough = getattr(self, kind), self._n_pairs(kind) >= FEW_PAIRS
        return densities[enough] if enough.any() else densities

    def _top(self):
        tops = [np.nanmax(self._enough(kind), initial=0.0) for kind in PAIR_KINDS]
        return max(tops) or 1.0

    def _name_hump(self, kind):
        densities = self._enough(kind)
        if np.isnan(densities).all():
            return
        row, column = np.unravel_index(np.nanargmax(densities), densities.shape)
        middle = (self.edges[column] + self.edges[column + 1]) / 2
        self.ax_.annotate(
            f"{kind} pairs",
            (middle, densities[row, column]),
            (0, 6),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
        )


def _densities(roc, groups, edges, kind):
    """Share of the pairs in each bin over its width, (n_groups, n_bins).

    The share at or above an edge is a FAR, the share below it an FRR.
    """
    rate, sign = ("far", -1) if kind == "impostor" else ("frr", 1)
    shares = [roc.estimate(threshold=edges, rate=rate, group=g).value for g in groups]
    # Differences of running shares may be negative by rounding.
    return np.maximum(sign * np.diff(np.stack(shares), axis=1), 0) / np.diff(edges)


def _edges(roc, groups, edges):
    """Ends of bins, increasing, from the ends or from the number of bins."""
    given = to_array(edges, "edges")
    if given.ndim == 0:
        return _trimmed(roc, groups, check_count(edges, "edges", 1, _style.MOST_BINS))
    if given.ndim > 1 or given.size < 2 or given.dtype.kind not in "fiu":
        raise ArgumentError(
            Argument("edges"),
            " must be a number of bins, or the ends of bins, two numbers or more, "
            f"(n_bins + 1,); got {given.dtype} of shape {given.shape}.",
            value=edges,
        )
    given = np.sort(given.astype(np.float64))
    if not (np.isfinite(given).all() and (np.diff(given) > 0).all()):
        raise ArgumentError(
            Argument("edges"),
            f" must be finite and all different; got {plain(given.tolist())}.",
            value=edges,
        )
    return given


def _trimmed(roc, groups, n_bins):
    """Edges of ``n_bins`` bins, where bins at the ends are not empty for everyone."""
    edges = np.linspace(*score_range(roc), n_bins + 1)
    held = sum(
        np.nan_to_num(_densities(roc, groups, edges, k)).sum(0) for k in PAIR_KINDS
    )
    filled = np.flatnonzero(held)
    if filled.size == 0:
        return edges
    return np.linspace(edges[filled[0]], edges[filled[-1] + 1], n_bins + 1)
