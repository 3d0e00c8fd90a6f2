"""Estimates from a table of rates: value, interval, support and the public records."""

from dataclasses import dataclass, fields, replace

import numpy as np

from skfairfr._core._few_errors import rate_bounds
from skfairfr._core._intervals import (
    Reason,
    adjusted,
    join_reasons,
    percentile,
    support_of_first,
)
from skfairfr._core._rates import ROUNDING, count_at_least, exceeds
from skfairfr.metrics._roc._evidence import analyse, place_of
from skfairfr.metrics._roc._records import GroupFARMatrix, to_objects
from skfairfr.utils._errors import plain

# With fewer accepted impostor pairs, the threshold of a level is set by chance.
MIN_SETTERS = 10

# The end of `reason`, by the source of the value.
ENDINGS = {
    "all pairs": "",
    "sample": "beyond far_max: from a uniform sample of impostor pairs",
}


@dataclass(frozen=True)
class Answer:
    """Value, interval and support of one question, levels in increasing order.

    Attributes
    ----------
    value, low, high, threshold : ndarrays, shape (n_levels,)
    replicates, adjusted : ndarrays, shape (n_levels, n_resamples)
        As resampled, and as the interval uses them.
    standard_error, normalized_uncertainty : ndarrays, shape (n_levels,)
        As of :class:`Estimate`.
    n_undefined : ndarray of int, shape (n_levels,)
    reasons : ndarray of tuples of Reason, shape (n_levels,)
        Why each level is not supported; empty if it is.
    source : ndarray of str, shape (n_levels,)
        Where each level comes from: "all pairs" or "sample".
    corrected, p_value : ndarrays, shape (n_levels,), or None
        As of :class:`Estimate`.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    threshold: np.ndarray
    replicates: np.ndarray
    adjusted: np.ndarray
    standard_error: np.ndarray
    normalized_uncertainty: np.ndarray
    n_undefined: np.ndarray
    reasons: np.ndarray
    source: np.ndarray
    corrected: np.ndarray | None = None
    p_value: np.ndarray | None = None

    @property
    def supported(self):
        """Whether each level is supported, (n_levels,)."""
        return np.array([not reason for reason in self.reasons])

    @property
    def reason(self):
        """Reasons in words, and where values come from, (n_levels,)."""
        words = [
            "; ".join(filter(None, (join_reasons(reasons), ENDINGS[source])))
            for reasons, source in zip(self.reasons, self.source, strict=True)
        ]
        return to_objects(words)


def joined(parts):
    """One answer from answers about increasing levels."""
    if len(parts) == 1:
        return parts[0]
    columns = [[getattr(part, f.name) for part in parts] for f in fields(Answer)]
    return Answer(*(None if c[0] is None else np.concatenate(c) for c in columns))


def to_matrix(answers, count, groups):
    """GroupFARMatrix from answers by scope (g, h) and the number of pairs of a scope."""
    codes = range(groups.size)
    # Without sides (h, g) is the same set of pairs.
    cells = [(g, h) if (g, h) in answers else (h, g) for g in codes for h in codes]
    found, shape = [answers[cell] for cell in cells], (groups.size, groups.size)
    numbers = [
        np.array([getattr(a, name)[0] for a in found]).reshape(shape)
        for name in ("value", "low", "high", "supported")
    ]
    objects = [
        to_objects(getattr(a, name)[0] for a in found).reshape(shape)
        for name in ("reason", "source", "reasons")
    ]
    n_impostor = np.array([count(cell) for cell in cells]).reshape(shape)
    return GroupFARMatrix(groups, *numbers[:3], n_impostor, numbers[3], *objects)


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
            f"many resamples at once; it made {found.shape} of {of_groups.shape}. Reduce "
            "over axis=-1."
        )
    return found


def setters_of(query, scopes):
    """Scopes whose FAR sets the thresholds of some scopes."""
    own = query.operating_point == "group"
    return [s for s in query.operating_scopes if not own or s in scopes]


def answer(engine, table, question):
    """Value, interval and support of a question.

    Parameters
    ----------
    engine : Engine
    table : RateTable
    question : Question

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
        needed.update(setters_of(query, scopes))
    found = _with_interval(
        engine.intervals,
        question,
        (value, centre, replicates),
        threshold,
        _reasons(engine, table, question, scopes),
        bool(needed & query.sampled),
    )
    return _with_evidence(found, centre, engine, question)


def answer_equal_error(engine, rates, question):
    """Value, interval and support of an equal error rate, as one level.

    The interval of "wilson" is without resamples where FAR and FRR meet. Where errors move
    the FRR at the FAR level e, the equal error rate, by a factor, e moves by its (1 - s)-th
    root: FRR falls by s in logarithms, s < 0, as the FAR level rises.
    """
    scope, threshold = question.scope, np.array([rates.threshold])
    groups, reasons = (() if scope is None else (plain(engine.groups[scope[0]]),)), []
    for rate in ("far", "frr"):
        support = support_of(engine.pairs, rate, scope, threshold, rates.sampled)
        reasons += support.reasons(0, groups, rate)
    value, centre = np.array([rates.value]), np.array([rates.centre])
    found = _with_interval(
        engine.intervals,
        question,
        (value, centre, rates.replicates[None]),
        threshold,
        [reasons],
        rates.sampled,
    )
    if engine.intervals.method != "wilson" or not 0 < rates.value < 1:
        return _with_evidence(
            found, centre, engine, replace(question, thresholds=threshold)
        )
    point = "overall" if scope is None else "group"
    at_level = replace(question, levels=value, thresholds=None, operating_point=point)
    evidence = engine.evidence_of(at_level, as_far_as_held=True)
    place = place_of(evidence, scope)
    sums, added = evidence.sums.columns([place]), evidence.added[:, [place]]
    root = 1 / (1 - np.minimum(evidence.slope[0, place], 0.0))
    ends = rate_bounds(sums, (1 - engine.intervals.confidence_level) / 2, added)
    low, high = (
        value * (end[:, 0] / sums.rate[:, 0]) ** root
        if sums.errors[0, 0]
        else end[:, 0]
        for end in ends
    )
    return replace(found, low=low, high=np.minimum(high, 1.0))


