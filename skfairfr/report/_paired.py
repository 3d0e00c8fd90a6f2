"""Rows and groups that systems have in common, and changes of their rates, paired by person."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain, combinations, product
from operator import is_

import numpy as np

from skfairfr._core._jackknife import holm
from skfairfr._core._rates import in_digits
from skfairfr._text._words import (
    NO_DIFFERENCE,
    RATES,
    TOO_FEW,
    level_percent,
    plural,
    printable,
)
from skfairfr.metrics._roc._estimates import MIN_SETTERS
from skfairfr.metrics._roc._paired import check_same_images, compare, compare_rates
from skfairfr.report._data import EmbeddingData
from skfairfr.report._notes import lack_of_group, rates_in
from skfairfr.report._records import Change, DisparityChange
from skfairfr.report._verdicts import beyond_all_scores
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import encode_joined, to_column
from skfairfr.utils._validation import to_array


def overlap(data, names):
    """The images, or the pairs, that all systems have, in one order.

    Images of embeddings are known by the names of their rows, pairs by those of their two
    images, in either order. Without names, rows are the same in the order of the files.

    Parameters
    ----------
    data : sequence of EmbeddingData or PairData
        All of one kind.
    names : sequence of str
        Of the systems, for messages.

    Returns
    -------
    common : list of EmbeddingData or PairData
    left_out : list of ndarray of int
        Rows of every system, the images or pairs of which another lacks.

    Raises
    ------
    ArgumentError
        If the systems have nothing in common.
    """
    for one, name in zip(data[1:], names[1:], strict=True):
        if type(one) is not type(data[0]):
            problem = f"contains {one.kind}, and {names[0]!r} {data[0].kind};"
            raise _unpaired(name, problem, "give files of one kind.")
        lost = [
            attribute for attribute in data[0].columns if attribute not in one.columns
        ]
        if lost:
            remedy = "give all systems the same columns."
            raise _unpaired(name, f"has no column {plain(lost[0])!r};", remedy)
    sides = [_image_names(one) for one in data]
    for own, name in zip(sides[1:], names[1:], strict=True):
        if (own is None) != (sides[0] is None):
            problem = f"and {names[0]!r} do not both name their images;"
            raise _unpaired(name, problem, data[0].naming)
    if sides[0] is None:
        return list(data), [np.empty(0, dtype=int)] * len(data)
    try:
        keys = _keys(sides)
    except ValueError as error:
        problem = f"and {names[0]!r} do not use the same names for images: {error}"
        raise _unpaired(names[1], problem, "Give each a name, in one type.") from None
    rows = _common_rows(keys, names)
    left_out = [
        np.setdiff1d(np.arange(own.size), found)
        for own, found in zip(keys, rows, strict=True)
    ]
    # If all have the same rows, nothing is copied.
    equal = all(np.array_equal(own, keys[0]) for own in keys)
    taken = zip(data, rows, strict=True)
    return [one if equal else one.take(own) for one, own in taken], left_out


def _unpaired(name, problem, remedy, which="after"):
    """An error about a system that cannot be paired with the first, or about the first."""
    return invalid(which, name, f"{name!r} {problem}", remedy)


def _image_names(one):
    """Names of images, or of either image of pairs, (n_sides, n_rows), or None without any."""
    sides = [one.names] if isinstance(one, EmbeddingData) else one.image_names
    if any(side is None for side in sides):
        return None
    return [to_column(side, "image") for side in sides]


def _keys(sides):
    """A code for every image, or for the two of every pair in either order, of every system."""
    columns = [column for own in sides for column in own]
    codes = encode_joined(columns, "image").codes.astype(np.int64)
    codes = np.split(codes, np.cumsum([len(column) for column in columns])[:-1])
    if len(sides[0]) == 1:
        return codes
    ends = zip(codes[::2], codes[1::2], strict=True)
    n_images = max(code.max() for code in codes) + 1
    return [np.minimum(*both) * n_images + np.maximum(*both) for both in ends]


def _common_rows(keys, names):
    """Rows of each system that all have."""
    if all(np.array_equal(own, keys[0]) for own in keys):
        return [np.arange(own.size) for own in keys]
    # In the order of the first system.
    common = keys[0]
    for own, name in zip(keys, names, strict=True):
        twice = own.size - np.unique(own).size
        if twice:
            problem = f"repeats the images of other rows in {plural(twice, 'row')};"
            which = "before" if own is keys[0] else "after"
            raise _unpaired(name, problem, "remove the repeats.", which)
        common = common[np.isin(common, own)]
        if not common.size:
            problem = f"has no images in common with {names[0]!r};"
            raise _unpaired(name, problem, "use the same names and type for images.")
    rows = []
    for own in keys:
        order = np.argsort(own, kind="stable")
        rows.append(order[np.searchsorted(own[order], common)])
    return rows


def rows_of(data):
    """How many rows data have, and what these are."""
    if isinstance(data, EmbeddingData):
        return len(data.y), "images"
    return len(data.y_score), "pairs"


def check_differ(common, names, points):
    """Raise if two systems have equal scores, and thresholds."""
    systems = zip(names, map(_behind_scores, common, points), strict=True)
    for (first, ours), (name, theirs) in combinations(systems, 2):
        if all(map(_equal_in_any_order, ours, theirs)):
            what = "decisions" if common[0].decisions else "scores"
            problem = f"and {first!r}: the two systems are the same file, or have equal {what};"
            remedy = (
                "name the file of each system, or its column (--score, --embedding)."
            )
            raise _unpaired(name, problem, remedy)


def _equal_in_any_order(one, other):
    """Whether two systems have the same values, if only in another order of rows."""
    if np.ndim(one) == 0 or np.shape(one) != np.shape(other):
        return np.array_equal(one, other)
    first = (np.sort(of.reshape(len(of), -1)[:, 0]) for of in (one, other))
    # Most systems differ in their first column.
    return np.array_equal(*first) and np.array_equal(
        *(np.sort(of, axis=0) for of in (one, other))
    )


def _behind_scores(one, points):
    """The threshold of a system, and what its scores depend on."""
    if one.decisions:  # of each person
        return points.threshold, 2 * one.identities[0] + one.y_score
    if not isinstance(one, EmbeddingData):
        return points.threshold, to_array(one.y_score, "y_score")
    given = getattr(one, "candidates", None)
    if given is not None:
        given = given[-1] if isinstance(given, tuple) else given
        return points.threshold, to_array(given, "candidates")
    gallery = getattr(one, "gallery", one)  # of searches
    scores = one.similarity, to_array(one.X, "X"), to_array(gallery.X, "X")
    return points.threshold, *scores


def check_same(rocs, names, common):
    """Raise, naming what differs, unless paired rows have the same labels."""
    remedy = ""
    if _image_names(common[0]) is None:
        remedy = f"Rows are paired in their order: {common[0].naming}"
    for roc, name in zip(rocs[1:], names[1:], strict=True):
        try:
            check_same_images(rocs[0], roc)
        except ValueError as error:
            why = str(error).removeprefix("other ")
            problem = f"cannot be paired with {names[0]!r}: it {why}"
            raise _unpaired(name, problem, remedy) from None


def groups_lost(data, common, names, chosen, measured):
    """Why rates of groups are not compared: (attribute, group, rate) -> str.

    All systems share less than half of the rows of a system, or no pair is left.
    """
    if all(map(is_, data, common)):
        return {}
    sizes = {
        (one.attribute, row.group): {"far": row.n_impostor, "frr": row.n_genuine}
        for one in measured
        for row in one.groups[1:]
    }
    found = {}
    for attributes in chosen:
        attribute = " & ".join(attributes)
        kept, *of_all = (_rows_of_groups(one, attributes) for one in (common[0], *data))
        for group in dict.fromkeys(chain(*(own["far"] for own in of_all))):
            lost, pairs = {}, sizes.get((attribute, group), {})
            for rate in RATES:
                rows = {
                    n: own[rate].get(group, 0)
                    for n, own in zip(names, of_all, strict=True)
                }
                most, left = max(rows.values()), kept[rate].get(group, 0)
                if left < most / 2 or (left < most and not pairs.get(rate)):
                    lost[rate] = pairs.get(rate, 0)
                    name = max(rows, key=rows.get)
                    without = [n for n in names if rows[n] < most / 2]
            if lost:
                # If no system has few of them, those are of other images.
                others = without or [n for n in names if n != name]
                why = lack_of_group(lost, group, attribute, name, others, data[0].terms)
                found |= {(attribute, group, rate): why for rate in lost}
    return found


def groups_lacking(data, names, chosen):
    """As groups_lost, of logs of decisions, of which some may have no attempt of a group."""
    found = {}
    for attributes in chosen:
        attribute = " & ".join(attributes)
        known = [one.groups(attributes).values.tolist() for one in data]
        for group in dict.fromkeys(chain(*known)):
            has = [group in own for own in known]
            others = [name for name, own in zip(names, has, strict=True) if not own]
            if others:
                about = group, attribute, names[has.index(True)], others, data[0].terms
                found[attribute, group, "frr"] = lack_of_group({"frr": 0}, *about)
    return found


def _rows_of_groups(data, attributes):
    """Rate -> label -> how many pairs of a group, or how many images of both rates."""
    groups = data.groups(attributes)
    codes = dict.fromkeys(RATES, groups.codes)
    if not isinstance(data, EmbeddingData):
        (left, right), people = np.split(groups.codes, 2), np.split(data.people(), 2)
        within = np.where(left == right, left, -1)
        genuine = np.equal(*people)
        codes = {"far": within[~genuine], "frr": within[genuine]}
    labels = groups.values.tolist()
    counts = {
        rate: np.bincount(own[own >= 0], None, len(labels))
        for rate, own in codes.items()
    }
    return {
        rate: dict(zip(labels, n.tolist(), strict=True)) for rate, n in counts.items()
    }


def changes_of(systems, measured, lost, confidence_level, withheld, is_distance):
    """Changes of rates, and of their disparities, of every system against the first.

    Parameters
    ----------
    systems : tuple
        Names, ROCs, the attributes of each audit, and Points. All but the third by system.
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
        f"are needed to set the threshold, and there are {', '.join(too_few)}. No change is tested "
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
    """Whether a group has a higher rate, and no rate of a group or of everyone is lower."""
    worse = any(
        c.verdict == "higher" and c.rate == rate for c in changes if c.attribute
    )
    return worse and all(change.verdict != "lower" for change in changes)
