"""Searches of a gallery (1:N): one pass, and its results for smaller galleries.

A probe is compared with every enrolled person. The best score determines a search without a
mate. A search with a mate depends on the mate's score and on how many others reach it, ties
included. Only these are stored, with the candidates above a floor. From them the hypergeometric
distribution gives the rates of galleries drawn at random from this one. Nothing is
probes x gallery.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numba import njit
from scipy.special import gammaln

from skfairfr._core import _rates
from skfairfr._core._pair_sequences import PairSequence, sort_pairs
from skfairfr._core._pair_tiles import (
    TILE,
    full_float32,
    largest_error,
    multiply_on_device,
    score_between,
    score_prepared_matrix,
)
from skfairfr._core._pairs import Genuine, LastAnswers
from skfairfr._core._parallel import over_blocks

# Comparisons stored at most for smaller galleries, before more are required.
HELD = 2**23
# Share of the comparisons stored at first: for an FPIR of 1 % and galleries of ten or more people.
FIRST_SHARE = 0.001
# Up to so many comparisons all are stored.
WHOLE = 2**22
# Probes, and enrolled people, whose scores show where the floor is.
PILOT = 1000


@dataclass(frozen=True)
class Gallery:
    """Enrolled people and their templates, in the order of the people.

    Attributes
    ----------
    images : PreparedImages
        Rows of templates, those of one person together.
    first : ndarray of int, shape (n_people + 1,)
        Start of the rows of each person.
    group : ndarray of int32, shape (n_people,)
        -1 is unknown.
    n_groups : int
    """

    images: object
    first: np.ndarray
    group: np.ndarray
    n_groups: int

    @property
    def n_people(self):
        """Number of enrolled people."""
        return self.group.size

    def sizes(self):
        """Number of people of each group. The last number is of unknown groups."""
        return np.bincount(
            self.group % (self.n_groups + 1), minlength=self.n_groups + 1
        )


@dataclass(frozen=True)
class Searched:
    """Results of one pass.

    Attributes
    ----------
    best : ndarray, shape (n_probes,)
        Best score with an enrolled person, of searches without a mate, or -inf if it is not known.
    returned : ndarray of int32, shape (n_probes,)
        That person. For equal scores the first. -1 of mated searches, and if it is not known.
    mate : ndarray, shape (n_probes,)
        Score with the probe's own person, -inf if it is not known. NaN of non-mated searches.
    above : ndarray of int32, shape (n_probes, n_groups + 1)
        How many others have a score no less than the mate's, by their group.
    scores, probe, person : ndarrays, shape (n_held,)
        Non-mated candidates at or above the floor: by probe, then by descending score.
    order : ndarray of int, shape (n_held,)
        Their places by descending score.
    floor : floating
    known_from : floating
        Below it searches of the whole gallery are not known either.
    """

    best: np.ndarray
    returned: np.ndarray
    mate: np.ndarray
    above: np.ndarray
    scores: np.ndarray
    probe: np.ndarray
    person: np.ndarray
    order: np.ndarray
    floor: np.floating
    known_from: np.floating


# ---- the pass ------------------------------------------------------------------------


def search(probes, own, gallery, floor, n_jobs=None, device="cpu", tile=TILE):
    """Compare every probe with every enrolled person.

    Parameters
    ----------
    probes : PreparedImages
    own : ndarray of int, shape (n_probes,)
        The probe's person in the gallery, or -1 where nobody is.
    gallery : Gallery
    floor : float32
        Non-mated candidates from here on are stored.
    n_jobs : int, default=None
    device : str, default="cpu"
        Torch device of the products.
    tile : int, default=1280

    Returns
    -------
    found : Searched
    """
    # A comparator's scores are computed as they are.
    exact = probes.adjustment is not None
    slack = np.float32(0.0 if exact else largest_error(probes, gallery.images))
    starts = range(0, own.size, tile)
    with full_float32(device):
        strips = over_blocks(
            _search_strip,
            [(start,) for start in starts],
            n_jobs,
            "searching the gallery",
            sizes=[min(tile, own.size - start) for start in starts],
            shared=(probes, own, gallery, np.float32(floor), slack, device, tile),
        )
    *of_probes, scores, probe, person = (
        np.concatenate(part) for part in zip(*strips, strict=True)
    )
    order = np.lexsort((-scores, probe))
    scores, probe, person = scores[order], probe[order], person[order]
    places = np.arange(probe.size, dtype=np.int32)
    *_, order = sort_pairs(scores, probe, places)
    floors = np.float32(floor), np.float32(-np.inf)
    return Searched(*of_probes, scores, probe, person, order, *floors)


def _search_strip(probes, own, gallery, floor, slack, device, tile, start):
    """Best scores, people returned, mates, numbers above, and candidates of some probes."""
    strip = slice(start, start + tile)
    rows, own = probes.take(strip), own[strip]
    mated = np.flatnonzero(own >= 0)
    mate = np.full(own.size, np.nan, dtype=np.float32)
    mate[mated] = _score_people(rows, gallery, mated, own[mated])
    best = np.full(own.size, -np.inf, dtype=np.float32)
    returned = np.full(own.size, -1, dtype=np.int32)
    above = np.zeros((own.size, gallery.n_groups + 1), dtype=np.int32)
    found = [[np.empty(0, t)] for t in (np.float32, np.int32, np.int32)]
    blocks = _blocks_of_people(gallery.first, tile)
    widest = max(gallery.first[high] - gallery.first[low] for low, high in blocks)
    # New memory for every product would cost more than the scan.
    room = np.empty((own.size, widest), dtype=np.float32)
    for low, high in blocks:
        begin, end = gallery.first[[low, high]]
        columns = gallery.images.take(slice(begin, end))
        scores = _products(rows, columns, device, room[:, : end - begin])
        if end - begin > high - low:
            _largest_of_people(scores, gallery.first[low : high + 1] - begin)
        place = _proposed(
            scores[:, : high - low],
            scores[:, : high - low].max(axis=1),
            *(slack, floor, best, mate, own - low, gallery.group[low:high], above),
        )
        left, person = np.divmod(place, high - low)
        person += low
        exact = _score_people(rows, gallery, left, person)
        _take(left, person, exact, best, returned, mate, gallery.group, above)
        kept = (exact >= floor) & (own[left] < 0)
        new = exact[kept], left[kept] + start, person[kept]
        for parts, values in zip(found, new, strict=True):
            parts.append(values.astype(parts[0].dtype))
    return best, returned, mate, above, *map(np.concatenate, found)


def _blocks_of_people(first, size):
    """First and last person, excluded, of blocks of about ``size`` rows, a list."""
    block = first[:-1] // size
    bounds = np.flatnonzero(np.diff(block, prepend=-1, append=block[-1] + 1))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def _products(rows, columns, device, room=None):
    """Scores of each pair of rows: float32 products, into ``room``, or those of a comparator."""
    if rows.adjustment is not None:
        return score_prepared_matrix(rows, columns)
    if device == "cpu":
        with np.errstate(over="ignore", invalid="ignore"):  # see largest_error
            return np.matmul(rows.vectors, columns.vectors.T, out=room)
    return multiply_on_device(rows.vectors, columns.vectors, device)


def _score_people(rows, gallery, left, person):
    """Scores of rows with enrolled people, the best of each one's templates, float32."""
    n, begin = np.diff(gallery.first)[person], gallery.first[person]
    starts = np.cumsum(n) - n
    right = np.repeat(begin - starts, n) + np.arange(n.sum())
    others = gallery.images
    scores = score_between(
        *(rows.vectors, others.vectors, rows.adjustment, others.adjustment),
        *(np.repeat(left, n), right),
    )
    return np.maximum.reduceat(scores, starts) if left.size else scores


