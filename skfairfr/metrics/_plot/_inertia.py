"""The display of the spread of the images of identities, by group."""

from skfairfr.metrics._inertia import identity_inertia
from skfairfr.metrics._plot import _style
from skfairfr.metrics._plot._from_embeddings import (
    FromTransformedMixin,
    values_of_groups,
)
from skfairfr.utils._validation import check_count, check_option


class IdentityInertiaDisplay(FromTransformedMixin):
    """Distribution of the inertia of identities, by group.

    The histograms of Fig. 13-14 of EM22: where they are not aligned, the images of one
    group's identities are more spread than those of another's. Build it with
    :meth:`from_inertias`, :meth:`from_embeddings` or :meth:`from_estimator`; parameters
    are kept as attributes.

    Parameters
    ----------
    inertia : sequence of ndarrays, shape (n_groups,), each of shape (n_identities,)
        Inertia in [0, 2] of the identities of each group; lower is better.
    groups : tuple, shape (n_groups,)
        Label of each; None is overall.
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

    def __init__(self, *, inertia, groups, name=None):
        self.inertia = inertia
        self.groups = groups
        self.name = name

    @classmethod
    def from_inertias(cls, inertias, *, groups=None, ax=None, name=None, **kwargs):
        """Draw what :func:`~skfairfr.metrics.identity_inertia` found.

        Parameters
        ----------
        inertias : IdentityInertia
            Inertia and group of each identity.
        groups : sequence of labels, shape (n_groups,), default=None
            Groups to draw, None among them standing for all identities; by default every
            group, or all identities where no group is known.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
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
        groups, parts = values_of_groups(
            inertias.inertia, inertias.groups, groups, "identity"
        )
        return cls(inertia=parts, groups=groups, name=name).plot(ax, **kwargs)

    @classmethod
    def from_embeddings(
        cls, X, y, *, sensitive_features=None, min_images=2, ax=None, **kwargs
    ):
        """Measure the inertia of embeddings and draw it.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Embeddings.
        y : array-like, shape (n_samples,), or frame
            Identity of each row, or any other ``y`` of
            :func:`~skfairfr.metrics.identity_inertia`.
        sensitive_features : array-like, shape (n_samples,), default=None
            Group of each row; None and NaN are unknown.
        min_images : int, at least 2, default=2
            Identities with fewer images are left out.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`from_inertias`.

        Returns
        -------
        display : IdentityInertiaDisplay
            Already drawn.
        """
        found = identity_inertia(
            X, y, sensitive_features=sensitive_features, min_images=min_images
        )
        return cls.from_inertias(found, ax=ax, **kwargs)

    def plot(self, ax=None, *, name=None, kind="histogram", bins=30, **kwargs):
        """Draw the distribution of each group.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
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
        check_option(kind, "kind", ("histogram", "ecdf"))
        bins = check_count(bins, "bins", 1, _style.MOST_BINS)
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        name = _style.name_of(self, name)
        ends = [(part.min(), part.max()) for part in self.inertia]
        limits = min(low for low, _ in ends), max(high for _, high in ends)
        self.artists_ = []
        for part, group, style in zip(
            self.inertia, self.groups, _style.group_styles(self.groups), strict=True
        ):
            style = {k: style[k] for k in ("color", "linestyle", "linewidth")} | kwargs
            label = f"{_style.group_label(group, part, name)} (n = {len(part)})"
            if kind == "ecdf":
                artist = ax.ecdf(part, label=label, **style)
            else:
                artist = _draw_histogram(ax, part, limits, bins, label, style)
            self.artists_.append(artist)
        density = "Density of identities"
        ylabel = density if kind == "histogram" else "Share of identities"
        ax.set(xlabel="Inertia of the identity (lower: images more alike)")
        ax.set(ylabel=ylabel)
        _style.light_grid(ax)
        _style.add_legend(ax)
        return self


def _draw_histogram(ax, values, limits, bins, label, style):
    """A light filling and its outline, which a line of the same style explains."""
    shared = {"bins": bins, "range": limits, "density": True}
    ax.hist(values, **shared, histtype="stepfilled", alpha=0.15, color=style["color"])
    *_, (outline,) = ax.hist(values, **shared, histtype="step", **style)
    ax.plot([], [], **style, label=label)
    return outline
