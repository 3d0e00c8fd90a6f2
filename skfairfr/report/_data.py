"""What an audit is of: embeddings, or scored pairs, with columns of labels.

Both kinds fit a SimilarityROC and list the people and images behind the pairs: one row for
each image of embeddings, two for each scored pair. They hold arrays, also those of a file.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import file_digest, sha256
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from skfairfr._core._adjustments import Adjustment
from skfairfr._core._kinds import Terms
from skfairfr._core._pair_tiles import PreparedImages
from skfairfr._core._pairs import usual_far_max
from skfairfr._core._rates import next_above
from skfairfr._text._words import terms_of
from skfairfr.datasets._decisions import read_decisions, read_times
from skfairfr.datasets._embeddings import labels_beside, read_embeddings
from skfairfr.datasets._files import column_names, data_row, kind_of, meanings
from skfairfr.datasets._metadata import joined, read_metadata
from skfairfr.datasets._scored_pairs import read_pairs
from skfairfr.datasets._trials import load_score_matrix, load_trials
from skfairfr.metrics._pairs._checks import check_pairs, warn_of_scores
from skfairfr.metrics._roc._inputs import prepare as prepare_rows
from skfairfr.report._control import covariates_of
from skfairfr.report._decisions import (
    NO_CONTROL,
    OF_ACCEPTANCE,
    check_ascending,
    check_best_of,
    transactions,
)
from skfairfr.report._notes import collecting
from skfairfr.report._records import Cell, Crossing, Failures, GeneralisedRates
from skfairfr.utils._bands import quantile_cuts, split_bands, to_bands
from skfairfr.utils._errors import (
    ABOUT_FAILURES,
    ArgumentError,
    kind_of_value,
    plain,
    refused,
    size_of,
)
from skfairfr.utils._labels import (
    check_length,
    check_text,
    encode,
    intersect,
    join_columns,
    to_column,
    to_columns,
)
from skfairfr.utils._types import FilePath
from skfairfr.utils._validation import (
    check_line,
    check_option,
    check_path,
    check_scores,
    check_sequence,
    failed_rows,
    is_among,
    is_failure,
    to_array,
    to_scores,
)

if TYPE_CHECKING:
    from skfairfr.metrics._roc._similarity_roc import SimilarityROC

NO_FRR = (
    ", so that there is no genuine pair and no FNMR can be measured: this is an audit of the "
    "FMR alone."
)
NO_FAR = (
    "No pair is of two people: no FMR can be measured, and this is an audit of the FNMR alone, "
    "at a threshold that was set elsewhere."
)
# Options that only some ways of reading have.
OF_EMBEDDINGS = ("labels", "embedding", "identity", "domain", "image", "fte")
OF_LOGS = ("accepted", "attempt", "session", "best_of", "time", "dates", "species")
OF_PAIRS = (
    *("score", "identity_1", "identity_2", "y_true"),
    *("image_1", "image_2", "distance"),
)
OF_TRIALS = ("trials", "labels", "embedding", "identity", "image", "score", "distance")
OF_MATRIX = ("probes", "references", "identity", "image", "score", "distance")
OF_ALL = ("metadata", "on", "failures")
# What a list of pairs of one kind alone states.
ONLY = ("mated_only", "non_mated_only")
# Options that are files beside the data.
FILES = ("labels", "trials", "probes", "references", "metadata")
# What is wrong with an image that failed.
NO_EMBEDDING = "is zero, or has nan or infinite values,"
# What becomes of an attempt that failed.
FAILURES = ("reject", "report", "error")
# Score of an error of a decision, and of a decision that is none; and what lies between.
WRONG, RIGHT, BETWEEN = 0.0, 1.0, 0.5
# How far below the lowest score, over their range, that of a failed comparison is.
BELOW = 0.05
# What a column says of an attempt.
MADE, NOT_ACQUIRED, NOT_ENROLLED = 0, 1, 2
WORDS = {
    **dict.fromkeys(("", "0", "no", "false", "ok"), MADE),
    **dict.fromkeys(("fta", "acquire"), NOT_ACQUIRED),
    **dict.fromkeys(("1", "yes", "true", "fte", "enrol", "enroll"), NOT_ENROLLED),
}
# The first note of an audit of pairs without people.
INDEPENDENT = (
    "No person is known, and pairs were taken as independent of each other: each of people "
    "of its own. Rates and disparities do not depend on that, intervals do. Where people "
    "are in several pairs, intervals are too narrow, and groups may seem to differ that do "
    "not; name the people of each pair, if they can be known."
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
        What looks like a mistake in the file.
    sha256 : dict of str -> str
        Digests of the files by their names.
    bands : dict of str -> list of float or None
        Cut points of the ranges of every attribute, those of quantiles too: as
        ``attributes`` of :func:`read_data` they make the same groups of another file.
    """

    path: str
    options: dict
    notes: tuple = ()
    sha256: dict = field(default_factory=dict)
    bands: dict = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Attempts:
    """What became of every row of a file, those without a template included.

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
    """What either kind of data says of the file that it was read from, if it was."""

    # Whether rates by person, each weighing the same, are not measured.
    one_average = False
    # What numbers depend on beside the options of an audit.
    more_settings = {}  # noqa: RUF012

    @property
    def terms(self) -> Terms:
        """Words for what the data hold."""
        names = ("decisions", "best_of", "failures")
        told = {name: getattr(self, name, None) for name in names}
        return terms_of({n: value for n, value in told.items() if value is not None})

    @property
    def is_distance(self) -> bool:
        """Whether scores were read as distances."""
        return self.reading is not None and bool(self.reading.options["distance"])

    @property
    def notes(self) -> list[str]:
        """What looks like a mistake in the file, a list."""
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
        Attributes; None and NaN are unknown.
    domain : array-like, shape (n_samples,), default=None
        With two values, only pairs across them are compared.
    reading : object, default=None
        What :func:`read_data` remembers of the file.
    names : array-like, shape (n_samples,), default=None
        Names of the rows, by which :func:`compare_systems` pairs systems.
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        As in :class:`~skfairfr.metrics.SimilarityROC`.
    attempts : object, default=None
        What :func:`read_data` remembers of attempts that gave no template.
    covariates : dict of str -> array-like, shape (n_samples,)
        What an audit may control for, as the quality of each image.
    failures : {"reject", "report"} or None, default=None
        What became of them.
    failed : ndarray of bool, shape (n_samples,), default=None
        Rows that failed and are kept, to be rejected.
    non_mated_only : bool, default=False
        Whether no two rows are of one person; not stated, such data are an error.
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
    # Embeddings name their people; pairs may not.
    independent, decisions = False, None
    kind, naming = "embeddings", "name the image of each row (--image)."

    def fit(self, roc: "SimilarityROC", attributes: tuple = ()) -> "SimilarityROC":
        """Fit a SimilarityROC to these data.

        Parameters
        ----------
        roc : SimilarityROC
            Not fitted.
        attributes : tuple of str, default=()
            Names of columns, by which :meth:`~skfairfr.metrics.SimilarityROC.by` answers;
            their combinations are the groups. Without any, no groups.

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
        X, similarity = self.X, self.similarity
        if self.failed is not None:
            X = np.array(X)
            X[self.failed] = 1.0  # whatever is a row
            similarity = Rejecting(self.failed, similarity, roc._expected.lowest)
        roc.set_params(similarity=similarity)
        roc.fit(X, self.y, groups, domain=self.domain)
        if not (self.non_mated_only or roc.n_genuine_[0]):
            problem = "was not given, and no person has two images that are compared;"
            remedy = "give it if each person is meant to have one; if not, look at the identities: "
            remedy += "do they name people, and not images?"
            raise refused("non_mated_only", None, problem, remedy)
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
            Distinct combinations, and the code of each row; -1 where one is unknown.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column.
        """
        return _combinations(_chosen(self.columns, attributes))

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
            How many they are.
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
            Which to take, or their numbers in the order wanted.

        Returns
        -------
        data : EmbeddingData
        """
        names = ("y", "domain", "names", "failed")
        taken = {name: _taken(getattr(self, name), name, rows) for name in names}
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
        Similarities, larger meaning more alike; give minus a distance.
    identities : tuple of two array-likes, shape (n_pairs,), or None
        Whom the first and the second image of each pair show; None with ``y_true``.
    columns : dict of str -> tuple of two array-likes, shape (n_pairs,)
        Attributes of both images; None and NaN are unknown.
    image_names : tuple of two array-likes, shape (n_pairs,), default=(None, None)
        Names of the images, which resampling images needs.
    reading : object, default=None
        What :func:`read_data` remembers of the file.
    y_true : array-like, shape (n_pairs,), default=None
        Instead of the people: 1 where both images show one person, else 0. Pairs are then
        taken as independent.
    covariates : dict of str -> array-like, shape (n_pairs,), or tuple of two
        What an audit may control for: of each pair, or of both of its images.
    attempts : object, default=None
        What :func:`read_data` remembers of comparisons that failed.
    failures : {"reject", "report"} or None, default=None
        What became of them.
    failed : ndarray of bool, shape (n_pairs,), default=None
        Pairs that failed and are kept, to be rejected.
    decisions : {"frr", "far", "bpcer", "apcer"}, default=None
        Of decisions on attempts: what their errors are called. Each is a genuine pair of
        the person who made it, and below the threshold where it is an error.
    best_of : int, default=None
        Of transactions: how many attempts one has at most.
    mated_only, non_mated_only : bool, default=False
        Whether all pairs are genuine, or none is; not stated, such data are an error.
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

    @property
    def independent(self) -> bool:
        """Whether no person is known, so that each pair stands for people of its own."""
        return self.y_true is not None

    def fit(self, roc: "SimilarityROC", attributes: tuple = ()) -> "SimilarityROC":
        """Fit a SimilarityROC to these pairs.

        Parameters
        ----------
        roc : SimilarityROC
            Not fitted.
        attributes : tuple of str, default=()
            Names of columns, by which :meth:`~skfairfr.metrics.SimilarityROC.by` answers;
            their combinations are the groups. Without any, no groups.

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
        scores = self.y_score
        if self.failed is not None and not self.decisions:
            lowest = roc._expected.lowest
            scores = _rejected(
                scores, self.failed, np.inf if lowest is None else lowest
            )
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
            Distinct combinations, and the code of each image; -1 where one is unknown.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column.
        """
        chosen = _chosen(self.columns, attributes)
        return _combinations({n: _stacked(both, n) for n, both in chosen.items()})

    def people(self) -> np.ndarray:
        """Identities as codes, of the first images, then of the second.

        Returns
        -------
        codes : ndarray of int, shape (2 * n_pairs,)
            Of independent pairs the number of the pair, for both of its images.
        """
        if self.independent:
            return np.tile(np.arange(len(self.y_score)), 2)
        return encode(_stacked(self.identities, "identity"), "identity").codes

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
        # Kept, since a million names take seconds.
        # Names of one side alone are an error that fit_pairs raises.
        if self.image_names[0] is None or self.image_names[1] is None:
            return None
        return encode(_stacked(self.image_names, "image"), "image").codes

    def repeats(self) -> tuple[np.ndarray, str]:
        """Pairs of the same two images as an earlier pair, in either order.

        Returns
        -------
        repeated : ndarray of bool, shape (n_pairs,)
            If images are not named, pairs of the same two people with the same score; all
            False if scores have many ties. A failure has no score that could be the same.
        words : str
            How many they are.
        """
        if self.decisions:  # most are alike
            return np.zeros(len(self.y_score), dtype=bool), ""
        images, words = self.images(), "are of the same two images as an earlier pair"
        if images is None:
            images = self.people()
            words = "have the people and the score of an earlier pair (images have no names)"
        one, other = images.astype(np.int64).reshape(2, -1)
        pairs = np.minimum(one, other) * (images.max() + 1) + np.maximum(one, other)
        n_scores = pairs.size  # without names, many ties are no repeats
        if self.images() is None:
            scores = to_column(self.y_score, "y_score")
            scores = np.unique(scores, return_inverse=True)[1]
            n_scores = scores.max() + 1
            pairs = np.unique(pairs, return_inverse=True)[1] * n_scores + scores
        repeated = np.ones(pairs.size, dtype=bool)
        if self.failed is not None:  # a comparison without a score repeats none
            pairs = np.where(self.failed, -1 - np.arange(pairs.size), pairs)
        repeated[np.unique(pairs, return_index=True)[1]] = False
        if 2 * n_scores < repeated.size - repeated.sum():
            repeated[:] = False
        return repeated, f"{repeated.sum():,} of {repeated.size:,} pairs {words}."

    def take(self, rows: np.ndarray) -> Self:
        """The data of some pairs.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_pairs,), or of int
            Which to take, or their numbers in the order wanted.

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
            Images, as of :meth:`people`, both of which a pair that counts has; None is all.

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
        """The decisions by these attributes; attacks stay by the species of instruments.

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
            return ""
        if self.independent:
            return "No pair is genuine, so that no FNMR can be measured."
        return f"No pair is of two images of one person{NO_FRR}"


