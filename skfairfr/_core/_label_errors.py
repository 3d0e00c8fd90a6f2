"""Rates of groups if some labels of groups are wrong.

A person has one label, of the group that a classifier or an annotator took them for. If only
the share of wrong labels is known, a rate is bounded over everyone who may have been labelled
wrongly: people leave the labelled group and others enter it.

References: Manski (2003), "Partial Identification of Probability Distributions", for bounds;
Dinkelbach (1967) for the largest quotient of two sums.
"""

from dataclasses import dataclass

import numpy as np

# Rates so near to each other are equal, and Dinkelbach's steps needed for it at most.
PRECISION, STEPS = 1e-12, 60


@dataclass(frozen=True)
class Movable:
    """Errors and pairs of a labelled group, and their changes if single people change groups.

    Attributes
    ----------
    errors, pairs : float
    label : ndarray of int, shape (n_people,)
        Labelled group of each person; -1 of nobody's.
    changes : dict of bool -> tuple of two ndarrays, shape (n_people,)
        Changes of errors and of pairs if a person of the group leaves it, or another person
        enters; of True for the upper end, of False for the lower one.
    """

    errors: float
    pairs: float
    label: np.ndarray
    changes: dict

    def bound(self, most, upper):
        """Largest or smallest rate if at most so many people of each label change groups.

        Parameters
        ----------
        most : ndarray of int, shape (n_groups,)
            People of each label whose label may be wrong.
        upper : bool

        Returns
        -------
        bound : float in [0, 1]
        """
        errors, pairs = self.changes[upper]
        sign = 1.0 if upper else -1.0
        rate = 0.0 if upper else 1.0
        for _ in range(STEPS):
            gain = sign * (errors - rate * pairs)
            moved = _largest(gain, self.label, most)
            total = self.errors + errors[moved].sum(), self.pairs + pairs[moved].sum()
            if sign * (total[0] - rate * total[1]) <= PRECISION * max(self.pairs, 1.0):
                break
            if total[1] <= 0:  # nobody may be left: nothing is known
                return float(upper)
            rate = min(max(total[0] / total[1], 0.0), 1.0)
        return rate


def _largest(gain, label, most):
    """Which people have the largest gains above 0, at most so many of each label."""
    order = np.lexsort((-gain, label))
    ordered = label[order]
    place = np.arange(label.size) - np.searchsorted(ordered, ordered)
    kept = (gain[order] > 0) & (ordered >= 0) & (place < most[ordered])
    return order[kept]


def movable_genuine(counts, label, n_groups):
    """Movable of each group by its genuine pairs, which are a person's own: exact.

    Parameters
    ----------
    counts : dict of tuple (g, g) -> ErrorCounts
        Of each labelled group, at one threshold.
    label : ndarray of int, shape (n_people,)
    n_groups : int

    Returns
    -------
    movable : list of Movable
    """
    errors = sum(one.of_person[0] for one in counts.values())
    pairs = sum(one.of_pairs for one in counts.values())
    found = []
    for group in range(n_groups):
        inside = label == group
        sign = np.where(inside, -1.0, 1.0)
        changes = sign * errors, sign * pairs
        both = {True: changes, False: changes}
        found.append(Movable(errors[inside].sum(), pairs[inside].sum(), label, both))
    return found


def movable_impostor(counts, label, n_groups):
    """Movable of each group by the impostor pairs within it: conservative.

    Pairs of two people who both change groups are counted on the side of a wider bound: if
    people leave, each keeps between none and half of the pairs with the group; if they
    enter, pairs with each other are at most half of those with all people outside.

    Parameters
    ----------
    counts : dict of tuple (g, h) -> ErrorCounts
        Of every two labelled groups, at one threshold.
    label : ndarray of int, shape (n_people,)
    n_groups : int

    Returns
    -------
    movable : list of Movable
    """
    # Errors and pairs of each person with people of each label.
    errors, pairs = np.zeros((2, n_groups, label.size))
    for (g, h), one in counts.items():
        for mine, other in {(g, h), (h, g)}:
            own = label == mine
            errors[other, own] += one.of_person[0, own]
            pairs[other, own] += one.of_pairs[own]
    found = []
    for group in range(n_groups):
        inside = label == group
        totals = errors[group, inside].sum() / 2, pairs[group, inside].sum() / 2
        within = errors[group], pairs[group]
        outside = [of.sum(axis=0) - of[group] for of in (errors, pairs)]
        wide = [one + other / 2 for one, other in zip(within, outside, strict=True)]
        changes = {
            True: (
                np.where(inside, -within[0] / 2, wide[0]),
                np.where(inside, -within[1], 0.0),
            ),
            False: (
                np.where(inside, -within[0], 0.0),
                np.where(inside, -within[1] / 2, wide[1]),
            ),
        }
        found.append(Movable(*totals, label, changes))
    return found
