"""Checks of a caller's arrays, and what SimilarityROC compares of them."""

from __future__ import annotations

import numpy as np

from skfairfr._core._pair_tiles import mean_rows
from skfairfr._core._pairs import (
    DEPTH,
    WHOLE,
    WHOLE_GROUP,
    Expected,
    HeldPairs,
    ListedScores,
)
from skfairfr._core._parallel import available_bytes, comparison_bytes
from skfairfr._core._resampling import Images
from skfairfr.metrics._pairs._rates import check_pairs
from skfairfr.metrics._roc._compared import EmbeddingAttributes, ListedAttributes
from skfairfr.metrics._roc._similarities import BestRow, prepare
from skfairfr.utils._bands import check_groups
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import (
    Labels,
    check_affixes,
    check_exact,
    check_length,
    check_not_exchanged,
    check_spelling,
    encode_joined,
    join_columns,
    joint_codes,
    split_labels,
    to_column,
    to_columns,
)
from skfairfr.utils._validation import (
    check_no_diagonal,
    check_no_zero_row,
    check_rows,
    check_scores,
    plain,
)


def join_reference(probe, reference, called="reference"):
    """Rows, identities and attributes of probes and references in one, and their sides.

    Parameters
    ----------
    probe : tuple of X, y, sensitive features and domain, as ``fit`` is given them
        X is checked.
    reference : tuple of X, y and sensitive features
    called : {"reference", "gallery"}, default="reference"
        How the names of the arguments end. Groups of a gallery may be left out.

    Returns
    -------
    X, identity, attributes, side
        As :func:`compare_embeddings` takes them.
    """
    X, *labels = probe
    X_reference, y_reference, features = reference
    named = f"X_{called}"
    if X_reference is None or y_reference is None:
        missing = named if X_reference is None else f"y_{called}"
        raise ValueError(f"{missing} is missing. Pass {named} and y_{called}.")
    options = {"dtype": (np.float32, np.float64), "input_name": named}
    X_reference = check_rows(X_reference, **options)
    if X_reference.shape[1] != X.shape[1]:
        problem = f"has {X_reference.shape[1]} features but X has {X.shape[1]};"
        remedy = "both sides need embeddings of one encoder."
        raise invalid(named, None, problem, remedy)
    if split_labels(*labels)[2] is not None:
        problem = (
            f"and {named} both determine which pairs are compared. Pass one of them."
        )
        raise invalid("domain", None, problem)
    of = (("X", len(X)), (named, len(X_reference)))
    found = join_labels(labels[:2], (y_reference, features), of, called)
    return np.concatenate([X, X_reference]), *found


def join_labels(probe, reference, of=None, called="gallery"):
    """Identities and attributes of probes and references in one, and their sides.

    Parameters
    ----------
    probe, reference : tuples of y and sensitive features
    of : tuple of two (str, int), default=None
        What the rows of either are those of, for messages, and their number. If None, of y.
    called : {"reference", "gallery"}, default="gallery"
        See :func:`join_reference`.
    """
    identity, group, _ = split_labels(*probe)
    others, group_of_others, _ = split_labels(*reference)
    if of is None:
        both = ((identity, "y"), (others, f"y_{called}"))
        of = [(name, len(to_column(column, name))) for column, name in both]
    n_rows = [n for _, n in of]
    identity = _encode_both((identity, others), ("y", f"y_{called}"), of)
    check_spelling(identity.values, "y", f"y_{called}")
    side = np.repeat(np.array([0, 1], dtype=np.int8), n_rows)
    check_affixes(identity, side == 1, "y", f"y_{called}")
    names = ("sensitive_features", f"sensitive_features_{called}")
    if called == "gallery" and group is not None and group_of_others is None:
        unknown = np.full(n_rows[1], None)
        group_of_others = dict.fromkeys(to_columns(group, names[0]), unknown)
    attributes = _attributes_of_both((group, group_of_others), names, of)
    for name, labels in attributes.items():
        check_groups(labels, name or "sensitive_features")
    return identity, attributes, side


def check_not_enrolled(probes, enrolled, called="the gallery"):
    """Raise if a probe is one of the images enrolled."""
    rows = [np.ascontiguousarray(side) + 0.0 for side in (probes, enrolled)]
    width = f"V{rows[0].itemsize * rows[0].shape[1]}"
    same = np.isin(*(side.view(width).ravel() for side in rows))
    if same.any():
        row = int(np.flatnonzero(same)[0])
        raise invalid(
            *("X", None),
            f"has rows that are in {called} too (row {row}, {same.sum()} in all), which are "
            "then compared with themselves;",
            "leave them out of the probes.",
        )


