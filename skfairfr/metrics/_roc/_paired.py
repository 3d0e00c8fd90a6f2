"""Two systems on the same people: intervals and tests from influences.

Resampling people counts clusters of impostor pairs three times, and thresholds that are set
again in every resample add to that: tests by replicates of a difference reject too rarely.
Here the difference is a sum over people and over pairs of people, with the variance of that
sum.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from skfairfr._core._error_counts import weights_of_two
from skfairfr._core._jackknife import ErrorSums
from skfairfr._core._paired import (
    PairedDifference,
    SymmetricContrasts,
    difference_ends,
    disparity_ratio,
    stacked,
)
from skfairfr._core._rates import DISPARITIES
from skfairfr._core._replicate_intervals import percentile
from skfairfr.metrics._records import Comparison, PairedRates
from skfairfr.metrics._roc._evidence import place_of
from skfairfr.utils._errors import invalid, plain


def check_same_images(first, second):
    """Raise, naming what differs, unless two systems saw the same images, or pairs.

    Parameters
    ----------
    first, second : SimilarityROC
        Fitted. Rows of embeddings must be in the same order. Pairs of a list need not be.

    Raises
    ------
    ValueError
        If people, groups, sides, images or pairs differ: resamples draw them by their codes.
    """
    ours, theirs = _labels_seen(first), _labels_seen(second)
    if list(ours) != list(theirs):
        raise _differs(f"{', '.join(theirs)} and this one on {', '.join(ours)}")
    for what, here in ours.items():
        there = theirs[what]
        if len(here) != len(there):
            raise _differs(f"{len(there):,} {what} and this one on {len(here):,}")
        unlike = np.flatnonzero(here != there)
        if unlike.size:
            one, other = (plain(labels[unlike[0]]) for labels in (here, there))
            raise _differs(
                f"other {what}: {unlike.size:,} differ, the first, {unlike[0]}, is "
                f"{other!r} there and {one!r} here"
            )


def _labels_seen(roc):
    """What was compared by name, ndarrays of objects. Unknown groups are None."""
    compared, identities = roc._attributes, roc.identities_.astype(object)
    images, groups = compared.images, compared.labels(roc._names)
    listed = getattr(compared, "listed", None)
    if listed is None:
        seen = {"identities of embeddings": identities[images.identity]}
        if images.side is not None:
            seen["sides"] = images.side
        if groups is not None:
            seen["groups"] = groups.of_rows()
        return seen
    ends = np.empty((2, listed.n_pairs), dtype=np.int64)
    ends[:, listed.genuine_rows] = listed.genuine.left, listed.genuine.right
    ends[:, listed.impostor_rows] = listed.impostors.left, listed.impostors.right
    columns, codes = {}, np.zeros_like(ends)
    if compared.image_names is not None:
        columns["images of pairs"] = compared.image_names[ends].astype(object)
    columns["identities of pairs"] = identities[images.identity][ends]
    if groups is not None:
        columns["groups of pairs"] = groups.of_rows().reshape(2, -1)
        codes = groups.codes.reshape(2, -1)
    # A list has no sides: (i, j) is (j, i), and its codes give its place.
    turned = (ends[0] > ends[1]) | ((ends[0] == ends[1]) & (codes[0] > codes[1]))
    ends, codes = (np.where(turned, both[::-1], both) for both in (ends, codes))
    order = np.lexsort([*codes[::-1], *ends[::-1]])
    return {
        name: np.where(turned, both[::-1], both)[:, order].T.ravel()
        for name, both in columns.items()
    }


def _differs(problem):
    return invalid(
        *("other", None),
        f"was fitted on {problem};",
        "a paired comparison needs both systems' embeddings, or scores, of the same "
        "images with the same labels.",
    )


def compare(first, second, questions):
    """Comparison of two engines about the same images, each asked its own question.

    Rates of new people are a sum of what each person and each pair of people add, and some
    disparities the largest contrast of such rates, else both take the same resamples.
    """
    engines, answers, question = (first, second), [], questions[0]
    how, drawn = question.how, first.resampling
    if drawn.mode == "identities" and (how is None or how.contrasts is not None):
        engines = [replace(engine, method="jackknife") for engine in engines]
        drawn = None
    for engine, own in zip(engines, questions, strict=True):
        engine.check_answerable(own)
        answers += engine.answers(own, drawn)
    one, other = answers
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, ratio = one.value - other.value, one.value / other.value
    if drawn is not None:
        p_value, *ends = _by_replicates(answers, difference, first.confidence_level)
        several = len(first.scopes(question)) > 2 and drawn.mode == "identities"
        if several and how.range_of is not None:
            # Replicates of a disparity of many groups are too large by chance.
            p_value, ends = (
                np.full_like(p_value, np.nan),
                np.full((2, 2, p_value.size), np.nan),
            )
        rates = PairedRates(difference, *ends[0], p_value, ratio, *ends[1])
    elif how is None:
        rates = compare_rates(engines, questions, (one.value, other.value))
    else:
        p_value, *ends = compare_disparities(engines, questions, ratio)
        of_both = ((answer.low, answer.high) for answer in answers)
        low, high = difference_ends(ends, *of_both)
        rates = PairedRates(difference, low, high, p_value, ratio, *ends)
    return _record(question, rates, one, other)


def compare_costs(first, second, question, cost):
    """Comparison of a ScoreCost of two engines in the same resamples of people."""
    if question.how not in (None, DISPARITIES["ratio"]):
        problem = "of costs of two systems must be None or a ratio;"
        raise invalid("how", None, problem, "compare the estimates of either system.")
    engines = first, replace(second, resampling=first.resampling)
    one, other = answers = [engine.score_cost(question, cost) for engine in engines]
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, ratio = one.value - other.value, one.value / other.value
    p_value, ends, of_ratio = np.full(1, np.nan), *np.full((2, 2, 1), np.nan)
    if all(answer.adjusted.size for answer in answers):
        found = _by_replicates(answers, difference, first.confidence_level)
        p_value, ends, of_ratio = found
    rates = PairedRates(difference, *ends, p_value, ratio, *of_ratio)
    return _record(question, rates, one, other)


def _record(question, rates, one, other):
    """Comparison from PairedRates and the answers of both systems."""
    columns = (
        *vars(rates).values(),
        one.supported & other.supported,
        np.fromiter(map(_both_in_words, one.reason, other.reason), object),
        np.fromiter(map(max, one.source, other.source), object),
        np.fromiter(map(_both_reasons, one.reasons, other.reasons), object),
    )
    return Comparison(*(question.in_shape(values) for values in columns))


def _both_reasons(first, second):
    return tuple(
        replace(reason, system=name)
        for name, reasons in (("first", first), ("second", second))
        for reason in reasons
    )


def _both_in_words(*reasons):
    named = zip(("first", "second"), reasons, strict=True)
    return "; ".join(f"{name}: {reason}" for name, reason in named if reason)


def _by_replicates(answers, difference, confidence_level):
    """P-value, and ends of the difference and of the ratio of two answers' replicates."""
    one, other = (answer.adjusted for answer in answers)
    with np.errstate(invalid="ignore", divide="ignore"):
        differences, ratios = one - other, one / other
    p_value = np.where(np.isnan(difference), np.nan, p_values(differences))
    found = [
        percentile(of, confidence_level, (lowest, np.inf))
        for of, lowest in ((differences, -np.inf), (ratios, 0.0))
    ]
    ends = (
        agreeing(of, equal, p_value, confidence_level)
        for of, equal in zip(found, (0.0, 1.0), strict=True)
    )
    return p_value, *ends