@njit(nogil=True, cache=True)
def _largest_of_people(scores, first):
    """Write the largest score of each person's templates to the person's column."""
    for i in range(scores.shape[0]):
        for p in range(first.size - 1):
            largest = scores[i, first[p]]
            for c in range(first[p] + 1, first[p + 1]):
                if not scores[i, c] <= largest:  # an overflow may have made it NaN
                    largest = scores[i, c]
            scores[i, p] = largest


@njit(nogil=True, cache=True)
def _proposed(scores, largest, slack, floor, best, mate, own, group, above):
    """Places, row * n_people + person, whose scores have to be known exactly.

    A non-mated probe needs those that may be its best or may reach the floor. A mated one
    needs those that may or may not reach the mate's score. Those surely above are counted.
    ``largest`` (n_rows,) has the largest score of each row, NaN where one is NaN.
    """
    n_rows, n_people = scores.shape
    n, n_groups = 0, above.shape[1]
    places = np.empty(scores.size, dtype=np.int64)
    for i in range(n_rows):
        mated = not np.isnan(mate[i])
        low, high = mate[i] - slack, mate[i] + slack
        if not mated:
            low = min(max(best[i], largest[i] - slack), floor) - slack
        if np.isnan(largest[i]) and not mated:
            low = np.float32(-np.inf)
        if largest[i] < low:
            continue
        for c in range(n_people):
            if scores[i, c] < low or (mated and c == own[i]):
                continue
            if mated and scores[i, c] > high:
                above[i, group[c] % n_groups] += 1
            else:
                places[n] = i * n_people + c
                n += 1
    return places[:n]


