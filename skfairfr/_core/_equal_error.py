"""The equal error rate in the data and in every resample.

Along descending thresholds FAR - FRR rises, and the equal error rate lies where it changes
its sign. One walk over the impostor pairs and one over the genuine pairs give the rates at
some common thresholds (rows) in every resample; the pairs between the two rows around the
change are then added one by one.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from skfairfr._core import _rates, _running_sums
from skfairfr._core._bootstrap import (
    copies_rejected,
    far_in,
    frr_in,
    genuine_weights,
    has_copies,
    impostor_total,
    remember,
    v_statistic_frr,
    v_statistic_weights,
)
from skfairfr._core._pair_sets import TailTooShortError
from skfairfr._core._parallel import over_blocks
from skfairfr._core._resampling import (
    Resamples,
    blocks_of_resamples,
    draw,
    unit_weights,
)
from skfairfr._core._running_sums import weight_of

# Impostor pairs that are added where a walk was too short, as a share of those walked.
FURTHER = 0.125
# Thresholds tried per round of the bisection.
GRID = 15


@dataclass(frozen=True)
class EqualErrorRates:
    """Equal error rates of one scope.

    Attributes
    ----------
    value, centre, threshold : float
        Rate in the data, centre of the replicates, and the threshold where FAR meets FRR.
    replicates : ndarray, shape (n_resamples,)
    sampled : bool
        Whether impostor scores came from a sample, and the value from a histogram.
    """

    value: float
    centre: float
    threshold: float
    replicates: np.ndarray
    sampled: bool


@dataclass(frozen=True)
class Weighed:
    """Pairs in order of score with their weights in every resample.

    Attributes
    ----------
    scores : ndarray, shape (n_pairs,)
    weights, pairs : tuples
        As the walks of ``_running_sums`` take them.
    total : ndarray, shape (n_resamples,)
        Weight of all pairs of the scope, which may be more than these.
    rows : RowSums
    """

    scores: np.ndarray
    weights: tuple
    pairs: tuple
    total: np.ndarray
    rows: _running_sums.RowSums

    @classmethod
    def of(cls, sequence, weights, units, total, block=None):
        """The pairs of a sequence; ``block`` as of its ``row_sums``."""
        rows = sequence.row_sums(weights, units, block)
        return cls(sequence.scores, weights, (*units, sequence.base), total, rows)

    def sums_at(self, positions):
        """Weight of the pairs before each position, (n_positions, n_resamples)."""
        self.rows.reach(positions.max(initial=0))
        return _running_sums.sums_at(self.weights, self.pairs, positions, self.rows)


def equal_error_rates(pairs, scope, resampling):
    """Value, centre and replicates of the equal error rate of a scope.

    Impostor pairs are those held, down to the equal error rate of every resample, or a
    uniform sample where they would be too many.
    """
    tables = pairs.common if scope is None else {}
    key = ("equal error", resampling)
    while key not in tables:
        try:
            remember(tables, key, _of_scope(pairs, scope, resampling))
        except TailTooShortError:
            pairs.deepen(scope)
    return tables[key]


def _of_scope(pairs, scope, resampling):
    sampled = not pairs.holds_equal_error(scope)
    copies = resampling.method != "offdiagonal"
    data = (pairs, scope, sampled, copies)
    rate, threshold = equal_error_in(*data, unit_weights())
    value = rate[0]
    if sampled and pairs.histogram(scope) is not None:
        value, threshold = _from_histogram(*data)
    centre = rate[0]
    if has_copies(pairs, resampling):
        centre = _of_v_statistic(*data)
    spans = blocks_of_resamples(pairs.images, resampling.n_resamples)
    seeds = (resampling.mode, resampling.entropy)
    accepted = pairs.impostors(scope, sampled).positions(threshold[0])
    # In resamples of many people, FAR meets FRR at about as many pairs as in the data.
    margin = 6 / np.sqrt(pairs.images.n_identities)
    span = (
        max(0, int(accepted * (1 - margin)) - _running_sums.CHUNK),
        int(accepted * (1 + margin)) + _running_sums.CHUNK,
    )
    small = pairs.for_workers((scope,), (scope,) if sampled else ())
    shared = (small, scope, sampled, copies, span)
    tasks = [(Resamples(*seeds, *span),) for span in spans]
    sizes = [stop - start for start, stop in spans]
    arguments = (tasks, resampling.n_jobs, "resampling", sizes, shared)
    blocks = over_blocks(_block, *arguments)
    replicates = np.concatenate(blocks)
    return EqualErrorRates(value, centre, threshold[0], replicates, sampled)


def _block(pairs, scope, sampled, copies, span, resamples):
    weights = draw(pairs.images, *resamples)
    return equal_error_in(pairs, scope, sampled, copies, weights, span)[0]


def equal_error_in(pairs, scope, sampled, copies, weights, span=None):
    """Equal error rate in every resample of a block, and its threshold.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)
    sampled : bool
        Whether impostor pairs come from the sample.
    copies : bool
        Whether pairs of two copies of one image count.
    weights : Weights
    span : tuple of two ints, default=None
        Numbers of impostor pairs between which FAR probably meets FRR; None is all.

    Returns
    -------
    rates, thresholds : ndarrays, shape (n_resamples,)
        nan where a rate is undefined.

    Raises
    ------
    TailTooShortError
        If FAR stays below FRR down to the last score held.
    """
    sequence = pairs.impostors(scope, sampled)
    unit, units = weights.of_impostors(pairs.images, sequence)
    total = impostor_total(pairs, scope, weights, sampled)
    impostor = Weighed.of(sequence, unit, units, total, weights.block)
    genuine = Weighed.of(*genuine_weights(pairs, scope, weights, copies), weights.block)
    rates, thresholds, above = _where_they_meet(
        impostor, genuine, sequence, scope, span
    )
    drawn = weights.image is not None and pairs.has_copies and copies
    if drawn and copies_rejected(pairs, above.max(initial=-np.inf)):
        return _by_bisection(pairs, scope, sampled, weights)
    return rates, thresholds


def _of_v_statistic(pairs, scope, sampled, copies):
    """Equal error rate of the FAR in the data and the V-statistic of the FRR."""
    sequence = pairs.impostors(scope, sampled)
    one = np.ones((1, 1), dtype=np.uint8)
    nobody = np.zeros(len(sequence), dtype=np.int32)
    total = impostor_total(pairs, scope, unit_weights(), sampled)
    impostor = Weighed.of(sequence, (one, one), (nobody, nobody), total)
    held, total = v_statistic_weights(pairs, scope)
    nobody = np.zeros(len(held), dtype=np.int32)
    genuine = Weighed.of(held, (one, one), (nobody, nobody), np.array([total]))
    rates, _, above = _where_they_meet(impostor, genuine, sequence, scope)
    if not copies_rejected(pairs, above.max(initial=-np.inf)):
        return rates[0]

    def rates_at(thresholds):
        frr = v_statistic_frr(pairs, (scope,), thresholds.T)
        far = far_in(pairs, scope, thresholds, unit_weights(), sampled)
        return far, frr.T

    return where_equal(rates_at, _candidates(pairs, scope, sampled), 1)[0][0]


def _where_they_meet(impostor, genuine, sequence, scope, span=None):
    """Rates and thresholds where FAR meets FRR, and the threshold tried before.

    ``sequence`` is that of the impostor pairs, for its scope to be named if it is short.
    """
    n_pairs = impostor.scores.size
    first, end = (0, n_pairs) if span is None else (span[0], min(span[1], n_pairs))
    defined = (impostor.total > 0) & (genuine.total > 0)
    while True:
        rows, sums = _rates_at_rows(impostor, genuine, first, end)
        far, frr = (
            _share(s, w) for s, w in zip(sums, (impostor, genuine), strict=True)
        )
        crossed = far >= frr
        if first > 0 and crossed[0][defined].any():
            first = 0
        elif end < n_pairs and not crossed[-1][defined].all():
            end = min(n_pairs, end + int(FURTHER * end) + impostor.rows.step)
        else:
            break
    row = np.where(crossed.any(axis=0), crossed.argmax(axis=0), rows.shape[1]) - 1
    # Copies, as every kind of array, one that is read only included, is compiled for.
    totals = np.array(impostor.total), np.array(genuine.total)
    # Where a rate is undefined, no row is crossed: those resamples are left out.
    far, frr, at = _finish(
        (impostor.scores, *impostor.weights, *impostor.pairs[:2], totals[0]),
        (genuine.scores, *genuine.weights, *genuine.pairs[:2], totals[1]),
        impostor.pairs[2],
        genuine.pairs[2],
        rows,
        sums,
        np.where(defined, row, -1),
        sequence.complete,
    )
    if np.isnan(at[1][defined]).any():
        raise TailTooShortError(scope)
    rates, closest = _rates.equal_error(far.T, frr.T)
    thresholds = at[closest, np.arange(closest.size)]
    undefined = ~defined
    rates[undefined] = thresholds[undefined] = np.nan
    return rates, thresholds, at[0][defined]


def _rates_at_rows(impostor, genuine, first, end):
    """Common rows between two impostor pairs, and the weights accepted and rejected there.

    Returns
    -------
    rows : ndarray of int64, shape (2, n_rows)
        Number of impostor pairs accepted at the threshold of a row, and of genuine pairs
        rejected. Where ``first`` is 0, the first threshold stands above all scores.
    sums : tuple of two ndarrays, shape (n_rows, n_resamples)
        Weights of these pairs.
    """
    step = impostor.rows.step
    n_before = first // step * step
    threshold = impostor.scores[max(n_before, step) - 1 : end : step]
    threshold = threshold[np.flatnonzero(np.diff(threshold, prepend=np.inf))]
    accepted = _rates.count_at_least(impostor.scores, threshold)
    n_genuine = genuine.scores.size
    rejected = n_genuine - _rates.count_at_least(genuine.scores[::-1], threshold)
    rows = np.array([accepted, rejected], dtype=np.int64)
    if n_before == 0:
        rows = np.column_stack([[0, n_genuine], rows])
    rejected = np.ascontiguousarray(genuine.sums_at(rows[1][::-1])[::-1])
    return rows, (impostor.sums_at(rows[0]), rejected)


def _share(sums, weighed):
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums / weighed.total


@njit(nogil=True, cache=True)
def _finish(impostor, genuine, base, base_g, rows, sums, first, complete):
    """Rates at the last threshold with FAR < FRR and at the next one, per resample.

    Thresholds are all distinct scores, in descending order, after +inf.

    Parameters
    ----------
    impostor, genuine : tuples
        Scores (impostor ones descending, genuine ones ascending), weights of left and
        right unit, left and right unit of each pair, and totals.
    base, base_g : ndarrays, shape (n_pairs,), or None
        Base weights of the impostor and of the genuine pairs.
    rows, sums
        Of ``_rates_at_rows``.
    first : ndarray of int, shape (n_resamples,)
        Row that every resample starts from, where FAR < FRR; -1 leaves it out.
    complete : bool
        Whether these are all impostor pairs.

    Returns
    -------
    far, frr, thresholds : ndarrays, shape (2, n_resamples)
        nan in the second row if the two do not meet.
    """
    scores, left_weight, right_weight, left, right, total = impostor
    below, left_weight_g, right_weight_g, left_g, right_g, total_g = genuine
    n_rows = rows.shape[1]
    far, frr, at = np.full((3, 2, first.size), np.nan)
    rejected = np.zeros(below.size + 1)
    for r in range(first.size):
        row = first[r]
        if row < 0:
            continue
        p, q = rows[0, row], rows[1, row]
        accepted = sums[0][row, r]
        # Rejected weight below each of the genuine pairs down to the next row.
        lowest = rows[1, row + 1] if row + 1 < n_rows else 0
        rejected[lowest] = sums[1][row + 1, r] if row + 1 < n_rows else 0.0
        for g in range(lowest, q):
            rejected[g + 1] = rejected[g] + weight_of(
                left_weight_g, right_weight_g, left_g, right_g, base_g, g, r
            )
        threshold = np.inf
        if p > 0:
            threshold = np.float64(scores[p - 1])
        if q < below.size:
            threshold = min(threshold, np.float64(below[q]))
        far[0, r] = accepted / total[r]
        frr[0, r] = sums[1][row, r] / total_g[r]
        at[0, r] = threshold
        while p < scores.size or (complete and q > 0):
            threshold = -np.inf
            if p < scores.size:
                threshold = np.float64(scores[p])
            if q > 0:
                threshold = max(threshold, np.float64(below[q - 1]))
            while p < scores.size and scores[p] == threshold:
                accepted += weight_of(
                    left_weight, right_weight, left, right, base, p, r
                )
                p += 1
            while q > 0 and below[q - 1] == threshold:
                q -= 1
            share, missed = accepted / total[r], rejected[q] / total_g[r]
            if share >= missed:
                far[1, r], frr[1, r], at[1, r] = share, missed, threshold
                break
            far[0, r], frr[0, r], at[0, r] = share, missed, threshold
    return far, frr, at


# ---- where pairs of copies are rejected, and histograms ------------------------------


def _by_bisection(pairs, scope, sampled, weights):
    """As :func:`equal_error_in`, where copies of an image may be rejected."""
    genuine = genuine_weights(pairs, scope, weights, True)

    def rates_at(thresholds):
        far = far_in(pairs, scope, thresholds, weights, sampled)
        return far, frr_in(pairs, scope, thresholds, weights, genuine, True)

    candidates = _candidates(pairs, scope, sampled)
    return where_equal(rates_at, candidates, weights.n_resamples)


def _from_histogram(pairs, scope, sampled, copies):
    """Equal error rate and threshold of the FAR in the histogram of all scores."""

    one = unit_weights()
    genuine = genuine_weights(pairs, scope, one, copies)

    def rates_at(thresholds):
        frr = frr_in(pairs, scope, thresholds, one, genuine, copies)
        return pairs.histogram(scope).far(thresholds), frr

    rates, thresholds = where_equal(rates_at, _candidates(pairs, scope, sampled), 1)
    return rates[0], thresholds


def where_equal(rates_at, candidates, n_columns):
    """Find where FAR is closest to FRR among the candidates, for every column.

    FAR - FRR rises along the candidates, so that bisection finds the two around zero.

    Parameters
    ----------
    rates_at : callable
        Thresholds (n_levels, n_columns) -> FAR and FRR of that shape.
    candidates : ndarray, shape (n_candidates,)
        Descending, starting with +inf.
    n_columns : int

    Returns
    -------
    rates, thresholds : ndarrays, shape (n_columns,)
        The rate is (FAR + FRR) / 2 at the threshold.
    """
    low = np.zeros(n_columns, dtype=np.int64)
    high = np.full(n_columns, candidates.size - 1)
    steps = np.arange(1, GRID + 1)[:, None]
    column = np.arange(n_columns)
    while (high - low > 1).any():
        tried = low + (high - low) * steps // (GRID + 1)
        far, frr = rates_at(candidates[tried])
        crossed = far >= frr
        first = np.where(crossed.any(axis=0), crossed.argmax(axis=0), GRID)
        bounds = np.vstack([low, tried, high])
        low, high = bounds[first, column], bounds[first + 1, column]
    around = candidates[np.stack([low, high])]
    far, frr = rates_at(around)
    rates, closest = _rates.equal_error(far.T, frr.T)
    return rates, around[closest, column]


def _candidates(pairs, scope, sampled):
    """+inf, which accepts nothing, then all distinct scores in descending order."""
    scores = [
        pairs.impostors(scope, sampled).scores,
        pairs.genuine.ascending(scope).scores,
    ]
    if pairs.has_copies:
        scores.append(pairs.own_scores)
    distinct = np.unique(np.concatenate(scores))[::-1].astype(np.float64)
    return np.concatenate([[np.inf], distinct])