def p_values(differences):
    """Two-sided bootstrap p-values of differences (n_levels, n_resamples).

    An undefined replicate may lie on either side: it counts on both.
    """
    undefined = np.isnan(differences)
    sides = [undefined | (differences <= 0), undefined | (differences >= 0)]
    counts = np.minimum(*(side.sum(axis=-1) for side in sides))
    return np.minimum(2 * (counts + 1) / (differences.shape[-1] + 1), 1.0)


def agreeing(found, equal, p_value, confidence_level):
    """Percentile intervals, moved to include ``equal`` if a test does not exclude it.

    An end lies between two replicates, and a p-value counts them.
    """
    low, high, _ = found
    moved = np.minimum(low, equal), np.maximum(high, equal)
    return np.where(p_value < 1 - confidence_level, (low, high), moved)


def compare_rates(engines, questions, values):
    """Compare a rate of two engines about the same images, or about some of the same people.

    Parameters
    ----------
    engines : tuple of two Engines
    questions : tuple of two Questions
        Without ``how``. They may differ in thresholds, and in codes of groups.
    values : tuple of two ndarrays, shape (n_levels,)
        The rate of either system.

    Returns
    -------
    found : PairedRates
    """
    question = questions[0]
    evidence = [e.evidence(q) for e, q in zip(engines, questions, strict=True)]
    both = zip(evidence, questions, strict=True)
    places = [of and place_of(of, own.scope) for of, own in both]
    with np.errstate(divide="ignore", invalid="ignore"):
        difference, ratio = values[0] - values[1], values[0] / values[1]
    if None in places:
        nan = np.full(difference.size, np.nan)
        return PairedRates(difference, *[nan] * 3, ratio, *[nan] * 2)
    systems = list(zip(evidence, places, strict=True))
    tail = (1 - engines[0].confidence_level) / 2
    rows = [
        _compared(systems, row, np.array(pair), tail, question.levels is not None)
        for row, pair in enumerate(zip(*values, strict=True))
    ]
    p_value, low, high, *of_ratio = np.array(rows).T
    return PairedRates(difference, low, high, p_value, ratio, *of_ratio)


