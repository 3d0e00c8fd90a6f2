"""Checks of a caller's arrays, and the pairs that SimilarityROC makes of them."""

import numpy as np

from skfairfr._core._pair_design import CompleteDesign
from skfairfr._core._pair_sets import EmbeddingPairs, ListedPairs, size_of
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._rates import count_at_least, next_above
from skfairfr._core._resampling import Images
from skfairfr.metrics._roc._records import ReversedScoresWarning
from skfairfr.utils._errors import Argument, ArgumentError
from skfairfr.utils._labels import (
    Labels,
    check_length,
    encode,
    join_columns,
    to_column,
)
from skfairfr.utils._memory import check_memory
from skfairfr.utils._validation import check_scores, plain, warn_caller

# Scores look reversed if the share of genuine scores above impostor ones is this many
# standard deviations (of independent pairs that are all alike) below one half.
CHANCE = 2.0


def join_sides(probe, reference):
    """Labels of probes and references, coded together."""
    if probe is None and reference is None:
        return None
    if probe is None or reference is None:
        missing = (
            "sensitive_features" if probe is None else "sensitive_features_reference"
        )
        raise ValueError(
            f"{missing} is missing: with a reference side, give the groups of both "
            "sides or of none."
        )
    values = encode(join_columns([probe.values, reference.values]), "y").values
    codes = [
        np.where(side.codes >= 0, np.searchsorted(values, side.values)[side.codes], -1)
        for side in (probe, reference)
    ]
    return Labels(values, np.concatenate(codes).astype(np.int32))


def compare_embeddings(
    X,
    identity,
    group,
    side,
    *,
    average,
    impostors,
    far_max,
    similarity="cosine",
    n_jobs=None,
    n_probes=None,
    far_name="far_max",
):
    """All pairs of embeddings, one side or two.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
    identity : Labels
    group : Labels or None
    side : ndarray of int8, shape (n_images,), or None
    average, impostors, far_max, similarity, n_jobs
        Parameters of SimilarityROC.
    n_probes : int, default=None
        Number of rows of X before those of X_reference, for messages.
    far_name : str, default="far_max"
        The caller's name for far_max, for messages.

    Returns
    -------
    pairs : EmbeddingPairs

    Raises
    ------
    ArgumentError
        If no two people can be compared, or not within the memory.
    """
    images = Images(
        identity.codes,
        np.full(len(X), -1, dtype=np.int32) if group is None else group.codes,
        side,
        identity.values.size,
        0 if group is None else group.values.size,
    )
    _check_people(images)
    _check_rows(X, similarity)
    design = CompleteDesign(images, average, impostors)
    if design.count_impostors(None) == 0:
        raise ArgumentError(
            Argument("impostors", "same_group"),
            " leaves no impostor pair: no two people share a known group.",
            remedy=(
                *("Give ", Argument("sensitive_features")),
                *(", or use ", Argument("impostors", "all"), "."),
            ),
        )
    check_memory(size_of(design, X.shape[1], n_jobs), Argument(far_name, far_max))
    vectors = unit_rows(X, similarity)
    pairs = EmbeddingPairs(vectors, design, far_max, similarity, n_jobs)
    if side is not None:
        _check_no_photograph_twice(pairs, n_probes)
    return pairs


def compare_listed(y_score, identities, features, images, *, average, impostors):
    """Pairs of a protocol file.

    Parameters
    ----------
    y_score : array-like, shape (n_pairs,)
    identities, features, images : tuples of two array-likes, shape (n_pairs,), or Nones
    average, impostors : str
        Parameters of SimilarityROC.

    Returns
    -------
    pairs : ListedPairs
    identity, group : Labels
        ``group`` may be None.
    images_named : bool
        Whether images are named, so that they can be resampled.
    """
    scores = check_scores(y_score, "y_score")
    if scores.size == 0:
        raise ValueError("y_score is empty; give at least one pair.")
    identity = _encode_both(identities, ("identity_1", "identity_2"), scores.size)
    names = ("sensitive_features_1", "sensitive_features_2")
    group = _encode_both(features, names, scores.size, allow_unknown=True)
    image = _encode_both(images, ("image_1", "image_2"), scores.size)
    members = identity if image is None else image
    codes = members.codes.reshape(2, -1)
    of_image = np.empty(members.values.size, dtype=np.int32)
    of_image[members.codes] = identity.codes
    if image is not None:
        _check_images(of_image, identity, image)
    universe = Images(
        of_image,
        np.full(of_image.size, -1, dtype=np.int32),
        None,
        identity.values.size,
        0 if group is None else group.values.size,
    )
    groups = np.full(2 * scores.size, -1) if group is None else group.codes
    pairs = ListedPairs(
        scores,
        *codes,
        tuple(groups.reshape(2, -1)),
        universe,
        average,
        impostors,
    )
    return pairs, identity, group, image is not None