@dataclass(frozen=True, eq=False)
class DecisionData(_Data):
    """Decisions to audit, such as :func:`read_data` reads from a log.

    Attributes
    ----------
    parts : tuple of PairData
        One for each kind of attempts.
    reading : object, default=None
        What :func:`read_data` remembers of the file.
    """

    parts: tuple
    reading: Reading | None = None
    kind = "decisions"


def decisions(
    error,
    identity,
    columns,
    *,
    kind="frr",
    session=None,
    best_of=None,
    time=None,
    failures=None,
    grouped=(),
    problem=("accepted", "is empty, or captured is 0,"),
):
    """Attempts of one kind, PairData.

    Parameters
    ----------
    error : ndarray, shape (n_attempts,)
        1 or 0; NaN where nothing was captured.
    identity : array-like, shape (n_attempts,)
    columns : dict of str -> array-like, shape (n_attempts,)
    kind : {"frr", "far", "bpcer", "apcer"}
    session : array-like, shape (n_attempts,), default=None
    best_of : int, default=None
    time : ndarray, shape (n_attempts,), default=None
        As of :func:`read_times`; None takes the order of the rows.
    failures : {"reject", "report", "error"}, default=None
    grouped : tuple of str, default=()
        Columns that tell apart transactions within a session.
    problem : tuple of two str
        The argument, and what is wrong where nothing was captured, for messages.

    Returns
    -------
    data : PairData
    """
    identity = to_column(identity, "identity")
    columns = {name: to_column(column, name) for name, column in columns.items()}
    if best_of is not None:
        keys = [identity, session, *(columns[name] for name in grouped)]
        of_acceptance = kind in OF_ACCEPTANCE
        first, error = transactions(error, keys, best_of, of_acceptance, time)
        identity = identity[first]
        columns = {name: column[first] for name, column in columns.items()}
    failed = np.isnan(error)
    # Nobody who was not captured is accepted.
    wrong = np.where(failed, kind not in OF_ACCEPTANCE, error) == 1
    data = PairData(
        np.where(wrong, WRONG, RIGHT),
        (identity, identity),
        {name: (column, column) for name, column in columns.items()},
        decisions=kind,
        best_of=best_of,
        mated_only=True,
    )
    return with_failures(data, failed, failures, problem)


