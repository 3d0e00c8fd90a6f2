"""Estimates from a table of rates: value, interval and support."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.stats import rankdata

from skfairfr._core._jackknife import rate_ends
from skfairfr._core._rates import DISPARITIES, ROUNDING, exceeds
from skfairfr._core._replicate_intervals import adjusted, percentile
from skfairfr._core._support import Reason, join_reasons, support_of
from skfairfr.metrics._records import Estimate, GroupFARMatrix
from skfairfr.metrics._roc._evidence import analyse
from skfairfr.utils._errors import plain

# With fewer accepted impostor pairs, the threshold of a level is set by chance: the FAR of
# ten independent ones is known to one over the root of 10, a third, at best.
MIN_SETTERS = 10

# By how much more than in a resample the overfit of the map of a minimal Cllr is in the data:
# it falls as n^(-2/3) [isotonic likelihoods], and n draws have the people of n / 2.
OVERFIT = 1 / (2 ** (2 / 3) - 1) - 1

# The end of `reason` where a value is of a sample.
OF_SAMPLE = "beyond far_max: from a uniform sample of impostor pairs"


@dataclass(frozen=True)
class Answer(Estimate):
    """An estimate of several levels in increasing order, with what it is made of.

    Attributes
    ----------
    threshold : ndarray, shape (n_levels,)
    replicates, adjusted : ndarrays, shape (n_levels, n_resamples)
        As resampled, and as the interval uses them.
    """

    threshold: np.ndarray
    replicates: np.ndarray
    adjusted: np.ndarray


def joined(parts):
    """One answer from answers about increasing levels."""
    columns = [[getattr(part, f.name) for part in parts] for f in fields(Answer)]
    return Answer(*(None if c[0] is None else np.concatenate(c) for c in columns))


def to_matrix(answers, count, groups):
    """GroupFARMatrix from answers by scope (g, h) and the number of pairs of a scope."""
    codes = range(groups.size)
    # Without sides (h, g) is the same set of pairs.
    cells = [(g, h) if (g, h) in answers else (h, g) for g in codes for h in codes]
    found, shape = [answers[cell] for cell in cells], (groups.size, groups.size)
    names = ("value", "low", "high", "supported", "reason", "source", "reasons")
    kinds = (float, float, float, bool, object, object, object)
    value, low, high, *others = (
        np.fromiter((getattr(a, name)[0] for a in found), kind).reshape(shape)
        for name, kind in zip(names, kinds, strict=True)
    )
    n_impostor = np.array([count(cell) for cell in cells]).reshape(shape)
    return GroupFARMatrix(groups, value, low, high, n_impostor, *others)


def quantity(rates, query, question, scopes):
    """The rate or disparity of a question, (n_levels, ...), from rates by scope."""
    values = getattr(rates, question.rate)
    rows = [query.scopes.index(scope) for scope in scopes]
    if question.how is None:
        return values[rows[0]]
    if len(rows) < 2:
        return np.full(values.shape[1:], np.nan)
    of_groups = np.moveaxis(values[rows], 0, -1)
    found = np.asarray(question.how.function(of_groups))
    if found.shape != of_groups.shape[:-1]:
        raise ValueError(
            f"how={question.how.function!r} must map rates (..., n_groups) to (...,), for "
            f"many resamples at once, but returned {found.shape} for {of_groups.shape}. Reduce "
            "over axis=-1."
        )
    return found


def answer(engine, table, question):
    """Value, interval and support of a question.

    Parameters
    ----------
    engine : Engine
    table : RateTable
    question : RateRequest

    Returns
    -------
    found : Answer
    """
    query, scopes = table.query, engine.scopes(question)
    value, centre, replicates = (
        quantity(rates, query, question, scopes)
        for rates in (table.point, table.centre, table.replicates)
    )
    row = 0 if question.scope is None else query.scopes.index(question.scope)
    threshold = table.point.thresholds[row]
    if question.operating_point == "group" and question.how is not None:
        threshold = np.full_like(threshold, np.nan)
    needed = set(scopes) if question.rate == "far" else set()
    if question.levels is not None:
        needed.update(query.setters(scopes))
    reasons = _reasons(engine, table, question, scopes)
    about = (
        (value, centre, replicates),
        threshold,
        reasons,
        bool(needed & query.sampled),
    )
    found = _with_interval(engine, question, *about)
    if engine.method != "jackknife" and question.how is not None:
        return found
    return _with_evidence(found, centre, engine, question)


def answer_equal_error(engine, rates, question):
    """Value, interval and support of an equal error rate, as one level.

    The interval of "jackknife" is without resamples where FAR and FRR meet. Where errors move
    the FRR at the FAR level e, the equal error rate, by a factor, e moves by its (1 - s)-th
    root: FRR falls by s in logarithms, s < 0, as the FAR level rises.
    """
    scope, threshold = question.scope, np.array([rates.threshold])
    reasons = _reasons_of_both(engine, scope, threshold, rates.sampled)
    value, centre = np.array([rates.value]), np.array([rates.centre])
    of_rates = value, centre, rates.replicates[None]
    about = of_rates, threshold, [reasons], rates.sampled
    found = _with_interval(engine, question, *about)
    if engine.method != "jackknife" or not 0 < rates.value < 1:
        at_threshold = replace(question, thresholds=threshold)
        return _with_evidence(found, centre, engine, at_threshold)
    point = "overall" if scope is None else "group"
    at_level = replace(question, levels=value, thresholds=None, operating_point=point)
    evidence = engine.evidence_of(at_level, (scope,))
    sums, root = evidence.sums, 1 / (1 - np.minimum(evidence.slope[0, 0], 0.0))
    ends = rate_ends(sums, (1 - engine.confidence_level) / 2, evidence.added)
    low, high = (end[:, 0] for end in ends)
    if sums.errors[0, 0]:
        low, high = (value * (of / sums.rate[:, 0]) ** root for of in (low, high))
    return replace(found, low=low, high=np.minimum(high, 1.0))


def answer_cost(engine, table, question, cost):
    """Value, interval and support of a cost, as one level.

    Parameters
    ----------
    engine : Engine
    table : CostTable or None
        None of a disparity of fewer than two groups.
    question : RateRequest
    cost : ScoreCost

    Returns
    -------
    found : Answer
    """
    scopes, how = engine.scopes_of_both(question), question.how
    value = threshold = np.full(1, np.nan)
    replicates, reasons = np.full((1, 0), np.nan), []
    if table is None:
        reasons.append(Reason("few_groups", found=len(scopes), needed=2))
    else:
        drawn = table.replicates
        if cost.name == "min_cllr" and drawn.size:
            middle = np.median(drawn, axis=1) / table.value
            drawn = drawn * middle[:, None] ** OVERFIT
        value, threshold = table.value, table.threshold
        if how is None:
            replicates = _basic(value, drawn, cost.name == "auc")
        else:
            value, threshold = how.function(value)[None], np.full(1, np.nan)
        if how is DISPARITIES["ratio"]:
            replicates = _basic(value, how.function(np.moveaxis(drawn, 0, -1))[None])
    if cost.name == "dcf" and table is not None:
        for scope, at in zip(scopes, table.threshold[:, None], strict=True):
            reasons += _reasons_of_both(engine, scope, at, table.sampled)
    sampled = table is not None and table.sampled
    about = (value, value, replicates), threshold, [reasons], sampled, cost.bounds
    found = _with_interval(engine, question, *about)
    if how is None or table is None or how is DISPARITIES["ratio"] or not drawn.size:
        return found
    low, high = _ends_of_largest(how, table.value, drawn, engine.confidence_level)
    return replace(found, low=np.minimum(low, value), high=np.maximum(high, value))


def _ends_of_largest(how, value, drawn, confidence_level):
    """Ends of the largest contrast of groups. NaN of what is none.

    The upper end is the largest of the basic ones of all contrasts, one of which is that of
    the largest. The lower end is the largest of those that are valid for all contrasts at once,
    with equal chances to miss (Beran 1988).

    Parameters
    ----------
    how : DisparityMeasure
    value : ndarray, shape (n_groups,)
    drawn : ndarray, shape (n_groups, n_resamples)
    confidence_level : float in (0, 1)
    """
    weights = how.contrasts
    if how is DISPARITIES["difference"]:
        weights = DISPARITIES["max_min"].contrasts
    if weights is None:
        return np.full((2, 1), np.nan)
    weights = np.vstack(weights(value.size))
    with np.errstate(divide="ignore", invalid="ignore"):
        if not how.in_rates:
            value, drawn = np.log(value), np.log(drawn)
        basic = 2 * (weights @ value)[:, None] - weights @ drawn
    known, level = np.isfinite(basic).all(axis=0), confidence_level
    if known.mean() < (1 + level) / 2:
        return np.full((2, 1), np.nan)
    ranks = rankdata(-basic[:, known], method="ordinal", axis=1)
    share = np.quantile((ranks.max(axis=0) - 1) / max(ranks.max() - 1, 1), level)
    # A resample without a contrast may lie on either side.
    basic[:, ~known] = np.nan
    _, high, _ = percentile(basic, level, (-np.inf, np.inf))
    low, _, _ = percentile(basic, 2 * share - 1, (-np.inf, np.inf))
    ends = np.array([np.nan_to_num(low, nan=-np.inf), high]).max(axis=1)
    ends = ends if how.in_rates else np.exp(ends)
    return np.maximum(ends, how.neutral)[:, None]


def _basic(value, replicates, area=False):
    """Replicates whose quantiles are the basic interval of the logarithm, or of that of 1 - an area.

    A minimum over thresholds is too low in a sample, and in a resample of it once more:
    value^2 / replicate corrects it (Davison & Hinkley 1997, section 5.2).
    """
    if area:
        return 1 - _basic(1 - value, 1 - replicates)
    with np.errstate(divide="ignore", invalid="ignore"):
        return value[:, None] ** 2 / replicates


def no_equal_error(engine, question, counts):
    """Answer about a value that needs both kinds of pairs where one lacks."""
    groups = _labels(engine, question.scope)
    reasons = [
        Reason("no_pairs", groups, rate, found=0, needed=1)
        for rate, n in zip(("frr", "far"), counts, strict=True)
        if n == 0
    ]
    nan = np.full(1, np.nan)
    rates = nan, nan, np.full((1, 0), np.nan)
    return _with_interval(engine, question, rates, nan, [reasons], False)


def _reasons_of_both(engine, scope, threshold, sampled):
    """Why the FAR and the FRR of a scope at one threshold are not supported."""
    reasons, groups = [], _labels(engine, scope)
    for rate in ("far", "frr"):
        support = support_of(engine.pairs, rate, scope, threshold, sampled)
        reasons += support.reasons(0, groups, rate)
    return reasons


def _labels(engine, scope):
    """Labels of the groups of a scope, as a Reason has them."""
    return tuple(plain(engine.groups[g]) for g in dict.fromkeys(scope or ()))


def _with_interval(
    engine, question, rates, threshold, reasons, sampled, bounds=(0.0, 1.0)
):
    """Answer with the interval of its replicates. Completes each level's reasons."""
    value, centre, replicates = rates
    moved = adjusted(replicates, value, centre, engine.method)
    bounds = bounds if question.how is None else question.how.bounds
    low, high = np.full((2, value.size), np.nan)
    n_undefined = np.zeros(value.size, dtype=int)
    if replicates.shape[-1]:
        low, high, n_undefined = percentile(moved, engine.confidence_level, bounds)
    if question.how is not None or question.rate == "far":
        # Resamples of equal groups are all less equal, and the FAR at a level has the level
        # as its largest value: quantiles may be beyond the value.
        low, high = np.minimum(low, value), np.maximum(high, value)
    allowed = (1 - engine.confidence_level) / 2 * replicates.shape[-1]
    for level, undefined in enumerate(n_undefined.tolist()):
        lacking = any(reason.code == "no_pairs" for reason in reasons[level])
        if np.isnan(value[level]) and not lacking:
            reasons[level].insert(0, Reason("undefined"))
        elif undefined > allowed:
            few = Reason("undefined_resamples", found=undefined, needed=int(allowed))
            reasons[level].append(few)
    error, uncertainty = np.full((2, value.size), np.nan)
    if replicates.shape[-1] > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            error = moved.std(axis=-1, ddof=1)
            uncertainty = replicates.std(axis=-1, ddof=1) / value
    end = OF_SAMPLE if sampled else ""
    texts = (join_reasons(of_level, engine.terms) for of_level in reasons)
    words = ("; ".join(filter(None, (text, end))) for text in texts)
    n_pairs = (np.full(value.size, n) for n in engine.counts(question))
    return Answer(
        *(value, low, high, error, uncertainty, *n_pairs, n_undefined, None, None),
        np.array([not r for r in reasons]),
        np.fromiter(words, object),
        np.full(value.size, "sample" if sampled else "all pairs", dtype=object),
        np.fromiter(map(tuple, reasons), object),
        *(threshold, replicates, moved),
    )


