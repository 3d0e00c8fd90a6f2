"""The pairs of a data set: genuine pairs, and impostor pairs as a tail or a sample.

``EmbeddingPairs`` compares embeddings and contains the largest impostor scores. ``ListedPairs``
contains the pairs of a protocol file. ``Genuine`` contains the genuine pairs of either. For every
scope they give the pairs in order of score and their total weight in every resample. A
uniform sample replaces the tail if a FAR level needs pairs beyond it. A scope is None
(all pairs used), ``(g, g)`` (both images in group g) or ``(g, h)`` (one image in each).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from skfairfr._core import _pair_tiles, _rates
from skfairfr._core._pair_sequences import PairSequence, sort_pairs, split_by_groups

# A tail contains this multiple of far_max of the pairs at least: half of all resamples need
# scores below the one at far_max, and the most extreme one seen had a FAR of 0.68 far_max
# there. Resamples of K people need up to about 1 + SPREAD / sqrt(K) times as many.
DEPTH = 1.5
SPREAD = 8.0
# Scopes of at most this many pairs are stored whole, which makes every level exact.
WHOLE = 2**22
WHOLE_GROUP = 2**16
SAMPLE = 2**20
# Pairs above far_max are stored, in about far_max * n_images**2 pairs.
HELD_PAIRS = 2**25
# Pairs of a scope that are stored at most for its equal error rate alone.
REACH = 2**25
# More than this multiple of far_max is never stored for a given threshold or an equal error
# rate: they are estimated from a sample.
DEEPEST = 4.0


def usual_far_max(n_images):
    """FAR up to which the pairs of so many images are stored where no larger level is asked."""
    return min(1e-2, HELD_PAIRS / n_images**2)


class LastAnswers(dict):
    """Results of the last questions, by question.

    Pairs keep those about everyone, which several attributes may share, in ``known_of_all``.
    """

    MOST = 256

    def __setitem__(self, key, answer):
        while len(self) >= self.MOST:
            self.pop(next(iter(self)))
        super().__setitem__(key, answer)


class TailTooShortError(Exception):
    """A threshold of this scope lies below the scores that are stored."""

    def __init__(self, scope):
        super().__init__(scope)
        self.scope = scope


@dataclass(frozen=True)
class Expected:
    """Questions that one pass should answer, besides those about levels up to far_max.

    Attributes
    ----------
    equal_error : bool
        Whether equal error rates will be asked for.
    lowest : float or None
        The lowest of the thresholds that will be given.
    whole : bool
        Whether up to WHOLE pairs are stored whole, for levels above far_max and for
        resamples. If not, up to WHOLE_GROUP.
    """

    equal_error: bool = False
    lowest: float | None = None
    whole: bool = True


class HeldPairs:
    """Embeddings, their genuine pairs, and the tail of their impostor pairs.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, n_features)
        Rows whose inner product is the similarity, or what ``adjustment`` makes it of.
    images : Images
        Identities and sides. Its groups are not used.
    columns : list of ndarrays of int32, shape (n_images,), default=()
        Codes of every attribute that groups will be made of. -1 is unknown.
    n_jobs : int or None
    device : str, default="cpu"
        Device of the passes over all pairs. If there is no such device, on the CPU.
    adjustment : Adjustment, default=None
        Function that makes scores of inner products. If None, they are the scores.
    first : ndarray of int, shape (n_images + 1,), default=None
        Where the rows of each image begin: a reference may have several, of which the best
        counts. None: one row each.

    Attributes
    ----------
    rows : tuple of two Rows
        Of the probes and of the references: the same object if there is one side.
    first_of_cell : ndarray of int, shape (n_cells,)
        An image of every cell.
    genuine : PairSequence
        All genuine pairs, descending.
    own_scores : ndarray of float32, shape (n_images,)
        Score s(x, x) of every image: that of two copies of it.
    sample : PairSequence or None
        A uniform sample of all impostor pairs, once it was drawn.
    score : callable
        Of rows of listed pairs of images, their scores: see ``_pair_tiles.score_pairs``.
    floors : dict
        Score down to which all impostor pairs are stored, by what it was chosen for.
    """

    def __init__(
        self,
        vectors,
        images,
        columns=(),
        n_jobs=None,
        device="cpu",
        adjustment=None,
        first=None,
    ):
        n_images = images.identity.size
        self.vectors = vectors
        self.first = first
        self.n_jobs = n_jobs
        self.device = device
        self.adjustment = adjustment
        self.two_sides = images.side is not None
        codes = np.stack(columns) if len(columns) else np.zeros((1, n_images), np.int32)
        _, self.first_of_cell, cell = np.unique(
            codes, axis=1, return_index=True, return_inverse=True
        )
        # Rows of the probes and of the references, with the cell of each as its group.
        image = np.arange(n_images, dtype=np.int32)
        image = np.repeat(image, 1 if first is None else np.diff(first))
        cell = cell.ravel().astype(np.int32)[image]
        in_rows = replace(images, identity=images.identity[image], group=cell)
        members = [np.arange(image.size)]
        if self.two_sides:
            members = [np.flatnonzero(images.side[image] == s) for s in (0, 1)]
        rows = [_pair_tiles.Rows.of(vectors, in_rows, m, adjustment) for m in members]
        rows = [replace(part, image=image[part.image]) for part in rows]
        self.rows = rows[0], rows[-1]
        how = {"adjustment": adjustment, "first": first}
        self.score = partial(_pair_tiles.score_pairs, vectors, **how)
        left, right = _pair_tiles.genuine_pairs(images)
        self.genuine = PairSequence(*sort_pairs(self.score(left, right), left, right))
        own = np.arange(n_images) if first is None else first[:-1]
        self.own_scores = _pair_tiles.score_pairs(vectors, own, own, adjustment)
        self.sample = None
        self.floors = {}
        n_cells = self.first_of_cell.size
        # Lowest score stored of each pair of cells. The last row and column are not used.
        self.lowest = np.full((n_cells + 1,) * 2, np.inf, dtype=np.float32)
        self._held = None

    def tile(self, probe, reference):
        """Scores of all pairs of some images, with the errors of float32 products."""
        if self.first is not None:
            probe, n = self.first[probe], np.diff(self.first)[reference]
            start = np.cumsum(n) - n
            reference = np.repeat(self.first[reference] - start, n) + np.arange(n.sum())
        scores = self.vectors[probe] @ self.vectors[reference].T
        if self.adjustment is not None:
            self.adjustment[probe].adjust_tile(scores, self.adjustment[reference])
        if self.first is not None and scores.size:
            return np.maximum.reduceat(scores, start, axis=1)
        return scores

    def hold(self, group, overall, groups):
        """Store the impostor pairs down to the lowest scores of some groups.

        Lower floors take effect at the next use of the pairs, so one pass serves the groups
        of all attributes requested before it.

        Parameters
        ----------
        group : ndarray of int, shape (n_images,)
            Group of each image. -1 is unknown.
        overall : float32
            Floor of all impostor pairs.
        groups : ndarray of float32, shape (n_groups,)
            Floor of the pairs within each group.
        """
        cell = group[self.first_of_cell]
        lowest = np.full_like(self.lowest, overall)
        if groups.size:
            same = (cell[:, None] == cell) & (cell[:, None] >= 0)
            own = np.where(same, groups[cell][:, None], np.float32(np.inf))
            lowest[:-1, :-1] = np.minimum(lowest[:-1, :-1], own)
        if (lowest < self.lowest).any():
            self.lowest = np.minimum(lowest, self.lowest)
            self._held = None

    def tail(self):
        """Impostor pairs at or above the lowest score stored of their two cells.

        Returns
        -------
        held : PairSequence
            Descending.
        """
        if self._held is None:
            if self.device != "cpu" and _pair_tiles.is_available(self.device):
                collect, where = _pair_tiles.collect_tail_on_device, self.device
            else:
                collect, where = _pair_tiles.collect_tail, self.n_jobs
            found = PairSequence(*collect(*self.rows, self.lowest, where))
            if self.first is not None:
                # Of the rows of a reference the best, found first.
                pair = found.left.astype(np.int64) * (self.first.size - 1) + found.right
                found = found.take(np.sort(np.unique(pair, return_index=True)[1]))
            self._held = found
        return self._held


class ListedScores:
    """Scored pairs of a list, sorted once.

    Parameters
    ----------
    scores : ndarray, shape (n_pairs,)
    left, right : ndarrays of int32, shape (n_pairs,)
        Images, or identities where images are unnamed.
    identity : ndarray of int32, shape (n_images,)

    Attributes
    ----------
    genuine, impostors : PairSequence
        Descending.
    genuine_rows, impostor_rows : ndarrays of int
        Place of each of them in the list.
    n_pairs : int
    known : dict of str -> LastAnswers
        About everyone, by average.
    """

    def __init__(self, scores, left, right, identity):
        self.known = {}
        order = np.argsort(-scores, kind="stable")
        self.n_pairs = order.size
        genuine = identity[left[order]] == identity[right[order]]
        self.genuine_rows, self.impostor_rows = order[genuine], order[~genuine]
        self.genuine, self.impostors = (
            PairSequence(scores[rows], left[rows], right[rows])
            for rows in (self.genuine_rows, self.impostor_rows)
        )

    def tail(self):
        """Impostor pairs, all of which are stored."""
        return self.impostors


class EmbeddingPairs:
    """Impostor pairs of embeddings, by the groups of the totals.

    Holds the tail that FAR levels up to far_max need. Those by other groups of the same
    images share what was compared.

    Parameters
    ----------
    compared : HeldPairs
        Whose columns separate the groups of the totals.
    totals : Totals
    far_max : float
    expected : Expected, default=None
        Questions that the tail should answer too.
    floors : dict of scope -> float32, default=None
        Scores down to which the pairs of each group, and of all, are stored: those that an
        earlier object with the same arguments chose. Two groups have that of all.
    """

    # How many people an error of either rate is of.
    people_in = {"far": 2, "frr": 1}  # noqa: RUF012
    # Of pairs that weigh by them: see ``standardised``.
    strata = None

    def __init__(self, compared, totals, far_max, expected=None, floors=None):
        images = totals.images
        self.images = images
        self.totals = totals
        self.compared = compared
        self.far_max = far_max
        sequence = compared.genuine
        groups = (images.group[sequence.left], images.group[sequence.right])
        base = partial(totals.base, genuine=True)
        self.genuine = Genuine(sequence, groups, totals.two_sides, base)
        self.count = totals.count
        # Score s(x, x) of every image, (n_images,).
        self.own_scores = compared.own_scores
        # Weight of all pairs of a scope, (n_resamples,), in closed form.
        self.impostor_total = totals.impostor_total
        self.genuine_total = totals.genuine_total
        # Whether two draws of one image make a pair: all pairs within one side.
        self.has_copies = not totals.two_sides
        self.known = self.known_of_all = LastAnswers()
        self._samples = {}
        self._tails, self._cells = {}, {}
        if floors is None:
            expected = expected or Expected()
            # All pairs are the same, whatever the groups.
            chosen = compared.floors if totals.impostors == "all" else {}
            key = (totals.average, far_max, expected)
            if key not in chosen:
                chosen[key] = np.float32(self._floor(expected, None))
            floors = {
                (g, g): np.float32(min(self._floor(expected, g), chosen[key]))
                for g in range(images.n_groups)
            }
            of_groups = np.array([*floors.values()], dtype=np.float32)
            compared.hold(images.group, chosen[key], of_groups)
            floors[None] = chosen[key]
        self.floors = floors

    # ---- pairs and totals of a scope -------------------------------------------------

    def impostors(self, scope, sampled=False):
        """Pairs of a scope by descending score: the stored tail, or a uniform sample."""
        store = self._samples if sampled else self._tails
        if scope in store:
            return store[scope]
        held, images = None if sampled else self.compared.tail(), self.images
        if sampled:
            pairs = self._sample(scope)
        elif scope is None and self.totals.impostors == "all":
            pairs = held
        elif scope is None:
            left, right = (images.group[i] for i in (held.left, held.right))
            pairs = held.take((left == right) & (left >= 0))
        else:
            (g, h), ordered = scope, self.totals.two_sides
            across = g != h
            if across not in self._cells:
                self._cells[across] = split_by_groups(
                    *(held.scores, held.left, held.right, images.group),
                    *(images.n_groups, across, ordered),
                )
            *columns, bounds = self._cells[across]
            if across and not ordered:
                g, h = min(g, h), max(g, h)
            cell = g * images.n_groups + h if across else g
            run = slice(bounds[cell], bounds[cell + 1])
            pairs = PairSequence(*(column[run] for column in columns))
        if not sampled:
            # More pairs may be stored for other groups, which must not change a result.
            floor = self.floors.get(scope, self.floors[None])
            rows = slice(0, int(_rates.count_at_least(pairs.scores, floor)))
            pairs = replace(pairs.take(rows), complete=bool(np.isneginf(floor)))
        base = self.totals.base(scope, pairs.left, pairs.right)
        store[scope] = pairs if base is None else replace(pairs, base=base)
        return store[scope]

    def for_workers(self, scopes, sampled=()):
        """Data for resampling some scopes, without embeddings, to send elsewhere.

        Parameters
        ----------
        scopes : iterable
            Scopes whose impostor pairs are needed.
        sampled : collection
            Those of them whose pairs come from a sample.
        """
        small = copy(self)
        small.known = small.known_of_all = LastAnswers()
        small._cells = {}
        small._tails = {s: self.impostors(s) for s in scopes if s not in sampled}
        small._samples = {s: self.impostors(s, True) for s in scopes if s in sampled}
        small.compared = None
        return small

    def some_scores(self, scope=None):
        """Impostor scores of all images, or of a group's, or of a thousand, descending."""
        if self.count(scope) <= WHOLE_GROUP:
            return self.impostors(scope).scores
        return np.sort(self._pilot(None if scope is None else scope[0], 0.01))[::-1]

    def far_held(self, setters):
        """The FAR up to which the pairs of scopes are stored."""
        return self.far_max

    def holds(self, scope, lowest):
        """Whether all pairs that each threshold accepts are stored."""
        # A threshold may be below the last stored score and still above the floor.
        floor = self.floors.get(scope, self.floors[None])
        below_floor = np.nextafter(floor, np.float32(-np.inf))
        return np.isneginf(floor) | ~_rates.accepts(below_floor, lowest)

    # ---- the tail --------------------------------------------------------------------

    def _floor(self, expected, group):
        """Score down to which to store a group, or None for all pairs, for what is expected."""
        scope = None if group is None else (group, group)
        keep = WHOLE if group is None and expected.whole else WHOLE_GROUP
        n_pairs = self.count(scope)
        if n_pairs <= keep:
            return -np.inf
        people = np.union1d(
            *(
                cells.person[self.totals.rows(side, group)]
                for side, cells in enumerate(self.totals.cells)
            )
        )
        multiple = max(DEPTH, 1 + SPREAD / np.sqrt(people.size))
        depth = multiple * self.far_max
        if depth >= 1:
            return -np.inf
        scores = self._pilot(group, depth)
        shares = [depth]
        if expected.equal_error:
            genuine = self.genuine.ascending(scope).scores
            share = _share_at_equal_error(scores, genuine)
            if share <= DEEPEST * self.far_max and multiple * share * n_pairs <= REACH:
                shares.append(multiple * share)
        place = int(scores.size * (1 - max(shares)))
        floor = np.partition(scores, place)[place]
        if expected.lowest is not None:
            share = _rates.accepts(scores, expected.lowest).mean()
            if share <= DEEPEST * self.far_max:
                below = np.nextafter(np.float32(expected.lowest), np.float32(-1))
                floor = min(floor, below)
        return floor

    def _pilot(self, group, depth):
        """Unsorted impostor scores of some images, the largest of which are wanted."""
        # Their error changes how much is stored, never a result.
        rng = np.random.default_rng(0)
        size = int(np.clip(np.sqrt(4000 / depth), 1000, 6000))
        probe, reference = (
            self._pick(members, size, rng)
            for members in self.members(None if group is None else (group, group))
        )
        scores = self.compared.tile(probe, reference)
        identity, groups = self.images.identity, self.images.group
        usable = identity[probe][:, None] != identity[reference]
        if group is None and self.totals.impostors == "same_group":
            same = groups[probe][:, None] == groups[reference]
            usable &= same & (groups[reference] >= 0)
        return scores[usable]

    def _pick(self, members, size, rng):
        """At most ``size`` of some images."""
        chosen = rng.permutation(members)
        if self.totals.average == "identity":
            # One image of each person gives each pair of people the same weight.
            _, first = np.unique(self.images.identity[chosen], return_index=True)
            chosen = chosen[np.sort(first)]
        return chosen[:size]

    def members(self, scope):
        """Images of the probes and of the references of a scope, two ndarrays of int."""
        found = []
        for side, group in enumerate((None, None) if scope is None else scope):
            chosen = np.ones(self.images.identity.size, dtype=bool)
            if self.totals.two_sides:
                chosen &= self.images.side == side
            if group is not None:
                chosen &= self.images.group == group
            found.append(np.flatnonzero(chosen))
        return found

    # ---- the sample ------------------------------------------------------------------

    def _sample(self, scope):
        """The sample of a scope. That of all impostor pairs is the same for all groups."""
        if scope is not None or self.totals.impostors == "same_group":
            return self._draw(scope)
        if self.compared.sample is None:
            self.compared.sample = self._draw(None)
        return self.compared.sample

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
        scores = self.compared.score(left, right)
        return PairSequence(*sort_pairs(scores, left, right))

    def _draw_images(self, scope, size, rng):
        if scope is None and self.totals.impostors == "same_group":
            counts = [self.count((g, g)) for g in range(self.images.n_groups)]
            drawn = rng.multinomial(size, np.array(counts) / sum(counts))
            parts = [self._draw_images((g, g), m, rng) for g, m in enumerate(drawn)]
            order = rng.permutation(size)
            return tuple(np.concatenate(p)[order] for p in zip(*parts, strict=True))
        return tuple(
            members[rng.integers(0, members.size, size)]
            for members in self.members(scope)
        )