def read_data(
    path: FilePath,
    attributes: str | Sequence[str] = (),
    *,
    control: str | Sequence[str] = (),
    labels: str | None = None,
    embedding: str | None = None,
    identity: str | None = None,
    domain: str | None = None,
    image: str | None = None,
    fte: str | None = None,
    accepted: str | None = None,
    attempt: str | None = None,
    session: str | None = None,
    best_of: int | None = None,
    time: str | None = None,
    dates: str | None = None,
    species: str | None = None,
    failures: str | None = None,
    score: str | None = None,
    identity_1: str | None = None,
    identity_2: str | None = None,
    y_true: str | None = None,
    image_1: str | None = None,
    image_2: str | None = None,
    distance: bool = False,
    trials: FilePath | None = None,
    probes: FilePath | None = None,
    references: FilePath | None = None,
    metadata: FilePath | None = None,
    on: str | None = None,
    mated_only: bool = False,
    non_mated_only: bool = False,
) -> EmbeddingData | PairData:
    """Data to audit, from a file of embeddings or of scored pairs.

    Parameters
    ----------
    path : str or path-like
        Embeddings (.npz, .npy), one row for each image, or scored pairs (.csv, .tsv, both
        also as .gz; .parquet with pyarrow; score files of bob).
    attributes : str or sequence of str, shape (n_attributes,), default=()
        Columns of the groups; of scored pairs each is two columns, ending in _1 and _2, or
        one where both images of every pair have the same group.
    control : str or sequence of str, shape (n_covariates,), default=()
        What the audit will control for, whose columns are read too, as of
        :func:`audit_data`.
    labels, embedding, identity : str, default=None
        Of embeddings, as in :func:`~skfairfr.datasets.load_embeddings`.
    domain : str, default=None
        Of embeddings: a column with two values, such as selfie and document; only pairs
        across them are compared.
    image : str, default=None
        Of embeddings: a column that names the images, by which :func:`compare_systems`
        pairs the rows of two files; None leaves them in their order. Lists of trials call
        images by it; there None takes "image".
    fte : str, default=None
        Of embeddings: a column that says which rows are attempts without a template, whose
        embeddings are not read: ``fte`` (or 1) where enrolment failed, ``fta`` where
        acquisition failed, else 0 or empty. Unless ``failures`` says otherwise, they are
        reported.
    accepted, attempt, session, species : str, default=None
        Of a log of decisions, as in :func:`~skfairfr.datasets.load_decisions`; ``accepted``
        makes the file one. Errors of genuine attempts are FRR, or BPCER where there are
        attacks; those of impostors are FAR, and those of attacks APCER by species.
    best_of : int, default=None
        Of a log, with ``session``: rates of transactions, the first so many attempts of a
        person in a session, accepted if one of them is.
    time : str, default=None
        Of a log, with ``best_of``: a column of numbers or times by which attempts are
        ordered. None takes the rows in their order, which is an error if a column that
        reads as a time decreases within a session.
    dates : {"day-first", "month-first"}, default=None
        How ``time`` writes dates with the year last, such as 31.01.2026; None allows only
        dates such as 2026-01-31.
    failures : {"reject", "report", "error"}, default=None
        What becomes of missing scores (also infinite ones, if nothing is accepted there),
        embeddings with NaN, infinity or zeros alone, and attempts of which nothing was
        captured: "reject" counts them as rejections; "report" leaves them out of the rates,
        counts them by group and adds generalised rates; "error", and None where there are
        some, is an error.
    score, identity_1, identity_2, y_true, image_1, image_2 : str, default=None
        Of scored pairs, as in :func:`~skfairfr.datasets.load_pairs`. Where ``y_true`` is
        read instead of identities, pairs are taken as independent.
    distance : bool, default=False
        Of scored pairs: whether scores are distances, smaller meaning more alike.
    trials : str or path-like, default=None
        A list of pairs, as in :func:`~skfairfr.datasets.load_trials`: no others of the
        embeddings are compared, and where it has scores, those are taken.
    probes, references : str or path-like, default=None
        Labels of the rows and of the columns of a matrix of scores, as in
        :func:`~skfairfr.datasets.load_score_matrix`; ``path`` is that of the matrix.
    metadata : str or path-like, default=None
        A table from which those attributes are taken that it has, as in
        :func:`~skfairfr.datasets.join_metadata`.
    on : str, default=None
        Its column of the people or, where it is called as the column of the images is, of
        the images.
    mated_only, non_mated_only : bool, default=False
        Whether all pairs are genuine, or none is. Not stated, such data are an error, since
        identities that are written otherwise on one side look the same.

    Returns
    -------
    data : EmbeddingData or PairData; of a log, DecisionData
        For :func:`audit_data`. What looks like a mistake in the file becomes a note of
        its audit.

    Raises
    ------
    ValueError
        If the file cannot be read, does not hold what is needed, or holds the other kind
        of data than an option is for.
    ImportError
        If a .parquet file is read without pyarrow.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from skfairfr.report import read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "faces.npz")
    ...     np.savez(path, embedding=np.eye(3), identity=[1, 1, 2], gender=["f", "f", "m"])
    ...     data = read_data(path, "gender")
    >>> data.columns["gender"].tolist()
    ['f', 'f', 'm']
    """
    given = dict(locals())
    path = check_path(path, "path")
    if isinstance(attributes, str):
        attributes = (attributes,)
    asked = check_sequence(attributes, "attributes", "names of columns", str)
    known = dict.fromkeys(
        (*OF_EMBEDDINGS, *OF_PAIRS, *OF_TRIALS, *OF_MATRIX, *OF_LOGS, *OF_ALL, *ONLY)
    )
    options = {name: given[name] for name in known}
    kind, read, own = _way_to_read(path, options)
    for name, value in options.items():
        if value not in (None, False) and name not in (*own, *OF_ALL):
            problem = f"is no option of {kind}, which {path!r} is read as;"
            raise refused(name, value, problem, "leave it out.")
    if on is not None and metadata is None:
        raise refused("on", on, "names a column of metadata;", "give it (--metadata).")
    bands = _bands_of(attributes, asked, _files_of(path, options))
    attributes = list(bands)
    if len(attributes) < len(asked):
        problem = f"{plain(list(asked))!r} names one column twice;"
        raise refused("attributes", asked, problem, "give it once.")
    warnings = []
    with collecting(warnings, UserWarning):
        asked = options | {"bands": bands}
        found = _controlled(read, path, attributes, asked, control or ())
    notes = tuple(dict.fromkeys(map(str, warnings)))
    digests = _digests(path, options)
    reading = Reading(path, options, notes, digests, bands)
    if isinstance(found, DecisionData):
        parts = tuple(replace(part, reading=reading) for part in found.parts)
        return DecisionData(parts, reading)
    return replace(found, reading=reading)


