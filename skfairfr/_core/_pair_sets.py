"""The pairs of a data set: genuine pairs, and impostor pairs as a tail or a sample.

``EmbeddingPairs`` compares embeddings and holds the largest impostor scores; ``ListedPairs``
holds the pairs of a protocol file; ``Genuine`` holds the genuine pairs of either. For every
scope they give the pairs in order of score and their total weight in every resample. A
uniform sample replaces the tail where a FAR level needs pairs beyond it. A scope is None
(all pairs used), ``(g, g)`` (both images in group g) or ``(g, h)`` (one image in each).
"""

from copy import copy

import numpy as np

from skfairfr._core import _memory, _pair_tiles, _rates, _running_sums
from skfairfr._core._pair_sequences import (
    PairSequence,
    sorted_descending,
    split_by_groups,
)
from skfairfr._core._score_summaries import score_histograms

# A tail holds this multiple of far_max of the pairs: half of all resamples need scores
# below the one at far_max, and the most extreme one seen had a FAR of .68 far_max there.
DEPTH = 1.5
# Scopes of at most this many pairs are held whole, so that every level is exact.
WHOLE = 2**22
WHOLE_GROUP = 2**16
SAMPLE = 2**20
# A given threshold whose FAR exceeds this multiple of far_max is answered by a sample.
DEEPEST = 4.0


class TailTooShortError(Exception):
    """A threshold (``lowest``, where known) lies below the scores that are held."""

    def __init__(self, scope, lowest=None):
        super().__init__(scope, lowest)
        self.scope = scope
        self.lowest = lowest


def size_of(design, n_features, n_jobs=None):
    """Size of the EmbeddingPairs of a design, whose memory ``_memory`` estimates."""
    return _memory.Size.of(design, n_features, DEPTH, (WHOLE, WHOLE_GROUP), n_jobs)