@njit(nogil=True, cache=True)
def _take(left, person, scores, best, returned, mate, group, above):
    """Take exact scores in: the best of a probe, or one more that reaches the mate's."""
    n_groups = above.shape[1]
    for p in range(left.size):
        i = left[p]
        if np.isnan(mate[i]):
            if scores[p] > best[i]:
                best[i], returned[i] = scores[p], person[p]
        elif scores[p] >= mate[i]:
            above[i, group[person[p]] % n_groups] += 1


def share_held(n_comparisons):
    """Share of the comparisons of non-mated probes that is stored for smaller galleries."""
    if n_comparisons <= WHOLE:
        return 1.0
    return min(FIRST_SHARE, HELD / n_comparisons)


def floor_at(probes, searching, gallery, share):
    """About the score that a share of the comparisons of the probes ``searching`` reaches."""
    if share >= 1:
        return np.float32(-np.inf)
    rng = np.random.default_rng(
        0
    )  # the error changes how much is stored, never a result
    some = probes.take(rng.permutation(searching)[:PILOT])
    others = rng.permutation(len(gallery.images.vectors))[:PILOT]
    scores = _products(some, gallery.images.take(others), "cpu")
    return np.quantile(scores, 1 - share).astype(np.float32)


# ---- random galleries ----------------------------------------------------------------


def _log_choose(n, k):
    """log C(n, k), or -inf where k is more than n."""
    n, k = np.broadcast_arrays(np.asarray(n, float), np.asarray(k, float))
    found = np.full(n.shape, -np.inf)
    able = (k <= n) & (k >= 0)
    n, k = n[able], k[able]
    found[able] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return found


def log_none_drawn(marked, people, drawn):
    """log of the chance that a draw without replacement contains no marked person.

    log C(people - marked, drawn) / C(people, drawn). Arrays that broadcast.
    """
    return _log_choose(people - marked, drawn) - _log_choose(people, drawn)


def chance_of_fewer(rank, marked, people, drawn):
    """Chance that draws from several groups together contain fewer than ``rank`` marked people.

    Parameters
    ----------
    rank : int
    marked, people, drawn : ndarrays of int, shape (n_searches, n_groups)
        Of ``people`` of a group, ``marked`` ones would be ahead, and ``drawn`` are drawn.

    Returns
    -------
    chance : ndarray, shape (n_searches,)
    """
    total = np.zeros((len(marked), rank))
    total[:, 0] = 1.0
    number = np.arange(rank)
    for of_group in zip(marked.T, people.T, drawn.T, strict=True):
        m, n, k = (column[:, None] for column in of_group)
        log = _log_choose(m, number) + _log_choose(n - m, k - number)
        share = np.exp(log - _log_choose(n, k))
        total = np.stack(
            [(total[:, : r + 1] * share[:, r::-1]).sum(axis=1) for r in number], axis=1
        )
    return np.minimum(total.sum(axis=1), 1.0)


def alarm_weights(found, gallery, drawn):
    """By how much each stored candidate raises the chance of its probe's alarm, in its order.

    Parameters
    ----------
    found : Searched
    gallery : Gallery
    drawn : ndarray of int, shape (n_groups + 1,) or (1,)
        How many people of each group a random gallery has, or how many in all.

    Returns
    -------
    weights : ndarray, shape (n_held,)
    """
    sizes, group = np.array([gallery.n_people]), np.zeros(found.person.size, dtype=int)
    if drawn.size > 1:
        sizes = gallery.sizes()
        group = gallery.group[found.person] % (gallery.n_groups + 1)
    first = np.flatnonzero(np.diff(found.probe, prepend=-1))
    log = np.zeros(found.person.size)
    for g, (people, n) in enumerate(zip(sizes, drawn, strict=True)):
        marked = np.cumsum(group == g)
        before = np.concatenate([[0], marked])[first]
        marked -= np.repeat(before, np.diff(first, append=marked.size))
        log += log_none_drawn(np.arange(people + 1), people, n)[marked]
    none = np.exp(log)
    previous = np.concatenate([[1.0], none[:-1]])
    previous[first] = 1.0
    return np.maximum(previous - none, 0.0)