def compare_disparities(engines, questions, ratios):
    """P-value and ends of the interval of the ratio of two engines' disparities.

    Parameters
    ----------
    engines : tuple of two Engines
    questions : tuple of two Questions
        About a disparity whose logarithm is the largest of contrasts.
    ratios : ndarray, shape (n_levels,)
        In the data, first over second.

    Returns
    -------
    p_value, low, high : ndarrays, shape (n_levels,)
        NaN, 0 and infinity if people do not show how the ratio varies.
    """
    question = questions[0]
    evidence = [e.evidence(q) for e, q in zip(engines, questions, strict=True)]
    found = np.tile([[np.nan], [0.0], [np.inf]], ratios.size)
    if None in evidence or evidence[0].scopes != evidence[1].scopes:
        return found
    scopes = evidence[0].scopes
    own = [(g, g) for g in question.picked or ()] or scopes
    if not set(own) <= set(scopes):
        return found
    places = [scopes.index(scope) for scope in own]
    systems = [(of_system, place) for of_system in evidence for place in places]
    tail = (1 - engines[0].confidence_level) / 2
    blocks = question.how.contrasts(len(places))
    for row in range(ratios.size):
        sums = [of_system.sums.rows(row).columns(places) for of_system in evidence]
        # One person does not show how a group's rate varies.
        if np.isnan(ratios[row]) or not all(s.is_known.all() for s in sums):
            continue
        influence, clustered, _ = _parts(systems, row, np.ones(len(systems)))
        of_all = {"sums": ErrorSums.joined(sums), "influence": influence}
        compared = partial(SymmetricContrasts.of, **of_all, clustered=clustered)
        p_value, low, high = disparity_ratio(compared, blocks, tail)
        found[:, row] = p_value, min(low, ratios[row]), max(high, ratios[row])
    return found


def _compared(systems, row, rates, tail, at_levels):
    """P-value, and ends of the intervals of the difference and of the ratio, at a level."""
    difference = rates[0] - rates[1]
    if np.isnan(difference):
        return (np.nan,) * 5
    evidence, place = systems[0]
    asked = evidence.asked[row]
    is_set = at_levels and asked.setters[place] == asked.scopes[place]
    if is_set and asked.rate == "far":
        # Of a rate that is set nothing is left to test.
        with np.errstate(divide="ignore", invalid="ignore"):
            both = (difference, 0.0), (rates[0] / rates[1], 1.0)
        return 1.0, *(end(*one) for one in both for end in (min, max))
    sums = [of.sums.rows(row).columns(place) for of, place in systems]
    influence, clustered, couples = _parts(systems, row, [own.rate for own in sums])
    slopes = np.array(
        [of.slope[row, k] * (of.variance[row, k] > 0) for of, k in systems]
    )
    expected, others = _expected(asked, place, couples, rates, -slopes * rates)
    single = np.array([own.single / own.pairs for own in sums])
    people = min(own.people for own in sums)
    clustered = clustered.toarray() - expected
    found = PairedDifference(influence, clustered, others, single, people)
    return found.judge(rates, tail)


def _expected(asked, place, couples, of_rates, of_setters):
    """Expected contribution of each pair of people to a rate of both systems.

    Parameters
    ----------
    asked : ThresholdSetters
    place : int
        Of the scope.
    couples : ndarray of int, shape (n_couples,)
        People with errors.
    of_rates, of_setters : ndarrays, shape (2,)
        What all impostor pairs of the scope, and of what sets its threshold, add.

    Returns
    -------
    expected : ndarray, shape (2, n_couples)
    others : tuple of ndarray, shape (2, 2), and two floats
        See :class:`PairedDifference`.
    """
    expected, parts = np.zeros((2, couples.size)), []
    scope, setter = asked.scopes[place], asked.setters[place]
    of_rates = of_rates if asked.rate == "far" else np.zeros(2)
    for pairs_of, both in ((scope, of_rates), (setter, of_setters)):
        if both.any() and asked.pairs.people_in["far"] == 2:
            weights, sums = weights_of_two(asked.pairs, pairs_of, couples)
            expected += np.outer(both / sums[0], weights)
            parts.append((both / sums[0], sums[1:]))
    if len(parts) == 2 and None in (scope, setter):
        # The pairs of one scope are among those of the other.
        (inner, n_inner), (outer, n_outer) = parts[:: -1 if scope is None else 1]
        parts = [(inner + outer, n_inner), (outer, n_outer - n_inner)]
    others = [
        -expected @ expected.T,
        *(-((expected[1] - expected[0]) ** p).sum() for p in (3, 4)),
    ]
    for each, sums in parts:
        others[0] = others[0] + sums[0] * np.outer(each, each)
        for power in (3, 4):
            others[power - 2] += (each[1] - each[0]) ** power * sums[power - 2]
    return expected, tuple(others)


def _parts(systems, row, scales):
    """Parts of people and of every two in logarithms of rates, times scales, and these couples.

    Systems are tuples of an Evidence and the place of a scope in it.
    """
    scaled = list(zip(systems, scales, strict=True))
    people = [scale * of.with_threshold(place)[row] for (of, place), scale in scaled]
    two = [
        scale * of.with_threshold_of_two(place, row) for (of, place), scale in scaled
    ]
    couples = np.unique(np.concatenate([rate.indices for rate in two]))
    return np.array(people), stacked(two), couples
