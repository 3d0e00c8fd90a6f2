"""The question about a rate, a disparity or a cost: its arguments, checked once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairfr._core._bootstrap import OPERATING_POINTS
from skfairfr._core._kinds import PAIRS
from skfairfr._core._rates import DISPARITIES, DisparityMeasure
from skfairfr._core._score_costs import ScoreCost
from skfairfr.metrics._pairs._rates import check_single_threshold
from skfairfr.utils._errors import invalid
from skfairfr.utils._validation import (
    RATE,
    check_group,
    check_level,
    check_number,
    check_option,
    check_threshold,
    plain,
)


@dataclass(frozen=True)
class RateRequest:
    """One rate or disparity at levels or thresholds.

    Attributes
    ----------
    levels, thresholds : ndarray, shape (n_levels,), or None
        In increasing order. Exactly one of them.
    order : ndarray of int, shape (n_levels,)
        Position of each of them in the caller's argument.
    shape : tuple
        Shape of the caller's argument.
    rate : {"far", "frr"}
    scope : None, (g, g) or (g, h)
        Of a rate, or None where ``how`` is given.
    how : DisparityMeasure or None
    picked : tuple of int or None
        The two groups of a signed ratio. If None, all groups.
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

    def level_columns(self):
        """The levels or thresholds under their name, in the caller's order and shape."""
        if self.levels is None:
            return {"threshold": self.in_shape(self.thresholds)}
        return {"far": self.in_shape(self.levels)}

    def in_shape(self, values):
        """Values (n_levels,) in the caller's order and shape. Numbers for a number."""
        values = np.asarray(values)
        restored = np.empty_like(values)
        restored[self.order] = values
        restored = restored.reshape(self.shape)
        return restored.item() if self.shape == () else restored


def parse_question(
    groups, far, threshold, rate, group, how, operating_point, terms=PAIRS
):
    """A RateRequest from the groups of the data and the arguments of ``estimate``.

    Raises
    ------
    ValueError
        If an argument is out of range or contradicts another.
    """
    if (far is None) == (threshold is None):
        raise not_exactly_one(far, terms)
    check_option(rate, "rate", ("far", "frr"))
    check_option(operating_point, "operating_point", OPERATING_POINTS)
    if threshold is not None and operating_point != "overall":
        raise ValueError(
            f"operating_point={operating_point!r} sets the threshold by a level of the "
            f"{terms.far.name}. Leave it out with threshold=."
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
            "operating_point='group' gives every group its own threshold, so there "
            "is no overall or cross-group rate. Pass group= or how=."
        )
    if far is None:
        values = check_threshold(threshold)
    else:
        values = check_level(far, terms.level)
    order = np.argsort(values, axis=None, kind="stable")
    ordered = values.ravel()[order]
    given = (ordered, None) if far is not None else (None, ordered)
    about = (rate, scope, disparity, picked, operating_point)
    return RateRequest(*given, order, values.shape, *about)


def read_cost(rate, p_target, max_far, far, threshold, operating_point, resample):
    """A ScoreCost from the arguments of ``estimate``. Raise if one does not go with it."""
    if far is not None or operating_point != "overall":
        name = "far" if far is not None else "operating_point"
        remedy = "Leave it out. threshold= is that of an actual detection cost."
        problem = f"sets a threshold, and rate={rate!r} is of all thresholds."
        raise invalid(name, far or operating_point, problem, remedy)
    if threshold is not None:
        if rate != "dcf":
            problem = f"goes with rate='dcf', and not with {rate!r}, which is of all thresholds."
            raise invalid("threshold", threshold, problem, "Leave it out.")
        if not isinstance(threshold, str) or threshold != "bayes":
            threshold = check_single_threshold(threshold)
    if max_far is not None and rate != "auc":
        problem = f"goes with rate='auc', and not with {rate!r};"
        raise invalid("max_far", max_far, problem, "leave it out.")
    if resample != "identities":
        problem = f"must be 'identities' for rate={rate!r}, got {resample!r}."
        raise invalid("resample", resample, problem)
    part = 1.0 if max_far is None else check_number(max_far, "max_far", *RATE)
    p_target = check_number(p_target, "p_target", *RATE)
    return ScoreCost.of(rate, p_target, threshold, part)


def not_exactly_one(level, terms):
    """The error for both a level and a threshold, or none of them."""
    given = "neither" if level is None else "both"
    return ValueError(
        f"Give exactly one of {terms.level} and threshold, got {given}. "
        f"{terms.level}=1e-2 sets the threshold by its {terms.far.name}, threshold=0.4 "
        "is that of a deployed system."
    )


def no_groups(asked):
    """The error for a question about groups if fit was given none."""
    return ValueError(
        f"{asked} needs groups, but fit was given none. Pass sensitive_features= to fit, or "
        "face_labels(identity, group) as y."
    )


def _scope(group, rate, groups):
    """Codes (g, h) of one group or of two."""
    if not isinstance(group, list | tuple):
        return (check_group(group, groups),) * 2
    if len(group) != 2:
        raise ValueError(
            f"group must be one group or two, (g, h), got {plain(group)!r}."
        )
    scope = tuple(check_group(g, groups) for g in group)
    if rate != "far" and scope[0] != scope[1]:
        raise ValueError(
            f"group={plain(group)!r} is a cross-group rate, and only impostor pairs cross "
            f"groups. Use rate='far' (got {rate!r})."
        )
    return scope


def _disparity(how, groups):
    """The measure, and the codes of the two groups that it is of, or None of all."""
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
            "how='ratio' is x_b / x_a of two groups, but the data have "
            f"{len(groups)}. Use how=('ratio', a, b). Got {plain(how)!r}."
        )
    return DISPARITIES[name], tuple(check_group(g, groups, "how") for g in named)