def _bands_of(attributes, asked, files):
    """Column of every attribute, and its cuts; a column that is called so has none."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    known = set()
    if any(":" in one for one in asked):
        known.update(*map(column_names, files))
    return dict(
        (one, None) if {one, f"{one}_1"} & known else split_bands(one) for one in asked
    )


def _controlled(read, path, attributes, options, control):
    """Data with attributes, and with covariates apart from them."""
    if not control:
        return read(path, attributes, options)
    if options["accepted"] is not None:
        raise refused("control", control, *NO_CONTROL)
    covariates = [one.name for one in covariates_of(control)]
    more = [name for name in covariates if name not in attributes]
    try:
        found = read(path, [*attributes, *more], options)
    except ArgumentError as error:
        lacking = [f"{name}{end}" for name in more for end in ("", "_1", "_2")]
        if error.argument == "attributes" and error.value in lacking:
            problem = str(error).removeprefix("attributes ")
            raise refused("control", error.value, problem) from None
        raise
    ends = {name: found.columns[name] for name in covariates}
    return replace(
        found,
        columns={name: found.columns[name] for name in attributes},
        covariates={
            # One column is that of the pair.
            name: both[0] if isinstance(both, tuple) and both[0] is both[1] else both
            for name, both in ends.items()
        },
    )


def _way_to_read(path, options):
    """How a file is read: the kind of data in words, a function, and its own options."""
    if options["accepted"] is not None:
        return DecisionData.kind, _read_log, (*OF_LOGS, "identity")
    if options["trials"] is not None:
        read = partial(_read_listed, load_trials, OF_TRIALS)
        return "listed trials", read, (*OF_TRIALS, *ONLY)
    if options["probes"] is not None:
        read = partial(_read_listed, load_score_matrix, OF_MATRIX)
        return "a matrix of scores", read, (*OF_MATRIX, *ONLY)
    if holds_pairs(path):
        return PairData.kind, _read_pairs, (*OF_PAIRS, *ONLY)
    return EmbeddingData.kind, _read_embeddings, (*OF_EMBEDDINGS, ONLY[1])


def holds_pairs(path):
    """Whether a file holds scored pairs, not embeddings."""
    return kind_of(path) in ("csv", "parquet", "list")


def cross(data, attributes):
    """Number of people in each combination of groups.

    Parameters
    ----------
    data : EmbeddingData or PairData
    attributes : tuple of str

    Returns
    -------
    crossing : Crossing
        Combinations in the order of sorted labels, unknown last where some are; a person
        whose images differ in a label counts in several.
    """
    masks = [_masks(data.groups((name,))) for name in attributes]
    people, images = data.people(), data.images()
    cells = []
    for combination in product(*masks):
        groups, of_groups = zip(*combination, strict=True)
        inside = np.logical_and.reduce(of_groups)
        n_images = None if images is None else np.unique(images[inside]).size
        cells.append(Cell(groups, np.unique(people[inside]).size, n_images))
    return Crossing(tuple(attributes), tuple(cells))


def _masks(labels):
    """Each group and whether an image is in it, (n_rows,); unknown last where some are."""
    groups = [*enumerate(labels.values.tolist()), (-1, None)]
    masks = [(group, labels.codes == code) for code, group in groups]
    return [(group, mask) for group, mask in masks if mask.any()]


def _read_embeddings(path, attributes, options):
    names = [options[name] for name in ("labels", "embedding", "identity")]

    def read(attributes, image):
        asked = dict.fromkeys(attributes, "attributes")
        for name, column in (options | {"image": image}).items():
            if name in ("domain", "image", "fte") and column is not None:
                asked.setdefault(column, name)
        return read_embeddings(path, *names, asked, finite=False)

    data = _with_metadata(read, attributes, options)
    columns = {name: data.columns[name] for name in attributes}
    side, images = (
        None if options[name] is None else data.columns[options[name]]
        for name in ("domain", "image")
    )
    only = bool(options["non_mated_only"])
    found = EmbeddingData(
        data.X, data.y, columns, side, names=images, non_mated_only=only
    )
    failures, outcome = options["failures"], np.full(len(found.X), MADE)
    if options["fte"] is not None:
        outcome = outcomes(data.columns[options["fte"]], options["fte"])
        if (outcome != MADE).all():
            raise refused(
                "fte",
                options["fte"],
                f"{options['fte']!r} says that no row has a template, so that nothing can be "
                "compared;",
                "write 0, or nothing, where a template was made.",
            )
    failed = failed_rows(found.X) & (outcome == MADE)
    problem = "embedding", NO_EMBEDDING
    if failures is None and options["fte"] is not None:
        # Who marks failures asks for a report of them, and may have missed some.
        with_failures(found, failed, None, problem)
        failures = "report"
    outcome = np.where(failed, NOT_ACQUIRED, outcome)
    return with_failures(found, outcome != MADE, failures, problem, outcome)


def _with_metadata(read, attributes, options):
    """What ``read`` gives for the attributes that metadata lack, and those from there.

    Numbers of which bands are asked for become their labels.
    """
    data = _joined(read, attributes, options)
    people = (data.get(name) for name in ("y", "identity", "identity_1", "identity_2"))
    people = [column for column in people if column is not None]
    for name, cuts in options["bands"].items():
        if cuts is None:
            continue
        sides = [n for n in (name, f"{name}_1", f"{name}_2") if n in data.columns]
        columns = [data.columns[side] for side in sides]
        joint, whose = join_columns(columns), join_columns(people) if people else None
        try:
            if callable(cuts):
                labels = to_column(cuts(joint), "attributes")
            else:
                if isinstance(cuts, int):
                    cuts = options["bands"][name] = quantile_cuts(joint, cuts, whose)
                labels = to_bands(joint, cuts)
        except ArgumentError as error:
            problem = str(error).partition(" ")[2]
            problem = f"{name!r} cannot be put into ranges, which {problem}"
            raise refused("attributes", name, problem) from None
        data.columns |= zip(sides, np.split(labels, len(sides)), strict=True)
    return data


def _joined(read, attributes, options):
    path, image = options["metadata"], options["image"]
    if path is None:
        return read(attributes, image)
    table, key = read_metadata(path, options["on"], image or "image")
    others = [name for name in attributes if name not in table.names or name == key]
    image = key if key == (image or "image") else image
    data = read(others, image)
    added = [name for name in attributes if name not in others]
    return joined(data, table, key, image, added)


def _files_of(path, options):
    """A file, and those that are read beside it."""
    paths = [path, *(options[name] for name in FILES if options[name] is not None)]
    is_lone = options["labels"] is None and options["probes"] is None
    if kind_of(path) == "npy" and is_lone:
        paths.append(labels_beside(path))
    return [*map(os.fsdecode, paths)]


def _digests(path, options):
    """SHA-256 of these files, by their names."""
    digests = {}
    for one in _files_of(path, options):
        with open(one, "rb") as file:
            digests[os.path.basename(one)] = file_digest(file, "sha256").hexdigest()
    return digests


def _read_pairs(path, attributes, options):
    names = {name: options[name] for name in OF_PAIRS if name != "distance"}

    def read(attributes, image):
        asked = dict.fromkeys(attributes, "attributes")
        return read_pairs(path, names, asked, bool(options["distance"]), finite=False)

    return _pair_data(read, attributes, options)


def _read_listed(load, own, path, attributes, options):
    def read(attributes, image):
        given = {name: options[name] for name in own} | {"image": image}
        return load(path, **given, columns=dict.fromkeys(attributes, "attributes"))

    return _pair_data(read, attributes, options)


def _pair_data(read, attributes, options):
    data = _with_metadata(read, attributes, options)
    columns = {n: (data.columns[f"{n}_1"], data.columns[f"{n}_2"]) for n in attributes}
    images = (data.image_1, data.image_2)
    identities = (data.identity_1, data.identity_2) if data.y_true is None else None
    only = {name: bool(options[name]) for name in ONLY}
    found = PairData(
        data.y_score, identities, columns, images, y_true=data.y_true, **only
    )
    found, failed = placeholders(found)
    problem = "score", "is missing or infinite"
    return with_failures(found, failed, options["failures"], problem)


def placeholders(data):
    """Pairs with 0 for each failure, a score that is NaN or -inf, and which these are."""
    scores = to_scores(data.y_score, "y_score")
    failed = is_failure(scores)
    if failed.any():
        data = replace(data, y_score=np.where(failed, 0.0, scores))
    return data, failed


def _read_log(path, attributes, options):
    """Decisions of a log, by kinds of attempts; arguments are those of ``read_data``."""
    named = options["time"]
    check_best_of(options["session"], options["best_of"], named)
    names = ("accepted", "identity", "attempt", "session", "species")
    names = {name: options[name] for name in names}

    def read(attributes, image):
        asked = {} if named is None else {named: "time"}
        return read_decisions(
            path, names, asked | dict.fromkeys(attributes, "attributes")
        )

    log, time = _with_metadata(read, attributes, options), None
    if named is not None:
        time = read_times(log.columns[named], named, options["dates"])
    elif log.session is not None:
        with collecting([], UserWarning):
            every = read_decisions(path, names).columns
        keys = [log.identity, log.session]
        check_ascending("session", options["session"], every, keys)
    if log.species is not None and options["attempt"] is None:
        problem = (
            "names the instruments of attacks, and no column tells which attempts are;"
        )
        raise refused("species", options["species"], problem, "name it (--attempt).")
    attacks = log.attempt == "attack"
    if attacks.any() and log.species is None:
        problem = f"is missing, and {attacks.sum():,} attempts are attacks;"
        remedy = "name the column of the instrument, by which their errors are counted."
        raise refused("species", None, problem, remedy)
    of_genuine = "bpcer" if attacks.any() else "frr"
    parts = []
    for kind, attempt in (
        (of_genuine, "genuine"),
        ("far", "impostor"),
        ("apcer", "attack"),
    ):
        rows = log.attempt == attempt
        if not rows.any():
            continue
        columns, grouped = {name: log.columns[name] for name in attributes}, ()
        if kind == "apcer":
            columns, grouped = {options["species"]: log.species}, (options["species"],)
        error = log.accepted == (kind in OF_ACCEPTANCE)
        error = np.where(log.captured, error, np.nan)[rows]
        session = None if log.session is None else log.session[rows]
        columns = {name: columns[name][rows] for name in columns}
        parts.append(
            decisions(
                *(error, log.identity[rows], columns),
                kind=kind,
                session=session,
                best_of=options["best_of"],
                time=None if time is None else time[rows],
                failures=options["failures"],
                grouped=grouped,
            )
        )
    return DecisionData(tuple(parts))


def _combinations(columns):
    """Labels of the combinations of columns, a dict."""
    encoded = (encode(c, name, allow_unknown=True) for name, c in columns.items())
    return intersect(list(encoded))


def _taken(column, name, rows):
    """Some rows of a column; None of None."""
    return None if column is None else to_column(column, name)[rows]


def _stacked(both, name):
    return join_columns([to_column(column, name) for column in both])


def _chosen(columns, attributes):
    """The columns of some names, a dict; an error about a name that is none of them."""
    chosen = {}
    for name in check_sequence(attributes, "attributes", "names of columns"):
        if not is_among(name, columns):
            listed = ", ".join(map(repr, columns)) or "none"
            problem = f"must be names of columns; {plain(name)!r} is none of them."
            remedy = f"The columns are: {listed}."
            raise refused("attributes", attributes, problem, remedy)
        chosen[name] = columns[name]
    return chosen


# ---- failures to acquire and to enrol ------------------------------------------------


def outcomes(values, name):
    """What became of every attempt, from the column that says so.

    Parameters
    ----------
    values : array-like, shape (n_attempts,)
        Empty, 0, "no", "false" or "ok" where a template was made; "fta" or "acquire" where
        no sample was acquired; 1, "yes", "true", "fte" or "enrol" where no template was
        stored.
    name : str
        Of the column, for messages.

    Returns
    -------
    outcome : ndarray of int, shape (n_attempts,)
    """
    remedy = (
        "write fte (or 1) where enrolment failed, fta where acquisition failed, and 0 "
    )
    remedy += "or nothing elsewhere."
    return meanings(to_column(values, name), WORDS, "fte", name, remedy, missing=MADE)


def with_failures(data, failed, failures, problem, outcome=None):
    """Data of which some rows failed: rejected, or left out and counted.

    Parameters
    ----------
    data : EmbeddingData or PairData
    failed : ndarray of bool, shape (n_rows,)
        Of its images or pairs.
    failures : {"reject", "report", "error"} or None
        What to do; None raises an error that names these.
    problem : tuple of two str
        The argument, and what is wrong, for messages.
    outcome : ndarray of int, shape (n_rows,), default=None
        What became of each; None takes failures to acquire.

    Returns
    -------
    data : EmbeddingData or PairData
        The same where nothing failed and nothing was asked.
    """
    if failures is not None:
        check_option(failures, "failures", FAILURES)
    n_failed = int(failed.sum())
    if failures in (None, "error"):
        if n_failed:
            first = int(failed.argmax())
            of_array = problem[0] in ("X", "y_score")
            rows = f"rows, first in {f'row {first}' if of_array else data_row(first)}"
            if data.decisions:  # rows of some kind of attempts, or transactions
                rows = data.terms.frr.trials
            found = f"{problem[1]} in {n_failed:,} of {failed.size:,} {rows};"
            raise refused(problem[0], None, found, ABOUT_FAILURES)
        return data
    if n_failed == failed.size:
        remedy = "give data that hold an attempt that did not fail."
        raise refused(problem[0], None, f"{problem[1]} in all rows;", remedy)
    outcome = np.where(failed, NOT_ACQUIRED, MADE) if outcome is None else outcome
    columns, note = data.columns, ""
    if isinstance(data, PairData):
        # Attempts are genuine comparisons, of which those who are rejected know.
        left, right = np.split(data.people(), 2)
        counted = left == right if data.y_true is None else np.asarray(data.y_true) == 1
        counted = counted if counted.any() else ~counted
        if not counted.all():
            note = (
                "Failures are counted among mated comparisons. Non-mated comparisons "
            )
            note += (
                f"without a score: {failed[~counted].sum():,} of {(~counted).sum():,}."
            )
        outcome = outcome[counted]
        columns = {n: _of_one_group(both, n)[counted] for n, both in columns.items()}
    about = {"attempts": Attempts(outcome, columns, note), "failures": failures}
    if failures == "report":
        return replace(data.take(~failed), **about)
    return replace(data, failed=failed, **about)


def _of_one_group(both, name):
    """The group of both images of pairs, None where they are in two."""
    labels = encode(_stacked(both, name), name, allow_unknown=True)
    left, right = np.split(labels.codes, 2)
    found = np.full(left.size, None, dtype=object)
    same = (left == right) & (left >= 0)
    found[same] = np.array(labels.values.tolist(), dtype=object)[left[same]]
    return found


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
            raise refused(
                "failures",
                "reject",
                "rejects images that are compared by 'cosine' or 'dot', not by a comparator;",
                "give 'report', which leaves them out and counts them by group.",
            )
        self.failed, self.similarity = failed, similarity
        self.lowest = 0.0 if lowest is None else lowest

    def prepare(self, X, sensitive_features=None):
        """Rows and offsets by which each pair with a failed image is below all others."""
        vectors, _ = prepare_rows(X, self.similarity, {})
        largest = np.einsum("ij,ij->i", vectors, vectors)[~self.failed].max()
        vectors[self.failed] = 0.0
        below = (1 + BELOW) * max(float(largest), -self.lowest) + 1e-6
        return PreparedImages(vectors, Adjustment.shifted(below * self.failed))


def failures_of(attempts, attributes):
    """Numbers and rates of failures, everyone's first, then those of every group.

    Parameters
    ----------
    attempts : Attempts or None
    attributes : tuple of str

    Returns
    -------
    failures : tuple of Failures
        Of groups without any template as well; empty where no attempts were recorded.
    """
    if attempts is None:
        return ()
    labels = _combinations({name: attempts.columns[name] for name in attributes})
    scopes = [(None, slice(None))]
    scopes += [(g, labels.codes == c) for c, g in enumerate(labels.values.tolist())]
    rows = []
    for group, inside in scopes:
        made, n_fta, n_fte = np.bincount(attempts.outcome[inside], minlength=3).tolist()
        acquired = made + n_fte
        n = acquired + n_fta
        fte = n_fte / acquired if acquired else float("nan")
        rows.append(Failures(group, n, n_fta, n_fte, n_fta / n, fte))
    return tuple(rows)


def generalised(rates, failures):
    """Generalised rates of everyone and of every group at one threshold.

    Parameters
    ----------
    rates : tuple of GroupRates
    failures : tuple of Failures

    Returns
    -------
    rates : tuple of GeneralisedRates
        In the order of ``failures``. A group without a template has no rates of pairs:
        nobody of it is accepted, whoever they claim to be.
    """
    of_group = {row.group: row for row in rates}
    found = []
    for row in failures:
        made = row.n_made / row.n_attempts
        gfar, gfrr = 0.0, 1.0
        if row.n_made:
            compared = of_group[row.group]
            gfar = compared.far.value * made
            gfrr = 1 - made + made * compared.frr.value
        found.append(GeneralisedRates(row.group, gfar, gfrr))
    return tuple(found)


def n_lost(data, inside):
    """How many genuine pairs of some images failed; None where none is kept.

    Parameters
    ----------
    data : EmbeddingData or PairData
    inside : ndarray of bool, shape (n_rows,)
        As of its ``groups``.
    """
    if data.failed is None:
        return None
    failed = data.failed
    if isinstance(data, PairData):
        failed = np.tile(failed, 2)
    every, rest = (
        data.genuine_pairs(rows).sum() for rows in (inside, inside & ~failed)
    )
    return int(every - rest)


def lost_groups(failures):
    """A sentence on every group of which no attempt gave a template, a list."""
    return [
        f"None of the {row.n_attempts:,} attempts of {row.group!r} gave a template or a "
        "score: all were rejected (GFRR 1), and no FNMR of theirs can be measured."
        for row in failures
        if not row.n_made
    ]


# ---- data and labels as callers give them --------------------------------------------

# The name of an attribute whose labels come without one.
UNNAMED = "group"
# What a caller may say of the test.
ABOUT = ("title", "system", "dataset", "organisation", "tested", "labels_source")
ABOUT += ("sampling", "command")


def check_data(data, argument="columns", *, named=True, decisions=False):
    """Raise unless this is data to audit, whose rows are as many in every part.

    Parameters
    ----------
    data : object
    argument : str, default="columns"
        What the caller calls the columns, for messages.
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
        problem = f"must be an EmbeddingData or a PairData; got {kind_of_value(data)}."
        remedy = "Give EmbeddingData(X, y, columns), or what read_data reads."
        raise refused("data", data, problem, remedy)
    _check_names(data.columns, argument if named else "attribute")
    embedded = isinstance(data, EmbeddingData)
    (_check_images if embedded else _check_listed)(data, argument, named)
    check_text(data.columns, "attribute")
    if data.failed is None:
        return
    failed, n_rows = data.failed, len(data.X if embedded else data.y_score)
    is_mask = isinstance(failed, np.ndarray) and failed.dtype == bool
    if not is_mask or failed.shape != (n_rows,) or failed.all():
        got = "True in every row" if is_mask and failed.all() else kind_of_value(failed)
        problem = f"must be an array of {n_rows} booleans, not all True; got {got}."
        raise refused("failed", failed, problem, "Give True where a row failed.")


