"""Searches whose scores are known: all of them in a matrix, or the best in lists of candidates.

A list ends somewhere, and nothing is known below its end. Whatever it does not decide becomes a
floor of :class:`Searched`, below which no threshold is answered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairfr._core._pair_sequences import sort_pairs
from skfairfr._core._rates import accepts, next_above
from skfairfr._core._searches import PILOT, Searched

# Rows of a matrix that are looked at together.
STRIP = 256
# Lists cut by a floor rarely have the largest length: at most this share of them do.
RARELY_LONGEST = 0.05
# Smallest value of the largest length at which this is checked.
LONG = 5


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of every search with every template.

    Attributes
    ----------
    scores : ndarray, shape (n_searches, n_templates)
    order : ndarray of int, shape (n_templates,)
        Columns in the order of the people enrolled.
    first : ndarray of int, shape (n_people + 1,)
        Where the columns of each person begin in that order. For several the best score counts.
    """

    scores: np.ndarray
    order: np.ndarray
    first: np.ndarray

    def rows(self, rows):
        """Scores of some searches with every person, (n_rows, n_people)."""
        scores = np.asarray(self.scores[rows])[:, self.order]
        if self.first.size - 1 == self.order.size:
            return scores
        return np.maximum.reduceat(scores, self.first[:-1], axis=1)

    def floor(self, searching, share):
        """About the score that a share of the scores of the searches ``searching`` reaches."""
        if share >= 1 or not searching.size:
            return -np.inf
        some = np.random.default_rng(0).permutation(searching)[:PILOT]
        return np.quantile(self.rows(np.sort(some)), 1 - share)

    def search(self, own, gallery, share):
        """Searched, with this share of the scores of non-mated searches stored.

        Parameters
        ----------
        own : ndarray of int, shape (n_searches,)
            The search's person in the gallery, or -1 where nobody is.
        gallery : Gallery
        share : float
        """
        floor = self.floor(np.flatnonzero(own < 0), share)
        parts = []
        for start in range(0, own.size, STRIP):
            strip = slice(start, start + STRIP)
            scores, person = self.rows(strip), own[strip]
            row, mated = np.arange(person.size), person >= 0
            mate = np.where(mated, scores[row, person], np.nan).astype(scores.dtype)
            ahead = scores >= mate[:, None]
            ahead[row[mated], person[mated]] = False
            above = _by_group(*np.nonzero(ahead), gallery, person.size)
            returned = np.where(mated, -1, scores.argmax(axis=1)).astype(np.int32)
            best = np.where(mated, -np.inf, scores.max(axis=1)).astype(scores.dtype)
            held = np.nonzero(accepts(scores, floor) & ~mated[:, None])
            probe = (held[0] + start).astype(np.int32)
            kept = scores[held], probe, held[1].astype(np.int32)
            parts.append((best, returned, mate, above, *kept))
        *of_search, scores, probe, person = map(
            np.concatenate, zip(*parts, strict=True)
        )
        return _sorted(of_search, scores, probe, person, floor, -np.inf)


@dataclass(frozen=True)
class CandidateLists:
    """The best candidates of every search.

    Attributes
    ----------
    search, person : ndarrays of int, shape (n_rows,)
        Search and enrolled person of each row.
    scores : ndarray, shape (n_rows,)
    listed_from : float or None
        All candidates from here on are listed. None: nobody is missing who exceeds the last
        score of a list, and empty lists lack nobody who reaches the lowest score of all.
    rank : int
        A mate that ``rank`` others reach is missed.
    """

    search: np.ndarray
    person: np.ndarray
    scores: np.ndarray
    listed_from: float | None
    rank: int

    def search_all(self, own, gallery):
        """Searched, as far as the lists decide.

        The first candidate determines a non-mated search, so its result is known at every
        threshold. So is that of a mated one whose mate is listed, or is missing behind ``rank``
        or more others. Any other mate scores below the end of the list: the search is missed
        from there on, and unknown below. Smaller galleries need, of non-mated searches, everybody at or above
        the threshold, and of mated ones everybody at or above the mate.
        """
        n, order = own.size, np.lexsort((self.person, -self.scores, self.search))
        if self.listed_from is not None:
            order = order[accepts(self.scores[order], self.listed_from)]
        search, person, scores = self._take(order)
        ends = self.ends(search, scores, n)
        # The best of each person's templates.
        place = search.astype(np.int64) * gallery.n_people + person
        best_of_each = np.sort(np.unique(place, return_index=True)[1])
        search, person, scores = self._take(order[best_of_each])
        n_listed = np.bincount(search, minlength=n)
        ends[n_listed == gallery.n_people] = -np.inf
        is_mate = person == own[search]
        mate = np.where(own >= 0, -np.inf, np.nan).astype(scores.dtype)
        mate[search[is_mate]] = scores[is_mate]
        ahead = (scores >= mate[search]) & ~is_mate
        above = _by_group(search[ahead], person[ahead], gallery, n)
        best = np.full(n, -np.inf, dtype=scores.dtype)
        returned = np.full(n, -1, dtype=np.int32)
        first = np.flatnonzero(np.diff(search, prepend=-1))
        alone = first[own[search[first]] < 0]
        best[search[alone]], returned[search[alone]] = scores[alone], person[alone]
        # Where an absent mate, or a first candidate, may be below the end of a list.
        unknown = np.where(own < 0, n_listed == 0, np.isneginf(mate))
        known_from = ends[unknown & (n_listed < self.rank)].max(initial=-np.inf)
        # A mate at the end may tie with others who are not listed.
        unsure = (own < 0) | ~(mate >= ends)
        floor = max(ends[unsure].max(initial=-np.inf), known_from)
        held = accepts(scores, floor) & (own[search] < 0)
        probe, person = (of[held].astype(np.int32) for of in (search, person))
        found, ends = (best, returned, mate, above), (floor, known_from)
        return _sorted(found, scores[held], probe, person, *ends)

    def _take(self, rows):
        return self.search[rows], self.person[rows], self.scores[rows]

    def ends(self, search, scores, n):
        """From which score on everybody is listed in each of n sorted lists."""
        if self.listed_from is not None:
            floor = scores.dtype.type(self.listed_from)
            return np.full(n, floor)
        ends = np.full(n, scores.min(initial=np.inf), dtype=scores.dtype)
        last = np.flatnonzero(np.diff(search, append=-1))
        ends[search[last]] = next_above(scores[last])
        return ends

    def looks_cut_by_rank(self, n, n_people):
        """How many of n lists have the largest length, if that is no chance, and the length."""
        length = np.bincount(self.search, minlength=n)
        most = int(length.max(initial=0))
        longest = np.count_nonzero(length == most)
        chance = longest < 2 or longest <= RARELY_LONGEST * n
        return None if chance or not LONG <= most < n_people else (longest, most)


def _by_group(search, person, gallery, n):
    """How many of these people each of n searches has by their group, (n, n_groups + 1)."""
    n_groups = gallery.n_groups + 1
    cell = search * n_groups + gallery.group[person] % n_groups
    counts = np.bincount(cell, minlength=n * n_groups)
    return counts.reshape(n, n_groups).astype(np.int32)


def _sorted(of_search, scores, probe, person, floor, known_from):
    """Searched, with its candidates by search and then by descending score."""
    order = np.lexsort((-scores, probe))
    scores, probe, person = scores[order], probe[order], person[order]
    *_, order = sort_pairs(scores, probe, np.arange(probe.size, dtype=np.int32))
    ends = (scores.dtype.type(end) for end in (floor, known_from))
    return Searched(*of_search, scores, probe, person, order, *ends)
