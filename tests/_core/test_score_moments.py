"""Facts of the moments of all scores, against all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skfairfr._core._score_costs import score_moments
from tests._core.cases import (
    GROUPS,
    embedded,
    listed,
    oracle_of_listed,
    oracle_of_pairs,
    oracle_scope,
)

OWN = (None, (0, 0), (1, 1))


def moments_by_loop(twin, scope):
    moments = []
    for pairs in (twin.scope(scope).genuine, twin.scope(scope).impostor):
        scores = np.array([p.score for p, _ in pairs])
        some = scores.size > 0
        moments += (
            [scores.size, scores.mean(), scores.std()] if some else [0, np.nan, np.nan]
        )
    return moments


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("impostors", ["all", "same_group"])
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_moments_are_those_of_all_pairs_whatever_the_average(
    average, groups, impostors, sides
):
    pairs = embedded(1, average, impostors, sides=sides, groups=groups)
    twin = oracle_of_pairs(pairs)
    for scope in OWN:
        expected = moments_by_loop(twin, oracle_scope(scope))
        assert_allclose(score_moments(pairs, scope), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scope", OWN)
def test_moments_of_listed_pairs(scope):
    pairs, arguments = listed(1, 80)
    expected = moments_by_loop(oracle_of_listed(arguments), oracle_scope(scope))
    assert_allclose(score_moments(pairs, scope), expected, rtol=1e-12)


def test_moments_without_pairs_are_undefined():
    pairs = embedded(0, most=1, groups="constant", n_identities=2)
    assert_allclose(score_moments(pairs, (0, 0)), [0, np.nan, np.nan] * 2)
    n_genuine, _, _, n_impostor, _, spread = score_moments(pairs, None)
    assert (n_genuine, n_impostor, spread) == (0, 1, 0)
