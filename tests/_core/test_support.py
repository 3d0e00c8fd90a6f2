"""Facts of the support of a rate: how many errors, from how many people."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairfr._core._intervals import (
    MAX_SHARE,
    MIN_ERRORS,
    MIN_IDENTITIES,
    REASONS,
    Reason,
    Support,
    join_reasons,
    support_of_first,
)
from tests._core.cases import embedded, oracle_of_pairs, oracle_scope

OWN = (None, (0, 0), (1, 1))
THRESHOLDS = (0.0, 6.0, 2.0, -9.0, 30.0)  # in no order


def identities(pairs, sequence):
    return (pairs.images.identity[i] for i in (sequence.left, sequence.right))


def assert_support(found, expected):
    """Against the oracle's (errors, identities, largest share) at each level."""
    assert found.n_errors.tolist() == [e for e, _, _ in expected]
    assert found.n_identities.tolist() == [k for _, k, _ in expected]
    shares = [float(s) if e else np.nan for e, _, s in expected]
    assert found.largest_share == pytest.approx(np.array(shares), nan_ok=True)


@pytest.mark.parametrize("scope", OWN)
@pytest.mark.parametrize("sides", [1, 2])
def test_support_of_false_acceptances_is_the_oracle_s(sides, scope):
    pairs = embedded(1, sides=sides)
    held = pairs.impostors(scope)
    positions = held.positions(np.array(THRESHOLDS))
    found = support_of_first(*identities(pairs, held), positions, 7)
    twin, group = oracle_of_pairs(pairs), oracle_scope(scope)
    assert_support(found, [twin.support(t, "far", group) for t in THRESHOLDS])


@pytest.mark.parametrize("scope", OWN)
def test_support_of_false_rejections_is_the_oracle_s(scope):
    pairs = embedded(1)
    held = pairs.genuine.ascending(scope)
    positions = pairs.genuine.rejected(scope, np.array(THRESHOLDS))
    found = support_of_first(*identities(pairs, held), positions, 7)
    twin, group = oracle_of_pairs(pairs), oracle_scope(scope)
    assert_support(found, [twin.support(t, "frr", group) for t in THRESHOLDS])


@settings(deadline=None)
@given(st.data(), st.integers(0, 30))
def test_support_of_any_pairs_is_that_of_a_loop(data, n_pairs):
    ends = [
        np.array(data.draw(st.lists(st.integers(0, 5), min_size=n_pairs, max_size=n_pairs)), dtype=int)
        for _ in range(2)
    ]  # fmt: skip
    positions = np.array(data.draw(st.lists(st.integers(0, n_pairs), max_size=4)), int)
    found = support_of_first(*ends, positions, 6)
    for level, n_errors in enumerate(positions):
        pairs = [set(pair) for pair in zip(*ends, strict=True)][:n_errors]
        touched = [sum(k in pair for pair in pairs) for k in range(6)]
        assert found.n_identities[level] == np.count_nonzero(touched)
        if n_errors:
            assert found.largest_share[level] == max(touched) / n_errors
        else:
            assert np.isnan(found.largest_share[level])


def reason(n_errors, n_identities, share):
    values = (np.array([v]) for v in (n_errors, n_identities, share))
    return join_reasons(Support(*values).reasons(0, ("FAR in f",)))


def test_just_enough_is_supported():
    assert reason(MIN_ERRORS, MIN_IDENTITIES, MAX_SHARE) == ""
    assert (MIN_ERRORS, MIN_IDENTITIES, MAX_SHARE) == (30, 10, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("numbers", "code", "words"),
    [
        ((29, 10, 0.3), "few_errors", "29 errors"),
        ((30, 9, 0.3), "few_people", "9 people"),
        ((30, 10, 0.34), "one_person", "34% of the errors"),
        ((0, 0, np.nan), "no_errors", "no errors"),
        ((1, 10, 0.3), "few_errors", "1 error, "),
        ((30, 1, 0.3), "few_people", "1 person, "),
    ],
)
def test_each_shortage_is_named_with_what_it_concerns(numbers, code, words):
    text = reason(*numbers)
    assert text.startswith("FAR in f: ")
    assert words in text
    values = (np.array([v]) for v in numbers)
    (record,) = Support(*values).reasons(0, ("FAR in f",))
    assert (record.code, record.groups, str(record)) == (code, ("FAR in f",), text)


def test_several_shortages_are_all_named():
    text = reason(3, 2, 1.0)
    assert all(word in text for word in ("3 errors", "2 people", "100%"))


@pytest.mark.parametrize("code", REASONS)
def test_every_reason_has_words(code):
    assert str(Reason(code, ("f",), found=1, needed=2)).startswith("f: ")
    assert "f: " not in str(Reason(code, found=1, needed=2))


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, ""),
        ({"groups": ()}, "overall"),
        ({"groups": ("f", 3)}, "f x 3"),
        ({"groups": ("f",), "rate": "frr"}, "f, frr"),
        ({"groups": ("f",), "system": "first"}, "first: f"),
        ({"system": "second"}, "second"),
    ],
)
def test_the_label_of_a_reason_names_system_groups_and_rate(fields, label):
    assert Reason("no_errors", **fields, needed=30).label == label