def join_references(X, identity, attributes, side, template, similarity):
    """Rows, labels and similarity if the references of each person are one template.

    Parameters
    ----------
    X, identity, attributes, side
        See :func:`join_reference`, the probes first.
    template : {"mean", "max"}
    similarity : {"cosine", "dot"} or comparator

    Returns
    -------
    X, identity, attributes, side, similarity
        With one row for each template, in the order of the people. Of "max" it is the first
        of them, and the similarity is a BestRow. A template is in a group if all its rows are.
    """
    n_probes = np.count_nonzero(side == 0)
    order = n_probes + np.argsort(identity.codes[n_probes:], kind="stable")
    starts = np.flatnonzero(np.diff(identity.codes[order], prepend=-1))
    first, probes = np.append(starts, order.size), np.arange(n_probes)
    taken = np.append(probes, order[starts])
    attributes = {
        name: Labels(of.values, np.append(of.codes[:n_probes], group))
        for name, of in attributes.items()
        for group in [joint_codes(of.codes[order], starts)]
    }
    if template == "mean":
        if similarity != "dot":
            check_no_zero_row(X)
        means = mean_rows(X[order], first, similarity)
        X = np.concatenate([X[:n_probes], means.astype(X.dtype)])
    else:
        rows = X[np.append(probes, order)]
        similarity = BestRow(rows, np.append(probes, n_probes + first), similarity)
        X = X[taken]
    identity = Labels(identity.values, identity.codes[taken])
    return X, identity, attributes, side[taken], similarity


def compare_embeddings(
    X,
    identity,
    attributes,
    side,
    *,
    far_max,
    similarity="cosine",
    n_jobs=None,
    device="cpu",
    expected=None,
    far_name="far_max",
):
    """All pairs of embeddings, one side or two.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
    identity : Labels
    attributes : dict of str -> Labels
    side : ndarray of int8, shape (n_images,), or None
    far_max, similarity, n_jobs, device
        Parameters of SimilarityROC.
    expected : Expected, default=None
        Questions that the pass should answer too.
    far_name : str, default="far_max"
        The caller's name for far_max, for messages.

    Returns
    -------
    compared : EmbeddingAttributes

    Raises
    ------
    ValueError
        If no two people can be compared, or not within the memory.
    """
    for name, labels in attributes.items():
        check_groups(labels, name or "sensitive_features")
    unknown = np.full(len(X), -1, dtype=np.int32)
    images = Images(identity.codes, unknown, side, identity.values.size, 0)
    people = [images.identity] * 2
    if side is not None:
        people = [images.identity[side == s] for s in (0, 1)]
    if not all(p.size for p in people) or np.union1d(*people).size < 2:
        problem = (
            "contains no two people to compare, across the sides if there are two;"
        )
        raise invalid("y", None, problem, "give the embeddings of more people.")
    groupings = [labels.codes for labels in attributes.values()]
    held = (DEPTH * far_max, (WHOLE, WHOLE_GROUP))
    needed = comparison_bytes(identity.codes, groupings, side, X.shape[1], *held)
    first = similarity.first if isinstance(similarity, BestRow) else None
    needed *= 1 if first is None else first[-1] / len(X)
    available = available_bytes()
    if needed > available:
        raise invalid(
            *(far_name, far_max),
            f"of {far_max:g} (the largest level requested) needs about "
            f"{needed / 1e9:.2g} GB of memory, and {available / 1e9:.2g} GB are available.",
            "Lower it, or compare fewer images.",
        )
    vectors, adjustment = prepare(X, similarity, attributes, side)
    how = n_jobs, device, adjustment, first
    compared = HeldPairs(vectors, images, groupings, *how)
    if side is not None and first is None:  # else pooling looks at all rows
        _check_no_photograph_twice(compared)
    return EmbeddingAttributes(
        attributes, images, compared, far_max, expected or Expected()
    )