def choose_far_max(n_images, far):
    """The FAR up to which pairs are held: the largest level, or more of few images.

    Rates at the levels are exact; others, such as the FAR of one group at a threshold for
    all, may exceed them.
    """
    rule = usual_far_max(n_images)
    return rule if far is None else max(rule, float(far.max()))


def restated(error, argument, value):
    """An error about a part of an argument as one about the argument, an ArgumentError."""
    if getattr(error, "argument", None) == argument:
        return error
    remedy = error.remedy if isinstance(error, ArgumentError) else ""
    problem = str(error).removesuffix(remedy).rstrip()
    return refused(argument, value, f"cannot be used: {problem}", remedy)


def check_about(about):
    """Raise unless these are texts about a test by name, or None."""
    if about is None:
        return
    if not isinstance(about, Mapping) or about.keys() - {*ABOUT}:
        remedy = f"Give texts for some of {', '.join(ABOUT)}."
        raise refused("about", about, f"must be a dict; got {plain(about)!r}.", remedy)
    for name, text in about.items():
        check_line(text, name)


def columns_of(sensitive_features, attribute, of_pairs=False):
    """Name -> labels as callers give them, and whether they came with their names."""
    if sensitive_features is None:
        columns, problem = {}, "is None"
    else:
        columns = (_of_both if of_pairs else by_name)(sensitive_features)
        problem = "has no column"
    if not columns:
        raise refused(
            "sensitive_features",
            sensitive_features,
            f"{problem}, and an audit compares the groups of one attribute at least;",
            "give the group of each image.",
        )
    if not isinstance(sensitive_features, dict) and len(columns) == 1:
        ((name, labels),) = columns.items()
        return {attribute or name or UNNAMED: labels}, False
    if attribute is not None:
        raise refused(
            "attribute",
            attribute,
            f"{attribute!r} names labels that come without a name, and sensitive_features "
            f"names its own ({', '.join(columns)});",
            "leave it out.",
        )
    return columns, True


