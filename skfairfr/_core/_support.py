"""Whether the errors behind a rate carry it: how many, from how many people."""

from dataclasses import dataclass

import numpy as np

MIN_ERRORS = 30
MIN_IDENTITIES = 10
MAX_SHARE = 1 / 3


@dataclass(frozen=True)
class Support:
    """Errors behind the rates of one scope at several thresholds, each (n_levels,).

    Attributes
    ----------
    n_errors : ndarray of int
        Erroneous pairs.
    n_identities : ndarray of int
        People in at least one of them.
    largest_share : ndarray
        Largest share of the errors that touch one person; nan without errors.
    """

    n_errors: np.ndarray
    n_identities: np.ndarray
    largest_share: np.ndarray

    def reason(self, level, label):
        """Why the rate at a level is not supported; empty if it is."""
        errors, people = self.n_errors[level], self.n_identities[level]
        share = self.largest_share[level]
        if errors == 0:
            return f"{label}: no errors, {MIN_ERRORS} needed"
        reasons = []
        if errors < MIN_ERRORS:
            reasons.append(f"{_counted(errors, 'error')}, {MIN_ERRORS} needed")
        if people < MIN_IDENTITIES:
            said = _counted(people, "person", "people")
            reasons.append(f"errors from {said}, {MIN_IDENTITIES} needed")
        if share > MAX_SHARE:
            reasons.append(f"one person is in {share:.0%} of the errors, at most 33%")
        return f"{label}: " + "; ".join(reasons) if reasons else ""


def support_of_first(left, right, positions, n_identities):
    """Support of the errors that are the first pairs of a sequence.

    Parameters
    ----------
    left, right : ndarrays of int, shape (n_pairs,)
        Identities of the pairs, errors first.
    positions : ndarray of int, shape (n_levels,)
        How many of them are errors at each level.
    n_identities : int

    Returns
    -------
    support : Support
    """
    people = np.zeros(positions.size, dtype=np.int64)
    largest = np.full(positions.size, np.nan)
    counts = np.zeros(n_identities, dtype=np.int64)
    done = 0
    for level in np.argsort(positions):
        added = slice(done, positions[level])
        counts += np.bincount(left[added], minlength=n_identities)
        # A genuine pair touches one person, once.
        other = right[added][right[added] != left[added]]
        counts += np.bincount(other, minlength=n_identities)
        done = max(done, int(positions[level]))
        people[level] = np.count_nonzero(counts)
        if done:
            largest[level] = counts.max() / done
    return Support(positions, people, largest)


def _counted(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"
