"""The display of how false accepts are spread over images, by group."""

import numpy as np

from skfairfr.metrics._instance_far import instance_far
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_embeddings import (
    FromTransformedMixin,
    values_of_groups,
)

MEAN = "mean of the group"
MEAN_OF_ALL = "mean of all images"


class InstanceFARDisplay(FromTransformedMixin):
    """Distribution of the false acceptance rate of images, by group.

    For every rate on the horizontal axis, the share of a group's images whose own rate is
    at least as high, both on log axes. FPR21 sees bias in images that draw many false
    accepts at the threshold of all. Where the curve of one group lies
    above another's, its images are falsely accepted more often. Images without any false
    accept have no place on a log axis; the legend gives their share. Build it with
    :meth:`from_instance_far`, :meth:`from_embeddings` or :meth:`from_estimator`;
    parameters are kept as attributes.

    Parameters
    ----------
    instance_far : sequence of ndarrays, shape (n_groups,), each of shape (n_samples,)
        Rates in [0, 1] of the images of each group, without nan; lower is better.
    groups : tuple, shape (n_groups,)
        Label of each; None is overall.
    mean : float, default=None
        Mean rate of all images, drawn as a line: where every curve would fall if all
        images had the same rate.
    name : str, default=None
        Name of the system, put before the labels of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One curve for each group.
    means_ : list of matplotlib Line2D
        The mark at each group's mean; empty where that is zero or nan.

    See Also
    --------
    skfairfr.metrics.instance_far : Computes the rates.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.metrics import InstanceFARDisplay, instance_far
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = instance_far(faces.X, faces.y, far=1e-2,
    ...     sensitive_features=faces.sensitive_features)
    >>> display = InstanceFARDisplay.from_instance_far(found, ax=Figure().subplots())
    >>> display.groups
    ('female', 'male')
    """

    def __init__(self, *, instance_far, groups, mean=None, name=None):
        self.instance_far = instance_far
        self.groups = groups
        self.mean = mean
        self.name = name

    @classmethod
    def from_instance_far(cls, found, *, groups=None, ax=None, name=None, **kwargs):
        """Draw what :func:`~skfairfr.metrics.instance_far` found.

        Parameters
        ----------
        found : InstanceFAR
            Rate and group of each image; images whose rate is nan are left out.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups to draw, None among them standing for all images; by default every
            group, or all images where no group is known.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : InstanceFARDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If a group is none of those of the images.
        """
        rates = found.instance_far
        groups, parts = values_of_groups(rates, found.groups, groups, "image")
        parts = [part[~np.isnan(part)] for part in parts]
        mean = float(rates[~np.isnan(rates)].mean())
        display = cls(instance_far=parts, groups=groups, mean=mean, name=name)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_embeddings(
        cls,
        X,
        y,
        *,
        far=None,
        threshold=None,
        sensitive_features=None,
        impostors="all",
        ax=None,
        **kwargs,
    ):
        """Measure the rates of embeddings and draw them.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,), or frame
            Identity of each row, or any other ``y`` of
            :func:`~skfairfr.metrics.instance_far`.
        far : float in (0, 1), default=None
            Level of the overall far that sets the threshold; give it or ``threshold``.
        threshold : float, default=None
            Similarity to accept from.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row; None and NaN are unknown.
        impostors : {"all", "same_group"}, default="all"
            Which pairs of two people count.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`from_instance_far`.

        Returns
        -------
        display : InstanceFARDisplay
            Already drawn.
        """
        found = instance_far(
            X,
            y,
            far=far,
            threshold=threshold,
            sensitive_features=sensitive_features,
            impostors=impostors,
        )
        return cls.from_instance_far(found, ax=ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the curve of each group.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : InstanceFARDisplay
            This one.
        """
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        name = _style.name_of(self, name)
        self.lines_, self.means_ = [], []
        earlier, limits = _style.earlier_limits(ax), self._limits()
        styles, name = _style.styles_on(ax, self.groups, name)
        for part, group, style in zip(
            self.instance_far, self.groups, styles, strict=True
        ):
            label = _label(group, part, name)
            self._draw(part, limits[0][0], label, {**style, **kwargs})
        if any(mark.get_xdata().size for mark in self.means_):
            _style.explain(ax, MEAN, linestyle="", markersize=8)
        if self.mean:
            drawn = MEAN_OF_ALL in ax.get_legend_handles_labels()[1]
            label = "_nolegend_" if drawn else MEAN_OF_ALL
            ax.axvline(
                self.mean,
                color=_style.GREY,
                linewidth=1,
                linestyle=(0, (1, 1.5)),
                label=label,
            )
        ax.set(xscale="log", yscale="log")
        _style.set_limits(ax, earlier, *limits)
        ax.set(xlabel="FAR (FMR) of an image: share of its impostor pairs accepted")
        ax.set(ylabel="Share of images with at least this FAR")
        _style.light_grid(ax)
        _style.add_legend(ax)
        return self

    def _limits(self):
        """Ends of the two axes: all positive rates and means, and one image of many."""
        means = [part.mean() for part in self.instance_far if part.size]
        rates = np.concatenate([*self.instance_far, means])
        positive = rates[rates > 0]
        ends = (positive.min(), positive.max()) if positive.size else (1e-3, 1e-3)
        most = max(2, *(part.size for part in self.instance_far))
        return (ends[0] / 1.5, 1.5 * ends[1]), (0.7 / most, 1.2)

    def _draw(self, part, left, label, style):
        """Draw one curve, level up to the lowest positive rate, and a mark at the mean."""
        rates, share = _survival(part)
        rates = np.concatenate([np.full(min(1, rates.size), left), rates])
        share = np.concatenate([share[:1], share])
        curve = {**style, "marker": "", "drawstyle": "steps-pre", "label": label}
        self.lines_.extend(self.ax_.plot(rates, share, **curve))
        mean = part[part > 0].sum() / max(1, part.size)
        at = [mean] if mean > 0 else []
        height = [(part >= mean).mean() for mean in at]
        mark = {**style, "linestyle": "", "markersize": 8, "markeredgewidth": 1.6}
        mark |= {"marker": style["marker"] or "*", "markerfacecolor": "white"}
        self.means_.extend(self.ax_.plot(at, height, **mark, zorder=3))


def _survival(rates):
    """Distinct positive rates, ascending, and the share of all at least as high."""
    values, counts = np.unique(rates, return_counts=True)
    share = np.cumsum(counts[::-1])[::-1] / max(1, rates.size)
    positive = values > 0
    return values[positive], share[positive]


def _label(group, part, name):
    """The group, its number of images, its mean rate and the share without any."""
    if part.size == 0:
        return _style.group_label(group, np.array([np.nan]), name)
    label = _style.group_label(group, part, name)
    none = (part == 0).mean()
    return (
        f"{label} (n = {part.size}, mean {part.mean():.2g}, none: {100 * none:.0f} %)"
    )