# ---- searches as errors of people ----------------------------------------------------


class FloorTooHighError(ValueError):
    """A threshold lies below the candidates that are stored.

    Of lists of candidates there are no others, and the caller sees it.

    Parameters
    ----------
    floor : float
    fpir : float
        At the floor, overall.
    """

    def __init__(self, floor, fpir):
        super().__init__(floor, fpir)
        self.floor, self.fpir = float(floor), float(fpir)

    def __str__(self):
        return self.in_words()

    def in_words(self, distance=False):
        """The request and the remedy. The lowest score may be shown as a distance."""
        at = _rates.end_in_digits(self.floor, distance)
        where = f"up to distance {at}" if distance else f"from similarity {at} on"
        return (
            f"The lists of candidates suffice {where} (FPIR {100 * self.fpir:.3g} %), but the "
            "requested threshold, level or rank needs candidates below it. Request "
            "a stricter threshold, a smaller FPIR, a smaller rank or a larger gallery_size, make "
            "longer lists or, if all candidates from a score on are listed, state it (listed_from, --listed-from)."
        )


class SearchEvents:
    """Searches as the pairs of an Engine: an alarm or a miss is an event of one person.

    A non-mated search is treated as an impostor pair, whose score is that of the person
    returned, and a mated one for a genuine pair. In a random gallery their errors are
    probabilities: weights of rows.

    Parameters
    ----------
    images : Images
        The probes.
    alarms : PairSequence
        Non-mated candidates in descending order. Both images are the probe.
    misses : PairSequence
        Mated searches. A score of -inf is missed at every threshold.
    mated : ndarray of bool, shape (n_probes,)
    used : ndarray of bool, shape (n_probes,)
        Whether a search counts. Those whose person cannot be in the gallery do not.
    floor : floating
        From which on all candidates are stored, in the type of the scores.
    alone : float
        Chance of an alarm of which one person is the cause.
    """

    totals = None
    has_copies = False
    people_in = {"far": 1, "frr": 1}  # noqa: RUF012
    strata = None

    def __init__(self, images, alarms, misses, mated, used, floor, alone):
        self.floor, self.least = floor, {"far": alone, "frr": 1.0}
        self.images = images
        groups = (images.group[misses.left],) * 2
        self.genuine = Genuine(misses, groups, False, _no_base)
        self.known = self.known_of_all = LastAnswers()
        self._alarms, self._scopes = alarms, {}
        self._counted = {"far": ~mated & used, "frr": mated & used}

    @property
    def compared(self):
        """The sequences of all scores: ``genuine`` and ``tail()``."""
        return SimpleNamespace(genuine=self.genuine.sequence, tail=lambda: self._alarms)

    def _inside(self, scope, group):
        return slice(None) if scope is None else group == scope[0]

    def _searches(self, scope, rate):
        """Which probes are searches of a scope, ndarray of bool."""
        counted = self._counted[rate].copy()
        if scope is not None:
            counted &= self.images.group == scope[0]
        return counted

    def count(self, scope, rate="far"):
        """Number of non-mated searches of a scope, or of mated ones."""
        across = scope is not None and scope[0] != scope[1]
        return 0 if across else int(self._searches(scope, rate).sum())

    def of_people(self, scope, rate):
        """Number of searches of each person, float64 (n_people,)."""
        people = self.images.identity[self._searches(scope, rate)]
        return np.bincount(people, minlength=self.images.n_identities).astype(float)

    def impostors(self, scope, sampled=False):
        """Candidates of a scope by descending score."""
        if sampled:
            raise self.too_low()
        if scope not in self._scopes:
            rows = self._inside(scope, self.images.group[self._alarms.left])
            self._scopes[scope] = self._alarms.take(rows)
        return self._scopes[scope]

    def for_workers(self, scopes, sampled=()):
        """Data for resampling some scopes, as of EmbeddingPairs."""
        small = copy(self)
        small._scopes = {
            scope: self.impostors(scope, scope in sampled) for scope in scopes
        }
        small._alarms, small.known = None, LastAnswers()
        small.known_of_all = small.known
        return small

    def impostor_total(self, scope, weights):
        """Weight of all non-mated searches of a scope, (n_resamples,)."""
        return self._total(scope, weights, "far")

    def genuine_total(self, scope, weights, copies):
        """Weight of all mated searches of a scope, (n_resamples,)."""
        return self._total(scope, weights, "frr")

    def _total(self, scope, weights, rate):
        if weights.identity is weights.image is None:
            return np.array([float(self.count(scope, rate))])
        if weights.image is None:
            return self.of_people(scope, rate) @ weights.identity
        chosen = np.flatnonzero(self._searches(scope, rate))
        drawn = weights.image[chosen].astype(np.float64)
        if weights.identity is not None:
            drawn *= weights.identity[self.images.identity[chosen]]
        return drawn.sum(axis=0)

    def far_held(self, setters):
        """A level of the FPIR that thresholds at or above the floor meet in all these scopes."""
        shares = [
            self.impostors(scope).weighed().total().item() / self.count(scope)
            for scope in setters
        ]
        return min(shares) * (1 - 1e-9)

    def too_low(self):
        """The error that a threshold lies below the floor."""
        fpir = self._alarms.weighed().total() / max(self.count(None), 1)
        return FloorTooHighError(self.floor, fpir.item())

    def holds(self, scope, thresholds):
        """Whether all candidates at or above thresholds are stored."""
        return _rates.in_score_dtype(thresholds, self.floor.dtype) >= self.floor


