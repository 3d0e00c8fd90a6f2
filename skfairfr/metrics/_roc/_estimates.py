"""From a table of rates to an estimate: which groups, which interval, how supported."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from skfairfr._core._intervals import (
    Reason,
    adjusted,
    join_reasons,
    percentile,
    simultaneous,
    support_of_first,
    wilson,
)
from skfairfr._core._rates import ROUNDING, exceeds
from skfairfr.metrics._roc._records import (
    Estimate,
    GroupFARMatrix,
    ROCCurve,
    to_objects,
)

# How `reason` ends for values that do not come from all pairs.
ENDINGS = {
    "all pairs": "",
    "histogram": "beyond far_max: values from a histogram of all scores, intervals from a "
    "uniform sample of impostor pairs",
    "sample": "beyond far_max: values and intervals from a uniform sample of impostor "
    "pairs",
}


@dataclass(frozen=True)
class Answer:
    """Everything about one question, levels in increasing order.

    Attributes
    ----------
    value, low, high, threshold : ndarrays, shape (n_levels,)
    replicates, adjusted : ndarrays, shape (n_levels, n_resamples)
        As resampled, and as the interval is made of.
    n_undefined : ndarray of int, shape (n_levels,)
    reasons : list of tuples of Reason
        Why a level is not supported; empty where it is.
    sources : list of str
        "all pairs", "histogram" or "sample": where a level's value comes from.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    replicates: np.ndarray
    adjusted: np.ndarray
    threshold: np.ndarray
    n_undefined: np.ndarray
    reasons: list
    sources: list

    @property
    def supported(self):
        """Whether each level is, (n_levels,)."""
        return np.array([not reason for reason in self.reasons])

    @property
    def reason(self):
        """Reasons in words, and where values come from, (n_levels,)."""
        words = [
            "; ".join(filter(None, (join_reasons(reasons), ENDINGS[source])))
            for reasons, source in zip(self.reasons, self.sources, strict=True)
        ]
        return to_objects(words)

    @property
    def standard_error(self):
        """Standard deviation of the adjusted replicates, (n_levels,)."""
        return _sd(self.adjusted)

    @classmethod
    def joined(cls, parts):
        """Answers about rising levels as one."""
        if len(parts) == 1:
            return parts[0]
        joined = {}
        for name in cls.__dataclass_fields__:
            columns = [getattr(part, name) for part in parts]
            if isinstance(columns[0], list):
                joined[name] = list(chain.from_iterable(columns))
            else:
                joined[name] = np.concatenate(columns)
        return cls(**joined)


def scopes_of(question, n_groups):
    """Scopes whose rates a question needs; one table serves all of the common ones."""
    if question.scope is not None and question.scope[0] != question.scope[1]:
        return (question.scope,)
    own = tuple((g, g) for g in range(n_groups))
    return own if question.operating_point == "group" else (None, *own)


def quantity(rates, query, question, used):
    """The rate or disparity asked for, (n_levels, ...), from rates by scope."""
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


def answer(pairs, table, question, used, intervals, labels):
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

    Returns
    -------
    found : Answer
    """
    query = table.query
    value, centre, replicates = (
        quantity(rates, query, question, used)
        for rates in (table.point, table.centre, table.replicates)
    )
    asked = [question.scope] if question.how is None else [(g, g) for g in used]
    reasons = _reasons(pairs, table, question, asked, labels)
    source = _source(pairs, _sampled(query, question.rate, asked))
    own = question.operating_point == "group" and question.how is not None
    row = 0 if question.scope is None else query.row_of[question.scope]
    threshold = table.point.thresholds[row]
    return _with_interval(
        pairs,
        question,
        value,
        centre,
        replicates,
        np.full_like(threshold, np.nan) if own else threshold,
        intervals,
        reasons,
        source,
    )


def answer_equal_error(pairs, rates, question, intervals, labels):
    """Value, interval and support of an equal error rate, as one level."""
    threshold = np.array([rates.threshold])
    reasons = []
    for rate in ("far", "frr"):
        support = _support(pairs, rate, question.scope, threshold, rates.sampled)
        reasons += support.reasons(0, f"{_name(question.scope, labels)}, {rate}")
    return _with_interval(
        pairs,
        question,
        np.array([rates.value]),
        np.array([rates.centre]),
        rates.replicates[None],
        threshold,
        intervals,
        [reasons],
        _source(pairs, {question.scope} if rates.sampled else ()),
    )


def _sampled(query, rate, asked):
    """Scopes that an answer about the rates of ``asked`` takes from their samples."""
    needed = set(asked) if rate == "far" else set()
    if query.thresholds is None and query.operating_point == "overall":
        needed.add(None)
    elif query.thresholds is None:
        needed.update((g, g) for g in _operating(query, asked))
    return needed & query.sampled


def _source(pairs, sampled):
    """Where values come from whose answer uses the samples of these scopes."""
    if not sampled:
        return "all pairs"
    missing = any(pairs.histogram(scope) is None for scope in sampled)
    return "sample" if missing else "histogram"


def _with_interval(
    pairs,
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
    low, high, n_undefined = percentile(
        moved, intervals.confidence_level, _bounds(question)
    )
    if question.how is None:
        low, high = _zero_error_bounds(
            pairs, question, value, centre, low, high, intervals.confidence_level
        )
    allowed = (1 - intervals.confidence_level) / 2 * replicates.shape[-1]
    for level, undefined in enumerate(n_undefined.tolist()):
        if np.isnan(value[level]):
            reasons[level].insert(0, Reason("undefined"))
        elif undefined > allowed:
            few = Reason("undefined_resamples", "", undefined, int(allowed))
            reasons[level].append(few)
    return Answer(
        value,
        low,
        high,
        replicates,
        moved,
        threshold,
        n_undefined,
        [tuple(r) for r in reasons],
        [source] * value.size,
    )


def _bounds(question):
    return (0.0, 1.0) if question.how is None else question.how.bounds


def to_estimate(found, question, counts):
    """The public record, in the caller's order and shape."""
    n_levels = found.value.size
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = found.standard_error
        normalized = _sd(found.replicates) / found.value
    n_genuine, n_impostor = (np.full(n_levels, n) for n in counts)
    return Estimate(
        *(
            question.in_shape(values)
            for values in (
                found.value,
                found.low,
                found.high,
                spread,
                normalized,
                n_genuine,
                n_impostor,
                found.n_undefined,
                found.supported,
                found.reason,
                to_objects(found.sources),
                to_objects(found.reasons),
            )
        )
    )


