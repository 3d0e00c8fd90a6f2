"""Bounds of rates under wrong labels against all corrections of labels of a few people."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import label_error_bounds

THRESHOLD = 0.25
NAMES = np.array(["a", "b", "c"])


def few_people(seed, average="pair", n_groups=2, sides=1):
    """A fit of nine people, and their errors and pairs, (9, 9), by loops over all pairs."""
    rng = np.random.default_rng(seed)
    identity = np.concatenate([np.arange(9), rng.integers(0, 9, 14)])
    label = rng.permutation(np.arange(9) % n_groups)
    X = rng.normal(size=(identity.size, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    domain = rng.integers(0, 2, identity.size) if sides == 2 else None
    roc = SimilarityROC(average=average, method="jackknife")
    roc.fit(X, identity, NAMES[label][identity], domain=domain)
    errors, pairs = np.zeros((2, 9, 9))
    for i, j in product(range(identity.size), repeat=2):
        is_pair = i < j if sides == 1 else domain[i] < domain[j]
        if is_pair:
            k, h = identity[i], identity[j]
            k, h = (k, h) if sides == 2 else sorted((k, h))
            accepted = X[i] @ X[j] >= THRESHOLD
            pairs[k, h] += 1
            errors[k, h] += accepted != (k == h)
    if average == "identity":
        errors, pairs = errors / np.maximum(pairs, 1), (pairs > 0).astype(float)
    return roc, label, errors, pairs


def rates(label, errors, pairs, rate, n_groups):
    """Rate of each group with these labels, nan without pairs."""
    off = np.eye(9) if rate == "frr" else 1 - np.eye(9)
    found = []
    for group in range(n_groups):
        both = np.outer(label == group, label == group) * off
        total = (both * pairs).sum()
        found.append((both * errors).sum() / total if total else np.nan)
    return np.array(found)


def all_corrections(label, share, n_groups):
    """Labels of everyone with at most a share of those with each label corrected."""
    most = [np.floor(share * (label == g).sum()) for g in range(n_groups)]
    for other in product(range(n_groups), repeat=9):
        other = np.array(other)
        wrong = [(other != label)[label == g].sum() for g in range(n_groups)]
        if np.all(np.array(wrong) <= most):
            yield other


designs = pytest.mark.parametrize(
    ("seed", "average", "n_groups", "sides"),
    [
        (0, "pair", 2, 1),
        (1, "pair", 2, 1),
        (2, "identity", 2, 1),
        (3, "pair", 3, 1),
        (4, "pair", 2, 2),
        (5, "identity", 2, 2),
    ],
)


@designs
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5])
def test_bounds_contain_all_corrected_labels(seed, average, n_groups, sides, share):
    roc, label, errors, pairs = few_people(seed, average, n_groups, sides)
    asked = errors, pairs
    for rate in ("frr", "far"):
        found = label_error_bounds(
            roc, share, threshold=THRESHOLD, rate=rate, reference="a"
        )
        assert_allclose(found.value, rates(label, *asked, rate, n_groups))
        every = np.array(
            [
                rates(other, *asked, rate, n_groups)
                for other in all_corrections(label, share, n_groups)
            ]
        )
        low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
        if rate == "frr" or share == 0:
            assert_allclose(found.value_low, low, atol=1e-9)
            assert_allclose(found.value_high, high, atol=1e-9)
        assert (found.value_low <= low + 1e-9).all()
        assert (found.value_high >= high - 1e-9).all()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (every / every[:, :1])[:, 1:]
        assert (found.low[1:] <= np.nanmin(ratio, axis=0) + 1e-9).all()
        assert (found.high[1:] >= np.nanmax(ratio, axis=0) - 1e-9).all()


@pytest.fixture(scope="module")
def faces():
    data = make_face_embeddings(n_identities=300, random_state=0)
    roc = SimilarityROC(method="jackknife").fit(data.X, data.y, data.sensitive_features)
    return data, roc


@pytest.mark.parametrize("reference", [None, "male"])
def test_without_wrong_labels_the_interval_is_that_of_the_ratio(faces, reference):
    _, roc = faces
    found = label_error_bounds(roc, 0.0, 1e-2, rate="far", reference=reference)
    expected = roc.estimate(1e-2, rate="far", how=("ratio", "male", "female"))
    assert_allclose(found.ratio[0], expected.value)
    assert_allclose(
        [found.low[0], found.high[0]], [expected.low, expected.high], rtol=1e-6
    )
    assert np.isnan(found.ratio[1]) == (reference is not None)


def test_undo_share_is_the_smallest_that_makes_the_ratio_uncertain(faces):
    _, roc = faces
    found = label_error_bounds(roc, 0.0, 1e-2, rate="far")
    share = found.undo_share[0]
    people = np.array([105, 195])
    before = max(np.floor(share * people - 1e-6) / people)
    assert 0 < before < share
    low = [label_error_bounds(roc, s, 1e-2, rate="far").low[0] for s in (before, share)]
    assert low[0] > 1 >= low[1]


def test_undo_share_of_uncertain_ratio_is_zero(faces):
    _, roc = faces
    found = label_error_bounds(roc, 0.0, 1e-2)
    assert (found.low < 1).all() and (found.high > 1).all()
    assert (found.undo_share == 0).all()


def test_images_of_one_person_in_several_groups_raise(faces):
    data, _ = faces
    group = np.array(data.sensitive_features)
    group[0] = "female" if group[0] == "male" else "male"
    roc = SimilarityROC().fit(data.X, data.y, group)
    with pytest.raises(ValueError, match=r"1 people .* several groups"):
        label_error_bounds(roc, 0.1, 1e-2)


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
def test_share_out_of_range_raises(faces, share):
    with pytest.raises(ValueError, match="share"):
        label_error_bounds(faces[1], share, 1e-2)
