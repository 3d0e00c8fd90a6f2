"""Which errors support a rate, against an oracle and a loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairfr._core import _support
from skfairfr._core._error_counts import errors_by_level
from skfairfr._core._pair_sequences import PairSequence
from skfairfr._core._resampling import Images
from skfairfr._core._support import (
    MAX_SHARE,
    MIN_ERRORS,
    MIN_IDENTITIES,
    Reason,
    Support,
    join_reasons,
    support_of,
)
from tests._core.cases import embedded, oracle_of_pairs, oracle_scope

OWN = (None, (0, 0), (1, 1))
THRESHOLDS = (0.0, 6.0, 2.0, -9.0, np.nan, 30.0)  # in no order


def assert_support(found, expected):
    """Against the oracle's (errors, identities, largest share) at each level."""
    assert found.n_errors.tolist() == [e for e, _, _ in expected]
    assert found.n_identities.tolist() == [k for _, k, _ in expected]
    shares = [float(s) if e else np.nan for e, _, s in expected]
    assert found.largest_share == pytest.approx(np.array(shares), nan_ok=True)


@pytest.mark.parametrize("scope", OWN)
@pytest.mark.parametrize("sides", [1, 2])
def test_support_is_the_oracle_s(sides, scope):
    pairs = embedded(1, sides=sides)
    twin, group = oracle_of_pairs(pairs), oracle_scope(scope)
    for rate in ("far", "frr"):
        found = support_of(pairs, rate, scope, np.array(THRESHOLDS), False)
        assert_support(found, [twin.support(t, rate, group) for t in THRESHOLDS])
        assert found.named


@settings(deadline=None)
@given(st.data(), st.integers(0, 30))
def test_errors_of_any_pairs_are_those_of_a_loop(data, n_pairs):
    ends = [
        np.array(data.draw(st.lists(st.integers(0, 5), min_size=n_pairs, max_size=n_pairs)), dtype=int)
        for _ in range(2)
    ]  # fmt: skip
    positions = np.array(data.draw(st.lists(st.integers(0, n_pairs), max_size=4)), int)
    for level, errors in errors_by_level(*ends, None, positions, 6):
        n_errors = positions[level]
        pairs = [set(pair) for pair in zip(*ends, strict=True)][:n_errors]
        touched = [sum(k in pair for pair in pairs) for k in range(6)]
        assert errors.tolist() == touched


def reason(n_errors, n_identities, share, named=True):
    values = (np.array([v]) for v in (n_errors, n_identities, share))
    return join_reasons(Support(*values, named).reasons(0, ("FAR in f",)))


def test_just_enough_is_supported():
    assert reason(MIN_ERRORS, MIN_IDENTITIES, MAX_SHARE) == ""
    assert reason(MIN_ERRORS, 1, 1.0, named=False) == "" != reason(MIN_ERRORS, 1, 1.0)
    assert (MIN_ERRORS, MIN_IDENTITIES, MAX_SHARE) == (30, 10, pytest.approx(1 / 3))


def test_without_errors_nothing_is_said_of_their_people():
    nothing = Support(*(np.array([v]) for v in (0, 0, np.nan)))
    assert [reason.code for reason in nothing.reasons(0, ("f",))] == ["no_errors"]


def test_a_reason_names_its_groups_and_the_rate_that_it_is_about():
    assert Reason("few_errors", ("f", "m"), "far").label == "f x m, FAR"
    assert Reason("few_errors", ()).label == "overall"


@pytest.mark.parametrize("chance", [1.0, 0.25])
def test_chances_of_errors_have_as_many_people_as_certain_ones_alike(chance):
    """Two people with three and one searches: 16 / 10 people, the larger share is 3 / 4."""
    image, base = np.array([0, 0, 0, 1], dtype=np.int32), np.full(4, chance)
    scores = np.linspace(1, 0, 4, dtype=np.float32)
    searches = PairSequence(scores, image, image, base, of_one=True)
    images = Images(*np.arange(4, dtype=np.int32).reshape(2, 2), None, 2, 1)
    found = _support._support_of_chances(searches, np.array([0, 4]), images)
    assert found.n_identities.tolist() == [0, 2]
    assert found.largest_share[1] == pytest.approx(0.75)
    assert found.n_errors.tolist() == [0, 2]  # of two images: (3 + 1)**2 / (3**2 + 1)
