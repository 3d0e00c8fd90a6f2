"""Data that IdentificationROC searches: embeddings, a matrix of scores, or lists of candidates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skfairfr._core._candidates import CandidateLists, ScoreMatrix
from skfairfr._core._kinds import SEARCHES
from skfairfr._core._parallel import OF_HELD, available_bytes
from skfairfr._core._resampling import Images
from skfairfr._core._searches import (
    Gallery,
    Searched,
    events_of,
    floor_at,
    search,
    share_held,
)
from skfairfr.metrics._pairs._rates import (
    CHANCE,
    NO_INFORMATION,
    ReversedScoresWarning,
)
from skfairfr.metrics._roc import _similarities
from skfairfr.metrics._roc._compared import Attributes
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import (
    Labels,
    affixed,
    check_length,
    find_labels,
    joint_codes,
    spelled_otherwise,
    to_column,
    two_spellings,
)
from skfairfr.utils._validation import (
    check_threshold,
    float_type,
    plain,
    to_array,
    to_scores,
    warn_caller,
)

# From one pass over the gallery to the next, how many times as many candidates are stored.
DEEPER = 8.0


def templates_of(X, n_probes, attributes, roc, order, first):
    """Prepared rows of the probes and of the templates, and where those of a person begin."""
    taken = np.append(np.arange(n_probes), n_probes + order)
    labels = {n: Labels(of.values, of.codes[taken]) for n, of in attributes.items()}
    side = np.repeat([0, 1], (n_probes, order.size))
    images = _similarities.prepare(X[taken], roc.similarity, labels, side)
    return images.take(slice(n_probes)), images.take(slice(n_probes, None)), first


def check_known(roc, threshold):
    """Raise if searches are not known at a threshold, or at one of several. None: no threshold."""
    holds = roc._engine.pairs.holds
    if threshold is not None and not holds(None, check_threshold(threshold)).all():
        raise roc._engine.pairs.too_low()


def check_matrix(scores):
    """Scores of searches and templates, an array of floats (n_searches, n_templates)."""
    matrix = scores if isinstance(scores, np.ndarray) else to_array(scores, "scores")
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu" or not matrix.size:
        got = f"{matrix.dtype} of shape {matrix.shape}"
        problem = f"must be numbers, (n_searches, n_templates), got {got}."
        raise invalid("scores", None, problem)
    matrix = np.asarray(matrix, dtype=float_type(matrix.dtype))
    bad = ~np.isfinite(matrix.sum(axis=1))
    bad[bad] = ~np.isfinite(matrix[bad]).all(axis=1)  # a sum may be too large
    if bad.any():
        problem = f"must be finite, and those of search {bad.argmax()} are not ({bad.sum():,} "
        remedy = "give a comparison that failed the lowest score of the system."
        raise invalid("scores", None, f"{problem}searches);", remedy)
    return matrix


def rows_of_list(search, candidate, y_score, enrolled, names, n_searches):
    """Search, place among the sorted people enrolled, and score of each row of a list."""
    scores = to_scores(y_score, "y_score")
    if not scores.size:
        raise invalid("y_score", None, "is empty;", "give the candidates of a search.")
    if (bad := ~np.isfinite(scores)).any():
        problem = f"must be finite, and that of row {bad.argmax()} is not ({bad.sum():,} rows);"
        raise invalid("y_score", None, problem, "leave out rows without a score.")
    search, candidate = to_column(search, "search"), to_column(candidate, "candidate")
    for name, column in (("search", search), ("candidate", candidate)):
        check_length(column, scores.size, name, "y_score")
    known = np.arange(n_searches) if names is None else to_column(names, "names")
    check_length(known, n_searches, "names", "y")
    first = find_labels(known, known)
    if (twice := np.flatnonzero(first != np.arange(n_searches))).size:
        problem = (
            f"has {plain(known[twice[0]])!r} {(first == first[twice[0]]).sum()} times;"
        )
        raise invalid("names", None, problem, "give each search a name of its own.")
    people = np.unique(enrolled)
    found = [find_labels(known, search), find_labels(people, candidate)]
    if (absent := found[0] < 0).any():
        remedy = "list every search (y, PROBES)"
        about = known, "searches that are known", remedy
        raise _unknown("search", search[absent], *about)
    if (absent := found[1] < 0).any():
        about = people, "people enrolled", "give the whole gallery"
        raise _unknown("candidate", candidate[absent], *about)
    return (*(rows.astype(np.int32) for rows in found), scores)


def _unknown(name, absent, known, what, remedy):
    """The error that labels of a list are none of those known."""
    n_labels = np.unique(absent.astype(str)).size
    problem = f"has {n_labels:,} labels, as {plain(absent[0])!r}, that are none of the {what}, as "
    problem += f"{plain(known[0])!r};"
    remedy = f"{remedy}, or name another column."
    if alike := spelled_otherwise(absent, known):
        found, remedy = two_spellings(alike)
        problem = f"and the {what} have {found}"
    elif found := affixed(known.astype(str).tolist(), absent.astype(str).tolist()):
        problem, remedy = f"and the {what} have {found[0]}", found[1]
    return invalid(name, None, problem, remedy)


def check_repeats(search, person, enrolled, template):
    """Raise if a person is listed twice for a search and everybody has one template."""
    people = np.unique(enrolled)
    place = search.astype(np.int64) * people.size + person
    distinct, counts = np.unique(place, return_counts=True)
    if template == "max" or (n := np.count_nonzero(counts > 1)) == 0:
        return
    row, column = divmod(int(distinct[counts > 1][0]), people.size)
    problem = f"has a person twice in {n:,} places, first {plain(people[column])!r} for search {row};"
    remedy = (
        "remove the repeats or, if people have several templates, use template='max'."
    )
    raise invalid("candidate", None, problem, remedy)


def check_listed_from(lists, n_searches, n_people):
    """Raise if lists declared to have all candidates from a score on end at a rank."""
    if lists.listed_from is None:
        return
    if found := lists.looks_cut_by_rank(n_searches, n_people):
        longest, most = found
        problem = f"means that all candidates from {lists.listed_from:g} on are listed, but {longest:,} of "
        problem += f"{n_searches:,} searches have {most}, the most of any, as if lists end there."
        raise invalid("listed_from", lists.listed_from, problem, "Leave it out.")


@dataclass
class Searches(Attributes):
    """Searches of a gallery and what was found, by attribute.

    Attributes
    ----------
    people : ndarray of int, shape (n_people,)
        Codes of the people who search, among all labels.
    enrolled : ndarray of int, shape (n_enrolled,)
        Codes of those in the gallery.
    own : ndarray of int, shape (n_searches,)
        Place of the search's person among them, or -1.
    rank : int
    gallery : Gallery
        Grouped by the combinations of all attributes, unknown ones included.
    source : PreparedImages, ScoreMatrix or CandidateLists
        Where scores come from.
    found : Searched
    share : float
        Of the non-mated comparisons that are stored.
    drawn : ndarray of int, default=None
        People of a random gallery, as of ``alarm_weights``.
    """

    people: np.ndarray
    enrolled: np.ndarray
    own: np.ndarray
    rank: int
    gallery: Gallery
    source: object = field(repr=False)
    found: Searched = field(default=None, repr=False)
    share: float = 1.0
    drawn: np.ndarray | None = None
    images_named = True
    terms = SEARCHES

    @classmethod
    def of(cls, identity, attributes, n_searches, roc, source_of):
        """Searches from the labels of the searches, and then of the templates enrolled.

        Parameters
        ----------
        identity : Labels
        attributes : dict of str -> Labels
        n_searches : int
        roc : IdentificationROC
        source_of : callable
            The source and, if it is of embeddings, their templates (PreparedImages, first), from
            ``order``, that of the templates by person, and ``first``, the place of each person's first.
        """
        people, who = np.unique(identity.codes[:n_searches], return_inverse=True)
        if people.size < 2:
            problem = "contains no two people who search;"
            raise invalid("y", None, problem, "give the probes of more people.")
        enrolled, of_image = np.unique(identity.codes[n_searches:], return_inverse=True)
        order = np.argsort(of_image, kind="stable")
        first = np.append(0, np.cumsum(np.bincount(of_image)))
        if roc.template == "image" and first[-1] > enrolled.size:
            several = int(np.argmax(np.diff(first) > 1))
            raise invalid(
                *("y_gallery", None),
                f"has {first[several + 1] - first[several]} images of person "
                f"{plain(identity.values[enrolled[several]])!r}, and template='image' "
                "enrols one of each person;",
                "use template='mean' or 'max', or leave one.",
            )
        of_people = {
            name: Labels(of.values, np.append(of.codes[:n_searches], group))
            for name, of in attributes.items()
            for group in [joint_codes(of.codes[n_searches:][order], first[:-1])]
        }
        codes = np.array([np.zeros(enrolled.size, int)])
        if attributes:
            codes = np.array([of.codes[n_searches:] for of in of_people.values()])
        _, cell = np.unique(codes, axis=1, return_inverse=True)
        cell = cell.ravel().astype(np.int32)
        own = np.searchsorted(enrolled, people[who])
        own[own == enrolled.size] = 0
        own = np.where(enrolled[own] == people[who], own, -1)
        unknown = np.full(n_searches, -1, dtype=np.int32)
        seen = Images(who.astype(np.int32), unknown, None, people.size, 0)
        source, *templates = source_of(order, first)
        gallery = Gallery(*(templates or (None, first)), cell, int(cell.max()) + 1)
        of_pass = (people, enrolled, own, int(roc.rank), gallery, source)
        searches = cls(of_people, seen, *of_pass)
        return searches._searched(share_held(searches.n_comparisons), roc)

    @property
    def n_comparisons(self):
        """Number of comparisons of non-mated searches."""
        return int((self.own < 0).sum()) * self.enrolled.size

    @property
    def floor(self):
        """From which threshold on searches are known, with the gallery that is asked about."""
        return self.found.known_from if self.drawn is None else self.found.floor

    def warn_of_chance(self):
        """Warn if mates are among the others as they would be by chance.

        Then their mean place is within 0.05, or two standard deviations of independent searches,
        of the middle, and no more of them are first than chance would have, with two standard
        deviations. Behind the end of a list a mate may have any place.
        """
        mated, n = self.own >= 0, self.enrolled.size
        if not mated.any() or n < 2:
            return
        ahead = self.found.above[mated].sum(axis=1)
        listed = np.isfinite(self.found.mate[mated])
        places = np.where(listed, ahead, (ahead + n - 1) / 2) / (n - 1)
        first, by_chance = np.sum(listed & (ahead == 0)), mated.sum() / n
        near = max(NO_INFORMATION, CHANCE / np.sqrt(12 * ahead.size))
        surely = by_chance + CHANCE * np.sqrt(by_chance)
        if abs(places.mean() - 0.5) > near or first > surely:
            return
        message = (
            f"The mate is first in {first:,} of {mated.sum():,} mated searches, and chance would "
            f"have {by_chance:.3g}. Are the identities in the order of the rows?"
        )
        warn_caller(message, ReversedScoresWarning, "uninformative_searches")

    def deeper(self, roc):
        """The same with more candidates stored."""
        return self._searched(min(DEEPER * self.share, 1.0), roc)

    def _searched(self, share, roc):
        """The searches with this share of the non-mated comparisons stored. Lists keep theirs."""
        if isinstance(self.source, CandidateLists):
            return replace(self, found=self.source.search_all(self.own, self.gallery))
        needed = OF_HELD * share * self.n_comparisons
        if needed > available_bytes():
            raise invalid(
                *("gallery_size", None),
                f"and the level need about {needed / 1e9:.2g} GB of candidates, more than "
                "is available;",
                "ask for a larger gallery_size, a smaller fpir, or of fewer probes.",
            )
        if isinstance(self.source, ScoreMatrix):
            found = self.source.search(self.own, self.gallery, share)
            return replace(self, found=found, share=share)
        floor, nonmated = np.float32(np.inf), np.flatnonzero(self.own < 0)
        if nonmated.size:
            floor = floor_at(self.source, nonmated, self.gallery, share)
        found = search(
            *(self.source, self.own, self.gallery, floor), roc.n_jobs, roc.device
        )
        return replace(self, found=found, share=share)

    def gallery_by(self, names):
        """The gallery by the groups of some attributes."""
        labels, n_probes = self.labels(names), self.own.size
        if labels is None:
            unknown = np.full(self.enrolled.size, -1, dtype=np.int32)
            return replace(self.gallery, group=unknown, n_groups=0)
        group = labels.codes[n_probes:].astype(np.int32)
        return replace(self.gallery, group=group, n_groups=labels.values.size)

    def pairs(self, names, average, impostors):
        """SearchEvents by the groups of some attributes."""
        labels, images = self.labels(names), self.images
        gallery = self.gallery_by(names)
        if labels is not None:
            group = labels.codes[: self.own.size].astype(np.int32)
            images = replace(images, group=group, n_groups=labels.values.size)
        # From the cells of all attributes to these groups.
        merged = np.zeros((self.gallery.n_groups + 1, gallery.n_groups + 1), dtype=int)
        merged[self.gallery.group, gallery.group % (gallery.n_groups + 1)] = 1
        found = replace(self.found, above=self.found.above @ merged)
        return events_of(found, images, gallery, self.own, self.rank, self.drawn)
