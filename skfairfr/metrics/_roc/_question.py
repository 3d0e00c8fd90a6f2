"""A question about a fitted SimilarityROC, checked once."""

from dataclasses import dataclass, replace

import numpy as np

from skfairfr._core._bootstrap import OPERATING_POINTS
from skfairfr._core._disparities import DISPARITIES, DisparityMeasure
from skfairfr.utils._validation import (
    check_group,
    check_level,
    check_option,
    check_threshold,
    plain,
)


@dataclass(frozen=True)
class Question:
    """One rate or disparity at levels or thresholds.

    Attributes
    ----------
    levels, thresholds : ndarray, shape (n_levels,), or None
        In increasing order; exactly one of them.
    order : ndarray of int, shape (n_levels,)
        Position of each of them in the caller's argument.
    shape : tuple
        Shape of the caller's argument.
    rate : {"far", "frr"}
    scope : None, (g, g) or (g, h)
        Of a rate; None where ``how`` is given.
    how : DisparityMeasure or None
    picked : tuple of int or None
        The two groups of a signed ratio; None is all groups.
    operating_point : {"overall", "worst_group", "group"}
    """

    levels: np.ndarray | None
    thresholds: np.ndarray | None
    order: np.ndarray
    shape: tuple
    rate: str
    scope: tuple | None
    how: DisparityMeasure | None
    picked: tuple | None
    operating_point: str

    def parts(self, exact):
        """The same question about each run of levels or thresholds alike in ``exact``.

        Parameters
        ----------
        exact : ndarray of bool, shape (n_levels,)

        Returns
        -------
        parts : list of Question
            Their levels or thresholds together are those of this one, in their order.
        """
        runs = np.split(np.arange(exact.size), np.flatnonzero(np.diff(exact)) + 1)
        return [
            replace(
                self,
                levels=None if self.levels is None else self.levels[run],
                thresholds=None if self.thresholds is None else self.thresholds[run],
                order=np.arange(run.size),
                shape=(run.size,),
            )
            for run in runs
        ]

    def level_columns(self):
        """The levels or thresholds under their name, in the caller's order and shape."""
        if self.levels is None:
            return {"threshold": self.in_shape(self.thresholds)}
        return {"far": self.in_shape(self.levels)}

    def in_shape(self, values):
        """Values (n_levels,) in the caller's order and shape; numbers for a number."""
        values = np.asarray(values)
        restored = np.empty_like(values)
        restored[self.order] = values
        restored = restored.reshape(self.shape)
        return restored.item() if self.shape == () else restored


def parse_question(groups, far, threshold, rate, group, how, operating_point):
    """A Question from the groups of the data and the arguments of ``estimate``.

    Raises
    ------
    ValueError
        If an argument is out of range or contradicts another.
    """
    if (far is None) == (threshold is None):
        given = "neither" if far is None else "both"
        raise ValueError(
            f"Give exactly one of far and threshold; got {given}. far=1e-3 sets the "
            "threshold by its FAR, threshold=0.4 is that of a deployed system."
        )
    check_option(rate, "rate", ("far", "frr"))
    check_option(operating_point, "operating_point", OPERATING_POINTS)
    if threshold is not None and operating_point != "overall":
        raise ValueError(
            f"operating_point={operating_point!r} says how a FAR level becomes a "
            "threshold; with threshold= leave it out."
        )
    if group is not None and how is not None:
        raise ValueError(
            f"group={plain(group)!r} and how={plain(how)!r} exclude each other: a disparity is over "
            "all groups, a rate of one group has none."
        )
    if len(groups) == 0 and (how is not None or operating_point != "overall"):
        asked = f"operating_point={operating_point!r}"
        raise no_groups(asked if how is None else f"how={plain(how)!r}")
    scope = None if group is None else _scope(group, rate, groups)
    disparity, picked = (None, None) if how is None else _disparity(how, groups)
    within_one = scope is not None and scope[0] == scope[1]
    if operating_point == "group" and disparity is None and not within_one:
        raise ValueError(
            "operating_point='group' gives every group its own threshold, so that there "
            "is no overall or cross-group rate; give group= or how=."
        )
    values = check_level(far) if far is not None else check_threshold(threshold)
    order = np.argsort(values, axis=None, kind="stable")
    ordered = values.ravel()[order]
    given = (ordered, None) if far is not None else (None, ordered)
    about = (rate, scope, disparity, picked, operating_point)
    return Question(*given, order, values.shape, *about)


def no_groups(asked):
    """The error that what was asked needs groups, and fit was given none."""
    return ValueError(
        f"{asked} needs groups, but fit was given none; pass sensitive_features= to fit, or "
        "face_labels(identity, group) as y."
    )


def _scope(group, rate, groups):
    """Codes (g, h) of one group or of two."""
    if not isinstance(group, list | tuple):
        return (check_group(group, groups),) * 2
    if len(group) != 2:
        raise ValueError(
            f"group must be one group or two, (g, h); got {plain(group)!r}."
        )
    scope = tuple(check_group(g, groups) for g in group)
    if rate != "far" and scope[0] != scope[1]:
        raise ValueError(
            f"group={plain(group)!r} asks for a cross-group rate, and only impostor pairs cross "
            f"groups; give rate='far' (got {rate!r})."
        )
    return scope


def _disparity(how, groups):
    """The measure, and the codes of the two groups that it is of; None of all."""
    if callable(how):
        return DisparityMeasure(how, np.nan, (-np.inf, np.inf)), None
    name, *named = how if isinstance(how, tuple) and how else (how,)
    check_option(name, "how", tuple(DISPARITIES))
    if name != "ratio":
        if named:
            raise ValueError(
                f"how={plain(how)!r}: only 'ratio' takes the names of two groups."
            )
        return DISPARITIES[name], None
    if not named and len(groups) == 2:
        return DISPARITIES[name], (0, 1)
    if len(named) != 2:
        raise ValueError(
            "how='ratio' is x_b / x_a of two groups; the data have "
            f"{len(groups)}: give how=('ratio', a, b). Got {plain(how)!r}."
        )
    return DISPARITIES[name], tuple(check_group(g, groups, "how") for g in named)
