"""What an audit is of: embeddings, or scored pairs, with columns of labels.

Both kinds fit a SimilarityROC and list the people and images behind the pairs: one row for
each image of embeddings, two for each scored pair. They hold arrays, also those of a file.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import file_digest, sha256
from itertools import islice, product

import narwhals.stable.v2 as nw
import numpy as np

from skfairfr._core._pairs import usual_far_max
from skfairfr.datasets._embeddings import check_finite, labels_beside, read_embeddings
from skfairfr.datasets._files import kind_of
from skfairfr.datasets._metadata import joined, read_metadata
from skfairfr.datasets._scored_pairs import read_pairs
from skfairfr.datasets._trials import load_score_matrix, load_trials
from skfairfr.metrics._pairs._checks import check_pairs, warn_of_scores
from skfairfr.report._control import covariates_of
from skfairfr.report._notes import collecting
from skfairfr.report._records import Cell, Crossing, Failures, GeneralisedRates
from skfairfr.utils._errors import ArgumentError, kind_of_value, plain, refused, size_of
from skfairfr.utils._labels import (
    check_length,
    check_text,
    encode,
    intersect,
    is_unknown,
    join_columns,
    to_column,
    to_columns,
)
from skfairfr.utils._validation import (
    check_line,
    check_path,
    check_scores,
    check_sequence,
    is_among,
    to_array,
)

NO_FRR = (
    ", so that there is no genuine pair and no FNMR can be measured: this is an audit of the "
    "FMR alone. Do the identities name people, and not their images?"
)
NO_FAR = (
    "No pair is of two people: no FMR can be measured, and this is an audit of the FNMR alone, "
    "at a threshold that was set elsewhere."
)
# Options that only some ways of reading have.
OF_EMBEDDINGS = ("labels", "embedding", "identity", "domain", "image", "fte")
OF_PAIRS = (
    *("score", "identity_1", "identity_2", "y_true"),
    *("image_1", "image_2", "distance"),
)
OF_TRIALS = ("trials", "labels", "embedding", "identity", "image", "score", "distance")
OF_MATRIX = ("probes", "references", "identity", "image", "score", "distance")
OF_ALL = ("metadata", "on")
# Options that are files beside the data.
FILES = ("labels", "trials", "probes", "references", "metadata")
# What a column says of an attempt.
MADE, NOT_ACQUIRED, NOT_ENROLLED = 0, 1, 2
WORDS = {
    **dict.fromkeys(("", "0", "0.0", "no", "false", "ok"), MADE),
    **dict.fromkeys(("fta", "acquire"), NOT_ACQUIRED),
    **dict.fromkeys(
        ("1", "1.0", "yes", "true", "fte", "enrol", "enroll"), NOT_ENROLLED
    ),
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
    """

    path: str
    options: dict
    notes: tuple = ()
    sha256: dict = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Attempts:
    """What became of every row of a file, those without a template included.

    Attributes
    ----------
    outcome : ndarray of int, shape (n_attempts,)
        MADE, NOT_ACQUIRED or NOT_ENROLLED.
    columns : dict of str -> array-like, shape (n_attempts,)
        Attributes.
    """

    outcome: np.ndarray = field(repr=False)
    columns: dict = field(repr=False)