class EmbeddingPairs:
    """Impostor pairs of embeddings: the tail that FAR levels up to far_max need.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, n_features)
        Rows whose inner product is the similarity.
    design : CompleteDesign
    far_max : float
    similarity : {"cosine", "dot"}
    n_jobs : int or None
    """

    def __init__(self, vectors, design, far_max, similarity="cosine", n_jobs=None):
        images = design.images
        self.images = images
        self.design = design
        self.vectors = vectors
        self.far_max = far_max
        self.similarity = similarity
        self.n_jobs = n_jobs
        members = [np.arange(images.identity.size)]
        if design.two_sides:
            members = [np.flatnonzero(images.side == s) for s in (0, 1)]
        rows = [_pair_tiles.Rows.of(vectors, images, m) for m in members]
        self.rows = rows * (1 if design.two_sides else 2)
        left, right = _pair_tiles.genuine_pairs(images)
        scores = _pair_tiles.score_pairs(vectors, left, right)
        genuine = sorted_descending(scores, left, right)
        groups = (images.group[genuine.left], images.group[genuine.right])
        self.genuine = Genuine(genuine, groups, design)
        # Weight of all impostor pairs of a scope, (n_resamples,), in closed form.
        self.impostor_total = design.impostor_total
        self._counts = {}
        self._samples = {}
        # Score s(x, x) of every image: that of two copies of it.
        everyone = np.arange(images.identity.size)
        self.own_scores = _pair_tiles.score_pairs(vectors, everyone, everyone)
        self._histograms = None
        self._choose_depths()
        self._collect()

    # ---- pairs and totals of a scope -------------------------------------------------

    def count(self, scope):
        """Number of impostor pairs of a scope."""
        if scope not in self._counts:
            self._counts[scope] = self.design.count_impostors(scope)
        return self._counts[scope]

    def impostors(self, scope, sampled=False):
        """Pairs of a scope by descending score: the tail held, or a uniform sample."""
        store = self._samples if sampled else self._tails
        if scope not in store:
            if sampled:
                pairs = self._draw(scope)
            elif scope is None:
                pairs = self._overall()
            else:
                pairs = self._cell(scope)
            base = self.design.impostor_base(scope, pairs.left, pairs.right)
            store[scope] = pairs.with_base(base)
        return store[scope]

    def for_workers(self, scopes, sampled=()):
        """What resampling of some scopes needs, without embeddings, to send elsewhere.

        Parameters
        ----------
        scopes : iterable
            Scopes whose impostor pairs are needed.
        sampled : collection
            Those of them whose pairs come from a sample.
        """
        small = copy(self)
        small.vectors = small.rows = small._held = small._histograms = None
        small._cells = {}
        small._tails = {s: self.impostors(s) for s in scopes if s not in sampled}
        small._samples = {s: self.impostors(s, True) for s in scopes if s in sampled}
        return small

    def genuine_total(self, scope, weights, copies):
        """Weight of all genuine pairs of a scope, (n_resamples,)."""
        return self.design.genuine_total(scope, weights, copies)

    def histogram(self, scope):
        """Histogram of all scores of a scope; None where there is none (cross-group)."""
        if self._histograms is None:
            self._histograms = score_histograms(self)
        return self._histograms.get(scope)

    def n_identities(self, scope):
        """Number of people with an image in a scope."""
        groups = self.images.group
        inside = np.ones(groups.size, dtype=bool)
        if scope is not None:
            inside = (groups == scope[0]) | (groups == scope[1])
        return np.unique(self.images.identity[inside]).size

    @property
    def has_copies(self):
        """Whether two draws of one image make a pair: all pairs within one side."""
        return not self.design.two_sides

    def is_whole(self, scope):
        """Whether all pairs of the scope are held."""
        return np.isneginf(self._floor_of(scope))

    def holds(self, scope, lowest):
        """Whether all pairs that each threshold accepts are held."""
        # A threshold may lie below the last score held and still above the floor.
        below_floor = np.nextafter(self._floor_of(scope), np.float32(-np.inf))
        return ~_rates.accepts(below_floor, lowest)

    def can_reach(self, scope, lowest):
        """Whether a tail down to each score is small enough to hold."""
        share = self.impostors(scope, sampled=True)
        return _rates.share_accepted(share.scores, lowest) <= DEEPEST * self.far_max

    def deepen(self, scope, lowest=None):
        """Repeat the pass with a lower floor for a scope.

        Parameters
        ----------
        scope : tuple of two ints, or None
        lowest : float, default=None
            Score down to which all pairs are held; None: twice as large a share of them.

        Raises
        ------
        TooLittleMemoryError
            If these pairs do not fit into the memory.
        """
        row = -1 if scope is None or scope[0] != scope[1] else scope[0]
        if lowest is None:
            self._depth[row] *= 2
            share, floor = self._depth[row], self._pilot(row)
        else:
            sample = self.impostors(scope, sampled=True)
            share = _rates.share_accepted(sample.scores, lowest)
            floor = np.nextafter(np.float32(lowest), np.float32(-np.inf))
        size = size_of(self.design, self.vectors.shape[1], self.n_jobs)
        n_more = np.max(share) * size.n_impostors[row + 1]
        _memory.check_held(size, min(len(self._held) + n_more, size.n_pairs))
        self._floors[row] = min(self._floors[row], floor)
        self._collect()

    # ---- the tail --------------------------------------------------------------------

    def _choose_depths(self):
        """Set how much of each scope to hold: DEPTH times far_max, or a small scope whole."""
        n_groups = self.images.n_groups
        self._depth = np.full(n_groups + 1, DEPTH * self.far_max)
        self._floors = np.empty(n_groups + 1, dtype=np.float32)
        for row in range(-1, n_groups):
            n_pairs = self.count(None if row < 0 else (row, row))
            keep = WHOLE if row < 0 else WHOLE_GROUP
            self._depth[row] = _memory.share_to_hold(self._depth[row], keep, n_pairs)
            self._floors[row] = self._pilot(row)

    def _pilot(self, row):
        """Score above which about the wanted share of a scope lies, from some images.

        Its error changes how much is held, never a result.
        """
        depth = self._depth[row]
        if depth >= 1:
            return np.float32(-np.inf)
        rng = np.random.default_rng(0)
        side = int(np.clip(np.sqrt(4000 / depth), 1000, 6000))
        picked = [self._pick(rows, row, side, rng) for rows in self.rows]
        scores = picked[0].vectors @ picked[1].vectors.T
        usable = picked[0].identity[:, None] != picked[1].identity
        if row < 0 and self.design.impostors == "same_group":
            same = picked[0].group[:, None] == picked[1].group
            usable &= same & (picked[1].group >= 0)
        kept = scores[usable]
        if kept.size == 0:
            return np.float32(-np.inf)
        place = int(kept.size * (1 - depth))
        return np.partition(kept, place)[place]

    def _pick(self, rows, group, size, rng):
        members = np.arange(rows.image.size)
        if group >= 0:
            members = np.flatnonzero(rows.group == group)
        chosen = rng.permutation(members)
        if self.design.average == "identity":
            # One image of each person, so that every two people weigh the same.
            _, first = np.unique(rows.identity[chosen], return_index=True)
            chosen = chosen[np.sort(first)]
        chosen = chosen[:size]
        return _pair_tiles.Rows(
            rows.vectors[chosen],
            rows.image[chosen],
            rows.identity[chosen],
            rows.group[chosen],
        )

    def _floor_of(self, scope):
        if scope is None or scope[0] != scope[1]:
            return self._floors[-1]
        return min(self._floors[-1], self._floors[scope[0]])

    def _collect(self):
        n_groups = self.images.n_groups
        floors = np.full((n_groups + 1, n_groups + 1), self._floors[-1])
        own = np.arange(n_groups)
        floors[own, own] = np.minimum(self._floors[:-1], self._floors[-1])
        self._held = PairSequence(
            *_pair_tiles.collect_tail(*self.rows, floors, self.n_jobs)
        )
        self._n_overall = int(self._held.positions(self._floors[-1]))
        self._tails = {}
        self._cells = {}

    def _overall(self):
        """Held pairs of the overall scope."""
        held = self._held
        rows = slice(0, self._n_overall)
        if self.design.impostors == "same_group":
            ends = (held.left[rows], held.right[rows])
            left, right = (self.images.group[i] for i in ends)
            rows = np.flatnonzero((left == right) & (left >= 0))
        columns = (held.scores[rows], held.left[rows], held.right[rows])
        whole = np.isneginf(self._floor_of(None))
        return PairSequence(*columns, None, whole)

    def _cell(self, scope):
        """Held pairs of two groups; the split by groups is cached."""
        g, h = scope
        across = g != h
        if across not in self._cells:
            held = self._held
            self._cells[across] = split_by_groups(
                held.scores,
                held.left,
                held.right,
                self.images.group,
                self.images.n_groups,
                across,
                self.design.two_sides,
            )
        *columns, bounds = self._cells[across]
        if across and not self.design.two_sides:
            g, h = min(g, h), max(g, h)
        cell = g * self.images.n_groups + h if across else g
        run = slice(bounds[cell], bounds[cell + 1])
        columns = (column[run] for column in columns)
        whole = np.isneginf(self._floor_of(scope))
        return PairSequence(*columns, None, whole)

    # ---- the sample ------------------------------------------------------------------

    def _draw(self, scope):
        """A uniform sample of a scope's impostor pairs, with replacement, sorted."""
        if self.count(scope) == 0:
            empty = np.empty(0, dtype=np.int32)
            return PairSequence(np.empty(0, dtype=np.float32), empty, empty)
        rng = np.random.default_rng([1, *(() if scope is None else scope)])
        left, right = [], []
        missing = SAMPLE
        while missing > 0:
            a, b = self._draw_images(scope, 2 * missing, rng)
            different = self.images.identity[a] != self.images.identity[b]
            a, b = a[different][:missing], b[different][:missing]
            left.append(a)
            right.append(b)
            missing -= a.size
        left, right = np.concatenate(left), np.concatenate(right)
        scores = _pair_tiles.score_pairs(self.vectors, left, right)
        pairs = sorted_descending(scores, left, right)
        return PairSequence(pairs.scores, pairs.left, pairs.right)

    def _draw_images(self, scope, size, rng):
        if scope is None and self.design.impostors == "same_group":
            counts = [self.count((g, g)) for g in range(self.images.n_groups)]
            drawn = rng.multinomial(size, np.array(counts) / sum(counts))
            parts = [self._draw_images((g, g), m, rng) for g, m in enumerate(drawn)]
            order = rng.permutation(size)
            return tuple(np.concatenate(p)[order] for p in zip(*parts, strict=True))
        groups = (None, None) if scope is None else scope
        images = []
        for rows, group in zip(self.rows, groups, strict=True):
            members = rows.image if group is None else rows.image[rows.group == group]
            images.append(members[rng.integers(0, members.size, size)])
        return tuple(images)


