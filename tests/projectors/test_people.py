"""People: groups of identities from those of images, people held out whole."""

import collections
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import face_labels
from skfairfr.projectors._people import (
    agree_on_group,
    everyone,
    hold_out,
    mean_value,
    read_labels,
)
from tests.projectors.faces import GROUP, IDENTITY

NAN = math.nan
IMAGES = np.array(list("aaaabbbccd"))
GROUPS = np.array(["f", "f", "f", "m", "m", "m", None, "f", "m", None], dtype=object)


def labels(identity=IMAGES, group=GROUPS):
    return read_labels(identity, group, None, len(identity))[:2]


def brute_force(identity, group, min_agreement):
    """Identity by identity: the group of most of its images, and whether some differ."""
    chosen, unified = [], []
    for who in sorted(set(identity)):
        known = [
            g
            for g, i in zip(group, identity, strict=True)
            if i == who and g is not None
        ]
        label, most = (
            collections.Counter(known).most_common(1)[0] if known else (None, 0)
        )
        agree = bool(known) and most / len(known) >= min_agreement
        chosen.append(label if agree else None)
        unified.append(agree and most < len(known))
    return chosen, unified


@pytest.mark.parametrize("min_agreement", [0.51, 0.75, 0.76, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_agreement_is_counted_identity_by_identity(min_agreement, seed):
    rng = np.random.default_rng(seed)
    identity = rng.integers(30, size=200)
    group = rng.choice(["f", "m", None], size=200, p=[0.7, 0.2, 0.1])
    who, what = labels(identity, group)
    chosen, unified = agree_on_group(who, what, min_agreement)
    named = [None if c < 0 else what.values[c] for c in chosen]
    assert (named, unified.tolist()) == brute_force(identity, group, min_agreement)


def test_without_min_agreement_the_identity_is_named():
    with pytest.raises(ValueError, match=r"identity 'a'.*: \{'f': 3, 'm': 1\}.*=0.75"):
        agree_on_group(*labels(), None)
    known = GROUPS.copy()
    known[[3, 7, 8]] = ["f", None, None]
    with pytest.raises(ValueError, match="identity 'c', or is unknown"):
        agree_on_group(*labels(group=known), None)


def test_mean_value_is_over_the_known_images():
    ages = np.array([10, 20, 30, 40, NAN, 7, NAN, 1, 2, 5])
    assert_allclose(mean_value(*labels(group=ages)), [25, 7, 1.5, 5])


def test_everyone_and_some_of_them():
    identity, group = labels()
    people = everyone(identity, group)
    assert_array_equal(people.rows, np.arange(10))
    some = people.of(np.array([True, False, True, False]))
    assert some.rows.tolist() == [0, 1, 2, 3, 7, 8]
    assert some.y.tolist() == [0, 0, 0, 0, 1, 1]
    assert some.identities.tolist() == ["a", "c"]
    assert some.groups.tolist() == [0, 0, 0, 1, 0, 1]
    assert some.attribute is None


def with_attribute(attribute=None):
    identity, group, _ = read_labels(IDENTITY, GROUP, None, len(IDENTITY))
    people = everyone(identity, group)
    if attribute is None:
        attribute = agree_on_group(identity, group, None)[0]
    return people.__class__(
        people.rows, people.y, people.identities, attribute, people.groups
    )


def test_people_held_out_are_held_out_whole_and_in_every_group():
    training, held = hold_out(with_attribute(), 0.25, np.random.RandomState(0))
    assert not set(training.identities) & set(held.identities)
    assert sorted([*training.rows, *held.rows]) == list(range(len(IDENTITY)))
    assert np.bincount(held.attribute).tolist() == [5, 5]
    for part in (training, held):
        assert_array_equal(part.identities[part.y], IDENTITY[part.rows])


def test_nobody_held_out_has_two_images():
    people = everyone(*read_labels(np.arange(20), None, None, 20))
    with pytest.raises(ValueError, match="0 of them with two images"):
        hold_out(people, 0.5, np.random.RandomState(0))


@pytest.mark.parametrize(
    ("y", "group", "message"),
    [
        (["a", "a"], None, "y contains one identity"),
        (["a", "b"], ["f"], "sensitive_features has 1 rows"),
        (face_labels(["a", "b"], ["f", "m"]), ["f", "m"], "give it once"),
    ],
)
def test_labels_are_checked_at_the_door(y, group, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y, group, None, 2)