def _with_evidence(found, centre, engine, question):
    """The answer with intervals from evidence: of "jackknife", and of rates of 0 or 1."""
    levels = np.ones(found.value.size, dtype=bool)
    if engine.method != "jackknife":
        # Replicates of such rates do not vary: their interval has no width.
        levels = (found.value == 0) | (centre == 0) | (found.value > 1 - ROUNDING)
        levels &= ~np.isnan(found.low)
        if not levels.any():
            return found
    evidence = engine.evidence_of(question)
    if evidence is None:
        return found
    columns = analyse(evidence, question, engine.confidence_level)
    error, known = columns.pop("standard_error"), ~np.isnan(found.value)
    for name in ("low", "high"):
        end = np.where(known, columns[name], np.nan)
        columns[name] = np.where(levels, end, getattr(found, name))
    if engine.method == "jackknife":
        with np.errstate(divide="ignore", invalid="ignore"):
            uncertainty = error / found.value
        columns |= {"standard_error": error, "normalized_uncertainty": uncertainty}
    return replace(found, **columns)


def _reasons(engine, table, question, scopes):
    """For each level, why the rates of these scopes are not supported."""
    pairs, query, point = engine.pairs, table.query, table.point
    reasons = [[] for _ in range(point.far.shape[1])]
    if question.how is not None and len(scopes) < 2:
        return [[Reason("few_groups", found=len(scopes), needed=2)] for _ in reasons]
    groups_of = {scope: _labels(engine, scope) for scope in query.scopes}
    rows = [query.scopes.index(scope) for scope in scopes]
    for scope, row in zip(scopes, rows, strict=True):
        asked = (scope, point.thresholds[row], scope in query.sampled)
        support = support_of(pairs, question.rate, *asked)
        for level, of_level in enumerate(reasons):
            of_level += support.reasons(level, groups_of[scope])
    if question.how is not None:
        rates = getattr(point, question.rate)[rows]
        for level in np.flatnonzero((rates > 1 - ROUNDING).all(axis=0)):
            reasons[level].append(Reason("all_errors", rate=question.rate))
    if question.levels is None:
        return reasons
    setters = query.setters(scopes)
    if question.rate == "frr" and setters:
        errors = []
        for setter in setters:
            row = query.scopes.index(setter) if setter in query.scopes else 0
            asked = (setter, point.thresholds[row], setter in query.sampled)
            errors.append(support_of(pairs, "far", *asked).n_errors)
        if query.operating_point == "worst_group":
            # The worst group may be another one at each level.
            fars = [n / pairs.count(s) for n, s in zip(errors, setters, strict=True)]
            setters, errors = [None], [np.choose(np.argmax(fars, axis=0), errors)]
        for setter, of_setter in zip(setters, errors, strict=True):
            for level in np.flatnonzero(of_setter < MIN_SETTERS):
                found, of = int(of_setter[level]), groups_of.get(setter, ())
                few = Reason("few_setters", of, found=found, needed=MIN_SETTERS)
                reasons[level].append(few)
    hardest = min(map(pairs.count, query.setters(scopes)), default=0)
    for level in np.flatnonzero(exceeds(1.0, question.levels * hardest)):
        needed = 1 / hardest if hardest else None
        found = float(question.levels[level])
        reasons[level].append(Reason("below_resolution", found=found, needed=needed))
    return reasons
