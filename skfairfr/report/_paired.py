"""Changes of rates and disparities between systems, paired by person and tested as one family."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

from skfairfr._core._jackknife import holm
from skfairfr._core._rates import in_digits
from skfairfr._text._words import (
    NO_DIFFERENCE,
    TOO_FEW,
    level_percent,
    printable,
)
from skfairfr.metrics._roc._estimates import MIN_SETTERS
from skfairfr.metrics._roc._paired import compare, compare_rates
from skfairfr.report._notes import rates_in
from skfairfr.report._records import Change, DisparityChange
from skfairfr.report._verdicts import beyond_all_scores


def changes_of(systems, measured, lost, confidence_level, withheld, is_distance):
    """Changes of rates, and of their disparities, of every system against the first.

    Parameters
    ----------
    systems : tuple
        Names, ROCs, the attributes of each audit, and Points; all but the third by system.
    measured : list of Measured
    lost : dict
        (attribute, group, rate) -> why it is not compared.
    confidence_level : float
    withheld : bool
        Whether no verdict is given.
    is_distance : bool
        Whether thresholds were given as distances.

    Returns
    -------
    changes : list of Change
    disparities : list of DisparityChange
    """
    points, rates = systems[-1], rates_in(measured[0].groups)
    changes = _changes(*systems, rates, lost)
    changes = _tested(changes, confidence_level, withheld)
    changes = _without_gains(changes, measured, points[0], is_distance)
    return changes, _disparities(*systems, rates, changes)


def _changes(names, rocs, chosen, points, rates, lost):
    """Changes of every system against the first, with why they are not tested."""
    named = list(zip(names, rocs, points, strict=True))
    few = {name: _few_setters(roc, chosen[0], own) for name, roc, own in named}
    found = []
    # None: of everyone, then of the groups of every attribute.
    for (name, roc, own), attributes in product(
        named[1:], (None, *filter(None, chosen))
    ):
        attribute, labels, both = None, [None], (roc, rocs[0])
        if attributes is not None:
            both = [of_system.by(attributes) for of_system in both]
            attribute, labels = " & ".join(attributes), both[0].groups_.tolist()
            labels += [group for by, group, _ in lost if by == attribute]
            labels = list(dict.fromkeys(labels))
        engines = tuple(of_system._engine for of_system in both)
        for label, rate in product(labels, rates):
            if label is None and rate == "far" and own.threshold is None:
                continue  # it is set
            about = name, attribute, label, rate
            if why := lost.get(about[1:]):
                unknown = *[float("nan")] * 10, "undetermined", why
                places = [points_at(points[0], row) for row in range(own.size)]
                found += [Change(*about, *at, *unknown) for at in places]
                continue
            found += _of_group(engines, about, (own, points[0]))
    far = points[0].terms.far
    few_in_words = partial(_few_in_words, few, first=names[0], kind=far)
    return [replace(c, reason=c.reason or few_in_words(c)) for c in found]


def _of_group(engines, about, points):
    """Changes of one rate of a group at every level."""
    *_, label, rate = about
    questions = _questions(engines, points, rate, label, None)
    both = zip(engines, questions, strict=True)
    values = [engine.points(own) for engine, own in both]
    paired = compare_rates(engines, questions, values)
    columns = (
        *(values[1], values[0], paired.difference, paired.low, paired.high),
        *(paired.ratio, paired.ratio_low, paired.ratio_high, paired.p_value),
    )
    # A question's levels increase.
    return [
        Change(
            *(*about, *points_at(points[0], level)),
            *(float(column[row]) for column in columns),
            p_adjusted=float("nan"),
            verdict=TOO_FEW,
        )
        for level, row in enumerate(np.argsort(questions[0].order).tolist())
    ]


def _questions(engines, points, *asked):
    """A question about one rate or disparity to each of two engines at its own points."""
    both = zip(engines, points, strict=True)
    return [e.question(own.far, own.threshold, *asked, "overall") for e, own in both]


def points_at(points, level):
    """FAR level and threshold of an operating point, one of them None."""
    if points.far is None:
        return None, float(points.threshold[level])
    return float(points.far[level]), None


def _few_setters(roc, attributes, points):
    """FAR level -> how many impostor pairs set the threshold, if they are too few."""
    if points.far is None:
        return {}
    found = roc.by(attributes or None, method="jackknife").estimate(points.far)
    return {
        float(level): reason.found
        for level, reasons in zip(points.far, found.reasons, strict=True)
        for reason in reasons
        if reason.code == "few_setters"
    }


def _few_in_words(few, change, first, kind):
    """Why a change is not tested, or empty if it is."""
    found = {name: few[name].get(change.far) for name in (first, change.system)}
    too_few = [
        f"{n} of {printable(name)}" for name, n in found.items() if n is not None
    ]
    if not too_few:
        return ""
    return (
        f"{kind.name} {level_percent(change.far)}: {TOO_FEW}: {MIN_SETTERS} {kind.trials} "
        f"are needed to set the threshold, and there are {', '.join(too_few)}; no change is tested "
        "there."
    )


def _without_gains(changes, measured, points, is_distance):
    """The changes, with verdicts of harm alone if a system accepts all pairs or none."""
    if points.threshold is None:
        return changes
    beyond = {}
    for one in measured:
        for level in one.levels:
            if why := beyond_all_scores(level.rates[0], points.terms):
                shown = in_digits(level.threshold * (-1 if is_distance else 1))
                beyond[one.system, level.threshold] = (
                    f"{printable(one.system)} at {shown}: {why}, and nothing but harm is "
                    "named there."
                )
    first, found = measured[0].system, []
    at = {one.system: [level.threshold for level in one.levels] for one in measured}
    for change in changes:
        place = at[change.system].index(change.threshold)
        of_both = [beyond.get((n, at[n][place])) for n in (first, change.system)]
        reason = " ".join(filter(None, of_both))
        if reason and change.verdict != "higher":
            change = replace(change, verdict="undetermined", reason=reason)
        found.append(change)
    return found


def _tested(changes, confidence_level, withheld):
    """All changes with p-values adjusted for one family, and verdicts unless withheld."""
    p = np.array([np.nan if change.reason else change.p_value for change in changes])
    tested = np.isfinite(p)
    p[tested] = holm(p[tested])
    judged = []
    for change, adjusted in zip(changes, p.tolist(), strict=True):
        verdict = NO_DIFFERENCE if np.isfinite(adjusted) else change.verdict
        if adjusted <= 1 - confidence_level:
            verdict = "higher" if change.difference > 0 else "lower"
        verdict = "undetermined" if withheld else verdict
        judged.append(replace(change, p_adjusted=adjusted, verdict=verdict))
    return judged


def _disparities(names, rocs, chosen, points, rates, changes):
    """max / min of either rate at every level, of every system by every attribute."""
    found, later = [], zip(names[1:], rocs[1:], points[1:], strict=True)
    for (name, roc, own), attributes, rate in product(
        later, filter(None, chosen), rates
    ):
        about = name, " & ".join(attributes), rate
        both = [own.by(attributes) for own in (roc, rocs[0])]
        if not np.array_equal(*(own.groups_ for own in both)):
            continue  # of logs
        found += _of_disparity(both, about, (own, points[0]), changes)
    return found


def _of_disparity(both, about, points, changes):
    """Changes of max / min of one rate at every level, as SimilarityROC.compare has them."""
    name, attribute, rate = about
    engines = [system._engine for system in both]
    questions = _questions(engines, points, rate, None, "max_min")
    compared = compare(*engines, questions)
    after, before = (
        system.estimate(
            own.far, threshold=own.threshold, rate=rate, how="max_min"
        ).value
        for system, own in zip(both, points, strict=True)
    )
    ratio = compared.ratio, compared.ratio_low, compared.ratio_high
    columns = before, after, *ratio, compared.p_value
    found = []
    for level in range(points[0].size):
        at = points_at(points[0], level)
        of_level = [
            change
            for change in changes
            if (change.system, change.far, change.threshold) == (name, *at)
            and change.attribute in (None, attribute)
        ]
        # Beyond all scores of a system, and with few errors, intervals show nothing.
        enough = compared.supported[level] and not any(c.reason for c in of_level)
        fell = compared.ratio_high[level] < 1 and _nobody_better(of_level, rate)
        numbers = (float(column[level]) for column in columns)
        cost = [
            (change.before, change.after)
            for change in of_level
            if change.attribute is None and change.rate == "frr"
        ]
        (cost,) = cost or [(np.nan, np.nan)]  # of impostor pairs alone
        found.append(
            DisparityChange(*about, *at, *numbers, *cost, bool(enough and fell))
        )
    return found


def _nobody_better(changes, rate):
    """Whether a group is worse off in a rate, and none, nor everyone, better off in any."""
    worse = any(
        c.verdict == "higher" and c.rate == rate for c in changes if c.attribute
    )
    return worse and all(change.verdict != "lower" for change in changes)
