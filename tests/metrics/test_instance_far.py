"""Facts of the false acceptance rate of each image."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import face_labels, make_face_embeddings
from skfairfr.metrics import instance_far
from skfairfr.utils import ArgumentError
from tests.metrics import designs

FACES = make_face_embeddings(
    n_identities=60, images_per_identity=(1, 5), n_features=8, random_state=0
)
GROUPS = FACES.sensitive_features
RNG = np.random.default_rng(7)
DESIGNS = {kind: designs.one_side(kind, RNG) for kind in ("none", "people", "images")}
IMPOSTORS = ["all", "same_group"]


def is_pair(i, j, y, groups, impostors):
    """Whether two images make an impostor pair that counts."""
    if y[i] == y[j]:
        return False
    return impostors == "all" or (groups[i] is not None and groups[i] == groups[j])


def double_loop(X, y, groups=None, *, far=None, threshold=None, impostors="all"):
    """Threshold and rate of every image, one pair after the other."""
    unit = np.float64(X) / np.linalg.norm(np.float64(X), axis=1, keepdims=True)
    unit = unit.astype(np.float32)
    n = len(y)
    scores = [[np.float32(unit[i] @ unit[j]) for j in range(n)] for i in range(n)]
    pairs = [
        [j for j in range(n) if is_pair(i, j, y, groups, impostors)] for i in range(n)
    ]
    if threshold is None:
        every = sorted(scores[i][j] for i in range(n) for j in pairs[i] if j > i)
        threshold = -math.inf
        for score in every:
            accepted = sum(s >= score for s in every)
            if Fraction(accepted, len(every)) > Fraction(str(far)):
                threshold = np.nextafter(score, np.float32(np.inf))
    rates = [
        sum(scores[i][j] >= threshold for j in js) / len(js) if js else math.nan
        for i, js in enumerate(pairs)
    ]
    return float(threshold), rates, [len(js) for js in pairs]


def assert_like_loop(X, y, groups=None, **options):
    found = instance_far(X, y, sensitive_features=groups, **options)
    threshold, rates, counts = double_loop(X, list(y), groups, **options)
    assert found.threshold == threshold
    assert_array_equal(found.instance_far, rates)
    assert_array_equal(found.n_impostor, counts)
    return found


@pytest.mark.parametrize("kind", DESIGNS)
@pytest.mark.parametrize("far", [0.02, 0.1, 0.5, 0.99])
def test_is_a_double_loop_with_ties_and_single_images(kind, far):
    found = assert_like_loop(*DESIGNS[kind], far=far)
    assert 1 in np.bincount(DESIGNS[kind][1])
    assert 0 <= found.instance_far.min() and found.instance_far.max() <= 1


@pytest.mark.parametrize("kind", DESIGNS)
def test_at_a_given_threshold_too(kind):
    for threshold in (-math.inf, -0.125, 0.125, 0.12500001, 1, 2.0, math.inf):
        assert_like_loop(*DESIGNS[kind], threshold=threshold)


@pytest.mark.parametrize("asked", [{"far": 0.1}, {"threshold": 0.2}])
def test_within_groups_of_people_and_of_images_where_some_are_unknown(asked):
    assert_like_loop(*DESIGNS["people"], **asked, impostors="same_group")
    X, y, groups = DESIGNS["images"]
    with pytest.warns(UndefinedMetricWarning, match="images have no impostor pair"):
        found = assert_like_loop(X, y, groups, **asked, impostors="same_group")
    unknown = np.array([group is None for group in groups])
    assert unknown.any() and np.isnan(found.instance_far[unknown]).all()
    assert found.n_impostor[unknown].tolist() == [0] * unknown.sum()


@pytest.mark.parametrize("threshold", [-0.2, -math.inf])
def test_too_many_accepted_pairs_to_hold_are_an_error(monkeypatch, threshold):
    designs.hold_tails(monkeypatch)
    X, y, _ = DESIGNS["people"]
    message = f"threshold of {threshold:g} accepts too many impostor pairs to store;"
    with pytest.raises(ArgumentError, match=message) as caught:
        instance_far(X, y, threshold=threshold)
    assert caught.value.remedy == "give a higher one, or far=."


@pytest.mark.parametrize("impostors", IMPOSTORS)
@pytest.mark.parametrize(
    "asked",
    [*({"far": f} for f in (0.02, 0.1, 0.5)), *({"threshold": t} for t in (0.9, 0.5))],
)
def test_a_tail_reaches_down_to_every_level_and_threshold(
    monkeypatch, asked, impostors
):
    designs.hold_tails(monkeypatch)
    assert_like_loop(*DESIGNS["people"], **asked, impostors=impostors)


def test_the_dot_product_is_another_similarity():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 2]
    found = instance_far(X, y, threshold=3.0, similarity="dot")
    assert found.instance_far.tolist() == [0.5, 0.5, 1.0]
    assert instance_far(X, y, threshold=0.9).instance_far.tolist() == [1, 1, 1]


def test_across_two_domains():
    rng = np.random.default_rng(3)
    X, y = designs.exact_rows(18, rng), rng.permutation(np.arange(18) % 6)
    domain = np.array(["selfie", "document"])[rng.integers(0, 2, 18)]
    groups = np.array(["a", "b"])[y % 2]
    for impostors in IMPOSTORS:
        found = instance_far(
            X, face_labels(y, groups, domain), threshold=0.125, impostors=impostors
        )
        for i in range(18):
            js = [
                j
                for j in range(18)
                if domain[i] != domain[j] and is_pair(i, j, y, groups, impostors)
            ]
            assert found.n_impostor[i] == len(js)
            accepted = sum(X[i] @ X[j] >= 0.125 for j in js)
            assert found.instance_far[i] == accepted / len(js)


@pytest.mark.parametrize("impostors", IMPOSTORS)
def test_groups_may_travel_inside_y(impostors):
    asked = {"far": 0.01, "impostors": impostors}
    expected = instance_far(FACES.X, FACES.y, **asked, sensitive_features=GROUPS)
    found = instance_far(FACES.X, face_labels(FACES.y, GROUPS), **asked)
    for field in dataclasses.fields(found):
        assert_array_equal(getattr(found, field.name), getattr(expected, field.name))


def test_a_level_that_cannot_be_resolved_is_said_and_accepts_nobody():
    with pytest.warns(
        UndefinedMetricWarning, match=r"below 1 / \(impostor pairs\)"
    ) as seen:
        found = instance_far(FACES.X, FACES.y, far=1e-7)
    assert not found.instance_far.any()
    assert seen[0].filename == __file__


@pytest.mark.parametrize(
    ("asked", "column"), [({"far": 0.01}, 0.01), ({"threshold": 0.4}, None)]
)
def test_the_frame_has_one_row_for_each_image(asked, column):
    found = instance_far(FACES.X, FACES.y, sensitive_features=GROUPS, **asked)
    frame = found.to_frame("polars")
    names = ["group", "instance_far", "n_impostor", "threshold"]
    assert frame.columns == names + (["far"] if column else [])
    assert frame["instance_far"].to_list() == found.instance_far.tolist()
    assert set(frame["threshold"]) == {found.threshold}
    if column:
        assert set(frame["far"]) == {column}
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.threshold = 0


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (FACES.X, FACES.y, {}, "Give exactly one of far and threshold, got neither"),
        (FACES.X, FACES.y, {"far": 0.1, "threshold": 0.1}, "got both"),
        (FACES.X, FACES.y, {"far": 0.0}, r"far must lie in \(0, 1\)"),
        (FACES.X, FACES.y, {"far": [0.1, 0.2]}, "far must be one number here"),
        (FACES.X, FACES.y, {"threshold": np.nan}, "threshold must be"),
        (FACES.X, FACES.y, {"far": 0.1, "impostors": "group"}, "impostors must be"),
        (FACES.X, FACES.y, {"far": 0.1, "similarity": "l2"}, "similarity must be one"),
        (FACES.X, FACES.y, {"far": 0.1, "impostors": "same_group"}, "no impostor pair"),
        (FACES.X, FACES.y[1:], {"far": 0.1}, "y has .* rows but X has"),
        (FACES.X, 0 * FACES.y, {"far": 0.1}, "y contains no two people"),
    ],
)  # fmt: skip
def test_refused(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        instance_far(X, y, **options)
