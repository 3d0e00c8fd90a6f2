"""Facts of calibrated scores: curves of double loops, one map changes no rate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

from skfairfr import SimilarityROC
from skfairfr._core._calibration import evaluate, fit_curve
from skfairfr._core._pair_tiles import score_prepared_matrix, unit_rows
from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    PreparedImages,
    ScoreCalibrator,
)
from tests.comparators.people import GROUP, NEW, NEW_GROUP, NEW_Y, X, Y
from tests.comparators.test_fair_score_normalizer import nearest_by_loop
from tests.oracles.pairs import unit

KINDS = ["logistic", "isotonic", "beta"]


def fit(*options, **parameters):
    made = ScoreCalibrator(*options, random_state=0, max_pairs=10**6, **parameters)
    return made.fit(X, Y, GROUP)


def pairs_by_loop(counts):
    """Genuine and impostor cosines of the pairs of two images that count."""
    rows, found = unit(X), ([], [])
    for i in range(len(X)):
        for j in range(i):
            if counts(i, j):
                found[int(Y[i] != Y[j])].append(rows[i] @ rows[j])
    return [np.array(scores) for scores in found]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["all", "group", "cluster"])
def test_curves_are_of_the_pairs_of_a_double_loop(by, kind):
    found = fit(kind, by=by, n_clusters=3)
    parts = []
    if by == "group":
        parts = [
            pairs_by_loop(lambda i, j, g=g: GROUP[i] == GROUP[j] == g)
            for g in found.groups_
        ]
    elif by == "cluster":
        of = nearest_by_loop(unit(X), found.cluster_centers_)
        parts = [pairs_by_loop(lambda i, j, c=c: c in (of[i], of[j])) for c in range(3)]
    counts = np.array([[s.size for s in scores] for scores in parts]).reshape(-1, 2)
    assert_array_equal(counts.T, [found.n_genuine_, found.n_impostor_])
    grid = np.linspace(-0.2, 0.9, 40)
    scores = [*parts, pairs_by_loop(lambda i, j: True)]
    for curve, (genuine, impostor) in zip(found.curves_, scores, strict=True):
        expected = evaluate(kind, fit_curve(kind, genuine, impostor), grid)
        # A step of an isotonic curve moves with the rounding of a score.
        apart = np.abs(evaluate(kind, curve, grid) - expected)
        assert np.quantile(apart, 0.9) < 1e-2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["group", "cluster"])
def test_scores_are_the_mean_of_both_images_curves(by, kind):
    found, rows = fit(kind, by=by, n_clusters=3), unit(NEW)
    groups = NEW_GROUP.astype(object)
    groups[::5] = None
    if by == "group":
        of = [{"female": 0, "male": 1, None: 2}[g] for g in groups]
        assert found.groups_.tolist() == ["female", "male"]
    else:
        of = nearest_by_loop(rows, found.cluster_centers_)
    images = PreparedImages(unit_rows(NEW, "cosine"), None)
    cosines = score_prepared_matrix(images, images)
    values = [evaluate(kind, curve, cosines) for curve in found.curves_]
    expected = [
        [(values[of[i]][i, j] + values[of[j]][i, j]) / 2 for j in range(len(rows))]
        for i in range(len(rows))
    ]
    asked = {"sensitive_features_1": groups, "sensitive_features_2": groups}
    scores = found.score_matrix(NEW, NEW, **asked)
    assert_allclose(scores, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["logistic", "beta"])
@pytest.mark.parametrize("similarity", ["cosine", CohortNormalizer("s")])
def test_one_curve_changes_no_rate_at_a_far(kind, similarity):
    if kind == "beta" and similarity != "cosine":
        return
    base = similarity if similarity == "cosine" else similarity.fit(X, Y)
    found = fit(kind, similarity=base)
    rocs = [
        SimilarityROC(
            similarity=s, method="jackknife", far_max=0.5, random_state=0
        ).fit(NEW, NEW_Y, NEW_GROUP)
        for s in (base, found)
    ]
    for far in (0.3, 0.1, 0.01):
        for rate in ("frr", "far"):
            for group in (None, "female", "male"):
                values = [
                    roc.estimate(far, rate=rate, group=group).value for roc in rocs
                ]
                assert values[0] == values[1]
        assert rocs[1].threshold_at(far) == pytest.approx(
            evaluate(kind, found.curves_[0], np.array([rocs[0].threshold_at(far)]))[0],
            abs=1e-5,
        )


def test_no_image_is_compared_with_itself():
    """Of two images a person, one genuine pair each: its score is no 1."""
    rows = np.random.default_rng(0).normal(size=(60, 6))
    found = ScoreCalibrator("isotonic", by="group", min_pairs=1, random_state=0)
    found.fit(rows, np.repeat(np.arange(30), 2), np.repeat(["f", "m"], 30))
    assert found.n_genuine_.tolist() == [15, 15]
    assert found.curves_[-1][0].max() < 0.999


def test_samples_of_pairs_have_the_documented_size():
    made = ScoreCalibrator(by="group", max_pairs=50, random_state=0).fit(X, Y, GROUP)
    assert (made.n_genuine_ == 50).all()
    assert ((made.n_impostor_ > 40) & (made.n_impostor_ <= 50)).all()


def test_a_fitted_similarity_is_used_as_it_is():
    base = CohortNormalizer("s").fit(NEW, NEW_Y)
    found = fit(similarity=base)
    assert found.similarity_ is base
    slope, intercept = found.curves_[0]
    expected = slope * base.score_matrix(X[:9], X[:9]).astype(float) + intercept
    assert_allclose(found.score_matrix(X[:9], X[:9]), expected, rtol=1e-5, atol=1e-5)


def test_one_that_is_not_fitted_gets_half_of_the_people():
    found = fit(similarity=CohortNormalizer("s"))
    rows = unit(X).astype(np.float32)
    place = [
        np.flatnonzero((np.abs(rows - row) < 1e-6).all(axis=1))
        for row in found.similarity_.cohort_
    ]
    seen = np.isin(Y, Y[np.concatenate(place)])
    assert np.unique(Y[seen]).size == np.unique(Y).size // 2
    assert seen.sum() == len(found.similarity_.cohort_)
    rest = ScoreCalibrator(similarity=found.similarity_, max_pairs=10**6)
    assert_array_equal(rest.fit(X[~seen], Y[~seen]).curves_, found.curves_)


def test_a_one_sided_similarity_is_calibrated_with_its_sides():
    base = CohortNormalizer("z").fit(NEW, NEW_Y)
    found, scores = fit(similarity=base), base.score_matrix(X, X)
    i, j = np.triu_indices(len(X), 1)
    genuine = Y[i] == Y[j]
    expected = fit_curve("logistic", scores[i, j][genuine], scores[i, j][~genuine])
    assert_allclose(found.curves_[0], expected, rtol=0.05)
    with pytest.raises(ValueError, match="no image is marked as the probe"):
        found.prepare(NEW)


def test_a_part_with_few_pairs_takes_the_curve_of_all():
    groups = GROUP.astype(object)
    groups[Y == Y[0]] = "alone"
    with pytest.warns(UndefinedMetricWarning, match="1 of 3 groups have fewer"):
        found = ScoreCalibrator(by="group", random_state=0).fit(X, Y, groups)
    assert found.n_overall_ == 1
    assert found.curves_[0] is found.curves_[-1]


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        (
            {"kind": "beta", "similarity": CohortNormalizer("s")},
            r"requires scores in \[-1",
        ),
        ({"similarity": ScoreCalibrator()}, "returns calibrated scores. Pass the"),
        ({"similarity": ClusterCalibration(2, random_state=0)}, "returns calibrated"),
        ({"similarity": "euclidean"}, "must be 'cosine', 'dot' or a fitted comparator"),
        ({"p_target": 1.0}, "p_target"),
    ],
)
def test_what_cannot_be_calibrated_is_an_error(parameters, match):
    with pytest.raises(ValueError, match=match):
        ScoreCalibrator(**parameters).fit(X, Y)


def test_groups_that_are_needed_and_missing_are_an_error():
    found = fit(by="group")
    assert found.takes_groups and not fit().takes_groups
    with pytest.raises(ValueError, match="ScoreCalibrator was fitted on the groups"):
        found.score_pairs(NEW[:2], NEW[2:4])


def test_a_clone_of_it_is_not_fitted():
    again = clone(fit(similarity=CohortNormalizer("s")))
    assert not hasattr(again, "curves_")
    assert_array_equal(again.fit(X, Y).curves_[0].shape, (2,))
