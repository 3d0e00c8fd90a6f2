"""Bounds of rates under wrong labels against all corrections of labels of a few people."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import correct_for_label_errors, label_error_bounds
from skfairfr.metrics._label_errors import _Labelled
from skfairfr.metrics._roc._evidence import STEP

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


def rates(labels, errors, pairs, rate, n_groups):
    """Rate of each group with each of these labels, (labels, groups), nan without pairs."""
    off = np.eye(9) if rate == "frr" else 1 - np.eye(9)
    inside = (labels[:, None] == np.arange(n_groups)[:, None]).astype(float)
    of_groups = np.einsum("lgk,fkh,lgh->flg", inside, off * [errors, pairs], inside)
    with np.errstate(invalid="ignore"):
        return np.divide(*of_groups)


def all_corrections(label, share, n_groups):
    """Labels of everyone with at most a share of those with each label corrected."""
    others = np.indices((n_groups,) * 9).reshape(9, -1).T
    for group in range(n_groups):
        labelled = label == group
        wrong = (others[:, labelled] != group).sum(axis=1)
        others = others[wrong <= np.floor(share * labelled.sum())]
    return others


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
    corrections = all_corrections(label, share, n_groups)
    for rate in ("frr", "far"):
        found = label_error_bounds(
            roc, share, threshold=THRESHOLD, rate=rate, reference="a"
        )
        of = errors, pairs, rate, n_groups
        assert_allclose(found.value, rates(label[None], *of)[0])
        every = rates(corrections, *of)
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


def fit_listed(label, accepted, pairs=None):
    """A fit of pairs of people with one image each, some of which are accepted."""
    people = np.array(pairs or list(combinations(range(label.size), 2)))
    score = np.array([tuple(pair) in accepted for pair in people.tolist()], dtype=float)
    roc = SimilarityROC(method="jackknife")
    return roc.fit_pairs(
        score,
        *people.T,
        sensitive_features_1=NAMES[label][people[:, 0]],
        sensitive_features_2=NAMES[label][people[:, 1]],
        non_mated_only=True,
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pairs_of_two_people_who_both_change_groups_count_once():
    # Without the first two people all pairs of a are accepted, here one.
    roc = fit_listed(np.array([0] * 4 + [1] * 4), {(0, 1), (2, 3)})
    found = label_error_bounds(roc, 0.5, threshold=0.5, rate="far")
    assert found.value_high[0] == 1
    # Three people, and two who enter: 3 of 10 pairs are accepted.
    accepted = {(0, 1), (0, 2), (1, 2), (3, 4)}
    roc = fit_listed(np.array([0] * 3 + [1] * 7), accepted)
    found = label_error_bounds(roc, 0.3, threshold=0.5, rate="far")
    assert found.value_low[0] <= 0.3
    # If the two people of the accepted pair enter, 1 of 2 pairs is accepted.
    label, pairs = np.array([0] * 2 + [1] * 4), [(0, 1), (2, 3), (4, 5)]
    roc = fit_listed(label, {(2, 3)}, pairs)
    found = label_error_bounds(roc, 0.5, threshold=0.5, rate="far")
    assert found.value_high[0] >= 0.5


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
    with pytest.raises(ValueError, match=r"several groups \(people: 1\)"):
        label_error_bounds(roc, 0.1, 1e-2)


def test_reference_without_pairs_is_an_error(faces):
    data, _ = faces
    group = np.array(data.sensitive_features).astype("<U9")
    _, first = np.unique(data.y, return_index=True)
    keep = ~np.isin(data.y, data.y[first[:9]])
    keep[first[:9]], group[first[:9]] = True, "one image"
    roc = SimilarityROC(method="jackknife").fit(data.X[keep], data.y[keep], group[keep])
    with pytest.raises(ValueError, match="'one image' has no pairs"):
        label_error_bounds(roc, 0.1, 1e-2, reference="one image")


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
def test_share_out_of_range_raises(faces, share):
    with pytest.raises(ValueError, match="share"):
        label_error_bounds(faces[1], share, 1e-2)


# ---- correction by a sample with true groups -----------------------------------------

OWN = (0, 0), (1, 1)
SAMPLE = np.array([[80, 15, 5], [10, 60, 10], [2, 8, 110]])


def corrected_by_loops(label, errors, pairs, rate, sample, sides):
    """Rates of every two groups from weights of every two people, by the inverse of shares."""
    inverse = np.linalg.inv(sample / sample.sum(axis=1, keepdims=True))
    found = np.full(sample.shape, np.nan)
    for a, d in np.ndindex(sample.shape):
        wrong = total = 0.0
        for k, h in product(range(9), repeat=2):
            if (k == h) == (rate == "frr"):
                weight = inverse[label[k], a]
                weight *= 1 if k == h else inverse[label[h], d]
                if k != h and a != d and sides == 1:
                    weight += inverse[label[k], d] * inverse[label[h], a]
                wrong += weight * errors[k, h]
                total += weight * pairs[k, h]
        if total > 0 and (rate == "far" or a == d):
            found[a, d] = np.clip(wrong / total, 0, 1)
    return found


@designs
def test_corrected_rates_are_those_of_weighted_pairs(seed, average, n_groups, sides):
    roc, label, errors, pairs = few_people(seed, average, n_groups, sides)
    sample = SAMPLE[:n_groups, :n_groups]
    for rate in ("frr", "far"):
        expected = corrected_by_loops(label, errors, pairs, rate, sample, sides)
        asked = {"threshold": THRESHOLD, "rate": rate}
        if np.isnan(np.diag(expected)).any():
            with pytest.raises(ValueError, match="leaves no pairs"):
                correct_for_label_errors(roc, sample, **asked)
            continue
        found = correct_for_label_errors(roc, sample, **asked)
        assert_allclose(found.value, np.diag(expected), atol=1e-12)
        assert_allclose(found.matrix, expected, atol=1e-12)
        # People of one label alone have no interval.
        assert not (found.low > found.value).any()
        assert not (found.value > found.high).any()


@pytest.mark.parametrize("asked", [{"far": 1e-2}, {"threshold": 0.3}])
@pytest.mark.parametrize("rate", ["far", "frr"])
def test_sure_labels_keep_rates_and_intervals(faces, rate, asked):
    _, roc = faces
    found = correct_for_label_errors(roc, np.eye(2) * 1e12, rate=rate, **asked)
    for row, group in enumerate(roc.groups_):
        expected = roc.estimate(rate=rate, group=group, **asked)
        ends = expected.value, expected.low, expected.high
        assert_allclose([found.value[row], found.low[row], found.high[row]], ends)
        assert_allclose(found.labelled[row], expected.value)
    expected = roc.estimate(rate=rate, how=("ratio", "male", "female"), **asked)
    ends = expected.value, expected.low, expected.high, expected.p_value
    columns = found.ratio, found.ratio_low, found.ratio_high, found.p_value
    assert_allclose([column[0] for column in columns], ends, rtol=1e-5)


@pytest.fixture(scope="module")
def faces_of_two_sides(faces):
    data, _ = faces
    roc = SimilarityROC(method="jackknife")
    roc.fit(data.X, data.y, data.sensitive_features, domain=np.arange(data.y.size) % 2)
    return data, roc


@pytest.mark.parametrize("asked", [{"far": 1e-2}, {"threshold": 0.3}])
@pytest.mark.parametrize("fit", ["faces", "faces_of_two_sides"])
def test_sure_labels_keep_the_matrix(request, fit, asked):
    _, roc = request.getfixturevalue(fit)
    found = correct_for_label_errors(roc, np.eye(2) * 1e12, rate="far", **asked)
    expected = roc.far_matrix(**asked)
    assert_allclose(found.matrix, expected.far)
    assert_allclose(found.matrix_low, expected.low, rtol=1e-6)
    assert_allclose(found.matrix_high, expected.high, rtol=1e-6)
    assert len(found.to_frame()) == 2


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_groups_without_pairs_have_no_rate_in_the_matrix():
    people = [pair for pair in combinations(range(12), 2) if pair[0] % 2 == pair[1] % 2]
    first, second = np.transpose(people)
    roc = SimilarityROC(method="jackknife").fit_pairs(
        (np.arange(len(people)) % 3 == 0).astype(float),
        first,
        second,
        sensitive_features_1=NAMES[first % 2],
        sensitive_features_2=NAMES[second % 2],
        non_mated_only=True,
    )
    found = correct_for_label_errors(roc, np.eye(2) * 1e9, threshold=0.5, rate="far")
    for of in (found.matrix, found.matrix_low, found.matrix_high):
        assert np.isfinite(np.diag(of)).all()
        assert np.isnan(of[0, 1])
        assert np.isnan(of[1, 0])


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_variance_by_the_sample_is_that_of_multinomial_numbers(faces, rate):
    """By the change of the rates with one person more or less in each cell."""
    _, roc = faces
    counts = np.array([[9200, 800], [1500, 13500]])
    threshold = {"far": 0.3, "frr": 0.4}[rate]
    scopes = (*OWN, (0, 1)) if rate == "far" else OWN

    def logs(sample):
        asked = {"threshold": threshold, "rate": rate}
        found = correct_for_label_errors(roc, sample, **asked).matrix
        return np.log(found[*np.transpose(scopes)])

    expected = 0
    for label, row in enumerate(counts):
        steps = np.zeros((2, *counts.shape), dtype=int)
        steps[:, label] = np.eye(2)
        slopes = [(logs(counts + one) - logs(counts - one)) / 2 for one in steps]
        multinomial = np.diag(row) - np.outer(row, row) / row.sum()
        expected += np.transpose(slopes) @ multinomial @ slopes
    labelled = _Labelled(roc, None, threshold, rate, "male")
    _, covariance = labelled.corrected(counts, scopes)
    assert_allclose(covariance.of_sample, expected, rtol=1e-3, atol=1e-12)


SURE = np.array([[8000, 2000], [2000, 8000]]) * 10**6


@pytest.fixture(scope="module")
def fewer(faces):
    """Rows, people from 0, groups of people, and a fit, of 90 people."""
    data, _ = faces
    keep = np.isin(data.y, np.unique(data.y)[:90])
    X, group = data.X[keep], np.array(data.sensitive_features)[keep]
    _, first, y = np.unique(data.y[keep], return_index=True, return_inverse=True)
    roc = SimilarityROC(method="jackknife").fit(X, y, group)
    return X, y, group[first], roc


def without_each(X, y, group, threshold, rate):
    """Covariance of the logarithms of rates by sums over all people but one.

    Of both groups, and for FAR also of one group with the other, and of all pairs. The
    jackknife counts twice what two people add together, which is subtracted.
    """
    member, other_images = np.eye(group.size)[y], 1 - np.eye(y.size)
    wrong = (X @ X.T >= threshold) == (rate == "far")
    errors, pairs = (member.T @ (of * other_images) @ member for of in (wrong, 1.0))
    weights = np.linalg.inv(SURE / SURE[0].sum())[(group == "male").astype(int)]
    if rate == "frr":
        of_two = np.array([np.diag(of_group) for of_group in weights.T])
    else:
        a, b = np.einsum("ka,hb->abkh", weights, weights)
        of_two = np.triu([a[0], b[1], a[1] + b[0], np.ones_like(pairs)], 1)
    errors, pairs = of_two * errors, of_two * pairs

    def left(of):
        own = np.diagonal(of, axis1=1, axis2=2)
        return of.sum(axis=(1, 2))[:, None] - of.sum(axis=1) - of.sum(axis=2) + own

    with np.errstate(invalid="ignore"):  # weights are below zero as well
        logs = np.log(left(errors) / left(pairs))
    expected = np.cov(logs, bias=True) * (group.size - 1)
    if rate == "frr":
        return expected
    n_errors, n_pairs = (of.sum(axis=(1, 2), keepdims=True) for of in (errors, pairs))
    added = (errors - n_errors / n_pairs * pairs) / n_errors
    return expected - np.einsum("fkh,gkh->fg", added, added)


@pytest.mark.parametrize("rate", ["far", "frr"])
def test_covariance_by_people_is_that_of_sums_without_each(fewer, rate):
    *data, roc = fewer
    threshold = {"far": 0.1, "frr": 0.5}[rate]
    expected = without_each(*data, threshold, rate)
    scopes = (*OWN, (0, 1)) if rate == "far" else OWN
    labelled = _Labelled(roc, None, threshold, rate, "male")
    evidence, covariance = labelled.corrected(SURE, scopes)
    sums, n = evidence.sums.rows(0), len(scopes)
    expected, of_two = expected[:n, :n], np.triu_indices(n, 1)
    assert_allclose(sums.variance / sums.errors**2, np.diag(expected), rtol=0.08)
    assert_allclose(covariance.between[of_two], expected[of_two], rtol=0.03)


def test_covariance_with_the_far_that_sets_the_threshold(fewer):
    *data, roc = fewer
    evidence, _ = _Labelled(roc, 0.02, None, "far", "male").corrected(SURE, OWN)
    expected = without_each(*data, evidence.thresholds[0, 0], "far")
    assert_allclose(evidence.covariance[0], expected[:2, 3], rtol=0.03)
    near = [
        correct_for_label_errors(roc, SURE, far, rate="far").value
        for far in (0.02 / STEP, 0.02 * STEP)
    ]
    slope = np.diff(np.log(near), axis=0)[0] / (2 * np.log(STEP))
    assert_allclose(evidence.slope[0], slope, rtol=0.05)


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        (np.eye(3), "shape"),
        ([[5, -1], [0, 5]], "numbers of people"),
        ([[5, 0], [0, 0]], "no person of group 'male'"),
        ([[50, 50], [50, 50]], "same labels"),
        ([[60, 40], [0, 100]], "leaves no pairs"),
    ],
)
def test_useless_samples_raise(faces, sample, problem):
    data, roc = faces
    if np.shape(sample) == (2, 2) and np.array_equal(sample[0], [60, 40]):
        # Fewer are labelled male than the sample leaves possible.
        rare = np.unique(data.y)[:5]
        group = np.where(np.isin(data.y, rare), "male", "female")
        roc = SimilarityROC().fit(data.X, data.y, group)
    with pytest.raises(ValueError, match=problem):
        correct_for_label_errors(roc, sample, 1e-2)
