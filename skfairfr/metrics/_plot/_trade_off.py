"""The display of a search's candidates by two metrics."""

import numpy as np

from skfairfr.metrics._plot import _from_search, _style


class TradeOffDisplay:
    """Candidates of a search by two metrics, with those that no other beats in both.

    A disparity seldom falls for free: a point further down is less disparate, one further
    left has fewer errors, and nothing in the data prefers one point of the front to
    another. Build it with :meth:`from_search`; parameters are kept as attributes.

    Parameters
    ----------
    x, y : ndarrays, shape (n_candidates,)
        Mean metric of each candidate over the test folds; lower is better. nan where a
        candidate has none, which is not drawn.
    front : ndarray of bool, shape (n_candidates,)
        Whether no candidate is at least as good in both and better in one.
    params : list of dict, shape (n_candidates,)
        Parameters of each candidate.
    chosen : int, default=None
        Row of the candidate that the search chose.
    baseline : tuple of two floats, default=None
        Metrics without any of the candidates, as of the embeddings as they were.
    labels : tuple of two str, default=("x", "y")
        Labels of the axes.
    name : str, default=None
        Name of the system, put before the labels of the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    points_, front_, chosen_, baseline_ : matplotlib Line2D
        What was drawn; None where there was nothing to draw.

    See Also
    --------
    skfairfr.model_selection.BestTradeOff : Chooses one of the candidates.
    KappaGridDisplay : One metric over two parameters.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import TradeOffDisplay
    >>> display = TradeOffDisplay(
    ...     x=[0.10, 0.12, 0.2], y=[6.0, 3.0, 4.0], front=[True, True, False],
    ...     params=[{"kappa1": k} for k in (10, 20, 30)], chosen=1)
    >>> display.plot(Figure().subplots()).chosen_.get_label()
    'chosen: kappa1=20'
    """

    def __init__(
        self,
        *,
        x,
        y,
        front,
        params,
        chosen=None,
        baseline=None,
        labels=("x", "y"),
        name=None,
    ):
        self.x = x
        self.y = y
        self.front = front
        self.params = params
        self.chosen = chosen
        self.baseline = baseline
        self.labels = labels
        self.name = name

    @classmethod
    def from_search(
        cls,
        search,
        *,
        x="frr_at_far",
        y="bfar",
        baseline=None,
        ax=None,
        name=None,
        **kwargs,
    ):
        """Read a fitted search and draw it.

        Parameters
        ----------
        search : GridSearchCV, RandomizedSearchCV or similar
            Fitted, with several negated scores, as ``scoring=fairness_scores()`` gives.
        x, y : str, default="frr_at_far" and "bfar"
            Names of the scores.
        baseline : dict of str -> float or array-like, shape (n_splits,), default=None
            The same scores of what the candidates are compared with: what
            ``cross_validate`` returned for it on the same folds, or what the scorer did.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system, put before the labels of the legend.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : TradeOffDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If a name is not a score of the search or of the baseline, or is the logarithm
            of a signed ratio.
        """
        values = []
        for metric in (x, y):
            if _from_search.is_signed(metric):
                raise ValueError(
                    f"{metric!r} is a signed ratio, which has no better end; draw it with "
                    "KappaGridDisplay."
                )
            values.append(_from_search.metric_of_search(search, metric))
        if baseline is not None:
            baseline = tuple(_of_baseline(baseline, metric) for metric in (x, y))
        display = cls(
            x=values[0],
            y=values[1],
            front=pareto_front(*values),
            params=search.cv_results_["params"],
            chosen=_from_search.chosen_of(search),
            baseline=baseline,
            labels=tuple(
                _from_search.metric_label(n, _from_search.level_of(search, n))
                for n in (x, y)
            ),
            name=name,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, *, name=None, **kwargs):
        """Draw the candidates.

        An axis is logarithmic where its values are positive and span a factor of five.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        name : str, default=None
            Name of the system; None takes the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``, for the candidates and their front.

        Returns
        -------
        display : TradeOffDisplay
            This one.
        """
        self.ax_ = ax = _style.get_axes(ax)
        self.figure_ = _style.figure_of(ax)
        name = _style.name_of(self, name)
        label_prefix = _style.plain_text(f"{name}, ") if name else ""
        x, y = (np.asarray(values, dtype=float) for values in (self.x, self.y))
        color = {"color": _style.COLOURS[0], **kwargs}
        missing = int((~np.isfinite(x + y)).sum())
        label = f"{label_prefix}candidates" + (
            f" ({missing} without a value)" * bool(missing)
        )
        hollow = {"linestyle": "", "marker": "o", "markersize": 5}
        hollow = {**hollow, "markerfacecolor": "white", **color}
        (self.points_,) = ax.plot(x, y, **hollow, label=label)
        self.front_ = self._draw_front(x, y, color, label_prefix)
        self.baseline_ = self.chosen_ = None
        if self.baseline is not None:
            square = {"linestyle": "", "marker": "s", "color": "black", "markersize": 8}
            (self.baseline_,) = ax.plot(
                *self.baseline, **square, label=f"{label_prefix}baseline"
            )
        if self.chosen is not None and np.isfinite(x + y)[self.chosen]:
            text = _from_search.parameter_text(self.params[self.chosen])
            text = _style.plain_text(text)
            star = {"linestyle": "", "marker": "*", "markersize": 16, "zorder": 4}
            edge = {"color": _style.COLOURS[1], "markeredgecolor": "black"}
            at = x[self.chosen], y[self.chosen]
            label = f"{label_prefix}chosen: {text}" if text else f"{label_prefix}chosen"
            (self.chosen_,) = ax.plot(*at, **star, **edge, label=label)
        baseline = (np.nan, np.nan) if self.baseline is None else self.baseline
        for axis, values, value in zip(
            (ax.xaxis, ax.yaxis), (x, y), baseline, strict=True
        ):
            _style.scale_by_ratio(axis, np.append(values, value))
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        _style.light_grid(ax)
        _style.add_legend(ax)
        return self

    def _draw_front(self, x, y, color, label_prefix):
        """Draw the front: filled candidates and the staircase through them."""
        front = np.flatnonzero(self.front)
        if front.size == 0:
            return None
        order = front[np.lexsort((-y[front], x[front]))]
        steps = {"drawstyle": "steps-post", "marker": "o", "markersize": 6}
        (line,) = self.ax_.plot(
            x[order],
            y[order],
            **{"linewidth": 1.2, **steps, **color},
            label=f"{label_prefix}no candidate better in both",
        )
        return line


def pareto_front(x, y):
    """Whether no candidate is at least as good (as low) in both and better in one.

    Parameters
    ----------
    x, y : ndarrays, shape (n_candidates,)
        nan where a candidate has no value, which is then not in the front.

    Returns
    -------
    front : ndarray of bool, shape (n_candidates,)
    """
    front = np.isfinite(x) & np.isfinite(y)
    for i in np.flatnonzero(front):
        as_good = (x <= x[i]) & (y <= y[i])
        front[i] = not (as_good & ((x < x[i]) | (y < y[i]))).any()
    return front


def _of_baseline(baseline, metric):
    """Minus a score of a baseline, averaged over folds."""
    for key in (f"test_{metric}", metric):
        if key in baseline:
            return 0.0 - float(np.mean(baseline[key]))
    raise ValueError(
        f"baseline has no {metric!r}; its entries are: "
        f"{', '.join(map(repr, baseline)) or 'none'}."
    )