def no_equal_error(engine, question, counts):
    """Answer about an equal error rate where genuine or impostor pairs lack."""
    groups = () if question.scope is None else (engine.groups[question.scope[0]],)
    reasons = tuple(
        Reason("no_pairs", plain(groups), rate, found=0, needed=1)
        for rate, n in zip(("frr", "far"), counts, strict=True)
        if n == 0
    )
    nan, none = np.full(1, np.nan), np.full((1, 0), np.nan)
    more = (np.zeros(1, dtype=int), to_objects([reasons]), to_objects(["all pairs"]))
    return Answer(nan, nan, nan, nan, none, none, nan, nan, *more)


def _with_interval(intervals, question, rates, threshold, reasons, sampled):
    """Answer with the interval of its replicates.

    ``rates`` are the value, the centre of the replicates, and these; reasons are completed.
    """
    value, centre, replicates = rates
    moved = adjusted(replicates, value, centre, intervals.method)
    bounds = (0.0, 1.0) if question.how is None else question.how.bounds
    low, high, n_undefined = percentile(moved, intervals.confidence_level, bounds)
    if question.how is not None or question.rate == "far":
        # Resamples of groups that are alike are all less so, and the FAR of a level has
        # it as its largest value: quantiles may lie beyond the value.
        low, high = np.minimum(low, value), np.maximum(high, value)
    allowed = (1 - intervals.confidence_level) / 2 * replicates.shape[-1]
    for level, undefined in enumerate(n_undefined.tolist()):
        if np.isnan(value[level]):
            reasons[level].insert(0, Reason("undefined"))
        elif undefined > allowed and (question.how or intervals.method != "wilson"):
            few = Reason("undefined_resamples", found=undefined, needed=int(allowed))
            reasons[level].append(few)
    error, uncertainty = np.full((2, value.size), np.nan)
    if replicates.shape[-1] > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            error = moved.std(axis=-1, ddof=1)
            uncertainty = replicates.std(axis=-1, ddof=1) / value
    return Answer(
        *(value, low, high, threshold, replicates, moved, error, uncertainty),
        n_undefined,
        to_objects(tuple(r) for r in reasons),
        np.full(value.size, "sample" if sampled else "all pairs", dtype=object),
    )


def _with_evidence(found, centre, engine, question):
    """The answer, with ends from evidence: those of "wilson", and of rates of 0 or 1.

    Replicates of such rates do not vary: their interval has no width.
    """
    levels = np.ones(found.value.size, dtype=bool)
    if engine.intervals.method != "wilson":
        levels = (found.value == 0) | (centre == 0) | (found.value > 1 - ROUNDING)
        levels &= ~np.isnan(found.low)
        if question.how is not None or not levels.any():
            return found
    evidence = engine.evidence_of(question)
    if evidence is None:
        return found
    analytic = analyse(evidence, question, engine.intervals.confidence_level)
    # Replicates that do not vary give no interval; the widest is taken instead.
    varying = (found.adjusted != found.adjusted[:, :1]).any(axis=-1)
    ends = {}
    for name, widest in (("low", np.fmin), ("high", np.fmax)):
        possible = getattr(analytic, name)
        if possible is None:
            continue
        own = getattr(found, name)
        end = np.where(
            varying & ~np.isnan(own), np.clip(own, *possible), widest(*possible)
        )
        ends[name] = own.copy()
        ends[name][levels] = np.where(np.isnan(found.value), np.nan, end)[levels]
    return replace(
        found, **ends, corrected=analytic.corrected, p_value=analytic.p_value
    )


def _reasons(engine, table, question, scopes):
    """For each level, why the rates of these scopes are not supported."""
    pairs, query, point = engine.pairs, table.query, table.point
    reasons = [[] for _ in range(point.far.shape[1])]
    if question.how is not None and len(scopes) < 2:
        return [[Reason("few_groups", found=len(scopes), needed=2)] for _ in reasons]
    names = [plain(label) for label in engine.groups]
    groups_of = {
        s: tuple(names[g] for g in dict.fromkeys(s or ())) for s in query.scopes
    }
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
    setters = setters_of(query, scopes)
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
    hardest = min(map(pairs.count, setters_of(query, scopes)), default=0)
    for level in np.flatnonzero(exceeds(1.0, question.levels * hardest)):
        needed = 1 / hardest if hardest else None
        found = float(question.levels[level])
        reasons[level].append(Reason("below_resolution", found=found, needed=needed))
    return reasons


def support_of(pairs, rate, scope, thresholds, sampled):
    """Support of a rate of a scope; that of the last questions is kept."""
    key = ("support", rate, scope, sampled, thresholds.tobytes())
    if key not in pairs.known:
        undefined = np.isnan(thresholds)
        if rate == "far":
            sequence = pairs.impostors(scope, sampled)
            known = np.where(undefined, np.inf, thresholds)
            positions = count_at_least(sequence.scores, known)
        else:
            sequence = pairs.genuine.ascending(scope)
            known = np.where(undefined, -np.inf, thresholds)
            positions = pairs.genuine.rejected(scope, known)
        people = sequence.identities(pairs.images)
        images = pairs.images
        pairs.known[key] = support_of_first(
            *people, positions, images.n_identities, images.n_drawn is None
        )
    return pairs.known[key]
