"""The covariance of two systems' logarithms of rates, against loops over pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._roc import _paired

SIZES = (15, 20)
GROUP = np.repeat([0, 1], SIZES)


def listed(rng):
    """People of pairs within groups, and the scores of two systems that share some errors."""
    ends = []
    for person, group in enumerate(GROUP):
        ends += [(person, person)] * 3
        # As many pairs of everyone: with the next six of the group.
        first = SIZES[0] * group
        next_ones = (person - first + np.arange(1, 7)) % SIZES[group]
        ends += [(person, first + other) for other in next_ones]
    left, right = np.array(ends).T
    common = rng.normal(size=left.size) + 1.5 * (left == right)
    return left, right, [common + 0.6 * rng.normal(size=left.size) for _ in range(2)]


def summed(left, right, wrong, n_people):
    """What each person, and every two, add to the logarithm of a rate; and its errors."""
    influence, together = np.zeros(n_people), np.zeros((n_people, n_people))
    errors = wrong.sum()
    for one, other, is_wrong in zip(left, right, wrong, strict=True):
        for person in {one, other}:
            influence[person] += is_wrong / errors - 1 / wrong.size
        if one != other:
            together[min(one, other), max(one, other)] += is_wrong / errors
    return influence, together.ravel(), errors


@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("asked", [{"threshold": 0.5}, {"far": 0.2}])
def test_covariance_is_that_of_loops(rate, asked, monkeypatch):
    left, right, scores = listed(np.random.default_rng(0))
    fits = [
        SimilarityROC(n_resamples=2, random_state=0).fit_pairs(
            s, left, right, **_groups(left, right)
        )
        for s in scores
    ]
    engines = [roc._engine for roc in fits]
    question = fits[0]._engine.question(
        asked.get("far"), asked.get("threshold"), rate, None, "max_min", "overall"
    )
    found = []

    def kept(sums, people_add, shared, blocks, tail):
        found.extend((people_add, shared))
        return 1.0, 1.0, 1.0

    monkeypatch.setattr(_paired, "disparity_ratio", kept)
    _paired.PairedSystems(*engines).compare_disparities(question, np.ones(1))

    people, clumps, single = [], [], []
    ends, impostor = 1 + (rate == "far"), left != right
    for engine, s in zip(engines, scores, strict=True):
        evidence = engine.evidence(question)
        for place, (group, _) in enumerate(evidence.scopes):
            at, slope = evidence.thresholds[0, place], evidence.slope[0, place]
            rows = (GROUP[left] == group) & (impostor if rate == "far" else ~impostor)
            wrong = (s >= at) == (rate == "far")
            influence, together, errors = summed(
                left[rows], right[rows], wrong[rows], GROUP.size
            )
            # The threshold is set by the impostor pairs of everyone.
            of_far, clumps_of_far, _ = summed(
                left[impostor], right[impostor], s[impostor] >= at, GROUP.size
            )
            kept_share = np.sqrt(1 - ends / SIZES[group])
            people.append((influence - slope * of_far) / kept_share)
            clumps.append((together - slope * clumps_of_far) / kept_share)
            single.append(1 / errors)
    assert ("far" in asked) == (evidence.slope != 0).any()
    people, shared = np.array(people), np.array(clumps) @ np.array(clumps).T
    assert_allclose(found[0], people @ people.T - 2 * shared, atol=1e-12)
    assert_allclose(found[1], shared + np.diag(np.square(single)), atol=1e-12)


def _groups(left, right):
    return {"sensitive_features_1": GROUP[left], "sensitive_features_2": GROUP[right]}
