"""Data of an audit: embeddings, or scored pairs, with columns of labels.

Both kinds fit a SimilarityROC and list the people and images behind the pairs: one row for
each image of embeddings, two for each scored pair. They contain arrays, also those of a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skfairfr._core._adjustments import Adjustment
from skfairfr._core._kinds import Terms
from skfairfr._core._pair_tiles import PreparedImages, Samples
from skfairfr._core._rates import next_above
from skfairfr._text._words import percent, terms_of
from skfairfr.metrics._pairs._rates import (
    ReversedScoresWarning,
    check_pairs,
    warn_of_scores,
)
from skfairfr.metrics._roc._similarities import BestRow
from skfairfr.metrics._roc._similarities import prepare as prepare_rows
from skfairfr.utils._errors import invalid, kind_of_value, plain
from skfairfr.utils._labels import (
    Labels,
    check_length,
    check_text,
    encode,
    encode_joined,
    intersect,
    to_column,
    to_columns,
)
from skfairfr.utils._validation import (
    check_scores,
    check_sequence,
    is_among,
    to_array,
    to_scores,
    warn_caller,
)

if TYPE_CHECKING:
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.report._given import check_people, two_columns

NO_FRR = (
    ", so there is no genuine pair and no FNMR can be measured: this is an audit of the "
    "FMR alone."
)
NO_FAR = (
    "No pair is of two people: no FMR can be measured, and this is an audit of the FNMR alone, "
    "at a threshold that was set elsewhere."
)
# Pairs of a person from which on chance does not put her on one side of all.
ONE_SIDED = 8
# How far below the lowest score, over their range, that of a failed comparison is.
BELOW = 0.05
# The first note of an audit of pairs, or attempts, without people.
INDEPENDENT = (
    "No person is known, and {0}s were taken as independent of each other: each of people "
    "of its own. Rates and disparities do not depend on that, intervals do. If people "
    "are in several {0}s, intervals are too narrow, and groups may seem to differ that do "
    "not. Name the people of each {0} if they are known."
)


@dataclass(frozen=True)
class Reading:
    """How data were read from a file.

    Attributes
    ----------
    path : str
    options : dict
        Of :func:`read_data`.
    notes : tuple of str
        Possible mistakes in the file.
    sha256 : dict of str -> str
        Digests of the files by their names.
    bands : dict of str -> list of float or None
        Cut points of the ranges of every attribute, those of quantiles too: as
        ``attributes`` of :func:`read_data` they make the same groups of another file.
    candidates : tuple of str
        Columns that may name groups, if no attribute was asked for.
    read_as : dict of str -> str
        Layouts of files other than tables with names and arrays with labels, by their paths.
    """

    path: str
    options: dict
    notes: tuple = ()
    sha256: dict = field(default_factory=dict)
    bands: dict = field(default_factory=dict)
    candidates: tuple = ()
    read_as: dict = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Attempts:
    """Outcome of every row of a file, those without a template included.

    Attributes
    ----------
    outcome : ndarray of int, shape (n_attempts,)
        MADE, NOT_ACQUIRED or NOT_ENROLLED.
    columns : dict of str -> array-like, shape (n_attempts,)
        Attributes.
    note : str, default=""
        How many other pairs failed, of which no row is.
    """

    outcome: np.ndarray = field(repr=False)
    columns: dict = field(repr=False)
    note: str = ""


class _Data:
    """The file that either kind of data was read from, if it was."""

    # Whether rates by person, each weighing the same, are not measured.
    one_average = False
    # Sections that audits of them add.
    sections = ()
    # What numbers depend on next to the options of an audit.
    more_settings = {}  # noqa: RUF012

    @property
    def terms(self) -> Terms:
        """Words for the rates and trials of the data."""
        names = ("decisions", "best_of", "failures")
        present = {name: getattr(self, name, None) for name in names}
        return terms_of({n: value for n, value in present.items() if value is not None})

    @property
    def is_distance(self) -> bool:
        """Whether scores were read as distances."""
        return self.reading is not None and bool(self.reading.options["distance"])

    @property
    def notes(self) -> list[str]:
        """Possible mistakes in the file, a list."""
        return [] if self.reading is None else list(self.reading.notes)


@dataclass(frozen=True, eq=False)
class EmbeddingData(_Data):
    """Embeddings to audit.

    Attributes
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings.
    y : array-like, shape (n_samples,)
        Identity of each row.
    columns : dict of str -> array-like, shape (n_samples,)
        Attributes. None and NaN are unknown.
    domain : array-like, shape (n_samples,), default=None
        Domain of each row. With two values, only pairs across them are compared.
    reading : object, default=None
        Record of the file by :func:`read_data`.
    names : array-like, shape (n_samples,), default=None
        Names of the rows, by which :func:`compare_systems` pairs systems.
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        Similarity of a pair. A fitted comparator, such as
        :class:`~skfairfr.comparators.CohortNormalizer`, replaces the cosine.
    attempts : object, default=None
        Record of attempts without a template by :func:`read_data`.
    covariates : dict of str -> array-like, shape (n_samples,)
        Covariates that an audit may control for, as the quality of each image.
    failures : {"reject", "report"} or None, default=None
        Outcome of each.
    failed : ndarray of bool, shape (n_samples,), default=None
        Rows that failed and are kept, to be rejected.
    non_mated_only : bool, default=False
        Whether no two rows are of one person. If not stated, such data are an error.
    samples : Samples, default=None
        Embeddings behind each row, of which the best counts: rows of the second domain are
        templates. None: those of X.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import EmbeddingData, audit_data
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(50), 4)
    >>> X = rng.normal(size=(50, 16))[y] + rng.normal(0, 0.5, (200, 16))
    >>> data = EmbeddingData(X, y, {"half": y % 2})
    >>> [row.group for row in audit_data(data, far=0.1).audits[0].groups]
    [None, 0, 1]
    """

    X: object = field(repr=False)
    y: object = field(repr=False)
    columns: dict = field(default_factory=dict, repr=False)
    domain: object = field(default=None, repr=False)
    reading: Reading | None = None
    names: object = field(default=None, repr=False)
    similarity: object = "cosine"
    attempts: Attempts | None = field(default=None, repr=False)
    covariates: dict = field(default_factory=dict, repr=False)
    failures: str | None = None
    failed: np.ndarray | None = field(default=None, repr=False)
    non_mated_only: bool = False
    samples: Samples | None = field(default=None, repr=False)
    # Embeddings name their people. Pairs may not.
    independent, decisions = False, None
    kind, naming = "embeddings", "name the image of each row (--image)."

    def fit(self, roc: SimilarityROC, attributes: tuple = ()) -> SimilarityROC:
        """Fit a SimilarityROC to these data.

        Parameters
        ----------
        roc : SimilarityROC
            Unfitted SimilarityROC.
        attributes : tuple of str, default=()
            Names of columns, by which :meth:`~skfairfr.metrics.SimilarityROC.by` answers.
            Their combinations are the groups. Without any, no groups.

        Returns
        -------
        roc : SimilarityROC
            Fitted.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column, or the data cannot be used.
        """
        groups = _chosen(self.columns, attributes) or None
        X, similarity, failed = self.X, self.similarity, self.failed
        if self.samples is not None:
            X, first = self.samples
            failed = None if failed is None else np.repeat(failed, np.diff(first))
        if failed is not None:
            X = np.array(X)
            X[failed] = 1.0  # whatever is a row
            similarity = Rejecting(failed, similarity, roc._expected.lowest)
        if self.samples is not None:
            X, similarity = X[first[:-1]], BestRow(X, first, similarity)
        roc.set_params(similarity=similarity)
        roc.fit(X, self.y, groups, domain=self.domain)
        if not (self.non_mated_only or roc.n_genuine_[0]):
            problem = "was not given, and no person has two images that are compared."
            remedy = "Use it if each person is meant to have one. If not, check the identities: "
            remedy += "do they name people, not images?"
            raise invalid("non_mated_only", None, problem, remedy)
        warn_of_scores(roc._engine.pairs)
        return roc

    def groups(self, attributes: tuple) -> Any:
        """Combinations of attributes.

        Parameters
        ----------
        attributes : tuple of str
            Names of columns.

        Returns
        -------
        groups : Column, shape (n_samples,)
            Distinct combinations, and the code of each row, or -1 where one is unknown.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column.
        """
        return combinations_of(_chosen(self.columns, attributes), len(self.y))

    def people(self) -> np.ndarray:
        """Identities as codes.

        Returns
        -------
        codes : ndarray of int, shape (n_samples,)
        """
        return encode(self.y, "y").codes

    def images(self) -> np.ndarray:
        """Images as codes.

        Returns
        -------
        codes : ndarray of int, shape (n_samples,)
        """
        return np.arange(len(self.X))

    def repeats(self) -> tuple[np.ndarray, str]:
        """Images whose embedding an earlier one has.

        Returns
        -------
        repeated : ndarray of bool, shape (n_samples,)
        words : str
            Number of repeats, in words.
        """
        first = {}  # of digests, which take less memory than another copy of the rows
        X, found = np.asarray(self.X), np.arange(len(self.X))
        for row in found if self.failed is None else np.flatnonzero(~self.failed):
            found[row] = first.setdefault(sha256(X[row].tobytes()).digest(), row)
        repeated = found != np.arange(found.size)
        people = self.people()
        n_others = np.count_nonzero(people != people[found])
        return repeated, (
            f"{repeated.sum():,} of {found.size:,} images have the same embedding as an "
            f"earlier image, {n_others:,} of them as one of another person."
        )

    def take(self, rows: np.ndarray) -> Self:
        """The data of some rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_samples,), or of int
            Rows to take, as a mask or as numbers in the order wanted.

        Returns
        -------
        data : EmbeddingData
        """
        names = ("y", "domain", "names", "failed")
        taken = {name: _taken(getattr(self, name), name, rows) for name in names}
        taken["samples"] = None if self.samples is None else self.samples.take(rows)
        for name in ("columns", "covariates"):
            columns = getattr(self, name).items()
            taken[name] = {n: _taken(c, n, rows) for n, c in columns}
        return replace(self, X=np.asarray(self.X)[rows], **taken)

    def genuine_pairs(self, rows: np.ndarray = slice(None)) -> np.ndarray:
        """Count the genuine pairs of each identity.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_samples,), default=slice(None)
            Images whose pairs count.

        Returns
        -------
        counts : ndarray of int, shape (n_identities,)
        """
        people = self.people()[rows]
        if not people.size:
            return np.zeros(1, dtype=np.int64)
        if self.domain is None:
            n_images = np.bincount(people)
            return n_images * (n_images - 1) // 2
        second = (encode(self.domain, "domain").codes == 1)[rows]
        size = people.max() + 1
        sides = (np.bincount(people[s], minlength=size) for s in (second, ~second))
        return np.multiply(*sides)

    def lack_of_pairs(self) -> str:
        """Say why no FRR, or no FAR, can be measured.

        Returns
        -------
        note : str
            Empty if one can.
        """
        if self.genuine_pairs().any():
            return ""
        lacking = "No person has two images"
        if self.domain is not None:
            lacking = "No person has an image in each domain"
        return f"{lacking}{NO_FRR}"


@dataclass(frozen=True, eq=False)
class PairData(_Data):
    """Scored pairs of images to audit.

    Attributes
    ----------
    y_score : array-like, shape (n_pairs,)
        Similarities, larger meaning more similar. Negate distances.
    identities : tuple of two array-likes, shape (n_pairs,), or None
        Identities of the first and the second image of each pair. None with ``y_true``.
    columns : dict of str -> tuple of two array-likes, shape (n_pairs,)
        Attributes of both images. None and NaN are unknown.
    image_names : tuple of two array-likes, shape (n_pairs,), default=(None, None)
        Names of the images, which resampling images needs.
    reading : object, default=None
        Record of the file by :func:`read_data`.
    y_true : array-like, shape (n_pairs,), default=None
        Instead of the people: 1 where both images show one person, else 0. Pairs are then
        taken as independent.
    covariates : dict of str -> array-like, shape (n_pairs,), or tuple of two
        Covariates that an audit may control for: of each pair, or of both of its images.
    attempts : object, default=None
        Record of failed comparisons by :func:`read_data`.
    failures : {"reject", "report"} or None, default=None
        Outcome of each.
    failed : ndarray of bool, shape (n_pairs,), default=None
        Pairs that failed and are kept, to be rejected.
    decisions : {"frr", "far", "bpcer", "apcer"}, default=None
        For decisions on attempts: what their errors are called. Each is a genuine pair of
        the person who made it, and below the threshold where it is an error.
    best_of : int, default=None
        For transactions: how many attempts one has at most.
    mated_only, non_mated_only : bool, default=False
        Whether all pairs are genuine, or none is. If not stated, such data are an error.
    n_people : int, default=None
        Of which identities are codes, if the people of several logs were coded together.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import PairData, audit_data
    >>> rng = np.random.default_rng(0)
    >>> first, second = people = rng.integers(0, 40, (2, 4000))
    >>> scores = rng.normal(size=4000) + 2 * (first == second)
    >>> data = PairData(scores, tuple(people), {"half": (first % 2, second % 2)})
    >>> [row.group for row in audit_data(data, far=0.1).audits[0].groups]
    [None, 0, 1]
    """

    kind, naming = "scored pairs", "name the images with image_1 and image_2."
    y_score: object = field(repr=False)
    identities: tuple | None = field(repr=False)
    columns: dict = field(default_factory=dict, repr=False)
    image_names: tuple = field(default=(None, None), repr=False)
    reading: Reading | None = None
    y_true: object = field(default=None, repr=False)
    covariates: dict = field(default_factory=dict, repr=False)
    attempts: Attempts | None = field(default=None, repr=False)
    failures: str | None = None
    failed: np.ndarray | None = field(default=None, repr=False)
    decisions: str | None = None
    best_of: int | None = None
    mated_only: bool = False
    non_mated_only: bool = False
    n_people: int | None = None

    @property
    def independent(self) -> bool:
        """Whether no person is known, so each pair is taken as one of different people."""
        return self.y_true is not None

    def fit(self, roc: SimilarityROC, attributes: tuple = ()) -> SimilarityROC:
        """Fit a SimilarityROC to these pairs.

        Parameters
        ----------
        roc : SimilarityROC
            Unfitted SimilarityROC.
        attributes : tuple of str, default=()
            Names of columns, by which :meth:`~skfairfr.metrics.SimilarityROC.by` answers.
            Their combinations are the groups. Without any, no groups.

        Returns
        -------
        roc : SimilarityROC
            Fitted.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column, or the data cannot be used.
        """
        chosen = _chosen(self.columns, attributes)
        groups = [
            {name: column[member] for name, column in chosen.items()} or None
            for member in (0, 1)
        ]
        scores, roc._n_people = self.y_score, self.n_people
        if self.failed is not None and not self.decisions:
            lowest = roc._expected.lowest
            scores = _rejected(
                scores, self.failed, np.inf if lowest is None else lowest
            )
        warn_if_mostly_rejected(self)
        return roc.fit_pairs(
            scores,
            *((None, None) if self.identities is None else self.identities),
            y_true=self.y_true,
            sensitive_features_1=groups[0],
            sensitive_features_2=groups[1],
            image_1=self.image_names[0],
            image_2=self.image_names[1],
            mated_only=self.mated_only,
            non_mated_only=self.non_mated_only,
        )

    def groups(self, attributes: tuple) -> Any:
        """Combinations of attributes, of the first images, then of the second.

        Parameters
        ----------
        attributes : tuple of str
            Names of columns.

        Returns
        -------
        groups : Column, shape (2 * n_pairs,)
            Distinct combinations, and the code of each image, or -1 where one is unknown.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column.
        """
        names = tuple(_chosen(self.columns, attributes))
        if not names:
            return combinations_of({}, 2 * len(self.y_score))
        if names not in self._labels:
            self._labels[names] = intersect([self._labels[(name,)] for name in names])
        return self._labels[names]

    def people(self) -> np.ndarray:
        """Identities as codes, of the first images, then of the second.

        Returns
        -------
        codes : ndarray of int, shape (2 * n_pairs,)
            Of independent pairs the number of the pair, for both of its images.
        """
        return self._people

    @cached_property
    def _people(self):
        # Kept, as are labels of columns, since a million names take seconds.
        if self.independent:
            return np.tile(np.arange(len(self.y_score)), 2)
        return encode_joined(self.identities, "identity").codes

    @cached_property
    def _labels(self):
        return {
            (name,): encode_joined(both, name, allow_unknown=True)
            for name, both in self.columns.items()
        }

    def images(self) -> np.ndarray | None:
        """Images as codes, the first of each pair, then the second.

        Returns
        -------
        codes : ndarray of int, shape (2 * n_pairs,), or None
            None where they are not named.
        """
        return self._images

    @cached_property
    def _images(self):
        # Names of one side alone are an error that fit_pairs raises.
        if self.image_names[0] is None or self.image_names[1] is None:
            return None
        return encode_joined(self.image_names, "image").codes

    def repeats(self) -> tuple[np.ndarray, str]:
        """Pairs of the same two images as an earlier pair, in either order.

        Returns
        -------
        repeated : ndarray of bool, shape (n_pairs,)
            If images are not named, pairs of the same two people with the same score. All
            False if scores have many ties. A failure has no score that could be the same.
        words : str
            Number of repeats, in words.
        """
        if self.decisions:  # most are equal
            return np.zeros(len(self.y_score), dtype=bool), ""
        images, words = self.images(), "are of the same two images as an earlier pair"
        if images is None:
            images = self.people()
            words = "have the people and the score of an earlier pair (images have no names)"
        one, other = images.astype(np.int64).reshape(2, -1)
        pairs = np.minimum(one, other) * (images.max() + 1) + np.maximum(one, other)
        if self.failed is not None:  # a comparison without a score repeats none
            pairs = np.where(self.failed, -1 - np.arange(pairs.size), pairs)
        scores = to_column(self.y_score, "y_score")
        keys = (scores, pairs) if self.images() is None else (pairs,)
        order = np.lexsort(keys)
        same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
        repeated = np.zeros(pairs.size, dtype=bool)
        repeated[order[1:][same]] = True
        if len(keys) > 1 and same.any():  # many ties are no repeats
            repeated &= 2 * np.unique(scores).size >= (~repeated).sum()
        return repeated, f"{repeated.sum():,} of {repeated.size:,} pairs {words}."

    def take(self, rows: np.ndarray) -> Self:
        """The data of some pairs.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_pairs,), or of int
            Rows to take, as a mask or as numbers in the order wanted.

        Returns
        -------
        data : PairData
        """

        def of(both, name):
            if both is None:
                return None
            return tuple(_taken(column, name, rows) for column in both)

        return replace(
            self,
            y_score=_taken(self.y_score, "y_score", rows),
            identities=of(self.identities, "identities"),
            columns={name: of(both, name) for name, both in self.columns.items()},
            image_names=of(self.image_names, "image_names"),
            y_true=_taken(self.y_true, "y_true", rows),
            covariates={
                name: of(column, name)
                if isinstance(column, tuple)
                else _taken(column, name, rows)
                for name, column in self.covariates.items()
            },
            failed=_taken(self.failed, "failed", rows),
        )

    def genuine_pairs(self, rows: np.ndarray | None = None) -> np.ndarray:
        """Count the genuine pairs of each identity.

        Parameters
        ----------
        rows : ndarray of bool, shape (2 * n_pairs,), default=None
            Images, as in :meth:`people`, both of which a pair that counts has. If None, all.

        Returns
        -------
        counts : ndarray of int, shape (n_identities,)
            Of independent pairs 1 or 0 for each pair.

        Raises
        ------
        ValueError
            If ``y_true`` does not say of each pair whether it is genuine.
        """
        people = self.people()
        left, right = np.split(people, 2)
        genuine = left == right
        if self.independent:
            genuine = check_pairs(self.y_true, self.y_score)[0]
        if rows is not None:
            genuine = genuine & np.logical_and(*np.split(rows, 2))
        return np.bincount(left[genuine], minlength=people.max() + 1)

    def by(self, names: Sequence[str]) -> Self:
        """The decisions by these attributes. Attacks stay by the species of instruments.

        Parameters
        ----------
        names : sequence of str, shape (n_attributes,)

        Returns
        -------
        data : PairData
        """
        if self.decisions == "apcer":
            return self
        return replace(self, columns={name: self.columns[name] for name in names})

    def lack_of_pairs(self) -> str:
        """Say why no FRR, or no FAR, can be measured.

        Returns
        -------
        note : str
            Empty if one can.
        """
        genuine = self.genuine_pairs()
        if self.decisions:
            return ""
        if genuine.sum() == len(self.y_score):
            return NO_FAR
        if genuine.any():
            return self._one_sided()
        if self.independent:
            return "No pair is genuine, so no FNMR can be measured."
        return f"No pair is of two images of one person{NO_FRR}"

    def _one_sided(self):
        """A sentence about people who are first in many pairs and never second, or second."""
        people = self.people().reshape(2, -1)
        n = people.max() + 1
        counts = np.stack([np.bincount(side, minlength=n) for side in people])
        alone = [((a >= ONE_SIDED) & (b == 0)).sum() for a, b in (counts, counts[::-1])]
        if self.independent or min(alone) < 2 or 20 * sum(alone) < n:
            return ""
        return (
            f"{alone[0]:,} people are first in all of their pairs, {alone[1]:,} others second in all "
            "of theirs, and no mated comparison is of them. If some of the former are some of "
            "the latter, their labels are written in two ways: correct them."
        )


@dataclass(frozen=True, eq=False)
class DecisionData(_Data):
    """Decisions to audit, such as :func:`read_data` reads from a log.

    Attributes
    ----------
    parts : tuple of PairData
        One for each kind of attempts.
    reading : object, default=None
        Record of the file by :func:`read_data`.
    sections : tuple, default=()
        Sections that audits add, about the scores by which decisions were made.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import DecisionData, PairData, audit_data
    >>> rng = np.random.default_rng(0)
    >>> person = rng.integers(0, 300, 3000)
    >>> half = person % 2
    >>> accepted = rng.random(3000) > np.where(half, 0.08, 0.02)
    >>> log = PairData(
    ...     accepted * 1.0, (person, person), {"half": (half, half)},
    ...     decisions="frr", mated_only=True,
    ... )
    >>> [row.group for row in audit_data(DecisionData((log,))).audits[0].groups]
    [None, 0, 1]
    """

    parts: tuple
    reading: Reading | None = None
    sections: tuple = ()
    kind = "decisions"


def combinations_of(columns, n_rows):
    """Labels of the combinations of columns, a dict. Without columns, of no group."""
    if not columns:
        return Labels(np.empty(0), np.full(n_rows, -1))
    encoded = (encode(c, name, allow_unknown=True) for name, c in columns.items())
    return intersect(list(encoded))


def _taken(column, name, rows):
    """Some rows of a column, or None of None."""
    return None if column is None else to_column(column, name)[rows]


def _chosen(columns, attributes):
    """The columns of some names, a dict, or an error about a name that is none of them."""
    chosen = {}
    for name in check_sequence(attributes, "attributes", "names of columns"):
        if not is_among(name, columns):
            listed = ", ".join(map(repr, columns)) or "none"
            problem = f"must be names of columns, but {plain(name)!r} is none of them."
            remedy = f"The columns are: {listed}."
            raise invalid("attributes", attributes, problem, remedy)
        chosen[name] = columns[name]
    return chosen


def _rejected(scores, failed, lowest):
    """Scores, those that failed below all others and below the lowest threshold."""
    scores = to_scores(scores, "y_score")
    known = scores[~failed].astype(np.float64)
    lowest = min(known.min(), lowest)
    below = lowest - max(BELOW * (known.max() - lowest), 1e-6 * (1 + abs(lowest)))
    # A step below also in the type of the scores.
    scores[failed] = min(below, -next_above(-scores.dtype.type(lowest)))
    return scores


class Rejecting:
    """A similarity by which images that failed are like nobody, themselves included.

    Parameters
    ----------
    failed : ndarray of bool, shape (n_images,)
    similarity : {"cosine", "dot"}
    lowest : float or None
        The lowest threshold that is given.
    """

    def __init__(self, failed, similarity, lowest):
        if not isinstance(similarity, str):
            problem = (
                "rejects images compared by 'cosine' or 'dot', not by a comparator;"
            )
            remedy = "give 'report', which leaves them out and counts them by group."
            raise invalid("failures", "reject", problem, remedy)
        self.failed, self.similarity = failed, similarity
        self.lowest = 0.0 if lowest is None else lowest

    def prepare(self, X, sensitive_features=None):
        """Rows and offsets by which each pair with a failed image is below all others."""
        vectors, _ = prepare_rows(X, self.similarity, {})
        largest = np.einsum("ij,ij->i", vectors, vectors)[~self.failed].max()
        vectors[self.failed] = 0.0
        below = (1 + BELOW) * max(float(largest), -self.lowest) + 1e-6
        return PreparedImages(vectors, Adjustment.shifted(below * self.failed))


def warn_if_mostly_rejected(data):
    """Warn, as of reversed scores, if over half of a file's captured attempts are rejected."""
    if data.reading is None or data.decisions not in ("frr", "bpcer"):
        return
    captured = slice(None) if data.failed is None else ~data.failed
    share = np.mean(data.y_score[captured] == 0)
    if share > 0.5:
        message = f"{percent(share)} of the {data.terms.frr.trials} are rejected."
        message += " Are yes and no swapped?"
        warn_caller(message, ReversedScoresWarning, "mostly_rejected")


