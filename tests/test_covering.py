"""Facts of pairwise subsets: no pair of values is lost, and few cases are left."""

from itertools import combinations, product

import pytest

from tests.covering import daily_pairwise, pairwise

FACTORS = [
    ["ab", "cde"],
    ["ab", "cde", "fg", "hij"],
    [(1, 2), (1, 2), (1, 2), (1, 2), (1, 2)],
    ["abcd", "abcd", "abcd"],
    [(None, True), (0.5, "x"), (None, "pair")],
]


def meetings(cases):
    """(column, value) of every two values that meet in a case."""
    return {
        frozenset(((i, case[i]), (j, case[j])))
        for case in cases
        for i, j in combinations(range(len(case)), 2)
    }


@pytest.mark.parametrize("factors", FACTORS)
def test_every_pair_of_values_occurs(factors):
    cases = list(product(*factors))
    chosen = pairwise(cases)
    assert set(chosen) <= set(cases)
    for i, j in combinations(range(len(factors)), 2):
        met = {(case[i], case[j]) for case in chosen}
        assert met == set(product(factors[i], factors[j]))


@pytest.mark.parametrize(
    ("factors", "most"), list(zip(FACTORS, (6, 11, 7, 20, 4), strict=True))
)
def test_few_cases_are_left(factors, most):
    sizes = sorted(len(values) for values in factors)
    assert sizes[-1] * sizes[-2] <= len(pairwise(product(*factors))) <= most


def test_what_cannot_be_combined_is_never_chosen():
    cases = [c for c in product("ab", "cd", "efg") if c[:2] != ("a", "c")]
    assert meetings(pairwise(cases)) == meetings(cases)
    assert set(pairwise(cases)) <= set(cases)


def test_the_choice_is_the_same_in_every_process():
    # Workers of one run must collect the same tests.
    chosen = pairwise(product("ab", "cd", "ef"))
    assert chosen == [
        ("a", "c", "e"),
        ("a", "d", "f"),
        ("b", "c", "f"),
        ("b", "d", "e"),
    ]


def test_no_case_is_lost_and_those_beyond_are_slow():
    cases = list(product("ab", "cd", "ef"))
    parameters = daily_pairwise(cases)
    assert [p.values for p in parameters] == cases
    slow = [p.values for p in parameters if p.marks]
    assert set(slow) == set(cases) - set(pairwise(cases))
    assert all(mark.name == "slow" for p in parameters for mark in p.marks)
