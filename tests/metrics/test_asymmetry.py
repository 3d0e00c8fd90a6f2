"""(a, b) against (b, a): the matrix's differences, coverage of equality, corrections."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import FARAsymmetry
from tests.oracles.pairs import without_each

SHARES = {"a": 0.4, "b": 0.3, "c": 0.3}
FACES = make_face_embeddings(200, 2, 16, groups=SHARES, n_domains=2, random_state=0)
GROUP = FACES.sensitive_features


def measured(X, n_resamples=200, **options):
    roc = SimilarityROC(resample="identities", n_resamples=n_resamples, random_state=0)
    return roc.fit(X, FACES.y, GROUP, domain=FACES.domain, **options)


@pytest.fixture(scope="module")
def fitted():
    return measured(FACES.X)


@pytest.fixture(scope="module")
def at_2_percent(fitted):
    return fitted.far_asymmetry(0.02)


def test_values_are_the_cells_of_the_matrix(fitted, at_2_percent):
    matrix = fitted.far_matrix(0.02)
    groups = matrix.groups.tolist()
    assert isinstance(at_2_percent, FARAsymmetry)
    assert list(zip(at_2_percent.group_1, at_2_percent.group_2, strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    for row, pair in enumerate(
        zip(at_2_percent.group_1, at_2_percent.group_2, strict=True)
    ):
        g, h = map(groups.index, pair)
        assert at_2_percent.far_12[row] == matrix.far[g, h]
        assert at_2_percent.far_21[row] == matrix.far[h, g]
    assert_allclose(
        at_2_percent.difference, np.log10(at_2_percent.far_12 / at_2_percent.far_21)
    )


def test_with_other_images_the_interval_is_that_of_the_same_resamples():
    faces = make_face_embeddings(
        80, 6, 16, groups={"a": 0.5, "b": 0.5}, n_domains=2, random_state=0
    )
    roc = SimilarityROC(resample="both", n_resamples=100, random_state=0)
    roc.fit(faces.X, faces.y, faces.sensitive_features, domain=faces.domain)
    found = roc.far_asymmetry(0.1)
    one, two = (
        roc.resamples(0.1, rate="far", group=pair) for pair in (("a", "b"), ("b", "a"))
    )
    differences = np.log10(one / two)
    assert_allclose(
        [found.low[0], found.high[0]], np.quantile(differences, [0.025, 0.975])
    )


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6, 0.7])
def test_interval_and_p_value_agree(threshold, fitted):
    found = fitted.far_asymmetry(threshold=threshold)
    excluded = (found.low > 0) | (found.high < 0)
    assert_array_equal(excluded, found.p_value < 0.05)
    inside = np.isnan(found.p_value) | (
        (found.low <= found.difference) & (found.difference <= found.high)
    )
    assert inside.all()


def test_the_variance_counts_every_two_people_once(fitted):
    """Loops over people and over every two of them, of either direction."""
    threshold = fitted.threshold_at(0.02)
    found = fitted.far_asymmetry(threshold=threshold)
    n_people = FACES.y.max() + 1
    probe = FACES.domain == "domain_0"
    accepted = FACES.X[probe] @ FACES.X[~probe].T >= threshold
    # y comes person by person on either side.
    of_person = [FACES.y[probe], FACES.y[~probe]]
    group = GROUP[np.unique(FACES.y, return_index=True)[1]]
    errors, pairs = np.zeros((2, n_people, n_people))
    for i, k in enumerate(of_person[0]):
        for j, m in enumerate(of_person[1]):
            if k != m:
                errors[k, m] += accepted[i, j]
                pairs[k, m] += 1
    first = (group == "a")[:, None] & (group == "b")
    parts = []
    for inside in (first, first.T):
        e, p = errors * inside, pairs * inside
        share = e / e.sum()
        both = (m.sum(axis=0) + m.sum(axis=1) for m in (e, p))
        of_people = without_each(*both, ends=2)
        parts.append((e.sum(), p.sum(), of_people, share))
    influence = parts[0][2] - parts[1][2]
    both = np.triu((parts[0][3] - parts[1][3]) + (parts[0][3] - parts[1][3]).T, 1)
    x, y = parts[0][0], parts[1][0]
    shared = (both**2).sum()
    variance = max((influence**2).sum() - shared, shared) + 1 / x**2 + 1 / y**2
    # Effective people of either direction, by their pairs.
    people = min(
        (2 * p.sum()) ** 2 / ((p.sum(axis=0) + p.sum(axis=1)) ** 2).sum()
        for p in (pairs * first, pairs * first.T)
    )
    rest = ((influence**4).sum() - (both**4).sum()) / variance**2 - 1 / people
    student = stats.t(min(max(2 / rest, 1), people - 1))
    middle = np.log((x / parts[0][1]) / (y / parts[1][1]))
    reach = student.isf(0.025) * np.sqrt(variance)
    assert_allclose(found.low[0], (middle - reach) / np.log(10), rtol=1e-6)
    assert_allclose(found.high[0], (middle + reach) / np.log(10), rtol=1e-6)
    p = 2 * student.sf(abs(middle) / np.sqrt(variance))
    assert_allclose(found.p_value[0], p, rtol=1e-6)


def test_nothing_accepted_is_undefined(fitted):
    found = fitted.far_asymmetry(threshold=2.0)
    for name in ("difference", "low", "high", "p_value", "p_holm"):
        assert np.isnan(getattr(found, name)).all()


def test_one_group_has_no_pair():
    roc = SimilarityROC(resample="identities", n_resamples=5)
    roc.fit(FACES.X, FACES.y, ["all"] * len(FACES.y), domain=FACES.domain)
    with pytest.raises(ValueError, match=r"two groups, and there are 1: \['all'\]"):
        roc.far_asymmetry(0.02)


def test_one_side_is_symmetric_and_refused(fitted):
    roc = SimilarityROC(n_resamples=5).fit(FACES.X, FACES.y, GROUP)
    with pytest.raises(ValueError, match="needs probes and references"):
        roc.far_asymmetry(0.02)
    with pytest.raises(ValueError, match="far_asymmetry takes one level"):
        fitted.far_asymmetry([0.02, 0.1])
    with pytest.raises(ValueError, match="far_asymmetry needs groups"):
        SimilarityROC(n_resamples=5).fit(
            FACES.X, FACES.y, domain=FACES.domain
        ).far_asymmetry(0.02)
