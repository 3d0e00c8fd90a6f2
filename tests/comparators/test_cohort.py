"""Facts of score normalisation by a cohort."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr.comparators import CohortNormalizer, _cohort
from tests.comparators.people import GROUP, NEW, NEW_GROUP, X, Y
from tests.oracles.pairs import unit

SIDES = {"s": (1, 1), "as": (1, 1), "z": (0, 1), "t": (1, 0)}


def cohort_by_loop(cohort):
    """Unit rows of the cohort."""
    rows = unit(X)
    if cohort == "images":
        return rows
    return unit(np.array([rows[np.array(Y) == k].mean(axis=0) for k in np.unique(Y)]))


def scores_by_loop(kind, cohort, top):
    """The formula for every pair of new images, in float64."""
    others, rows = cohort_by_loop(cohort), unit(NEW)
    moments = []
    for image in rows:
        found = sorted(others @ image, reverse=True)[:top]
        moments.append((np.mean(found), np.std(found)))
    return normalised(kind, rows, moments)


def normalised(kind, rows, moments):
    """(s - mu) / sigma by the cohort of the row, of the column, or the mean of both."""
    scores = rows @ rows.T
    mean, deviation = np.transpose(moments)
    by_row = (scores - mean[:, None]) / deviation[:, None]
    by_column = (scores - mean) / deviation
    first, second = SIDES[kind]
    return (first * by_row + second * by_column) / (first + second)


KINDS = [("s", None), ("z", None), ("t", None), ("as", 30)]


@pytest.mark.parametrize("cohort", ["centroids", "images"])
@pytest.mark.parametrize(("kind", "top"), [*KINDS, ("as", 2)])
def test_scores_are_those_of_the_formula(kind, cohort, top):
    found = CohortNormalizer(kind, cohort=cohort, top=top).fit(X, Y)
    expected = scores_by_loop(kind, cohort, top)
    # Two of the cohort may have nearly one score, and the bits of s then count.
    rtol = 1e-3 if top == 2 else 2e-6
    assert_allclose(found.score_matrix(NEW, NEW), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("cohort", ["centroids", "images"])
@pytest.mark.parametrize(("kind", "top"), [*KINDS, ("as", 5)])
def test_by_group_each_image_has_the_cohort_of_its_own(kind, top, cohort):
    top = min(top, 5) if top and cohort == "centroids" else top
    found = CohortNormalizer(kind, cohort=cohort, top=top, by="group").fit(X, Y, GROUP)
    others, rows = cohort_by_loop(cohort), unit(NEW)
    of_others = (
        GROUP if cohort == "images" else [GROUP[Y == k][0] for k in np.unique(Y)]
    )
    groups = NEW_GROUP.astype(object)
    groups[::4] = None
    moments = []
    for image, group in zip(rows, groups, strict=True):
        own = [group is None or group == of for of in of_others]
        scores = sorted(others[own] @ image, reverse=True)[:top]
        moments.append((np.mean(scores), np.std(scores)))
    expected = normalised(kind, rows, moments)
    asked = {"sensitive_features_1": groups, "sensitive_features_2": groups}
    scores = found.score_matrix(NEW, NEW, **asked)
    assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("cohort", ["centroids", "images"])
def test_between_the_cosine_and_the_formula_by_group(cohort):
    found = CohortNormalizer(cohort=cohort, top=8, strength=0.4, by="group")
    found.fit(X, Y, GROUP)
    others = cohort_by_loop(cohort)
    of_others = (
        GROUP if cohort == "images" else [GROUP[Y == k][0] for k in np.unique(Y)]
    )
    parts = [others[np.array(of_others) == g] for g in found.groups_]
    means, spreads = zip(*(centre_by_loop(part, 8) for part in parts), strict=True)
    shares = [len(part) / len(others) for part in parts]
    expected = np.dot(shares, means), np.exp(np.dot(shares, np.log(spreads)))
    assert_allclose(found.centre_, expected, rtol=1e-5)


def test_a_group_without_a_cohort_is_an_error_that_names_it():
    groups = GROUP.astype(object)
    groups[0] = "alone"
    with pytest.raises(ValueError, match="fewer than two members of group 'alone'"):
        CohortNormalizer(by="group").fit(X, Y, groups)
    found = CohortNormalizer(by="group", cohort="centroids")
    groups[groups == "alone"] = None
    groups[1] = "male" if groups[1] == "female" else "female"
    assert -1 in found.fit(X, Y, groups).cohort_groups_


def centre_by_loop(cohort, top):
    """Mean and geometric mean of the moments of every member with the others."""
    moments = []
    for k, member in enumerate(cohort):
        found = sorted(np.delete(cohort, k, axis=0) @ member)
        moments.append((np.mean(found[::-1][:top]), np.std(found[::-1][:top])))
    means, deviations = np.transpose(moments)
    return means.mean(), np.exp(np.log(deviations).mean())


@pytest.mark.parametrize("strength", [0, 0.4, 1.5])
@pytest.mark.parametrize("cohort", ["centroids", "images"])
def test_between_the_cosine_and_the_formula(cohort, strength):
    found = CohortNormalizer(cohort=cohort, top=12, strength=strength).fit(X, Y)
    others, rows = cohort_by_loop(cohort), unit(NEW)
    centre, spread = centre_by_loop(others, 12)
    assert_allclose(found.centre_, (centre, spread), rtol=1e-5)
    moments = []
    for image in rows:
        scores = sorted(others @ image, reverse=True)[:12]
        mean, deviation = np.mean(scores), np.std(scores)
        mean = centre + strength * (mean - centre)
        moments.append((mean, spread ** (1 - strength) * deviation**strength))
    expected = normalised("s", rows, moments)
    matrix = found.score_matrix(NEW, NEW)
    assert_allclose(matrix, expected, rtol=1e-4, atol=1e-4)
    if strength == 0:
        assert_allclose(matrix, (rows @ rows.T - centre) / spread, rtol=1e-4, atol=1e-4)


def test_the_formula_needs_no_centre():
    assert not hasattr(CohortNormalizer().fit(X, Y), "centre_")


@pytest.mark.parametrize("size", [1, 500, 2**22])
def test_equal_images_have_equal_scores_whatever_stands_beside_them(size, monkeypatch):
    monkeypatch.setattr(_cohort, "PRODUCTS", size)
    normalizer = CohortNormalizer(top=7).fit(X, Y)
    rows = np.concatenate([NEW, NEW[::-1]])
    n = len(NEW)
    scores = normalizer.score_matrix(rows, rows)
    assert_array_equal(scores[:n, :n], scores[n:, n:][::-1, ::-1])
    assert_array_equal(scores[:n, :n], normalizer.score_matrix(NEW, NEW))


@pytest.mark.parametrize(("n_people", "top"), [(50, 20), (12, 12), (120, 24), (40, 20)])
def test_a_fifth_counts_by_default_and_twenty_at_least(n_people, top):
    rows = np.random.default_rng(0).standard_normal((n_people, 8))
    assert CohortNormalizer().fit(rows, np.arange(n_people)).top_ == top


def test_images_as_the_cohort_need_no_identities():
    alone = CohortNormalizer(cohort="images").fit(X)
    with_people = CohortNormalizer(cohort="images").fit(X, Y)
    assert_array_equal(alone.cohort_, with_people.cohort_)
    assert len(alone.cohort_) == len(X)


@pytest.mark.parametrize("kind", ["as", "s", "z"])
def test_scores_that_are_all_equal_are_an_error_that_names_sigma(kind):
    normalizer = CohortNormalizer(kind, cohort="images").fit(np.ones((5, 24)))
    with pytest.raises(ValueError, match=r"rows \(0, 2 in all\).*sigma is 0"):
        normalizer.score_pairs(NEW[:2], NEW[:2])


def test_a_person_whose_images_cancel_is_an_error():
    rows = np.vstack([X[:4], [X[0]], [-X[0]]])
    with pytest.raises(
        ValueError, match=r"'ann', whose images cancel.*cohort='images'"
    ):
        CohortNormalizer(cohort="centroids").fit(
            rows, ["bob", "bob", "cat", "cat", "ann", "ann"]
        )