def compare_images(
    vectors,
    totals,
    far_max,
    n_jobs=None,
    expected=None,
    adjustment=None,
):
    """EmbeddingPairs of images by the groups of the totals."""
    images = totals.images
    compared = HeldPairs(vectors, images, [images.group], n_jobs, adjustment=adjustment)
    return EmbeddingPairs(compared, totals, far_max, expected)


class ListedPairs:
    """Genuine and impostor pairs of a list of scored comparisons, by groups.

    A list has no totals in closed form: they are sums over its pairs. An image is never compared with
    itself, so copies of it make no pair.

    Parameters
    ----------
    listed : ListedScores
    groups : tuple of two ndarrays of int32, shape (n_pairs,)
        In the order of the list. -1 is unknown.
    images : Images
    average : {"pair", "identity"}
    impostors : {"all", "same_group"}
    """

    totals = None
    has_copies = False
    people_in = EmbeddingPairs.people_in
    strata = None

    def __init__(self, listed, groups, images, average, impostors):
        self.images = images
        self.average = average
        self.compared = listed
        self._same_group = impostors == "same_group"
        of_genuine, of_impostors = (
            tuple(g[rows] for g in groups)
            for rows in (listed.genuine_rows, listed.impostor_rows)
        )
        self.genuine = Genuine(listed.genuine, of_genuine, False, self._base)
        self._all = listed.impostors
        self._groups = of_impostors
        self._scopes = {}
        self.known = self.known_of_all = LastAnswers()
        if not self._same_group:
            self.known_of_all = listed.known.setdefault(average, LastAnswers())

    def count(self, scope, rate="far"):
        """Number of impostor pairs of a scope, or of genuine ones."""
        if rate == "far":
            return self.impostors(scope).scores.size
        return self.genuine.ascending(scope).scores.size

    def impostors(self, scope, sampled=False):
        """Pairs of a scope by descending score."""
        if scope not in self._scopes:
            rows = slice(None)
            if scope is not None:
                rows = np.flatnonzero(within(self._groups, scope, False))
            elif self._same_group:
                rows = (self._groups[0] == self._groups[1]) & (self._groups[0] >= 0)
            pairs = self._all.take(rows)
            base = self._base(scope, pairs.left, pairs.right)
            self._scopes[scope] = replace(pairs, base=base)
        return self._scopes[scope]

    def people_and_groups(self):
        """Person and group of both images of every pair, two (2 * n_pairs,)."""
        both = (self.genuine.sequence, self.genuine.groups), (self._all, self._groups)
        people = [one for of, _ in both for one in of.identities(self.images)]
        groups = [one for _, of in both for one in of]
        return np.concatenate(people), np.concatenate(groups)

    def for_workers(self, scopes, sampled=()):
        """Data for resampling some scopes, as of EmbeddingPairs."""
        small = copy(self)
        small._scopes = {scope: self.impostors(scope) for scope in scopes}
        small.compared = small._all = small._groups = None
        small.known = small.known_of_all = LastAnswers()
        return small

    def impostor_total(self, scope, weights):
        """Weight of all impostor pairs of a scope, (n_resamples,)."""
        return self.impostors(scope).weighed(weights, self.images).total()

    def genuine_total(self, scope, weights, copies):
        """Weight of all genuine pairs of a scope, (n_resamples,). Copies make no pair."""
        pairs = self.genuine.ascending(scope)
        return pairs.weighed(weights, self.images, genuine=True).total()

    def some_scores(self, scope=None):
        """All impostor scores of a scope, descending."""
        return self.impostors(scope).scores

    def holds(self, scope, thresholds):
        """Always true: all listed pairs are stored."""
        return np.ones(np.shape(thresholds), dtype=bool)

    def _base(self, _scope, left, right):
        """1 / m_kl, m_kl the number of listed pairs of two people (or of one)."""
        if self.average == "pair":
            return None
        ends = [self.images.identity[i].astype(np.int64) for i in (left, right)]
        key = np.minimum(*ends) * self.images.n_identities + np.maximum(*ends)
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        return 1.0 / counts[inverse]