class ListedPairs:
    """Genuine and impostor pairs of a list of scored comparisons.

    A list has no design: totals are sums over the pairs. An image is never compared with
    itself, so copies of it make no pair.

    Parameters
    ----------
    scores : ndarray, shape (n_pairs,)
    left, right : ndarrays of int32, shape (n_pairs,)
        Images, or identities where images are unnamed.
    groups : tuple of two ndarrays of int32, shape (n_pairs,)
    images : Images
    average : {"pair", "identity"}
    impostors : {"all", "same_group"}
    """

    design = None
    has_copies = False

    def __init__(self, scores, left, right, groups, images, average, impostors):
        self.images = images
        self.average = average
        self._same_group = impostors == "same_group"
        order = np.argsort(-scores, kind="stable")
        everything = PairSequence(scores[order], left[order], right[order])
        groups = tuple(g[order] for g in groups)
        genuine = images.identity[everything.left] == images.identity[everything.right]
        self.genuine = Genuine(
            everything.take(genuine),
            tuple(g[genuine] for g in groups),
            None,
            self._base,
        )
        self._all = everything.take(~genuine)
        self._groups = tuple(g[~genuine] for g in groups)
        self._scopes = {}

    def count(self, scope):
        """Number of impostor pairs of a scope."""
        return len(self.impostors(scope))

    def impostors(self, scope, sampled=False):
        """Pairs of a scope by descending score."""
        if scope not in self._scopes:
            rows = slice(None)
            if scope is not None:
                rows = np.flatnonzero(within(self._groups, scope, False))
            elif self._same_group:
                rows = (self._groups[0] == self._groups[1]) & (self._groups[0] >= 0)
            pairs = self._all.take(rows)
            self._scopes[scope] = pairs.with_base(self._base(pairs))
        return self._scopes[scope]

    def for_workers(self, scopes, sampled=()):
        """What resampling of some scopes needs, as of EmbeddingPairs."""
        small = copy(self)
        small._scopes = {scope: self.impostors(scope) for scope in scopes}
        small._all = small._groups = None
        return small

    def impostor_total(self, scope, weights):
        """Weight of all impostor pairs of a scope, (n_resamples,)."""
        return sum_of_all(self.impostors(scope), weights.of_impostors, self.images)

    def genuine_total(self, scope, weights, copies):
        """Weight of all genuine pairs of a scope, (n_resamples,); copies make no pair."""
        pairs = self.genuine.ascending(scope)
        return sum_of_all(pairs, weights.of_genuine, self.images)

    def n_identities(self, scope):
        """Number of people in an impostor pair of a scope."""
        pairs = self.impostors(scope)
        ends = [self.images.identity[i] for i in (pairs.left, pairs.right)]
        return np.union1d(*ends).size

    def is_whole(self, scope):
        """Always true: all listed pairs are held."""
        return True

    def _base(self, pairs):
        """1 / m_kl, m_kl the number of listed pairs of two people (or of one)."""
        if self.average == "pair":
            return None
        ends = [
            self.images.identity[i].astype(np.int64) for i in (pairs.left, pairs.right)
        ]
        key = np.minimum(*ends) * self.images.n_identities + np.maximum(*ends)
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        return 1.0 / counts[inverse]


