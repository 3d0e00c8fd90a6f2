"""Thresholds from some people and rates of others, by loops over splits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from skfairfr import IdentityKFold, face_labels, make_face_embeddings
from skfairfr.metrics import threshold_at_far
from skfairfr.model_selection import roc_over_splits

FACES = make_face_embeddings(60, 3, 16, n_domains=2, random_state=0)
GROUP = FACES.sensitive_features
LEVELS = [0.01, 0.1]


def scored(rows, domain):
    """Scores of the pairs of some rows, whether genuine, and the group of both."""
    scores, genuine, groups = [], [], []
    for i in rows:
        for j in rows:
            if (i < j) if domain is None else (domain[i] < domain[j]):
                scores.append(FACES.X[i] @ FACES.X[j])
                genuine.append(FACES.y[i] == FACES.y[j])
                groups.append(GROUP[i] if GROUP[i] == GROUP[j] else None)
    return np.array(scores), np.array(genuine), np.array(groups, dtype=object)


@pytest.mark.parametrize(("domain", "group"), [(None, "female"), (FACES.domain, None)])
def test_rates_are_those_of_the_loop(domain, group):
    cv = IdentityKFold(2, shuffle=True, random_state=3)
    found = roc_over_splits(
        FACES.X, FACES.y, far=LEVELS, sensitive_features=GROUP, domain=domain,
        group=group, cv=cv,
    )  # fmt: skip
    labels = face_labels(FACES.y, GROUP, domain)
    for row, (others, judged) in enumerate(cv.split(FACES.X, labels)):
        scores, genuine, _ = scored(others, domain)
        thresholds = [threshold_at_far(genuine, scores, far=far) for far in LEVELS]
        assert_allclose(found.threshold[row], thresholds, atol=1e-6)
        scores, genuine, groups = scored(judged, domain)
        inside = np.ones(len(scores), dtype=bool) if group is None else groups == group
        for column, threshold in enumerate(found.threshold[row]):
            rejected = scores[inside & genuine] < threshold
            accepted = scores[inside & ~genuine] >= threshold
            assert found.frr[row, column] == pytest.approx(rejected.mean(), abs=1e-3)
            assert found.far_reached[row, column] == pytest.approx(
                accepted.mean(), abs=1e-3
            )


def test_mean_and_deviation_are_over_the_splits():
    found = roc_over_splits(FACES.X, FACES.y, far=LEVELS)
    assert found.frr.shape == found.threshold.shape == (5, 2)
    assert_allclose(found.frr_mean, found.frr.mean(axis=0))
    assert_allclose(found.frr_std, np.std(found.frr, axis=0, ddof=1))
    again = roc_over_splits(FACES.X, FACES.y, far=LEVELS)
    assert_allclose(found.frr, again.frr, rtol=0)


def test_people_on_both_sides_are_refused():
    with pytest.raises(ValueError, match="identities on both sides"):
        roc_over_splits(FACES.X, FACES.y, far=LEVELS, cv=KFold(3, shuffle=True))
