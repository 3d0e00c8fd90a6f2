"""Displays with one value for each identity or each image: inertia, and rates of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.metrics._embeddings import identity_inertia, instance_far
from skfairfr.metrics._plot import _style
from skfairfr.utils import _validation
from skfairfr.utils._types import Column, Columns

if TYPE_CHECKING:
    from skfairfr.metrics._embeddings import IdentityInertia, InstanceFAR

MEAN = "mean of the group"
MEAN_OF_ALL = "mean of all images"
MEAN_MARK = {"markersize": 8, "markeredgecolor": "black"}


class FromTransformedMixin:
    """Builds a display from a transformer, through its class's ``from_embeddings``."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: Columns,
        sensitive_features: Column | None = None,
        **kwargs: Any,
    ) -> Self:
        """Transform embeddings, measure the result and draw it.

        Parameters
        ----------
        estimator : transformer
            Fitted. The result of its ``transform`` is measured.
        X : array-like, shape (n_samples, n_features)
            What the estimator transforms.
        y : array-like, shape (n_samples,), or frame
            As in ``from_embeddings``.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row. None and NaN are unknown.
        **kwargs : dict
            Further arguments of ``from_embeddings``.

        Returns
        -------
        display : object of this class
            Already drawn.

        Raises
        ------
        ValueError
            If the estimator has no ``transform``, or numpy cannot read ``X``.
        """
        if not hasattr(estimator, "transform"):
            problem = f"estimator must have a transform method, got {estimator!r}."
            raise ValueError(f"{problem} from_embeddings takes embeddings themselves.")
        kwargs["sensitive_features"] = sensitive_features
        X = estimator.transform(X)
        return cls.from_embeddings(X, y, **kwargs)