def warn_if_reversed(pairs):
    """Warn if genuine pairs mostly have smaller scores than impostor pairs.

    Parameters
    ----------
    pairs : ListedPairs
    """
    genuine = pairs.genuine.ascending(None).scores
    impostor = pairs.impostors(None).scores
    if genuine.size == 0:
        return
    share = _share_larger(genuine, impostor)
    sizes = genuine.size * impostor.size
    if share >= 0.5 - CHANCE * np.sqrt((genuine.size + impostor.size + 1) / 12 / sizes):
        return
    warn_caller(
        "Genuine pairs mostly have smaller scores than impostor pairs: of one of each, "
        f"the genuine one has the larger in {share:.3g} of all cases. y_score is a "
        "similarity, larger meaning more alike; are these distances? Give minus a "
        "distance, as load_pairs(path, distance=True) does.",
        ReversedScoresWarning,
        "reversed_scores",
        share=share,
    )


def _share_larger(genuine, impostor):
    """Share of (genuine, impostor) in which the genuine score is larger; a tie is half.

    The area under the ROC curve of eq. (2)-(4) of Conti & Clémençon (2024), by positions
    in the sorted impostor scores.
    """
    at_least = count_at_least(impostor, genuine).mean()
    above = count_at_least(impostor, next_above(genuine)).mean()
    return float(1 - (at_least + above) / 2 / impostor.size)


def _encode_both(columns, names, n_pairs, allow_unknown=False):
    """Labels of both members of every pair, coded together; None where not given."""
    if columns[0] is None and columns[1] is None:
        return None
    for column, name, other in zip(columns, names, names[::-1], strict=True):
        if column is None:
            raise ValueError(f"{name} is missing while {other} was given; give both.")
    columns = [to_column(c, n) for c, n in zip(columns, names, strict=True)]
    for column, name in zip(columns, names, strict=True):
        check_length(column, n_pairs, name, "y_score")
    joint = join_columns(columns)
    return encode(joint, f"{names[0]} or {names[1]}", allow_unknown=allow_unknown)


def _check_images(of_image, identity, image):
    wrong = np.flatnonzero(of_image[image.codes] != identity.codes)
    if wrong.size:
        name = image.values[image.codes[wrong[0]]]
        raise ValueError(
            f"image {plain(name)!r} is listed under two identities; an image shows one person: "
            "make image labels unique, for example by the person's label before them."
        )
    left, right = image.codes.reshape(2, -1)
    if (left == right).any():
        pair = int(np.flatnonzero(left == right)[0])
        name = plain(image.values[left[pair]])
        raise ArgumentError(
            f"pair {pair} compares the image {name!r} with itself;",
            value=name,
            remedy=(
                *("remove the pairs whose ", Argument("image_1"), " is their "),
                *(Argument("image_2"), "."),
            ),
        )


def _check_people(images):
    if images.side is None:
        if images.n_identities < 2:
            raise ArgumentError(
                Argument("y"),
                " holds one identity; a FAR needs impostor pairs, of two people at least.",
                remedy="Give the embeddings of more people.",
            )
        return
    people = [np.unique(images.identity[images.side == s]) for s in (0, 1)]
    if any(p.size == 0 for p in people) or np.union1d(*people).size < 2:
        raise ArgumentError(
            Argument("y"),
            " holds no two people to compare across the two sides; a FAR needs a probe of "
            "one person and a reference of another.",
        )


def _check_rows(X, similarity):
    if similarity == "dot":
        largest = float(np.abs(X).max()) * np.sqrt(X.shape[1])
        if largest**2 > np.finfo(np.float32).max:
            raise ArgumentError(
                Argument("X"),
                f" reaches {np.abs(X).max():.3g}, so that inner products exceed float32;",
                remedy=(
                    "divide all embeddings by one constant, or use ",
                    *(Argument("similarity", "cosine"), "."),
                ),
            )
        return
    zero = np.flatnonzero(~X.any(axis=1))
    if zero.size:
        raise ArgumentError(
            Argument("X"),
            f" has a zero row ({zero[0]}, {zero.size} in all), whose cosine similarity is "
            "undefined;",
            remedy="remove failed extractions, with their labels.",
        )


def _check_no_photograph_twice(pairs, n_probes):
    genuine = pairs.genuine.ascending(None)
    own = pairs.own_scores
    # Equal rows score exactly as a row with itself: only such pairs are compared.
    suspects = np.flatnonzero(genuine.scores == own[genuine.left])
    left, right = genuine.left[suspects], genuine.right[suspects]
    same = (pairs.vectors[left] == pairs.vectors[right]).all(axis=1)
    if same.any():
        row = int(np.flatnonzero(same)[0])
        probe, reference = np.array([left[row], right[row]]).tolist()
        where = (f"rows {probe} and {reference} of ", Argument("X"))
        if n_probes is not None:
            where = (f"row {probe} of X and row {reference - n_probes} of X_reference",)
        raise ArgumentError(
            *("The same photograph stands on both sides (", *where),
            f"; {int(same.sum())} such pairs): its genuine pair would always be accepted.",
            remedy="Remove it from one side.",
        )