def check_data(data, argument="columns", *, named=True, decisions=False):
    """Raise unless this is data to audit, whose rows are as many in every part.

    Parameters
    ----------
    data : object
    argument : str, default="columns"
        The caller's name of the columns, for messages.
    named : bool, default=True
        Whether the caller gave the names of the columns.
    decisions : bool, default=False
        Whether decisions without scores will do.
    """
    if decisions and isinstance(data, DecisionData):
        for part in data.parts:
            check_data(part, argument)
        return
    if not isinstance(data, EmbeddingData | PairData):
        problem = f"must be an EmbeddingData or a PairData, got {kind_of_value(data)}."
        remedy = "Give EmbeddingData(X, y, columns), or what read_data reads."
        raise invalid("data", data, problem, remedy)
    columns = data.columns
    is_dict = isinstance(columns, Mapping)
    wrong = [name for name in columns if not isinstance(name, str)] if is_dict else [0]
    if wrong:
        got = f"{plain(wrong[0])!r}" if is_dict else kind_of_value(columns)
        problem = f"must be a dict of names, as texts, to labels of rows, got {got}."
        name = argument if named else "attribute"
        raise invalid(name, columns, problem, 'Give {"gender": labels}.')
    check_text(columns, "attribute")
    embedded, sides = isinstance(data, EmbeddingData), {}
    if embedded:
        rows = data.X if hasattr(data.X, "shape") else to_array(data.X, "X")
        if len(rows.shape) != 2 or not rows.shape[0]:
            got = kind_of_value(data.X)
            problem = f"must have the shape (n_samples, n_features), got {got}."
            raise invalid("X", data.X, problem, "Give an array of rows.")
        n_rows, of = rows.shape[0], "X"
        parts = {name: getattr(data, name) for name in ("y", "domain", "names")}
    else:
        check_people(data.identities, data.y_true)
        n_rows, of = check_scores(data.y_score, "y_score").size, "y_score"
        parts = {"y_true": data.y_true}
        sides["image_names"] = two_columns(
            data.image_names, "image_names", needed=False
        )
        if data.y_true is None:
            sides["identities"] = two_columns(data.identities, "identities")
    for key, labels in columns.items():
        name = f"{argument}[{key!r}]"
        if embedded:
            name = name if named else argument
            parts[name] = next(iter(to_columns(labels, name).values()))
        else:
            sides[name if named else argument] = two_columns(labels, name)
    parts |= {f"{n}[{k}]": c for n, both in sides.items() for k, c in enumerate(both)}
    for name, labels in parts.items():
        if labels is not None or name == "y":
            check_length(to_column(labels, name), n_rows, name, of)
    if data.failed is None:
        return
    failed = data.failed
    is_mask = isinstance(failed, np.ndarray) and failed.dtype == bool
    if not is_mask or failed.shape != (n_rows,) or failed.all():
        got = "True in every row" if is_mask and failed.all() else kind_of_value(failed)
        problem = f"must be an array of {n_rows} booleans, not all True, got {got}."
        raise invalid("failed", failed, problem, "Give True where a row failed.")
