"""Increasing transforms of scores, pairs listed twice, equal groups, ordered thresholds."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from skfairfr import SimilarityROC
from skfairfr.report import PairData, audit_pairs, compare_systems
from tests.metamorphic import surface

INCREASING = {
    "steep": lambda s: np.exp(5 * s),
    "moved": lambda s: 1e6 + 1e3 * s,
    "ranks": lambda s: stats.rankdata(s, "dense"),
}
ORDER = ["failed", "undetermined", "passed"]


def pairs():
    """Scores, people and groups of all pairs of a fifth of the images."""
    X, y, groups = (array[::5] for array in surface.people())
    left, right = np.triu_indices(len(X), 1)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    scores = np.einsum("ij,ij->i", unit[left].astype(float), unit[right])
    return scores, (y[left], y[right]), (groups[left], groups[right])


def audited(scores, people, groups):
    options = {"attribute": "gender", "policy": surface.POLICY}
    return audit_pairs(scores, people, groups, **options)


@pytest.fixture(scope="module")
def usual():
    return audited(*pairs())


@pytest.mark.slow
@pytest.mark.parametrize("name", INCREASING)
def test_an_audit_of_transformed_scores(usual, name):
    scores, people, groups = pairs()
    transformed = INCREASING[name](scores)
    other = audited(transformed, people, groups)
    one, two = surface.rates(usual), surface.rates(other)
    surface.assert_same_rates(one, two, but=("threshold",))
    assert surface.verdicts(usual) == surface.verdicts(other)
    at = usual.to_frame("rates", "pandas")["threshold"].to_numpy()
    found = other.to_frame("rates", "pandas")["threshold"].to_numpy()
    for one, two in zip(at, found, strict=True):
        assert np.array_equal(scores >= one, transformed >= two)


@pytest.mark.parametrize("name", INCREASING)
def test_a_system_of_transformed_scores_neither_harms_nor_helps(name):
    scores, people, groups = pairs()
    systems = [
        PairData(s, people, {"gender": groups})
        for s in (scores, INCREASING[name](scores))
    ]
    found = compare_systems(*systems, far=surface.LEVELS)
    assert len(found.changes) >= 8
    assert {c.difference for c in found.changes} == {0.0}
    assert {c.verdict for c in found.changes} == {"no significant difference"}


def test_pairs_that_are_listed_twice_change_nothing_of_a_comparison():
    scores, people, groups = pairs()
    others = np.round(scores, 1)
    found = []
    for n in (1, 2):
        sides = [tuple(np.tile(side, n) for side in both) for both in (people, groups)]
        systems = [
            PairData(np.tile(s, n), sides[0], {"gender": sides[1]})
            for s in (scores, others)
        ]
        report = compare_systems(*systems, far=surface.LEVELS)
        found.append({(c.group, c.rate, c.far): c for c in report.changes})
    once, twice = found
    assert once.keys() == twice.keys() and len(once) >= 8
    assert any(c.difference for c in once.values())
    for key, change in once.items():
        other = twice[key]
        for name in ("before", "after", "difference"):
            assert getattr(other, name) == pytest.approx(getattr(change, name))


def equal_groups():
    """Every person once in each of two groups, which have no feature in common."""
    X, y, _ = surface.people()
    nothing = np.zeros_like(X)
    rows = np.block([[X, nothing], [nothing, X]])
    groups = np.repeat(["f", "m"], len(X))
    return rows, np.concatenate([y, y + y.max() + 1]), groups


def test_equal_groups_have_equal_rates_and_no_disparity():
    report = surface.audited(*equal_groups())
    table = surface.rates(report)
    for name in ("far", "frr", "far_low", "far_high", "n_impostor", "frr_errors"):
        by_group = table[name].unstack("group")
        np.testing.assert_array_equal(by_group["f"], by_group["m"])
    found = report.to_frame("disparities", "pandas", full=True)
    np.testing.assert_allclose(found["value"], found["neutral"], atol=1e-12)
    assert len(found) >= 8 and (found["p_value"].dropna() > 0.05).all()
    assert verdict_of(report, "max_bfar") != "failed"


def test_equal_groups_change_equally():
    X, y, groups = equal_groups()
    halves = (X[:, : X.shape[1] // 2], X[:, X.shape[1] // 2 :])
    after = np.hstack([np.tanh(3 * half) for half in halves])
    found = surface.changes(surface.compared((X, y, groups), (after, y, groups)))
    of_groups = [key[1:] for key in found if key[0] == "f"]
    assert len(of_groups) >= 4
    for rest in of_groups:
        assert found["f", *rest][:3] == pytest.approx(found["m", *rest][:3])


@pytest.mark.parametrize("name", ["thresholds", "cohort", "fair scores", "plda"])
def test_comparators_treat_equal_groups_alike(name):
    X, y, groups = equal_groups()
    fitted = clone(surface.COMPARATORS[name]).fit(X, y, groups)
    half = len(X) // 2
    scores = surface.asked(fitted, X, groups)
    f, m = scores[:half, :half], scores[half:, half:]
    assert np.ptp(f) > 0.1
    # Clusters are those of k-means, which need not fall on the groups.
    atol = 0.2 if name == "fair scores" else 1e-3
    np.testing.assert_allclose(m, f, rtol=0, atol=atol * np.ptp(f))
    if name == "thresholds":
        assert len(set(fitted.thresholds_.tolist())) == 1


def verdict_of(report, name):
    found = [c.verdict for c in report.checks if c.name == name]
    return found[0]


def test_a_higher_threshold_accepts_fewer_of_every_group():
    X, y, groups = surface.people()
    options = {"resample": "identities", "n_resamples": 5, "far_max": 0.5}
    roc = SimilarityROC(**options, random_state=0).fit(X, y, groups)
    thresholds = np.linspace(-1.1, 1.1, 45)
    for group in (None, "f", "m"):
        far, frr = (
            roc.estimate(threshold=thresholds, rate=rate, group=group).value
            for rate in ("far", "frr")
        )
        assert (np.diff(far) <= 0).all() and (np.diff(frr) >= 0).all()
        assert (far[0], far[-1], frr[0], frr[-1]) == (1, 0, 0, 1)
    levels = np.geomspace(0.01, 0.5, 20)
    for point in ("overall", "worst_group"):
        assert (np.diff(roc.threshold_at(levels, operating_point=point)) <= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(surface.LIMITS))
def test_a_looser_limit_is_never_judged_more_strictly(name):
    X, y, groups = surface.people()
    found = []
    for limit in (1e-4, 0.2, 0.999):
        limit = 30 * limit + 1 if name == "max_bfar" else limit
        report = surface.audited(X, y, groups, limits={name: limit}, far=0.1)
        found.append(ORDER.index(verdict_of(report, name)))
    assert found == sorted(found) and found[0] < found[-1]