class _Data:
    """What either kind of data says of the file that it was read from, if it was."""

    # Whether rates by person, each weighing the same, are not measured.
    one_average = False
    # What numbers depend on beside the options of an audit.
    more_settings = {}  # noqa: RUF012

    @property
    def is_distance(self):
        """Whether scores were read as distances."""
        return self.reading is not None and bool(self.reading.options["distance"])

    @property
    def notes(self):
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
    # Embeddings name their people; pairs may not.
    independent = False
    kind, naming = "embeddings", "name the image of each row (--image)."

    def fit(self, roc, attributes=()):
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
        roc.set_params(similarity=self.similarity)
        roc.fit(self.X, self.y, groups, domain=self.domain)
        warn_of_scores(roc._engine.pairs)
        return roc

    def groups(self, attributes):
        """Combinations of attributes.

        Parameters
        ----------
        attributes : tuple of str
            Names of columns.

        Returns
        -------
        groups : Labels, shape (n_samples,)
            Distinct combinations, and the code of each row; -1 where one is unknown.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column.
        """
        return _combinations(_chosen(self.columns, attributes))

    def people(self):
        """Identities as codes.

        Returns
        -------
        codes : ndarray of int, shape (n_samples,)
        """
        return encode(self.y, "y").codes

    def images(self):
        """Images as codes.

        Returns
        -------
        codes : ndarray of int, shape (n_samples,)
        """
        return np.arange(len(self.X))

    def repeats(self):
        """Images whose embedding an earlier one has.

        Returns
        -------
        repeated : ndarray of bool, shape (n_samples,)
        words : str
            How many they are.
        """
        first = {}  # of digests, which take less memory than another copy of the rows
        digests = (sha256(row.tobytes()).digest() for row in np.asarray(self.X))
        found = np.array([first.setdefault(d, row) for row, d in enumerate(digests)])
        repeated = found != np.arange(found.size)
        people = self.people()
        n_others = np.count_nonzero(people != people[found])
        return repeated, (
            f"{repeated.sum():,} of {found.size:,} images have the same embedding as an "
            f"earlier image, {n_others:,} of them as one of another person."
        )

    def take(self, rows):
        """The data of some rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_samples,), or of int
            Which to take, or their numbers in the order wanted.

        Returns
        -------
        data : EmbeddingData
        """
        names = ("y", "domain", "names")
        taken = {name: _taken(getattr(self, name), name, rows) for name in names}
        for name in ("columns", "covariates"):
            columns = getattr(self, name).items()
            taken[name] = {n: _taken(c, n, rows) for n, c in columns}
        return replace(self, X=np.asarray(self.X)[rows], **taken)

    def genuine_pairs(self):
        """Count the genuine pairs of each identity.

        Returns
        -------
        counts : ndarray of int, shape (n_identities,)
        """
        people = self.people()
        if self.domain is None:
            n_images = np.bincount(people)
            return n_images * (n_images - 1) // 2
        second = encode(self.domain, "domain").codes == 1
        size = people.max() + 1
        sides = (np.bincount(people[s], minlength=size) for s in (second, ~second))
        return np.multiply(*sides)

    def lack_of_pairs(self):
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
    """

    # Scored pairs are comparisons, which failed attempts never reach.
    attempts = None
    kind, naming = "scored pairs", "name the images with image_1 and image_2."
    y_score: object = field(repr=False)
    identities: tuple | None = field(repr=False)
    columns: dict = field(default_factory=dict, repr=False)
    image_names: tuple = field(default=(None, None), repr=False)
    reading: Reading | None = None
    y_true: object = field(default=None, repr=False)
    covariates: dict = field(default_factory=dict, repr=False)

    @property
    def independent(self):
        """Whether no person is known, so that each pair stands for people of its own."""
        return self.y_true is not None

    def fit(self, roc, attributes=()):
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
        return roc.fit_pairs(
            self.y_score,
            *((None, None) if self.identities is None else self.identities),
            y_true=self.y_true,
            sensitive_features_1=groups[0],
            sensitive_features_2=groups[1],
            image_1=self.image_names[0],
            image_2=self.image_names[1],
        )

    def groups(self, attributes):
        """Combinations of attributes, of the first images, then of the second.

        Parameters
        ----------
        attributes : tuple of str
            Names of columns.

        Returns
        -------
        groups : Labels, shape (2 * n_pairs,)
            Distinct combinations, and the code of each image; -1 where one is unknown.

        Raises
        ------
        ArgumentError
            A ValueError: if there is no such column.
        """
        chosen = _chosen(self.columns, attributes)
        return _combinations({n: _stacked(both, n) for n, both in chosen.items()})

    def people(self):
        """Identities as codes, of the first images, then of the second.

        Returns
        -------
        codes : ndarray of int, shape (2 * n_pairs,)
            Of independent pairs the number of the pair, for both of its images.
        """
        if self.independent:
            return np.tile(np.arange(len(self.y_score)), 2)
        return encode(_stacked(self.identities, "identity"), "identity").codes

    def images(self):
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

    def repeats(self):
        """Pairs of the same two images as an earlier pair, in either order.

        Returns
        -------
        repeated : ndarray of bool, shape (n_pairs,)
            Where images are not named, pairs of the same two people with the same score;
            all False where scores have many ties.
        words : str
            How many they are.
        """
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
        repeated[np.unique(pairs, return_index=True)[1]] = False
        if 2 * n_scores < repeated.size - repeated.sum():
            repeated[:] = False
        return repeated, f"{repeated.sum():,} of {repeated.size:,} pairs {words}."

    def take(self, rows):
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
        )

    def genuine_pairs(self):
        """Count the genuine pairs of each identity.

        Returns
        -------
        counts : ndarray of int, shape (n_identities,)
            Of independent pairs 1 or 0 for each pair.

        Raises
        ------
        ValueError
            If ``y_true`` does not say of each pair whether it is genuine.
        """
        if self.independent:
            return check_pairs(self.y_true, self.y_score)[0].astype(np.int64)
        people = self.people()
        left, right = np.split(people, 2)
        return np.bincount(left[left == right], minlength=people.max() + 1)

    def lack_of_pairs(self):
        """Say why no FRR, or no FAR, can be measured.

        Returns
        -------
        note : str
            Empty if one can.
        """
        genuine = self.genuine_pairs()
        if genuine.sum() == len(self.y_score):
            return NO_FAR
        if genuine.any():
            return ""
        if self.independent:
            return "No pair is genuine, so that no FNMR can be measured."
        return f"No pair is of two images of one person{NO_FRR}"


def read_data(
    path,
    attributes=(),
    *,
    control=(),
    labels=None,
    embedding=None,
    identity=None,
    domain=None,
    image=None,
    fte=None,
    score=None,
    identity_1=None,
    identity_2=None,
    y_true=None,
    image_1=None,
    image_2=None,
    distance=False,
    trials=None,
    probes=None,
    references=None,
    metadata=None,
    on=None,
):
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
        acquisition failed, else 0 or empty. The audit counts them by group and adds
        generalised rates.
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

    Returns
    -------
    data : EmbeddingData or PairData
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
    attributes = check_sequence(attributes, "attributes", "names of columns", str)
    known = dict.fromkeys((*OF_EMBEDDINGS, *OF_PAIRS, *OF_TRIALS, *OF_MATRIX, *OF_ALL))
    options = {name: given[name] for name in known}
    kind, read, own = _way_to_read(path, options)
    for name, value in options.items():
        if value not in (None, False) and name not in (*own, *OF_ALL):
            problem = f"is no option of {kind}, which {path!r} is read as;"
            raise refused(name, value, problem, "leave it out.")
    if on is not None and metadata is None:
        raise refused("on", on, "names a column of metadata;", "give it (--metadata).")
    warnings = []
    with collecting(warnings, UserWarning):
        found = _controlled(read, path, attributes, options, control or ())
    notes = tuple(dict.fromkeys(map(str, warnings)))
    digests = _digests(path, options)
    return replace(found, reading=Reading(path, options, notes, digests))


def _controlled(read, path, attributes, options, control):
    """Data with attributes, and with covariates apart from them."""
    covariates = [one.name for one in covariates_of(control)] if control else []
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
    if options["trials"] is not None:
        return "listed trials", partial(_read_listed, load_trials, OF_TRIALS), OF_TRIALS
    if options["probes"] is not None:
        read = partial(_read_listed, load_score_matrix, OF_MATRIX)
        return "a matrix of scores", read, OF_MATRIX
    if holds_pairs(path):
        return PairData.kind, _read_pairs, OF_PAIRS
    return EmbeddingData.kind, _read_embeddings, OF_EMBEDDINGS


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
        return read_embeddings(path, *names, asked, finite=options["fte"] is None)

    data = _with_metadata(read, attributes, options)
    columns = {name: data.columns[name] for name in attributes}
    side, images = (
        None if options[name] is None else data.columns[options[name]]
        for name in ("domain", "image")
    )
    found = EmbeddingData(data.X, data.y, columns, side, names=images)
    if options["fte"] is None:
        return found
    return _with_templates(found, data.columns[options["fte"]], options["fte"])


def _with_metadata(read, attributes, options):
    """What ``read`` gives for the attributes that metadata lack, and those from there."""
    path, image = options["metadata"], options["image"]
    if path is None:
        return read(attributes, image)
    table, key = read_metadata(path, options["on"], image or "image")
    others = [name for name in attributes if name not in table.names or name == key]
    image = key if key == (image or "image") else image
    data = read(others, image)
    added = [name for name in attributes if name not in others]
    return joined(data, table, key, image, added)


def _with_templates(data, values, name):
    """The rows with a template, which remember the attempts of all."""
    attempts = Attempts(outcomes(values, name), data.columns)
    made = attempts.outcome == MADE
    if not made.any():
        raise refused(
            "fte",
            name,
            f"{name!r} says that no row has a template, so that nothing can be compared;",
            "write 0, or nothing, where a template was made.",
        )
    kept = replace(data.take(made), attempts=attempts)
    check_finite("what is left without failures", kept.X)
    return kept


def _digests(path, options):
    """SHA-256 of a file, and of those that were read beside it."""
    paths = [path, *(options[name] for name in FILES if options[name] is not None)]
    is_lone = options["labels"] is None and options["probes"] is None
    if kind_of(path) == "npy" and is_lone:
        paths.append(labels_beside(path))
    digests = {}
    for one in map(os.fsdecode, paths):
        with open(one, "rb") as file:
            digests[os.path.basename(one)] = file_digest(file, "sha256").hexdigest()
    return digests


def _read_pairs(path, attributes, options):
    names = {name: options[name] for name in OF_PAIRS if name != "distance"}

    def read(attributes, image):
        asked = [f"{name}_{side}" for name in attributes for side in (1, 2)]
        asked = dict.fromkeys(asked, "attributes")
        return read_pairs(path, names, asked, bool(options["distance"]))

    return _pair_data(_with_metadata(read, attributes, options), attributes)


def _read_listed(load, own, path, attributes, options):
    def read(attributes, image):
        given = {name: options[name] for name in own} | {"image": image}
        return load(path, **given, columns=dict.fromkeys(attributes, "attributes"))

    return _pair_data(_with_metadata(read, attributes, options), attributes)


def _pair_data(data, attributes):
    # One column is that of both images.
    get = data.columns.get
    columns = {n: (get(f"{n}_1", get(n)), get(f"{n}_2", get(n))) for n in attributes}
    images = (data.image_1, data.image_2)
    identities = (data.identity_1, data.identity_2) if data.y_true is None else None
    return PairData(data.y_score, identities, columns, images, y_true=data.y_true)


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
    column = to_column(values, name)
    distinct, place = np.unique(column.astype(str), return_inverse=True)
    words = [word.strip().casefold() for word in distinct.tolist()]
    found = np.array([WORDS.get(word, -1) for word in words], np.int8)[place]
    found[is_unknown(column)] = MADE
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        raise refused(
            "fte",
            name,
            f"{name!r} holds {plain(column[row])!r} in row {row}, which says nothing about the "
            "attempt;",
            "write fte (or 1) where enrolment failed, fta where acquisition "
            "failed, and 0 or nothing elsewhere.",
        )
    return found


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


def lost_groups(failures):
    """A sentence on every group of which no attempt gave a template, a list."""
    return [
        f"None of the {row.n_attempts:,} attempts of {row.group!r} gave a template: all were "
        "rejected (GFRR 1), and no rate of pairs can be measured."
        for row in failures
        if not row.n_made
    ]


# ---- data and labels as callers give them --------------------------------------------

# The name of an attribute whose labels come without one.
UNNAMED = "group"
# What a caller may say of the test.
ABOUT = ("title", "system", "dataset", "organisation")


def check_data(data, argument="columns", *, named=True):
    """Raise unless this is data to audit, whose rows are as many in every part.

    Parameters
    ----------
    data : object
    argument : str, default="columns"
        What the caller calls the columns, for messages.
    named : bool, default=True
        Whether the caller gave the names of the columns.
    """
    if not isinstance(data, EmbeddingData | PairData):
        problem = f"must be an EmbeddingData or a PairData; got {kind_of_value(data)}."
        remedy = "Give EmbeddingData(X, y, columns), or what read_data reads."
        raise refused("data", data, problem, remedy)
    _check_names(data.columns, argument if named else "attribute")
    embedded = isinstance(data, EmbeddingData)
    (_check_images if embedded else _check_listed)(data, argument, named)
    check_text(data.columns, "attribute")


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