def by_name(labels):
    """Name -> labels of a dict, a frame or a series; labels without a name have an empty one."""
    if isinstance(labels, dict):
        return {str(name): column for name, column in labels.items()}
    native = nw.from_native(labels, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        return {str(name): native[name] for name in native.columns}
    name = native.name if isinstance(native, nw.Series) else None
    return {"" if name is None else str(name): labels}


def _of_both(sensitive_features):
    """The same of both images of each pair: two columns a name."""
    if isinstance(sensitive_features, dict):
        return {
            str(name): groups_of_both(both, f"sensitive_features[{name!r}]")
            for name, both in sensitive_features.items()
        }
    both = groups_of_both(sensitive_features, "sensitive_features")
    first, second = map(by_name, both)
    if len(first) == len(second) == 1:
        # Of NAME_1 and NAME_2 the name is NAME.
        (one,), (other,) = first, second
        stem = one.removesuffix("_1")
        shared = stem if (one, other) == (f"{stem}_1", f"{stem}_2") else ""
        return {one if one == other else shared: (first[one], second[other])}
    if list(first) != list(second):
        raise refused(
            "sensitive_features",
            sensitive_features,
            "must have the same columns for the first and the second image of a pair;",
            "give two frames with columns of the same names.",
        )
    return {name: (first[name], second[name]) for name in first}


def check_people(identities, y_true):
    """Raise unless pairs name their people, or say which of them are genuine."""
    if (identities is None) == (y_true is None):
        given = "are None" if y_true is None else "were both given"
        remedy = "give whom the images show or, where no person is known, y_true alone."
        raise refused("identities", identities, f"and y_true {given};", remedy)


def groups_of_both(values, name):
    """Labels of both images of each pair, a tuple of two; one column is that of both."""
    native = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        # Two columns may be meant for the two images, or for two attributes.
        is_one = len(native.columns) == 1
    elif isinstance(native, nw.Series):
        is_one = True
    else:
        # The first two tell labels from columns.
        is_one = _is_column(values) and all(map(_is_label, islice(values, 2)))
    return (values, values) if is_one else two_columns(values, name)


def two_columns(values, name, needed=True):
    """Labels of the first and of the second image of each pair, a tuple of two.

    Parameters
    ----------
    values : tuple or array of two array-likes, shape (n_pairs,)
    name : str
        The argument, for messages.
    needed : bool, default=True
        Whether either may not be None.
    """
    native = nw.from_native(values, pass_through=True, allow_series=True)
    is_one = isinstance(native, nw.DataFrame | nw.Series | str | dict)
    if not is_one and size_of(values) == 2:
        both = tuple(values)
        if all(_is_column(c) or (c is None and not needed) for c in both):
            return both
    raise refused(
        name,
        values,
        "must be a tuple of two array-likes, for the first and for the second image of "
        f"each pair; got {kind_of_value(values)}.",
    )


def _check_names(columns, argument):
    """Raise unless columns have names, all of them texts."""
    names = [0] if not isinstance(columns, Mapping) else columns
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        got = kind_of_value(columns) if names is not columns else f"{plain(wrong[0])!r}"
        raise refused(
            argument,
            columns,
            f"must be a dict of names, as texts, to the labels of each row; got {got}.",
            'Give {"gender": labels}.',
        )


def _check_images(data, argument, named):
    """Raise unless embeddings and all their labels have one number of rows."""
    rows = data.X if hasattr(data.X, "shape") else to_array(data.X, "X")
    if len(rows.shape) != 2 or not rows.shape[0]:
        got = kind_of_value(data.X)
        problem = f"must have the shape (n_samples, n_features); got {got}."
        raise refused("X", data.X, problem, "Give an array with a row for each image.")
    n_images = rows.shape[0]
    for name in ("y", "domain", "names"):
        labels = getattr(data, name)
        if labels is not None or name == "y":
            check_length(to_column(labels, name), n_images, name, "X")
    for key, labels in data.columns.items():
        name = f"{argument}[{key!r}]" if named else argument
        for column in to_columns(labels, name).values():
            check_length(column, n_images, name, "X")


def _check_listed(data, argument, named):
    """Raise unless scores and the labels of both images have one number of rows."""
    check_people(data.identities, data.y_true)
    n_pairs = check_scores(data.y_score, "y_score").size
    sides = {"image_names": two_columns(data.image_names, "image_names", needed=False)}
    if data.y_true is not None:
        check_length(to_column(data.y_true, "y_true"), n_pairs, "y_true", "y_score")
    else:
        sides["identities"] = two_columns(data.identities, "identities")
    for key, labels in data.columns.items():
        name = f"{argument}[{key!r}]"
        sides[name if named else argument] = two_columns(labels, name)
    for name, both in sides.items():
        for side, labels in enumerate(both):
            if labels is not None:
                column = to_column(labels, f"{name}[{side}]")
                check_length(column, n_pairs, f"{name}[{side}]", "y_score")


def _is_column(value):
    return size_of(value) is not None and not isinstance(value, str | dict)


def _is_label(value):
    return size_of(value) is None or isinstance(value, str)
