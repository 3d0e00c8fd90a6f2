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
            lambda: embedded(y=swapped(IDENTITY, 0, np.argmax(IDENTITY != IDENTITY[0]))),
            r"other identities .*: 2 differ, the first, 0, is \d there",
        ),
        (
            lambda: embedded(group=np.where(np.arange(30) == 4, None, GROUP)),
            "other groups.*: 1 differ, the first, 4, is None there and "
            f"'{GROUP[4]}' here",
        ),
        (
            lambda: embedded(X[:29], IDENTITY[:29], GROUP[:29]),
            "29 identities of embeddings.* and this one on 30",
        ),
        (
            lambda: embedded(y=IDENTITY.astype(str)),
            r"other identities .*: 30 differ, the first, 0, is '\d+' there and \d+ here",
        ),
        (
            lambda: embedded(group=np.unique(GROUP, return_inverse=True)[1]),
            r"other groups.* is \d there and '\w+' here",
        ),
        (
            lambda: X,
            r"other must be a fitted SimilarityROC, got numpy.ndarray of shape "
            r"\(30, \d+\)\. Fit one",
        ),
        (lambda: listed(), "other was fitted on identities of pairs.* and this one on"),
    ],
)  # fmt: skip
def test_other_embeddings(other, message):
    with pytest.raises(ValueError, match=message):
        embedded().compare(other(), 0.2)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"people": changed(PEOPLE, 3, "b")}, "other identities of pairs"),
        ({"order": slice(1, 5)}, "8 identities of pairs and this one on 10"),
        (
            {"groups": changed(GENDER, 3, "m")},
            "other groups of pairs: 1 differ, the first, .*'m' there and 'f' here",
        ),
        (
            {"people": [["abcde".index(p) for p in side] for side in PEOPLE]},
            "other identities of pairs: 10 differ",
        ),
        (
            {"images": IMAGES},
            "images of pairs, identities .* and this one on identities",
        ),
    ],
)
def test_other_lists(other, message):
    with pytest.raises(ValueError, match=message):
        listed().compare(listed(**other), 0.4)


def test_an_image_of_another_person():
    people = changed(changed(PEOPLE, 4, "b"), 3, "b", side=0)
    with pytest.raises(ValueError, match="other identities"):
        listed(images=IMAGES).compare(listed(people, images=IMAGES), 0.4)
    people = [["a", "a", "c", "b", "c"], ["a", "c", "c", "a", "b"]]
    with pytest.raises(
        ValueError, match=r"other identities of pairs: .* 'c' there and 'b' here"
    ):
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
        if len({*(people[0] == people[1]).tolist()}) == 1:
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
