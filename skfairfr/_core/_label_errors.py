"""Rates of groups if some labels of groups are wrong.

A person has one label, of the group that a classifier or an annotator took them for. If only
the share of wrong labels is known, a rate is bounded over everyone who may have been labelled
wrongly: people leave the labelled group and others enter it. If a sample with true groups
shows how often each group gets each label, people are weighted by the inverse of that matrix,
so the weighted errors and pairs of a group are in expectation those of its own people.

References: Manski (2003), "Partial Identification of Probability Distributions", for bounds,
Dinkelbach (1967) for the largest quotient of two sums, and Kuha & Skinner (1997), "Categorical
Data Analysis and Misclassification", for the inverse of the matrix.
"""

from dataclasses import dataclass

import numpy as np

from skfairfr._core._error_counts import ErrorCounts
from skfairfr._core._jackknife import genuine_sums, impostor_sums, lost

# Powers of the weight of two people in columns of ``powers``, as of ``errors_by_person``.
EXPONENTS = np.array([2, 3, 4, 2, 3, 4, 3, 4, 4])
# Difference below which rates are equal, and the largest number of Dinkelbach's steps.
PRECISION, STEPS = 1e-12, 60


@dataclass(frozen=True)
class Movable:
    """Errors and pairs of a labelled group, and their changes if single people change groups.

    Attributes
    ----------
    errors, pairs : float
    label : ndarray of int, shape (n_people,)
        Labelled group of each person, -1 if unknown.
    changes : dict of bool -> tuple of two ndarrays, shape (n_people,)
        Changes of errors and of pairs if a person of the group leaves it, or another person
        enters, of True for the upper end and of False for the lower one.
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
    people leave, each keeps between none and half of the pairs with the group. If they
    enter, pairs with each other are at most half of those with all people outside.

    Parameters
    ----------
    counts : dict of tuple (g, h) -> ErrorCounts
        Of each pair of labelled groups, at one threshold.
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
        least, most = [], []
        for of in (errors, pairs):
            own, others = of[group], of.sum(axis=0) - of[group]
            least.append(np.where(inside, -own, 0.0))
            most.append(np.where(inside, -own / 2, own + others / 2))
        changes = {True: (most[0], least[1]), False: (least[0], most[1])}
        found.append(Movable(*totals, label, changes))
    return found


# ---- correction by the shares of labels that each group gets -------------------------


def reweighted(counts, weights):
    """Errors of several scopes together, each with a weight of its pairs, of any sign.

    Parameters
    ----------
    counts : list of ErrorCounts
        Of scopes without a pair in common, of one rate.
    weights : ndarray, shape (n_scopes,)

    Returns
    -------
    counts : ErrorCounts
    """
    both = list(zip(weights, counts, strict=True))
    of_person = sum(w * one.of_person for w, one in both)
    of_pairs = sum(w * one.of_pairs for w, one in both)
    ends = counts[0].ends
    squared = sum(w**2 * one.squared_weights for w, one in both)
    parts = lost(of_person, of_pairs, ends)
    if ends == 1:
        sums = genuine_sums(of_person, of_pairs, squared, parts)
        return ErrorCounts(sums, parts, of_person, of_pairs, 1, squared)
    powers = sum(w**EXPONENTS * one.powers for w, one in both)
    sizes = tuple(
        sum(w**power * one.sizes[power - 2] for w, one in both) for power in (2, 3, 4)
    )
    sums = impostor_sums(of_person, of_pairs, powers, sizes, squared, parts)
    return ErrorCounts(sums, parts, of_person, of_pairs, 2, squared, powers, sizes)


def shared_clusters(counts, weights, rates):
    """Contribution of two people to the covariance of errors of groups, (n_groups, n_groups).

    Parameters
    ----------
    counts : list of ErrorCounts
        Of impostor pairs at one threshold.
    weights : ndarray, shape (n_groups, n_scopes)
        See :func:`reweighted`, of each group.
    rates : ndarray, shape (n_groups,)

    Returns
    -------
    shared : ndarray, shape (n_groups, n_groups)
        Which a product of people's influences counts twice.
    """
    of_both = [(weights * moment) @ weights.T for moment in _of_clusters(counts)]
    return (
        of_both[0]
        - (rates[:, None] + rates) * of_both[1]
        + np.outer(rates, rates) * of_both[2]
    )


def shared_with_all(counts, weights, rates, of_all):
    """Contribution of two people to the covariance of errors of groups and of all, (n_groups,).

    Parameters
    ----------
    counts, weights, rates
        See :func:`shared_clusters`. All errors weigh 1.
    of_all : float
        Rate of everyone.

    Returns
    -------
    shared : ndarray, shape (n_groups,)
    """
    e2, ec, c2 = (weights @ moment for moment in _of_clusters(counts))
    return e2 - (rates + of_all) * ec + rates * of_all * c2


def _of_clusters(counts):
    """Sums over two people of e**2, e c and c**2, of each scope at the first threshold."""
    e2, ec = (np.array([one.powers[0, k] for one in counts]) for k in (0, 3))
    return e2, ec, np.array([one.sizes[0] for one in counts])


def matrix_covariance(sample, slopes):
    """Covariance of corrected errors by the sample of true groups, (n_rates, n_rates).

    To first order in the shares of labels of each group, which are multinomial. Their variance
    is that with half a person more in each cell (Jeffreys), so a small sample without a wrong
    label does not count as proof that there are none.

    Parameters
    ----------
    sample : ndarray, shape (n_groups, n_groups)
        People of the sample, true x labelled.
    slopes : ndarray, shape (n_rates, n_groups, n_groups)
        Derivatives, by the share of each true group with each label, of the errors of a rate
        less what it expects of the pairs.

    Returns
    -------
    covariance : ndarray, shape (n_rates, n_rates)
    """
    found = np.zeros((len(slopes),) * 2)
    for true, row in enumerate(sample):
        share = (row + 0.5) / (row.sum() + row.size / 2)
        slope = slopes[:, true]
        # Their mean is 0: a group's own people have no excess, and K times its inverse is 1.
        found += (slope * share) @ slope.T / row.sum()
    return found