def compare_listed(
    y_score,
    identities,
    of_both,
    of_each,
    images,
    y_true=None,
    only=(False, False),
    n_people=None,
):
    """Pairs of a protocol file.

    Parameters
    ----------
    y_score : array-like, shape (n_pairs,)
    identities, images : tuples of two array-likes, shape (n_pairs,), or Nones
    of_both : array-like, frame or dict, shape (n_pairs,), or None
        Groups that both images have.
    of_each : tuple of two such
        Those of either.
    y_true : array-like, shape (n_pairs,), default=None
        Instead of identities: pairs are taken as independent.
    only : tuple of two bool, default=(False, False)
        Whether the caller states that there are genuine pairs alone, or impostor pairs alone.
    n_people : int, default=None
        Where identities are codes of so many people, some of whom may be in no pair.

    Returns
    -------
    compared : ListedAttributes
    identity : Labels
    """
    scores = check_scores(y_score, "y_score")
    if scores.size == 0:
        raise ValueError("y_score is empty. Pass at least one pair.")
    n_drawn, of = None, (("y_score", scores.size),) * 2
    if y_true is None:
        names = ("identity_1", "identity_2")
        remedy = "give both by position or as identity_1=, identity_2="
        identity = _encode_both(identities, names, of, False, remedy, n_people)
        if identity is None:
            remedy = "give whom the images show or, if that is not known, y_true."
            raise invalid("identity_1", None, "and identity_2 are missing;", remedy)
        is_one = identities[0] is identities[1]  # of decisions
        check_spelling(identity.values, *(("identity",) if is_one else names))
        if not is_one:
            second = np.arange(2 * scores.size) >= scores.size
            check_affixes(identity, second, *names)
    else:
        given = (*identities, *images)
        names = ("identity_1", "identity_2", "image_1", "image_2")
        conflicting = [n for n, g in zip(names, given, strict=True) if g is not None]
        if conflicting:
            problem = f"and {conflicting[0]} were both given, and y_true is for unknown people;"
            remedy = (
                "give identity_1 and identity_2 instead of y_true, or y_true alone."
            )
            raise invalid("y_true", None, problem, remedy)
        is_genuine, _ = check_pairs(y_true, scores)
        # People of their own: one in a genuine pair, two in another. The first are
        # numbered as the pairs are, and resamples draw among these alone.
        n_drawn = scores.size
        first = np.arange(n_drawn)
        second = np.where(is_genuine, first, first[-1] + np.cumsum(~is_genuine))
        people = np.arange(n_drawn + np.count_nonzero(~is_genuine))
        identity = Labels(people, np.concatenate([first, second]).astype(np.int32))
    names = ("sensitive_features_1", "sensitive_features_2")
    if of_both is not None:
        conflicting = [n for n, g in zip(names, of_each, strict=True) if g is not None]
        if conflicting:
            problem = f"and {conflicting[0]} were both given;"
            remedy = "give the group of both images, or that of each."
            raise invalid("sensitive_features", None, problem, remedy)
        of_each, names = (of_both, of_both), ("sensitive_features",) * 2
    attributes = _attributes_of_both(of_each, names, of)
    for name, labels in attributes.items():
        check_groups(labels, name or "sensitive_features")
    is_genuine = np.equal(*identity.codes.reshape(2, -1))
    _check_kinds(is_genuine, only)
    if y_true is None:
        check_no_diagonal(is_genuine, scores)
        for name, labels in attributes.items():
            check_not_exchanged(identity, labels, ("identity_1", names[0]))
            if n_people is None:
                _check_of_both(name, labels.codes, identity.codes)
    image = _encode_both(images, ("image_1", "image_2"), of)
    members = identity if image is None else image
    codes = members.codes.reshape(2, -1)
    of_image = np.arange(members.values.size, dtype=np.int32)
    of_image[members.codes] = identity.codes
    if image is not None:
        _check_images(of_image, identity, image)
    listed = ListedScores(scores, *codes, of_image)
    unknown = np.full(of_image.size, -1, dtype=np.int32)
    universe = Images(of_image, unknown, None, identity.values.size, 0, n_drawn)
    names = None if image is None else image.values
    compared = ListedAttributes(attributes, universe, listed, names)
    return compared, identity


def _encode_both(
    columns, names, of, allow_unknown=False, remedy="give both", n_codes=None
):
    """Labels of two columns together, whose rows are those ``of`` (argument, number) each.

    With ``n_codes`` they are codes already, of which some may be missing.
    """
    if columns[0] is None and columns[1] is None:
        return None
    for column, name, other in zip(columns, names, names[::-1], strict=True):
        if column is None:
            raise ValueError(f"{name} is missing while {other} was given: {remedy}.")
    columns = [to_column(c, n) for c, n in zip(columns, names, strict=True)]
    for column, name, (other, n_rows) in zip(columns, names, of, strict=True):
        check_length(column, n_rows, name, other)
    for column, name in zip(columns, names, strict=True):
        if column.dtype.kind == "f":
            check_exact(column, name)
    if n_codes is not None:
        return Labels(np.arange(n_codes), join_columns(columns))
    return encode_joined(columns, " or ".join(dict.fromkeys(names)), allow_unknown)


def _attributes_of_both(features, names, of):
    """Labels of every attribute of two columns of features, as _encode_both, by name."""
    if features[0] is None or features[1] is None:
        _encode_both(features, names, of)  # raises where one is given
        return {}
    first, second = (to_columns(f, n) for f, n in zip(features, names, strict=True))
    called = common_names([*first], [*second], names)
    columns = zip(first.values(), second.values(), strict=True)
    both = (_encode_both(pair, names, of, allow_unknown=True) for pair in columns)
    return dict(zip(called, both, strict=True))


