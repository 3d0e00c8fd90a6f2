"""(a, b) against (b, a): the matrix's differences, coverage of equality, corrections."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr import SimilarityROC, make_face_embeddings
from skfairfr.metrics import FARAsymmetry
from skfairfr.metrics._roc._records import holm

SHARES = {"a": 0.4, "b": 0.3, "c": 0.3}
FACES = make_face_embeddings(200, 2, 16, groups=SHARES, n_domains=2, random_state=0)
GROUP = FACES.sensitive_features


def measured(X, n_resamples=200, **options):
    roc = SimilarityROC(resample="identities", n_resamples=n_resamples, random_state=0)
    return roc.fit(X, FACES.y, GROUP, domain=FACES.domain, **options)


ROC = measured(FACES.X)
FOUND = ROC.far_asymmetry(0.02)


def test_values_are_the_cells_of_the_matrix():
    matrix = ROC.far_matrix(0.02)
    groups = matrix.groups.tolist()
    assert isinstance(FOUND, FARAsymmetry)
    assert list(zip(FOUND.group_1, FOUND.group_2, strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    for row, pair in enumerate(zip(FOUND.group_1, FOUND.group_2, strict=True)):
        g, h = map(groups.index, pair)
        assert FOUND.far_12[row] == matrix.far[g, h]
        assert FOUND.far_21[row] == matrix.far[h, g]
    assert_allclose(FOUND.difference, np.log10(FOUND.far_12 / FOUND.far_21))


def test_the_interval_is_that_of_the_same_resamples():
    level = {"rate": "far"}
    one, two = (
        ROC.resamples(0.02, **level, group=pair) for pair in (("a", "b"), ("b", "a"))
    )
    differences = np.log10(one / two)
    assert_allclose(
        [FOUND.low[0], FOUND.high[0]], np.quantile(differences, [0.025, 0.975])
    )
    assert_array_equal((FOUND.low > 0) | (FOUND.high < 0), FOUND.p_value < 0.05)


def test_an_asymmetry_is_found_and_symmetry_is_not():
    # The documents of b all resemble the selfies of a.
    moved = FACES.X.copy()
    towards = moved[(GROUP == "a") & (FACES.domain == "domain_0")].mean(0)
    documents = (GROUP == "b") & (FACES.domain == "domain_1")
    moved[documents] += 3 * towards
    found = measured(moved).far_asymmetry(0.05)
    assert found.difference[0] > 0.3 and found.p_holm[0] < 0.05
    assert found.low[0] > 0


def test_equal_groups_are_seldom_called_different():
    rejected = 0
    for seed in range(20):
        faces = make_face_embeddings(
            120, 2, 16, groups={"a": 0.5, "b": 0.5}, n_domains=2, kappa=50.0,
            crowding=5.0, random_state=seed,
        )  # fmt: skip
        roc = SimilarityROC(resample="identities", n_resamples=100, random_state=0)
        roc.fit(faces.X, faces.y, faces.sensitive_features, domain=faces.domain)
        rejected += roc.far_asymmetry(0.05).p_value[0] < 0.05
    # Of 20 tests at 5 %, six or more by chance once in 3000 times.
    assert rejected < 6


def test_a_threshold_may_be_given():
    threshold = ROC.threshold_at(0.02)
    assert_array_equal(ROC.far_asymmetry(threshold=threshold).far_12, FOUND.far_12)


def test_nothing_accepted_is_undefined():
    found = ROC.far_asymmetry(threshold=2.0)
    for name in ("difference", "low", "high", "p_value", "p_holm"):
        assert np.isnan(getattr(found, name)).all()


def test_one_group_has_no_pair():
    roc = SimilarityROC(resample="identities", n_resamples=5)
    roc.fit(FACES.X, FACES.y, ["all"] * len(FACES.y), domain=FACES.domain)
    with pytest.raises(ValueError, match=r"two groups, and there are 1: \['all'\]"):
        roc.far_asymmetry(0.02)


def test_a_frame_has_a_row_for_each_pair():
    assert FOUND.to_frame("pandas").shape == (3, 9)


def test_one_side_is_symmetric_and_refused():
    roc = SimilarityROC(n_resamples=5).fit(FACES.X, FACES.y, GROUP)
    with pytest.raises(ValueError, match="needs probes and references"):
        roc.far_asymmetry(0.02)
    with pytest.raises(ValueError, match="far_asymmetry takes one level"):
        ROC.far_asymmetry([0.02, 0.1])
    with pytest.raises(ValueError, match="far_asymmetry needs groups"):
        SimilarityROC(n_resamples=5).fit(
            FACES.X, FACES.y, domain=FACES.domain
        ).far_asymmetry(0.02)


def test_holm_multiplies_steps_down_and_never_falls():
    p = np.array([0.01, 0.04, 0.03, np.nan, 0.5])
    assert_allclose(holm(p), [0.04, 0.09, 0.09, np.nan, 0.5])
    assert_allclose(holm(np.array([0.6, 0.7])), [1, 1])
    assert holm(np.empty(0)).size == 0


def test_a_threshold_of_one_set_serves_another():
    """A deployed threshold: set on some people, rates of the others, by a loop."""
    first = FACES.y < 100
    rocs = [
        SimilarityROC(resample="identities", n_resamples=5).fit(
            FACES.X[part], FACES.y[part], GROUP[part], domain=FACES.domain[part]
        )
        for part in (first, ~first)
    ]
    threshold = rocs[0].threshold_at(0.05)
    rest = ~first
    probes = rest & (FACES.domain == "domain_0")
    references = rest & (FACES.domain == "domain_1")
    accepted, genuine = (
        FACES.X[probes] @ FACES.X[references].T >= threshold,
        FACES.y[probes][:, None] == FACES.y[references],
    )
    far = rocs[1].estimate(threshold=threshold, rate="far").value
    assert far == pytest.approx(accepted[~genuine].mean(), abs=1e-4)
    frr = rocs[1].estimate(threshold=threshold).value
    assert frr == pytest.approx(1 - accepted[genuine].mean())


def test_without_an_interval_there_is_no_p_value():
    """A third of the resamples of people lack a group of one person."""
    groups = np.array(FACES.sensitive_features, dtype=object)
    groups[FACES.y == FACES.y[0]] = "lone"
    roc = SimilarityROC(resample="identities", n_resamples=50, random_state=0)
    roc.fit(FACES.X, FACES.y, groups.astype(str), domain=FACES.domain)
    found = roc.far_asymmetry(threshold=-1.0)
    lone = (found.group_1 == "lone") | (found.group_2 == "lone")
    assert lone.any() and not lone.all()
    assert_array_equal(found.difference, 0)
    assert np.isnan(found.p_value[lone]).all() and np.isnan(found.p_holm[lone]).all()
    assert_array_equal(found.p_value[~lone], 1)
