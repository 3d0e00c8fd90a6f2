"""The display of sampling weights, or of the FAR within groups, over training."""

import numpy as np

from skfairfr.metrics._plot import _style
from skfairfr.utils._validation import check_option, plain


@_style.display
class GroupWeightsDisplay:
    """Sampling weights of groups over the epochs of a fit, or the FAR they follow.

    The FARs within groups over training are Fig. 6 of GEO20. Build it with
    :meth:`from_projector`; parameters are kept as attributes.

    Parameters
    ----------
    weights : ndarray, shape (n_epochs, n_groups)
        Weights that each epoch drew by, >= 0, their mean 1.
    fars : ndarray, shape (n_epochs, n_groups), default=None
        FAR within each group after each epoch, in [0, 1]; lower is better.
    groups : sequence of labels, shape (n_groups,)
        Label of each column.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each group.

    See Also
    --------
    skfairfr.projectors.TripletProjector : Whose weights and FARs these are.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import GroupWeightsDisplay
    >>> from skfairfr.samplers import dynamic_weights, equal_weights
    >>> weights = [equal_weights(2)]
    >>> for _ in range(5):
    ...     weights.append(dynamic_weights(weights[-1], [100, 10], [1000, 1000]))
    >>> display = GroupWeightsDisplay(weights=weights, groups=["AF", "EU"])
    >>> len(display.plot(Figure().subplots()).lines_)
    2
    """

    weights: np.ndarray
    groups: tuple
    fars: np.ndarray | None = None

    @classmethod
    def from_projector(cls, projector, *, ax=None, **kwargs):
        """Draw what a projector recorded while it was fitted.

        Parameters
        ----------
        projector : TripletProjector
            Fitted, or any object with ``group_weights_``, ``group_fars_`` and
            ``groups_``.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : GroupWeightsDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If the projector was fitted without groups or keeps no weights.
        """
        if not hasattr(projector, "group_weights_"):
            expected = (
                "must be fitted and keep group_weights_, as a TripletProjector does"
            )
            raise ValueError(f"projector {expected}; got {plain(projector)!r}.")
        weights, fars = projector.group_weights_, projector.group_fars_
        display = cls(weights=weights, fars=fars, groups=projector.groups_.tolist())
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, kind="weights", **kwargs):
        """Draw a line for each group over the epochs.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        kind : {"weights", "far"}, default="weights"
            Sampling weights, or the FAR within groups on a log axis, where a FAR of 0
            leaves a gap.
        **kwargs : dict
            Keywords of the lines of every group.

        Returns
        -------
        display : GroupWeightsDisplay
            This one.

        Raises
        ------
        ValueError
            If kind is not one of its options, or there are no groups or FARs to draw.
        """
        check_option(kind, "kind", ("weights", "far"))
        given = self.weights if kind == "weights" else self.fars
        values = np.array(np.nan if given is None else given, dtype=np.float64)
        if len(self.groups) == 0 or np.isnan(values).all():
            remedy = "fit with groups, and for the FAR with people held out"
            raise ValueError(f"There is nothing to draw for kind={kind!r}: {remedy}.")
        ax, _, _ = _style.begin(self, ax)
        epochs = np.arange(1, len(values) + 1)
        if kind == "far":
            values = np.where(values > 0, values, np.nan)
        self.lines_ = []
        labels = _style.group_labels(self.groups, values.T)
        styles = _style.group_styles(self.groups)
        for column, label, style in zip(values.T, labels, styles, strict=True):
            options = {"markevery": max(1, epochs.size // 12), **style, **kwargs}
            self.lines_ += ax.plot(epochs, column, label=label, **options)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if kind == "weights":
            return _style.finish(self, "Epoch", "Sampling weight (mean 1)")
        ax.set_yscale("log")
        _style.percent_ticks(ax.yaxis, ax.get_ylim())
        ylabel = f"{_style.RATE_LABELS['far']} within the group"
        return _style.finish(self, "Epoch", ylabel)