@_style.display
class IdentityInertiaDisplay(FromTransformedMixin):
    """Distribution of the inertia of identities, by group.

    These are the histograms of Fig. 13-14 of EM22. If they are not aligned, the images of one
    group's identities are more spread than those of another's. Build it with
    :meth:`from_inertias`, :meth:`from_embeddings` or :meth:`from_estimator`. Parameters
    are kept as attributes.

    Parameters
    ----------
    inertia : sequence of ndarrays, shape (n_groups,), each of shape (n_identities,)
        Inertia in [0, 2] of the identities of each group. Lower is better.
    groups : tuple, shape (n_groups,)
        Label of each. If None, overall.
    name : str, default=None
        Name of the system, put before the labels of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    artists_ : list of matplotlib Polygon or Line2D
        One outline of a histogram, or one line, for each group.

    See Also
    --------
    skfairfr.metrics.identity_inertia : Computes the inertia.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.metrics import identity_inertia
    >>> from skfairfr.metrics import IdentityInertiaDisplay
    >>> faces = make_face_embeddings(n_identities=200, random_state=0)
    >>> found = identity_inertia(faces.X, faces.y,
    ...     sensitive_features=faces.sensitive_features, min_images=4)
    >>> display = IdentityInertiaDisplay.from_inertias(found, ax=Figure().subplots())
    >>> display.groups
    ('female', 'male')
    """

    inertia: list
    groups: tuple
    name: str | None = None

    @classmethod
    def from_inertias(
        cls,
        inertias: IdentityInertia,
        *,
        groups: Sequence[object] | None = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what :func:`~skfairfr.metrics.identity_inertia` found.

        Parameters
        ----------
        inertias : IdentityInertia
            Inertia and group of each identity.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups to draw, None among them standing for all identities. By default every
            group, or all identities where no group is known.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : IdentityInertiaDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If a group is none of those of the identities.
        """
        known = inertias.inertia, inertias.groups
        groups, parts = values_of_groups(*known, groups)
        return cls(inertia=parts, groups=groups, name=name).plot(ax, **kwargs)

    @classmethod
    def from_embeddings(
        cls,
        X: ArrayLike,
        y: Columns,
        *,
        sensitive_features: Column | None = None,
        min_images: int = 2,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Measure the inertia of embeddings and draw it.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,), or frame
            Identity of each row, or any other ``y`` of
            :func:`~skfairfr.metrics.identity_inertia`.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row. None and NaN are unknown.
        min_images : int, at least 2, default=2
            Identities with fewer images are left out.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`from_inertias`.

        Returns
        -------
        display : IdentityInertiaDisplay
            Already drawn.
        """
        options = {"sensitive_features": sensitive_features, "min_images": min_images}
        found = identity_inertia(X, y, **options)
        return cls.from_inertias(found, ax=ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        kind: str = "histogram",
        bins: int = 30,
        **kwargs: Any,
    ) -> Self:
        """Draw the distribution of each group.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        kind : {"histogram", "ecdf"}, default="histogram"
            Densities over bins that all groups share, or the share of identities whose
            inertia is at most so large.
        bins : int, at least 1, default=30
            Number of bins of the histograms.
        **kwargs : dict
            Keywords of the outlines or lines of every group.

        Returns
        -------
        display : IdentityInertiaDisplay
            This one.

        Raises
        ------
        ValueError
            If kind is not one of its options or bins is not a number of bins.
        """
        _validation.check_option(kind, "kind", ("histogram", "ecdf"))
        bins = _validation.check_count(bins, "bins", 1, _style.MOST_BINS)
        ax, name, _ = _style.begin(self, ax, name)
        edges = np.histogram_bin_edges(np.concatenate(self.inertia), bins)
        self.artists_ = []
        styles, name = _style.styles_on(ax, self.groups, name)
        labels = _style.group_labels(self.groups, self.inertia, name)
        for part, label, style in zip(self.inertia, labels, styles, strict=True):
            style = {k: style[k] for k in ("color", "linestyle", "linewidth")} | kwargs
            style["label"] = f"{label} (n = {len(part)})"
            if kind == "ecdf":
                self.artists_.append(ax.ecdf(part, **style))
                continue
            look = {"histtype": "stepfilled", "edgecolor": style.pop("color")}
            look |= {"facecolor": (look["edgecolor"], 0.15), "density": True}
            *_, (outline,) = ax.hist(part, edges, **look, **style)
            self.artists_.append(outline)
        share = "Density" if kind == "histogram" else "Share"
        xlabel = "Inertia of the identity (lower: images more similar)"
        return _style.finish(self, xlabel, f"{share} of identities")


@_style.display
class InstanceFARDisplay(FromTransformedMixin):
    """Distribution of the false acceptance rate of images, by group.

    For every rate on the horizontal axis, the share of a group's images whose own rate is
    at least as high, both on log axes. FPR21 sees bias in images that draw many false
    accepts at the threshold of all. If the curve of one group lies
    above another's, its images are falsely accepted more often. Images without any false
    accept have no place on a log axis. The legend gives their share. Build it with
    :meth:`from_instance_far`, :meth:`from_embeddings` or :meth:`from_estimator`.
    Parameters are kept as attributes.

    Parameters
    ----------
    instance_far : sequence of ndarrays, shape (n_groups,), each of shape (n_samples,)
        Rates in [0, 1] of the images of each group, without nan. Lower is better.
    groups : tuple, shape (n_groups,)
        Label of each. If None, overall.
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
        The mark at each group's mean, or empty where that is zero or nan.

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

    instance_far: list
    groups: tuple
    mean: float | None = None
    name: str | None = None

    @classmethod
    def from_instance_far(
        cls,
        found: InstanceFAR,
        *,
        groups: Sequence[object] | None = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what :func:`~skfairfr.metrics.instance_far` found.

        Parameters
        ----------
        found : InstanceFAR
            Rate and group of each image. Images whose rate is nan are left out.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups to draw, None among them standing for all images. By default every
            group, or all images where no group is known.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
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
        groups, parts = values_of_groups(rates, found.groups, groups)
        parts = [part[~np.isnan(part)] for part in parts]
        mean = float(rates[~np.isnan(rates)].mean())
        display = cls(instance_far=parts, groups=groups, mean=mean, name=name)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_embeddings(
        cls,
        X: ArrayLike,
        y: Columns,
        *,
        far: float | None = None,
        threshold: float | None = None,
        sensitive_features: Column | None = None,
        impostors: str = "all",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Measure the rates of embeddings and draw them.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,), or frame
            Identity of each row, or any other ``y`` of
            :func:`~skfairfr.metrics.instance_far`.
        far : float in (0, 1), default=None
            Level of the overall far that sets the threshold. Give it or ``threshold``.
        threshold : float, default=None
            Similarity to accept from.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row. None and NaN are unknown.
        impostors : {"all", "same_group"}, default="all"
            Which pairs of two people count.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`from_instance_far`.

        Returns
        -------
        display : InstanceFARDisplay
            Already drawn.
        """
        options = {"sensitive_features": sensitive_features, "impostors": impostors}
        found = instance_far(X, y, far=far, threshold=threshold, **options)
        return cls.from_instance_far(found, ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve of each group.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for every curve.

        Returns
        -------
        display : InstanceFARDisplay
            This one.
        """
        ax, name, earlier = _style.begin(self, ax, name)
        self.lines_, self.means_ = [], []
        styles, name = _style.styles_on(ax, self.groups, name, kwargs)
        labels = _style.group_labels(self.groups, self.instance_far, name)
        for part, label, style in zip(self.instance_far, labels, styles, strict=True):
            label += _about(part) if part.size else ""
            self._draw(part, label, style)
        if any(mark.get_xdata().size for mark in self.means_):
            _style.explain(ax, MEAN, linestyle="", **MEAN_MARK, color=_style.GREY)
        if self.mean:
            drawn = MEAN_OF_ALL in ax.get_legend_handles_labels()[1]
            label = "_nolegend_" if drawn else MEAN_OF_ALL
            ax.axvline(self.mean, **_style.REFERENCE, label=label)
        _style.set_limits(ax, earlier, *self._limits())
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            _style.percent_ticks(axis, axis.get_view_interval())
        xlabel = "FMR of an image: share of its impostor pairs accepted"
        return _style.finish(self, xlabel, "Share of images with at least this FMR")

    def _limits(self):
        """Ends of the two axes: all positive rates and means, and one image of many."""
        means = [part.mean() for part in self.instance_far if part.size]
        rates = np.concatenate([*self.instance_far, means])
        positive = rates[rates > 0]
        ends = (positive.min(), positive.max()) if positive.size else (1e-3, 1e-3)
        most = max(2, *(part.size for part in self.instance_far))
        return (ends[0] / 1.5, 1.5 * ends[1]), (0.7 / most, 1.2)

    def _draw(self, part, label, style):
        """Draw the share of images at or above every rate, and a mark at their mean."""
        curve = {**style, "marker": "", "label": label}
        if part.size:
            self.lines_.append(self.ax_.ecdf(part, complementary=True, **curve))
        else:
            self.lines_ += self.ax_.plot([], [], **curve)
        mean = part[part > 0].sum() / max(1, part.size)
        at = [mean] if mean > 0 else []
        height = [(part >= mean).mean() for mean in at]
        mark = {**style, "linestyle": "", **MEAN_MARK, "marker": style["marker"] or "*"}
        self.means_.extend(self.ax_.plot(at, height, **mark, zorder=3))


def values_of_groups(values, group_of, groups):
    """Groups to draw, None standing for all, and the values of each.

    Parameters
    ----------
    values : ndarray, shape (n_units,)
    group_of : ndarray of labels, shape (n_units,)
        None where unknown.
    groups : sequence of labels, or None
        If None: every known group, or all units where no group is known.

    Returns
    -------
    groups : tuple
    parts : list of ndarrays
    """
    known = sorted({group for group in group_of if group is not None})
    chosen = tuple(known) or (None,)
    groups = chosen if groups is None else _style.given_groups(groups, known)
    return groups, [values if g is None else values[group_of == g] for g in groups]


def _about(part):
    """The number of images, their mean rate and the share without any."""
    none = 100 * (part == 0).mean()
    return f" (n = {part.size}, mean {part.mean():.2g}, none: {none:.0f} %)"
