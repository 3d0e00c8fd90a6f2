"""Whether two systems were fitted on the same images, which a paired comparison needs.

Resamples draw people and images by their codes. Equal codes of other people, or of another
list of pairs, would give a comparison without a meaning: labels are compared as well.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr.utils._errors import Argument, ArgumentError, plain
from skfairfr.utils._labels import types_in_words

PAIRED = (
    "a paired comparison needs both systems' embeddings, or scores, of the same images "
    "with the same labels."
)
# Labels of one kind that a message shows.
SHOWN = 3


def check_same_images(first, second):
    """Raise, naming what differs, unless two systems saw the same images and pairs.

    Parameters
    ----------
    first, second : SimilarityROC
        Fitted. Rows of embeddings must stand in one order; pairs of a list may not.

    Raises
    ------
    ArgumentError
        If people, groups, sides, images or pairs differ.
    """
    ours, theirs = (roc._engine.pairs.images for roc in (first, second))
    lists = [_List.of(roc) for roc in (first, second)]
    if (lists[0] is None) != (lists[1] is None):
        kinds = {True: "embeddings (fit)", False: "listed pairs (fit_pairs)"}
        listed = lists[1] is None
        raise _differs(f"{kinds[listed]} and this one on {kinds[not listed]}")
    for labels, what in (("identities_", "identities"), ("groups_", "groups")):
        both = (getattr(roc, labels) for roc in (first, second))
        _check_types(*both, what)
    _check_labels(
        first.identities_, second.identities_, "other identities (y)", "people"
    )
    if first.groups_.tolist() != second.groups_.tolist():
        raise ArgumentError(
            Argument("other"),
            f" has the groups {plain(second.groups_.tolist())} instead of "
            f"{plain(first.groups_.tolist())};",
            remedy="fit both with the same sensitive_features.",
        )
    if lists[0] is not None:
        _check_lists(*lists)
        return
    if ours.identity.size != theirs.identity.size:
        raise _differs(
            f"{theirs.identity.size:,} images and this one on {ours.identity.size:,}"
        )
    _check_rows(ours.side, theirs.side, "other sides (domain or reference)", None)
    _check_rows(
        ours.identity, theirs.identity, "other identities (y)", first.identities_
    )
    _check_rows(
        ours.group, theirs.group, "other groups (sensitive_features)", first.groups_
    )


@dataclass(frozen=True)
class _List:
    """Labels of a list of pairs.

    Attributes
    ----------
    image_names : ndarray, shape (n_images,), or None
        None where images are not named: then each person is one.
    identities : list, shape (n_images,)
        Whom every image shows.
    pairs : ndarray of int, shape (n_pairs, 4)
        Codes of both images and of their groups, in an order that is not that of the list.
    """

    image_names: np.ndarray | None
    identities: list
    pairs: np.ndarray

    @classmethod
    def of(cls, roc):
        """That of a fitted SimilarityROC; None of one that was fitted on embeddings."""
        partitions = roc._partitions
        listed = getattr(partitions, "listed", None)
        if listed is None:
            return None
        ends = np.empty((2, listed.n_pairs), dtype=np.int64)
        ends[:, listed.genuine_rows] = listed.genuine.left, listed.genuine.right
        ends[:, listed.impostor_rows] = listed.impostors.left, listed.impostors.right
        labels, groups = partitions.labels(roc._names), np.full(ends.shape, -1)
        if labels is not None:
            groups = labels.codes.reshape(2, -1)
        # A list has no sides: (i, j) is (j, i).
        turned = (ends[0] > ends[1]) | ((ends[0] == ends[1]) & (groups[0] > groups[1]))
        columns = np.where(turned, [*ends[::-1], *groups[::-1]], [*ends, *groups])
        pairs = columns[:, np.lexsort(columns[::-1])].T
        identities = roc.identities_[partitions.images.identity].tolist()
        return cls(partitions.image_names, identities, pairs)


def _check_lists(ours, theirs):
    """Raise unless two lists pair the same images, in whatever order."""
    names = ours.image_names
    if (names is None) != (theirs.image_names is None):
        named = "without" if theirs.image_names is None else "with"
        raise _differs(f"pairs {named} names of their images (image_1 and image_2)")
    if names is None:
        names = np.array(ours.identities, dtype=object)
    else:
        _check_types(names, theirs.image_names, "images")
        _check_labels(names, theirs.image_names, "other images", "images")
        for name, here, there in zip(
            names, ours.identities, theirs.identities, strict=True
        ):
            if here != there:
                raise _differs(
                    f"other identities: image {plain(name)!r} shows {there!r} there and "
                    f"{here!r} here"
                )
    if len(ours.pairs) != len(theirs.pairs):
        raise _differs(
            f"{len(theirs.pairs):,} pairs and this one on {len(ours.pairs):,}"
        )
    for columns, what in (
        (slice(2), "other pairs"),
        (slice(4), "other groups of the images of a pair"),
    ):
        unlike = (ours.pairs[:, columns] != theirs.pairs[:, columns]).any(axis=1)
        if unlike.any():
            place = int(unlike.argmax())
            pair = min(ours.pairs[place].tolist(), theirs.pairs[place].tolist())
            first, second = (plain(names[end]) for end in pair[:2])
            raise _differs(f"{what}, such as {first!r} with {second!r}")


def _check_labels(ours, theirs, what, kind):
    """Raise unless two sorted arrays of labels are the same."""
    ours, theirs = ours.tolist(), theirs.tolist()
    if ours == theirs:
        return
    known = set(ours), set(theirs)
    parts = []
    for labels, others, where in (
        (theirs, known[0], "there"),
        (ours, known[1], "here"),
    ):
        alone = [label for label in labels if label not in others]
        if alone:
            more = ", ..." if len(alone) > SHOWN else ""
            shown = ", ".join(repr(label) for label in alone[:SHOWN])
            parts.append(f"{len(alone):,} {kind} only {where} ({shown}{more})")
    raise _differs(f"{what}: {', '.join(parts)}")


def _check_types(ours, theirs, what):
    """Raise where labels have types that are never equal."""
    types = types_in_words(ours, theirs)
    if types is not None:
        raise ArgumentError(
            Argument("other"),
            f" was fitted on {what} of type {types[1]}, and this one on {types[0]};",
            remedy="fit both with labels of one type.",
        )


def _check_rows(ours, theirs, what, labels):
    """Raise unless two arrays of codes, one for each image, are the same."""
    if ours is None and theirs is None:
        return
    if ours is None or theirs is None:
        raise _differs(what)
    differ = np.flatnonzero(ours != theirs)
    if not differ.size:
        return
    row = int(differ[0])
    shown = ""
    if labels is not None:
        there, here = (
            repr(plain(labels[c])) if c >= 0 else "unknown"
            for c in (theirs[row], ours[row])
        )
        shown = f", which is {there} there and {here} here"
    raise _differs(f"{what}: {differ.size:,} images differ, first row {row}{shown}")


def _differs(problem):
    return ArgumentError(Argument("other"), f" was fitted on {problem};", remedy=PAIRED)
