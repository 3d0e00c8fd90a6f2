"""Estimates from a table of rates: value, interval, support and the public records."""

from dataclasses import dataclass, fields, replace

import numpy as np

from skfairfr._core._few_errors import rate_bounds
from skfairfr._core._intervals import (
    Reason,
    adjusted,
    join_reasons,
    percentile,
    simultaneous,
    support_of_first,
)
from skfairfr._core._rates import ROUNDING, exceeds
from skfairfr.metrics._roc._analytic import analyse, place_of
from skfairfr.metrics._roc._records import (
    Estimate,
    GroupFARMatrix,
    ROCCurve,
    to_objects,
)
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
    replicates: np.ndarray
    adjusted: np.ndarray
    threshold: np.ndarray
    n_undefined: np.ndarray
    reasons: np.ndarray
    source: np.ndarray
    corrected: np.ndarray | None
    p_value: np.ndarray | None

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

    @property
    def standard_error(self):
        """Standard deviation of the adjusted replicates, (n_levels,)."""
        return _sd(self.adjusted)

    @property
    def normalized_uncertainty(self):
        """Standard deviation of the replicates over the value, (n_levels,)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return _sd(self.replicates) / self.value

    @classmethod
    def joined(cls, parts):
        """One answer from answers about increasing levels."""
        columns = [[getattr(p, f.name) for p in parts] for f in fields(cls)]
        return cls(*(None if c[0] is None else np.concatenate(c) for c in columns))


def scopes_of(question, n_groups):
    """Scopes whose rates a question needs; common questions share one table."""
    if question.scope is not None and question.scope[0] != question.scope[1]:
        return (question.scope,)
    own = tuple((g, g) for g in range(n_groups))
    if question.operating_point == "overall":
        return (None, *own)
    of_groups = question.how is not None or question.scope is not None
    return own if of_groups else (None,)


def quantity(rates, query, question, used):
    """The rate or disparity of a question, (n_levels, ...), from rates by scope."""
    values = getattr(rates, question.rate)
    if question.how is None:
        return values[query.row_of[question.scope]]
    if len(used) < 2:
        return np.full(values.shape[1:], np.nan)
    of_groups = np.stack([values[query.row_of[g, g]] for g in used], axis=-1)
    found = np.asarray(question.how.function(of_groups))
    if found.shape != of_groups.shape[:-1]:
        raise ValueError(
            f"how={question.how.function!r} must map rates (..., n_groups) to (...,), for "
            f"many resamples at once; it made {found.shape} of {of_groups.shape}. Reduce "
            "over axis=-1."
        )
    return found


def answer(pairs, table, question, used, intervals, labels, evidence):
    """Value, interval and support of a question.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    table : RateTable
    question : Question
    used : tuple of int
        Groups that take part in a disparity.
    intervals : Intervals
        ``method`` and ``confidence_level``.
    labels : sequence
        Names of the groups.
    evidence : callable
        Gives the Evidence about the question, or None: it costs a count of all errors.

    Returns
    -------
    found : Answer
    """
    query = table.query
    value, centre, replicates = (
        quantity(rates, query, question, used)
        for rates in (table.point, table.centre, table.replicates)
    )
    scopes = [question.scope] if question.how is None else [(g, g) for g in used]
    reasons = _reasons(pairs, table, question, scopes, labels)
    source = _source(_sampled(query, question.rate, scopes))
    own = question.operating_point == "group" and question.how is not None
    row = 0 if question.scope is None else query.row_of[question.scope]
    threshold = table.point.thresholds[row]
    found = _with_interval(
        question,
        value,
        centre,
        replicates,
        np.full_like(threshold, np.nan) if own else threshold,
        intervals,
        reasons,
        source,
    )
    if intervals.method == "wilson":
        return _from_evidence(found, question, intervals, evidence, slice(None))
    return _without_variation(found, centre, question, intervals, evidence)


def answer_equal_error(pairs, rates, question, intervals, labels, evidence):
    """Value, interval and support of an equal error rate, as one level."""
    threshold = np.array([rates.threshold])
    reasons = []
    for rate in ("far", "frr"):
        support = _support(pairs, rate, question.scope, threshold, rates.sampled)
        reasons += support.reasons(0, _labels_of(question.scope, labels), rate)
    centre = np.array([rates.centre])
    found = _with_interval(
        question,
        np.array([rates.value]),
        centre,
        rates.replicates[None],
        threshold,
        intervals,
        [reasons],
        _source(rates.sampled),
    )
    return _without_variation(found, centre, question, intervals, evidence)


def with_equal_error_ends(found, evidence, scope, confidence_level):
    """The answer, with an interval without resamples where FAR and FRR meet.

    Where errors move the FRR at the FAR level e, the equal error rate, by a factor, e moves
    by its (1 - s)-th root: FRR falls by s in logarithms, s < 0, as the FAR level rises.
    """
    place = place_of(evidence, scope)
    sums, added = evidence.sums.columns([place]), evidence.added[:, [place]]
    root = 1 / (1 - np.minimum(evidence.slope[0, place], 0.0))
    ends = rate_bounds(sums, (1 - confidence_level) / 2, added)
    low, high = (
        found.value * (end[:, 0] / sums.rate[:, 0]) ** root
        if sums.errors[0, 0]
        else end[:, 0]
        for end in ends
    )
    return replace(found, low=low, high=np.minimum(high, 1.0))


def _sampled(query, rate, scopes):
    """Scopes whose sample an answer about the rates of ``scopes`` uses."""
    needed = set(scopes) if rate == "far" else set()
    if query.thresholds is None and query.operating_point == "overall":
        needed.add(None)
    elif query.thresholds is None:
        needed.update((g, g) for g in _operating(query, scopes))
    return needed & query.sampled


def _source(sampled):
    """Source of values, or of their intervals, that use a sample if ``sampled``."""
    return "sample" if sampled else "all pairs"


def _with_interval(
    question,
    value,
    centre,
    replicates,
    threshold,
    intervals,
    reasons,
    source,
):
    moved = adjusted(replicates, value, centre, intervals.method)
    bounds = (0.0, 1.0) if question.how is None else question.how.bounds
    low, high, n_undefined = percentile(moved, intervals.confidence_level, bounds)
    allowed = (1 - intervals.confidence_level) / 2 * replicates.shape[-1]
    for level, undefined in enumerate(n_undefined.tolist()):
        if np.isnan(value[level]):
            reasons[level].insert(0, Reason("undefined"))
        elif undefined > allowed and (question.how or intervals.method != "wilson"):
            few = Reason("undefined_resamples", found=undefined, needed=int(allowed))
            reasons[level].append(few)
    return Answer(
        value,
        low,
        high,
        replicates,
        moved,
        threshold,
        n_undefined,
        to_objects(tuple(r) for r in reasons),
        np.full(value.size, source, dtype=object),
        None,
        None,
    )


def to_record(kind, found, question, **more):
    """Public record of an answer, in the caller's order and shape.

    Parameters
    ----------
    kind : type
        Dataclass whose fields are attributes of the answer, or given in ``more``.
    found : Answer
    question : Question
    **more : ndarray, shape (n_levels,)
    """
    values = [
        more[field.name] if field.name in more else getattr(found, field.name)
        for field in fields(kind)
    ]
    return kind(*(None if v is None else question.in_shape(v) for v in values))


def to_estimate(found, question, counts):
    """Estimate of an answer, with its numbers of genuine and of impostor pairs."""
    n_genuine, n_impostor = (np.full(found.value.size, n) for n in counts)
    return to_record(
        Estimate, found, question, n_genuine=n_genuine, n_impostor=n_impostor
    )


def to_curve(found, question, confidence_level):
    """ROCCurve of an answer."""
    pointwise = found.low, found.high
    bounds = (0.0, 1.0) if question.how is None else question.how.bounds
    low, high = simultaneous(
        found.adjusted, found.value, pointwise, confidence_level, bounds
    )
    bands = {"far": question.levels, "band_low": low, "band_high": high}
    return to_record(ROCCurve, found, question, **bands)


def to_matrix(answers, counts, groups, two_sides):
    """Public matrix, from an answer and a number of pairs for each scope (g, h)."""
    shape = (groups.size, groups.size)
    far, low, high = (np.full(shape, np.nan) for _ in range(3))
    n_impostor, supported = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    reason, source, reasons = (np.empty(shape, dtype=object) for _ in range(3))
    for (g, h), found in answers.items():
        # Without sides (h, g) is the same set of pairs.
        for cell in {(g, h), (g, h) if two_sides else (h, g)}:
            far[cell], low[cell], high[cell] = (
                found.value[0],
                found.low[0],
                found.high[0],
            )
            n_impostor[cell] = counts[g, h]
            supported[cell], reason[cell] = found.supported[0], found.reason[0]
            source[cell], reasons[cell] = found.source[0], found.reasons[0]
    return GroupFARMatrix(
        groups, far, low, high, n_impostor, supported, reason, source, reasons
    )


def _sd(replicates):
    if replicates.shape[-1] < 2:
        return np.full(replicates.shape[:-1], np.nan)
    with np.errstate(invalid="ignore"):
        return replicates.std(axis=-1, ddof=1)


def _without_variation(found, centre, question, intervals, evidence):
    """Take the interval of "wilson" where no pair, or every pair, is an error.

    Replicates do not vary there: their interval has no width.
    """
    if question.how is not None:
        return found
    still = (found.value == 0) | (centre == 0) | (found.value > 1 - ROUNDING)
    still &= ~np.isnan(found.low)
    if not still.any():
        return found
    return _from_evidence(found, question, intervals, evidence, still)


def _from_evidence(found, question, intervals, evidence, levels):
    """The answer, with the ends of some of its levels from evidence."""
    gathered = evidence()
    if gathered is None:
        return found
    analytic = analyse(gathered, question, intervals.confidence_level)
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


def _reasons(pairs, table, question, scopes, labels):
    """For each level, why the rates of these scopes are not supported."""
    n_levels = table.point.far.shape[1]
    reasons = [[] for _ in range(n_levels)]
    if question.how is not None and len(scopes) < 2:
        return [[Reason("few_groups", found=len(scopes), needed=2)] for _ in reasons]
    for scope in scopes:
        row = table.query.row_of[scope]
        support = _support(
            pairs,
            question.rate,
            scope,
            table.point.thresholds[row],
            scope in table.query.sampled,
        )
        for level in range(n_levels):
            reasons[level] += support.reasons(level, _labels_of(scope, labels))
    if question.how is not None:
        rows = [table.query.row_of[scope] for scope in scopes]
        rates = getattr(table.point, question.rate)[rows]
        for level in np.flatnonzero((rates > 1 - ROUNDING).all(axis=0)):
            reasons[level].append(Reason("all_errors", rate=question.rate))
    if question.levels is not None and question.rate == "frr":
        for setter, errors in _setting(pairs, table, scopes):
            for level in np.flatnonzero(errors < MIN_SETTERS):
                found, of = int(errors[level]), _labels_of(setter, labels)
                few = Reason("few_setters", of, found=found, needed=MIN_SETTERS)
                reasons[level].append(few)
    if question.levels is not None:
        hardest = hardest_to_resolve(pairs, table.query, scopes)
        for level in np.flatnonzero(exceeds(1.0, question.levels * hardest)):
            reason = Reason(
                "below_resolution",
                found=float(question.levels[level]),
                needed=1 / hardest if hardest else None,
            )
            reasons[level].append(reason)
    return reasons


def hardest_to_resolve(pairs, query, scopes):
    """Number of impostor pairs of the scope whose threshold is hardest to resolve.

    ``scopes`` are those of the question: with each group at its own threshold, no other
    group matters.
    """
    if query.operating_point == "overall":
        return pairs.count(None)
    groups = _operating(query, scopes)
    return min((pairs.count((g, g)) for g in groups), default=0)


def _setting(pairs, table, scopes):
    """Scopes whose FAR sets the thresholds, and their accepted pairs, each (n_levels,).

    Of the worst group the scope is None: it may be another one at each level.
    """
    query, point = table.query, table.point
    setters = [None]
    if query.operating_point != "overall":
        setters = [(g, g) for g in _operating(query, scopes)]
    errors = []
    for setter in setters:
        thresholds = point.thresholds[query.row_of.get(setter, 0)]
        sampled = setter in query.sampled
        errors.append(_support(pairs, "far", setter, thresholds, sampled).n_errors)
    if query.operating_point == "worst_group" and setters:
        rates = [n / pairs.count(s) for n, s in zip(errors, setters, strict=True)]
        return [(None, np.choose(np.argmax(rates, axis=0), errors))]
    return list(zip(setters, errors, strict=True))


def _operating(query, scopes):
    """Groups whose FAR sets the thresholds of the scopes."""
    if query.operating_point == "group":
        return [g for g in query.operating_groups if (g, g) in scopes]
    return query.operating_groups


def _support(pairs, rate, scope, thresholds, sampled):
    """Support of a rate of a scope; that of the last questions is kept."""
    key = ("support", rate, scope, sampled, thresholds.tobytes())
    if key in pairs.known:
        return pairs.known[key]
    undefined = np.isnan(thresholds)
    if rate == "far":
        sequence = pairs.impostors(scope, sampled)
        positions = sequence.positions(np.where(undefined, np.inf, thresholds))
    else:
        sequence = pairs.genuine.ascending(scope)
        known = np.where(undefined, -np.inf, thresholds)
        positions = pairs.genuine.rejected(scope, known)
    left, right = sequence.identities(pairs.images)
    found = support_of_first(left, right, positions, pairs.images.n_identities)
    pairs.known[key] = replace(found, named=pairs.images.n_drawn is None)
    return pairs.known[key]


def _labels_of(scope, labels):
    """Labels of the groups of a scope; none of the overall scope."""
    if scope is None:
        return ()
    g, h = scope
    return plain((labels[g],) if g == h else (labels[g], labels[h]))
