"""Subsets of a product of options in which every pair of values still occurs.

Faults of a combination of options nearly always need only two of them. The daily run takes
such a subset of a large product, the nightly one the whole.
"""

from itertools import combinations

import pytest


def _pairs(case):
    return set(combinations(enumerate(case), 2))


def pairwise(cases):
    """A few of the cases, such that two values that meet in any of them meet in these.

    Greedy and without chance: each time the first of the cases that add most pairs.

    Parameters
    ----------
    cases : iterable of tuples of hashable values
        For example a product; leave out what cannot be combined.

    Returns
    -------
    chosen : list of tuples
        In the order of the cases.
    """
    cases = list(cases)
    missing = set().union(*map(_pairs, cases))
    chosen = []
    while missing:
        best = max(cases, key=lambda case: len(_pairs(case) & missing))
        chosen.append(best)
        missing -= _pairs(best)
    return [case for case in cases if case in chosen]


def daily_pairwise(cases):
    """All cases as pytest's parameters; those beyond the pairwise ones are slow."""
    cases = list(cases)
    daily = set(pairwise(cases))
    return [
        pytest.param(*case, marks=() if case in daily else pytest.mark.slow)
        for case in cases
    ]