def _no_base(scope, left, right):
    """No weights of pairs: those of alarms and misses are in their sequences."""


def events_of(found, images, gallery, own, rank, drawn=None):
    """SearchEvents of the whole gallery, or of a random one of it.

    Parameters
    ----------
    found : Searched
    images : Images
        The probes.
    gallery : Gallery
    own : ndarray of int, shape (n_probes,)
        The probe's person in the gallery, or -1 where nobody is.
    rank : int
        A mate that ``rank`` others reach is missed.
    drawn : ndarray of int, default=None
        See :func:`alarm_weights`. If None: everybody.

    Returns
    -------
    events : SearchEvents
    """
    mated, used = own >= 0, np.ones(own.size, dtype=bool)
    lost = found.mate.dtype.type(-np.inf)
    if drawn is None:
        alarms, floor, alone = None, found.known_from, 1.0
        probe = np.flatnonzero(~mated & (found.best >= floor)).astype(np.int32)
        scores, probe, _ = sort_pairs(found.best[probe], probe, probe)
        hit = (found.above.sum(axis=1) < rank).astype(np.float64)
    else:
        scores, probe = found.scores[found.order], found.probe[found.order]
        alarms, floor = alarm_weights(found, gallery, drawn)[found.order], found.floor
        alone = drawn.sum() / gallery.n_people
        people, n, marked = _others(found, gallery, own, drawn)
        # Those of whose group nobody is drawn search in vain for their mate.
        used = ~mated | (n >= 0).all(axis=1)
        hit = chance_of_fewer(rank, marked, people, np.maximum(n, 0))
    sequence = PairSequence(
        scores, probe, probe, alarms, bool(np.isneginf(floor)), True
    )
    searched = np.flatnonzero(mated & used).astype(np.int32)
    scores, probe, hit = found.mate[searched], searched, hit[searched]
    # A search that may be missed by rank has a second row, which is missed anyway.
    whole = (hit == 0) | (hit == 1)
    scores = np.append(np.where(hit > 0, scores, lost), np.full((~whole).sum(), lost))
    probe = np.append(probe, probe[~whole])
    base = np.append(np.where(hit > 0, hit, 1.0), 1 - hit[~whole])
    order = np.argsort(-scores, kind="stable")
    misses = PairSequence(
        *(scores[order], probe[order], probe[order]),
        None if whole.all() else base[order],
        of_one=True,
    )
    return SearchEvents(images, sequence, misses, mated, used, floor, alone)


def _others(found, gallery, own, drawn):
    """People other than the mate, how many of them are drawn, how many reach her score.

    Each (n_probes, n_groups + 1), or (n_probes, 1) where groups do not matter.
    """
    mated = own >= 0
    if drawn.size == 1:
        shape = (own.size, 1)
        marked = found.above.sum(axis=1, keepdims=True)
        return np.full(shape, gallery.n_people - 1), np.full(shape, drawn - 1), marked
    itself = np.zeros(found.above.shape, dtype=int)
    place = gallery.group[own[mated]] % (gallery.n_groups + 1)
    itself[np.flatnonzero(mated), place] = 1
    return gallery.sizes() - itself, drawn - itself, found.above