class Genuine:
    """Genuine pairs of every scope, in ascending order of score.

    Parameters
    ----------
    sequence : PairSequence
        All genuine pairs, descending.
    groups : tuple of two ndarrays, shape (n_genuine,)
        Group of the left and right image of each pair.
    design : CompleteDesign, or None for listed pairs
    """

    def __init__(self, sequence, groups, design, listed_base=None):
        self._all = sequence
        self._groups = groups
        self._design = design
        self._listed_base = listed_base
        self._scopes = {}

    def ascending(self, scope):
        """Pairs of a scope, lowest score first, with their base weights."""
        if scope not in self._scopes:
            rows = slice(None)
            if scope is not None:
                ordered = self._design is not None and self._design.two_sides
                rows = np.flatnonzero(within(self._groups, scope, ordered))
            pairs = self._all.take(rows)
            base = self._base(scope, pairs)
            pairs = pairs.with_base(base).take(slice(None, None, -1))
            self._scopes[scope] = PairSequence(
                *(
                    np.ascontiguousarray(a)
                    for a in (pairs.scores, pairs.left, pairs.right)
                ),
                None if base is None else np.ascontiguousarray(pairs.base),
            )
        return self._scopes[scope]

    def count(self, scope):
        """Number of genuine pairs of a scope."""
        return len(self.ascending(scope))

    def n_identities(self, scope, images):
        """Number of people with a genuine pair in a scope."""
        return np.unique(images.identity[self.ascending(scope).left]).size

    def rejected(self, scope, thresholds):
        """Number of rejected pairs at each threshold."""
        pairs = self.ascending(scope)
        return len(pairs) - _rates.count_at_least(pairs.scores[::-1], thresholds)

    def _base(self, scope, pairs):
        if scope is not None and scope[0] != scope[1]:
            return None  # only counted: a cross-group scope has no FRR
        if self._design is not None:
            return self._design.genuine_base(scope, pairs.left, pairs.right)
        return self._listed_base(pairs)


def within(groups, scope, ordered):
    """Mask of the pairs of a scope; a cross-group scope of one side has no order."""
    left, right = groups
    g, h = scope
    inside = (left == g) & (right == h)
    if g != h and not ordered:
        inside |= (left == h) & (right == g)
    return inside


def sum_of_all(pairs, weights_of, images):
    """Weight of all pairs of a sequence in every resample."""
    weights, units = weights_of(images, pairs)
    end = np.full((1, weights[0].shape[1]), len(pairs))
    return _running_sums.sums_before(weights, (*units, pairs.base), end)[0]
