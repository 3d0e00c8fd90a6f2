"""Errors of every scope at given thresholds, person by person, and the sums they make.

From the sorted pairs to ``ErrorSums`` and to the influences of people, which intervals,
verdicts and comparisons rest on.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr._core import _rates
from skfairfr._core._few_errors import (
    ErrorSums,
    errors_by_person,
    genuine_sums,
    impostor_sums,
    influences,
)
from skfairfr._core._pair_people import ListedPeople, people_of_design


@dataclass(frozen=True)
class ErrorCounts:
    """Errors of a scope at several thresholds.

    Attributes
    ----------
    sums : ErrorSums
        Each (n_levels,).
    influence : ndarray, shape (n_levels, n_people)
        Of each person on the logarithm of the rate.
    """

    sums: ErrorSums
    influence: np.ndarray


def accepted_impostors(pairs, scope, thresholds, sampled=False):
    """Accepted impostor pairs of a scope.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None, (g, g) or (g, h)
    thresholds : ndarray, shape (n_levels,)
    sampled : bool, default=False
        Whether the pairs come from a uniform sample, each for many.

    Returns
    -------
    counts : ErrorCounts
    """
    sequence = pairs.impostors(scope, sampled)
    n_people = pairs.images.n_identities
    left, right = sequence.identities(pairs.images)
    positions = sequence.positions(thresholds)
    if pairs.design is None:
        people = ListedPeople(left, right, sequence.base, n_people)
    else:
        people = people_of_design(pairs.design, scope)
    base, of_pairs = sequence.base, people.pairs
    sizes, squared = people.sizes, people.squared_weights
    if sampled and len(sequence):
        # Every pair drawn stands for so many, and drawing adds to the variance.
        total = of_pairs.sum() / 2
        drawn = len(sequence) if base is None else base.sum()
        base = (np.ones(len(sequence)) if base is None else base) * (total / drawn)
        added = float((base**2).sum())
        squared = (total if squared is None else squared) + added
        sizes = (sizes[0] + added, *sizes[1:])
    last = int(positions.max(initial=0))
    between = people.between(left[:last], right[:last])
    of_person, powers = errors_by_person(
        left, right, base, positions, n_people, between
    )
    sums = impostor_sums(of_person, of_pairs, powers, sizes, squared)
    return ErrorCounts(sums, _influences(of_person, of_pairs, 2))


def rejected_genuine(pairs, scope, thresholds, sampled=False):
    """Rejected genuine pairs of a scope, as :func:`accepted_impostors`; never a sample."""
    sequence = pairs.genuine.ascending(scope)
    n_people = pairs.images.n_identities
    people, _ = sequence.identities(pairs.images)
    positions = pairs.genuine.rejected(scope, thresholds)
    base = sequence.base
    of_person, *_ = errors_by_person(people, people, base, positions, n_people)
    of_pairs = np.bincount(people, base, minlength=n_people).astype(np.float64)
    squared = None if base is None else float((base**2).sum())
    sums = genuine_sums(of_person, of_pairs, squared)
    return ErrorCounts(sums, _influences(of_person, of_pairs, 1))


def threshold_of(pairs, scope, levels, sampled=False):
    """Thresholds at which the FAR of a scope meets levels; nan beyond what is held.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None or (g, g)
    levels : ndarray, shape (n_levels,)
    sampled : bool, default=False

    Returns
    -------
    thresholds : ndarray, shape (n_levels,)
    """
    sequence = pairs.impostors(scope, sampled)
    if len(sequence) == 0:
        return np.full(levels.shape, np.nan)
    if sampled or sequence.complete:
        total = sequence.weight_before(len(sequence))
    else:
        total = people_of_design(pairs.design, scope).pairs.sum() / 2
    positions = sequence.first_exceeding(levels * total * (1 + _rates.ROUNDING))
    found = _rates.threshold_at(sequence.scores, positions)
    beyond = np.isneginf(found) & (not (sampled or sequence.complete))
    return np.where(beyond, np.nan, found)


def _influences(of_person, of_pairs, ends):
    if not of_pairs.any():
        return np.zeros(of_person.shape)
    return influences(of_person, of_pairs, ends)