@dataclass(frozen=True)
class Genuine:
    """Genuine pairs of every scope, in ascending order of score.

    Attributes
    ----------
    sequence : PairSequence
        All genuine pairs, descending.
    groups : tuple of two ndarrays, shape (n_genuine,)
        Group of the left and right image of each pair.
    ordered : bool
        Whether the first group of a scope is that of the left image.
    base_of : callable
        Base weights by scope, left and right image of pairs.
    """

    sequence: PairSequence
    groups: tuple
    ordered: bool
    base_of: Callable
    _scopes: dict = field(default_factory=dict, init=False, repr=False)

    def ascending(self, scope):
        """Pairs of a scope, lowest score first, with their base weights."""
        if scope not in self._scopes:
            rows = np.arange(self.sequence.scores.size)
            if scope is not None:
                rows = np.flatnonzero(within(self.groups, scope, self.ordered))
            pairs = self.sequence.take(rows[::-1])
            # A cross-group scope, which has no FRR, is only counted.
            if scope is None or scope[0] == scope[1]:
                base = self.base_of(scope, pairs.left, pairs.right)
                pairs = pairs if base is None else replace(pairs, base=base)
            self._scopes[scope] = pairs
        return self._scopes[scope]

    def rejected(self, scope, thresholds):
        """Number of rejected pairs at each threshold."""
        scores = self.ascending(scope).scores[::-1]
        return scores.size - _rates.count_at_least(scores, thresholds)


def _share_at_equal_error(impostor, genuine):
    """About the FAR at which the FRR is the same. ``genuine`` ascending."""
    some = np.sort(impostor[:: -(-impostor.size // 2**16)])
    far = 1 - np.arange(some.size) / some.size
    frr = np.searchsorted(genuine, some, side="left") / max(genuine.size, 1)
    return far[far >= frr].min()


def within(groups, scope, ordered):
    """Mask of the pairs of a scope. A cross-group scope of one side has no order."""
    left, right = groups
    g, h = scope
    inside = (left == g) & (right == h)
    if g != h and not ordered:
        inside |= (left == h) & (right == g)
    return inside