def common_names(first, second, arguments):
    """Names of attributes whose columns have one name, or NAME_1 and NAME_2."""
    stems = [str(name).removesuffix("_1") for name in first]
    if [f"{stem}_2" for stem in stems] == [str(name) for name in second]:
        return stems
    if len(first) == len(second) == 1 or first == second:
        return first
    problem = f"has the columns {plain(first)}, and {arguments[1]} {plain(second)};"
    raise invalid(arguments[0], None, problem, "give the same columns in one order.")


def _check_kinds(genuine, only):
    """Raise if there are pairs of one kind only and the caller has not stated it."""
    n_pairs, n_genuine = genuine.size, np.count_nonzero(genuine)
    kinds = (("mated_only", n_genuine), ("non_mated_only", n_pairs - n_genuine))
    for (argument, kept), stated, (_, other) in zip(
        kinds, only, kinds[::-1], strict=True
    ):
        what, others = ("genuine", "impostor")[:: 1 if argument == "mated_only" else -1]
        if stated and other:
            problem = f"was given, and {other:,} of {n_pairs:,} pairs are {others};"
            raise invalid(argument, True, problem, "leave it out, or these pairs.")
        if other == 0 and not stated and kept:
            raise invalid(
                *(argument, None),
                f"was not given, and all {n_pairs:,} pairs are {what} pairs.",
                f"Pass it if the list is meant to contain {what} pairs alone. If not, check the "
                "identities: do they name people, not images, in the same way on both sides?",
            )


def _check_of_both(name, group, identity):
    """Raise if the labels of both images are one column that is of one of the images.

    Such a column is nearly the same in all rows of a person in one place and not in those of
    a person in the other: two rows of one person differ less than half as often.
    """
    labels, other = group.reshape(2, -1)
    if not np.array_equal(labels, other):
        return
    sides = [_within_people(labels, people) for people in identity.reshape(2, -1)]
    (less, _), (most, n_mixed) = sorted(sides)
    if n_mixed > 1 and less < most / 2:
        image = ("first", "second")[sides[0][0] > sides[1][0]]
        raise invalid(
            "sensitive_features",
            None,
            f"contains one label of {plain(name)!r} for both images of each pair, and seems to be "
            f"that of the {image} image: {n_mixed:,} people of the other have several labels;",
            "give the labels of both images, as two columns (--attribute FIRST,SECOND).",
        )


def _within_people(labels, people):
    """How often two rows of a person differ in their label, and the people who have several."""
    known = labels >= 0
    labels, people = labels[known], people[known]
    if not labels.size:
        return 0.0, 0
    rows = np.bincount(people)
    cells, counts = np.unique(
        people.astype(np.int64) * (labels.max() + 1) + labels, return_counts=True
    )
    person = cells // (labels.max() + 1)
    same = np.bincount(person, counts * (counts - 1.0), rows.size)
    several = rows > 1
    differ = rows[several] - same[several] / (rows[several] - 1)
    share = float(differ.sum() / max(rows[several].sum(), 1))
    return share, np.count_nonzero(np.bincount(person) > 1)


def _check_images(of_image, identity, image):
    wrong = np.flatnonzero(of_image[image.codes] != identity.codes)
    if wrong.size:
        name = image.values[image.codes[wrong[0]]]
        raise ValueError(
            f"Image {plain(name)!r} is listed under two identities, but an image shows one person. "
            "Make image labels unique, for example by the person's label before them."
        )
    left, right = image.codes.reshape(2, -1)
    if (left == right).any():
        pair = int(np.flatnonzero(left == right)[0])
        name = plain(image.values[left[pair]])
        message = f"Pair {pair} compares the image {name!r} with itself"
        raise ValueError(f"{message}. Remove the pairs whose image_1 is their image_2.")


def _check_no_photograph_twice(compared):
    genuine, own = compared.genuine, compared.own_scores
    # Equal rows score exactly as a row with itself: only such pairs are compared.
    suspects = np.flatnonzero(genuine.scores == own[genuine.left])
    left, right = genuine.left[suspects], genuine.right[suspects]
    same = (compared.vectors[left] == compared.vectors[right]).all(axis=1)
    if same.any():
        row = int(np.flatnonzero(same)[0])
        probe, reference = int(left[row]), int(right[row])
        raise ValueError(
            f"X has the same photograph on both sides (rows {probe} and {reference}, those "
            f"of X_reference counted after its own, {int(same.sum())} such pairs in all). Its "
            "genuine pair would always be accepted. Remove it from one side."
        )
