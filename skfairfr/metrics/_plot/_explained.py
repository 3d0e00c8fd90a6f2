"""Display of an error rate over a number, such as age, at equal covariates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skfairfr.metrics._plot import _style
from skfairfr.utils._errors import invalid

if TYPE_CHECKING:
    from skfairfr.metrics._explain import Explanation


@_style.display
class RateCurveDisplay:
    """An error rate over a number, such as age, at equal covariates.

    The darker band is the interval at each value alone, the lighter one is valid for all values
    together. Build it with :meth:`from_explanation`. Parameters are kept as attributes.

    Parameters
    ----------
    at, rate : ndarrays, shape (n_points,)
        Values of the number, and the average rate at each, in [0, 1]. Lower is better.
    low, high : ndarrays, shape (n_points,)
        Interval of each rate alone.
    band_low, band_high : ndarrays, shape (n_points,)
        Intervals of all rates together.
    covariate : str
        Name of the number.
    rate_title : str, default="Error rate"
        Label of the vertical axis.
    limit : float, default=None
        Largest rate allowed, drawn as a dotted line.
    name : str, default=None
        Name of the system, in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        The curve.

    See Also
    --------
    skfairfr.metrics.explain_errors : Computes the rates.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from skfairfr.metrics import RateCurveDisplay, explain_errors
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(2000), 5)
    >>> age, sex = rng.uniform(20, 70, 2000)[person], np.where(person % 2, "f", "m")
    >>> error = rng.random(person.size) < age / 700
    >>> found = explain_errors(
    ...     error, person, {"sex": sex}, covariates={"age": age}, curves=["age"])
    >>> display = RateCurveDisplay.from_explanation(found, ax=Figure().subplots())
    >>> bool(display.rate[0] < 0.05 < display.rate[-1])
    True
    """

    at: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    covariate: str
    rate_title: str = "Error rate"
    limit: float | None = None
    name: str | None = None

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        covariate: str | None = None,
        *,
        ax: Any = None,
        rate_title: str = "Error rate",
        limit: float | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a curve of what :func:`~skfairfr.metrics.explain_errors` returns.

        Parameters
        ----------
        explanation : Explanation
            With ``curves``.
        covariate : str, default=None
            Whose curve. If None: the first.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None: a new figure.
        rate_title, limit, name
            As of the class.
        **kwargs : dict
            Further arguments of :meth:`plot`.

        Returns
        -------
        display : RateCurveDisplay
            Already drawn.

        Raises
        ------
        ValueError
            If there is no such curve.
        """
        curves = {curve.name: curve for curve in explanation.curves}
        if (covariate or next(iter(curves), None)) not in curves:
            problem = f"{covariate!r} has no curve;" if covariate else "has no curve;"
            remedy = "name the covariate in curves of explain_errors."
            raise invalid("covariate", covariate, problem, remedy)
        found = dict(vars(curves[covariate or next(iter(curves))]))
        about = {"covariate": found.pop("name"), "name": name, "limit": limit}
        del found["p_value"]
        return cls(**found, **about, rate_title=rate_title).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve with both bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None: a new figure.
        name : str, default=None
            Name of the system. If None: the stored one.
        **kwargs : dict
            Keywords of ``ax.plot``.

        Returns
        -------
        display : RateCurveDisplay
            This one.
        """
        ax, name, _ = _style.begin(self, ax, name)
        (style,), name = _style.styles_on(ax, ("",), name, kwargs)
        style = style | {"marker": "", "label": _style.plain_text(name or "rate")}
        self.lines_ = ax.plot(self.at, self.rate, **style)
        for ends in ((self.low, self.high), (self.band_low, self.band_high)):
            look = {"color": self.lines_[0].get_color(), "alpha": 0.18, "linewidth": 0}
            ax.fill_between(self.at, *ends, **look)
        if self.limit is not None:
            ax.axhline(self.limit, **_style.REFERENCE, label="limit")
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(lambda rate, _: _style.level_percent(rate))
        return _style.finish(
            self, _style.plain_text(self.covariate), self.rate_title, above=True
        )
