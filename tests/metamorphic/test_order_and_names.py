"""Rows in another order, other names of people and groups, and rotations change no answer."""

import numpy as np
import pytest
from sklearn.base import clone

from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    FairScoreNormalizer,
    GroupThresholds,
    ScoreCalibrator,
)
from tests.metamorphic import surface

RENAMED = {"f": "zz", "m": "aa"}


@pytest.fixture(scope="module")
def usual():
    return surface.usual_audit()


def shuffled(rng=0):
    X, y, groups = surface.people()
    order = np.random.default_rng(rng).permutation(len(X))
    return X[order], y[order], groups[order]


def renamed():
    """Other names of people, in the same order, and of groups, in another."""
    X, y, groups = surface.people()
    names = np.array([f"p{k:03d}" for k in y])
    return X, names, np.array([RENAMED[g] for g in groups])


def rotated():
    X, y, groups = surface.people()
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))[0]
    return X.astype(np.float64) @ rotation, y, groups


def test_an_audit_of_rows_in_another_order(usual):
    other = surface.audited(*shuffled())
    surface.assert_same_rates(surface.rates(usual), surface.rates(other))
    assert surface.verdicts(usual) == surface.verdicts(other)


def test_an_audit_under_other_names(usual):
    other = surface.audited(*renamed())
    back = {new: old for old, new in RENAMED.items()}
    surface.assert_same_rates(surface.rates(usual), surface.rates(other, back))
    assert surface.verdicts(usual) == surface.verdicts(other)


@pytest.mark.parametrize("reference", ["f", "m"])
def test_findings_of_an_audit(reference):
    """The reference is that which is asked for, whatever it is called and where it stands."""
    back = {new: old for old, new in RENAMED.items()}
    usual = surface.audited(*surface.people(), reference=reference)
    found = surface.findings(usual)
    assert {of[0] for of in found.values()} == {reference}
    other = surface.audited(*shuffled(), reference=reference)
    surface.assert_same_findings(found, surface.findings(other))
    other = surface.audited(*renamed(), reference=RENAMED[reference])
    surface.assert_same_findings(found, surface.findings(other, back))


def test_an_audit_of_rotated_embeddings(usual):
    other = surface.audited(*rotated())
    # Thresholds are scores, which a rotation changes by rounding.
    surface.assert_same_rates(surface.rates(usual), surface.rates(other), rtol=1e-5)
    assert surface.verdicts(usual) == surface.verdicts(other)


@pytest.fixture(scope="module")
def first():
    """Changes from the people as they are to a system of other scores."""
    X, y, groups = surface.people()
    other = np.tanh(3 * X), y, groups
    return surface.changes(surface.compared((X, y, groups), other))


def test_a_comparison_of_rows_in_another_order(first):
    X, y, groups = surface.people()
    after = np.tanh(3 * X)
    order = np.random.default_rng(2).permutation(len(X))
    rows = [(Z[order], y[order], groups[order]) for Z in (X, after)]
    other = surface.changes(surface.compared(*rows))
    assert first.keys() == other.keys()
    for key, numbers in first.items():
        np.testing.assert_allclose(other[key], numbers, rtol=1e-9, atol=1e-12)


def test_a_comparison_under_other_names(first):
    X, names, labels = renamed()
    second = surface.compared((X, names, labels), (np.tanh(3 * X), names, labels))
    other = surface.changes(second)
    for (group, rate, far), numbers in first.items():
        found = other[RENAMED.get(group, group), rate, far]
        np.testing.assert_allclose(found, numbers, rtol=1e-9, atol=1e-12)


def test_a_rotated_system_neither_harms_nor_helps():
    found = surface.compared(surface.people(), rotated())
    assert {c.verdict for c in found.changes} == {"no significant difference"}
    assert max(abs(c.difference) for c in found.changes) < 1e-9


BENCHED = {
    "rows in another order": (shuffled, 1e-9),
    "other names of people and groups": (renamed, 1e-9),
    # Scores of the cohort's normalisation move by its rounding, and so do rates.
    "rotated": (rotated, 1e-2),
}


@pytest.mark.parametrize("name", BENCHED)
def test_a_bench(name):
    change, rtol = BENCHED[name]
    first = surface.usual_gains()
    other = surface.gains(surface.benched(*change()))
    assert first.keys() == other.keys() and len(first) >= 4
    for key, numbers in first.items():
        np.testing.assert_allclose(other[key], numbers, rtol=rtol)


def separate():
    """The people in three clusters far apart, which k-means finds from any start."""
    X, y, groups = surface.people()
    centers = 20 * np.eye(3, X.shape[1], dtype=np.float32)
    return X + centers[y % 3], y, groups


@pytest.mark.parametrize("name", surface.COMPARATORS)
def test_a_fit_on_rows_in_another_order(name):
    X, y, groups = separate()
    order = np.random.default_rng(3).permutation(len(X))
    one, two = (clone(surface.COMPARATORS[name]) for _ in range(2))
    if name in ("calibration", "curves"):
        # All pairs, of which it would draw a sample otherwise.
        one.set_params(max_pairs=10**6), two.set_params(max_pairs=10**6)
    one.fit(X, y, groups)
    two.fit(X[order], y[order], groups[order])
    first, second = (surface.asked(fitted, X, groups) for fitted in (one, two))
    assert np.ptp(first) > 0.1
    np.testing.assert_allclose(second, first, rtol=0, atol=1e-5 * np.ptp(first))


@pytest.mark.parametrize(
    ("comparator", "atol"),
    [
        # Rounding moves cosines with the cohort by 3e-4 (its Notes), and scores divide
        # them by deviations of 0.05.
        (CohortNormalizer(top=5), 0.1),
        (CohortNormalizer(kind="t", cohort="images"), 2e-3),
        (GroupThresholds(far=0.1), 1e-6),
        (FairScoreNormalizer(n_clusters=3, far=0.1, random_state=0), 2e-4),
        (ClusterCalibration(n_clusters=3, min_pairs=2, random_state=0), 2e-4),
        (ScoreCalibrator(by="group", random_state=0), 1e-4),
    ],
    ids=lambda made: type(made).__name__,
)
def test_scores_of_rotated_embeddings(comparator, atol):
    tables = []
    for X, y, groups in (surface.people(), rotated()):
        comparator.fit(X, y, groups)
        given = {}
        if comparator.takes_groups:
            given = {f"sensitive_features_{side}": groups[:30] for side in (1, 2)}
        tables.append(comparator.score_matrix(X[:30], X[:30], **given))
    apart = ~np.eye(30, dtype=bool)
    assert np.ptp(tables[0][apart]) > 10 * atol
    np.testing.assert_allclose(tables[0][apart], tables[1][apart], rtol=0, atol=atol)