def to_curve(found, question, confidence_level):
    """The public curve, in the caller's order."""
    band_low, band_high = simultaneous(
        found.adjusted,
        found.value,
        (found.low, found.high),
        confidence_level,
        _bounds(question),
    )
    columns = (
        question.levels,
        found.value,
        found.low,
        found.high,
        band_low,
        band_high,
        found.threshold,
        found.supported,
        found.reason,
        to_objects(found.sources),
        to_objects(found.reasons),
    )
    return ROCCurve(*(question.in_shape(values) for values in columns))


def to_matrix(answers, counts, groups, two_sides):
    """The public matrix, from an answer and a number of pairs for each scope (g, h)."""
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
            source[cell], reasons[cell] = found.sources[0], found.reasons[0]
    return GroupFARMatrix(
        groups, far, low, high, n_impostor, supported, reason, source, reasons
    )


def _sd(replicates):
    if replicates.shape[-1] < 2:
        return np.full(replicates.shape[:-1], np.nan)
    with np.errstate(invalid="ignore"):
        return replicates.std(axis=-1, ddof=1)


def _zero_error_bounds(pairs, question, value, centre, low, high, confidence_level):
    """Wilson's bound where no pair, or every pair, is an error: replicates cannot vary.

    The effective number of trials is that of the people involved, never of pairs.
    """
    if question.rate == "far":
        n = pairs.n_identities(question.scope)
    else:
        n = pairs.genuine.n_identities(question.scope, pairs.images)
    if n == 0:
        return low, high
    alpha = 1 - confidence_level
    defined = ~np.isnan(low)
    none = defined & ((value == 0) | (centre == 0))
    all_of = defined & (value > 1 - ROUNDING)
    high = np.where(none, wilson(0, n, alpha=alpha)[1], high)
    low = np.where(none, 0.0, low)
    low = np.where(all_of, wilson(n, n, alpha=alpha)[0], low)
    return low, np.where(all_of, 1.0, high)


def _reasons(pairs, table, question, asked, labels):
    """For each level, why the rates asked for are not supported."""
    n_levels = table.point.far.shape[1]
    reasons = [[] for _ in range(n_levels)]
    if question.how is not None and len(asked) < 2:
        return [[Reason("few_groups", "", len(asked), 2)] for _ in reasons]
    for scope in asked:
        row = table.query.row_of[scope]
        support = _support(
            pairs,
            question.rate,
            scope,
            table.point.thresholds[row],
            scope in table.query.sampled,
        )
        for level in range(n_levels):
            reasons[level] += support.reasons(level, _name(scope, labels))
    if question.levels is not None:
        hardest = hardest_to_resolve(pairs, table.query, asked)
        for level in np.flatnonzero(exceeds(1.0, question.levels * hardest)):
            reason = Reason(
                "below_resolution",
                "",
                float(question.levels[level]),
                1 / hardest if hardest else None,
            )
            reasons[level].append(reason)
    return reasons


def hardest_to_resolve(pairs, query, asked):
    """Impostor pairs of the scope whose threshold is the hardest to resolve.

    ``asked`` are the scopes of the question: with each group at its own threshold, no
    other group matters.
    """
    if query.operating_point == "overall":
        return pairs.count(None)
    groups = _operating(query, asked)
    return min((pairs.count((g, g)) for g in groups), default=0)


def _operating(query, asked):
    """Groups whose FAR sets the thresholds of the scopes ``asked``."""
    if query.operating_point == "group":
        return [g for g in query.operating_groups if (g, g) in asked]
    return query.operating_groups


def _support(pairs, rate, scope, thresholds, sampled):
    undefined = np.isnan(thresholds)
    if rate == "far":
        sequence = pairs.impostors(scope, sampled)
        positions = sequence.positions(np.where(undefined, np.inf, thresholds))
    else:
        sequence = pairs.genuine.ascending(scope)
        known = np.where(undefined, -np.inf, thresholds)
        positions = pairs.genuine.rejected(scope, known)
    left, right = sequence.identities(pairs.images)
    return support_of_first(left, right, positions, pairs.images.n_identities)


def _name(scope, labels):
    if scope is None:
        return "overall"
    g, h = (str(labels[code]) for code in scope)
    return g if g == h else f"{g} x {h}"
