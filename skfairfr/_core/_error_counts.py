"""Errors of every scope at given thresholds, person by person, and the sums they make.

From the sorted pairs to ``ErrorSums`` and to the influences of people, which intervals,
verdicts and comparisons rest on.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr._core import _pairs, _rates
from skfairfr._core._few_errors import (
    ErrorSums,
    errors_by_person,
    genuine_sums,
    impostor_sums,
    influences,
)
from skfairfr._core._pair_people import ListedPeople, people_of

# Numbers of errors at which a rate is bounded: all small ones, then eight an octave.
NUMBERS = np.unique(np.rint(2 ** np.arange(0, 40, 1 / 8)).astype(np.int64))
# Weights of people's errors that are held at a time, (n_thresholds, n_people).
MOST_WEIGHTS = 2**22


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
    positions = _rates.count_at_least(sequence.scores, thresholds)
    if pairs.totals is None:
        people = ListedPeople(left, right, sequence.base, n_people)
    else:
        people = people_of(pairs.totals, scope)
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
        total = people_of(pairs.totals, scope).pairs.sum() / 2
    positions = sequence.first_exceeding(levels * total * (1 + _rates.ROUNDING))
    found = _rates.threshold_at(sequence.scores, positions)
    beyond = np.isneginf(found) & (not (sampled or sequence.complete))
    return np.where(beyond, np.nan, found)


@dataclass(frozen=True)
class Course:
    """A rate of a scope as its errors grow, whatever thresholds are asked about.

    Attributes
    ----------
    place : ndarray, shape (n_places,)
        Increasing: weights of errors, or logarithms of the levels that set thresholds.
    sums : ErrorSums
        Each (n_places,).
    added : ndarray, shape (n_places,), or float
        As of :func:`rate_bounds`.
    pivot : int
        As of :func:`never_falling`.
    """

    place: np.ndarray
    sums: ErrorSums
    added: np.ndarray | float
    pivot: int


def course_of(pairs, scope, rate, sampled=False):
    """The Course of a rate of a scope: of impostor pairs as far as they are held.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    scope : None, (g, g) or (g, h)
    rate : {"far", "frr"}
    sampled : bool, default=False

    Returns
    -------
    course : Course
    """
    far = rate == "far"
    sequence = (
        pairs.impostors(scope, sampled) if far else pairs.genuine.ascending(scope)
    )
    last = len(sequence)
    if far:
        level = np.array([_pairs.always_held(pairs, scope)])
        by = None if scope and scope[0] != scope[1] else scope
        at_level = threshold_of(pairs, by, level, sampled)
        last = int(
            _rates.count_at_least(
                sequence.scores, np.nan_to_num(at_level, nan=-np.inf)
            )[0]
        )
    numbers = np.union1d(NUMBERS[NUMBERS < len(sequence)], [0, last, len(sequence)])
    # Equal scores err together.
    at = sequence.scores[numbers[1:] - 1]
    thresholds = np.append(np.inf, at)
    if not far:
        thresholds = np.append(-np.inf, _rates.next_above(at))
    count = accepted_impostors if far else rejected_genuine
    parts = -(-thresholds.size * pairs.images.n_identities // MOST_WEIGHTS)
    sums = [
        count(pairs, scope, part, sampled).sums
        for part in np.array_split(thresholds, parts)
    ]
    sums = ErrorSums.joined(sums)
    return Course(sums.errors, sums, 0.0, int(np.searchsorted(numbers, last)))


def _influences(of_person, of_pairs, ends):
    if not of_pairs.any():
        return np.zeros(of_person.shape)
    return influences(of_person, of_pairs, ends)
