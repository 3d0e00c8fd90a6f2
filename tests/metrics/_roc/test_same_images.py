"""A comparison is of the same people, images and pairs: labels decide, not codes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metrics.designs import GROUP, IDENTITY, X, exact_rows, unfitted

OTHER = exact_rows(30, np.random.default_rng(99))
PEOPLE = [["a", "a", "b", "c", "b"], ["a", "b", "b", "a", "c"]]
SCORES = [0.9, 0.1, 0.8, 0.2, 0.3]
GENDER = [["f", "f", "m", "m", "m"], ["f", "m", "m", "f", "m"]]
IMAGES = [["a1", "a1", "b1", "c1", "b2"], ["a2", "b1", "b2", "a1", "c1"]]


def embedded(X=X, y=IDENTITY, group=GROUP, **options):
    return unfitted().fit(X, y, group, **options)


def listed(people=PEOPLE, groups=GENDER, images=(None, None), order=slice(None)):
    def of(both):
        return [x if x is None else np.array(x)[order] for x in both]

    groups, images = of(groups), of(images)
    return unfitted().fit_pairs(
        np.array(SCORES)[order],
        *of(people),
        sensitive_features_1=groups[0],
        sensitive_features_2=groups[1],
        image_1=images[0],
        image_2=images[1],
    )


def changed(both, row, value, side=1):
    both = [list(column) for column in both]
    both[side][row] = value
    return both


def swapped(values, i, j):
    values = np.array(values)
    values[[i, j]] = values[[j, i]]
    return values


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            lambda: embedded(y=IDENTITY + 100),
            r"other identities \(y\): 8 people only there \(100, 101, 102, ...\), "
            r"8 people only here \(0, 1, 2, ...\);",
        ),
        (
            lambda: embedded(y=swapped(IDENTITY, 0, np.argmax(IDENTITY != IDENTITY[0]))),
            r"other identities \(y\): 2 images differ, first row 0, which is \d there",
        ),
        (
            lambda: embedded(group=np.where(np.arange(30) == 4, None, GROUP)),
            r"other groups \(sensitive_features\): 1 images differ, first row 4, which is "
            f"unknown there and '{GROUP[4]}' here",
        ),
        (
            lambda: embedded(X[:29], IDENTITY[:29], GROUP[:29]),
            "29 images and this one on 30",
        ),
        (
            lambda: embedded(y=IDENTITY.astype(str)),
            r"identities of type str \(such as '\d+'\), and this one on int \(such as \d+\); "
            "fit both with labels of one type",
        ),
        (
            lambda: embedded(group=np.unique(GROUP, return_inverse=True)[1]),
            r"groups of type int \(such as 0\), and this one on str \(such as '\w+'\)",
        ),
        (
            lambda: X,
            r"other must be a fitted SimilarityROC; got numpy.ndarray of shape "
            r"\(30, \d+\)\. Fit one",
        ),
        (lambda: listed(), r"other was fitted on listed pairs \(fit_pairs\) and this one"),
    ],
)  # fmt: skip
def test_other_embeddings(other, message):
    with pytest.raises(ValueError, match=message):
        embedded().compare(other(), 0.2)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"people": [[p.upper() for p in side] for side in PEOPLE]},
            r"3 people only there \('A', 'B', 'C'\), 3 people only here \('a', 'b', 'c'\)",
        ),
        ({"people": changed(PEOPLE, 3, "b")}, "other pairs, such as 'a' with 'c'"),
        ({"order": slice(1, 5)}, "4 pairs and this one on 5"),
        (
            {"groups": changed(GENDER, 3, "m")},
            "other groups of the images of a pair, such as 'a' with 'c'",
        ),
        (
            {"people": [["abcde".index(p) for p in side] for side in PEOPLE]},
            r"identities of type int \(such as 0\)",
        ),
        ({"images": IMAGES}, "pairs with names of their images"),
    ],
)
def test_other_lists(other, message):
    with pytest.raises(ValueError, match=message):
        listed().compare(listed(**other), 0.4)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ((None, None), "pairs without names of their images"),
        (
            changed(IMAGES, 3, "a9"),
            r"other images: 1 images only there \('a9'\)",
        ),
        (
            [[int(name[1]) + 10 * ord(name[0]) for name in side] for side in IMAGES],
            "images of type int",
        ),
        (changed(IMAGES, 3, "a2"), "other pairs, such as 'a1' with 'c1'"),
    ],
)
def test_other_lists_of_named_images(images, message):
    with pytest.raises(ValueError, match=message):
        listed(images=IMAGES).compare(listed(images=images), 0.4)


def test_an_image_of_another_person():
    people = changed(changed(PEOPLE, 4, "b"), 3, "b", side=0)
    with pytest.raises(ValueError, match="other identities"):
        listed(images=IMAGES).compare(listed(people, images=IMAGES), 0.4)
    people = [["a", "a", "c", "b", "c"], ["a", "c", "c", "a", "b"]]
    with pytest.raises(ValueError, match="image 'b1' shows 'c' there and 'b' here"):
        listed(images=IMAGES).compare(listed(people, images=IMAGES), 0.4)


@pytest.mark.parametrize("images", [(None, None), IMAGES])
def test_the_order_of_a_list_does_not_matter(images):
    first, second = (
        listed(images=images),
        listed(images=images, order=slice(None, None, -1)),
    )
    found = first.compare(second, threshold=0.25, rate="far")
    assert (found.difference, found.p_value) == (0, 1)
    assert found.low == -found.high


@given(st.integers(0, 10**6))
def test_lists_are_the_same_where_their_pairs_counted_by_a_loop_are(seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 3, (2, 6))
    two = np.where(rng.random((2, 6)) < 0.1, rng.integers(0, 3, (2, 6)), one)
    two = np.where(rng.random(6) < 0.5, two[::-1], two)[:, rng.permutation(6)]
    fitted = []
    for people in (one, two):
        if (people[0] == people[1]).all():
            return
        fitted.append(unfitted().fit_pairs(np.arange(6.0), *people))
    counted = [
        Counter(tuple(sorted(p)) for p in people.T.tolist()) for people in (one, two)
    ]
    if counted[0] == counted[1]:
        fitted[0].compare(fitted[1], threshold=2.0, rate="far")
    else:
        with pytest.raises(ValueError, match="other was fitted on"):
            fitted[0].compare(fitted[1], threshold=2.0, rate="far")


def test_another_scorer_of_the_same_images_is_compared():
    found = embedded().compare(embedded(OTHER), 0.2)
    assert found.low <= found.difference <= found.high
