"""Logistic regression of errors, and average predicted rates with what people add to them.

The average rate at a level of an attribute is that predicted for all rows if every row had
this level and kept its other columns (marginal standardisation). Without other columns it is
the rate of the level, and its ``ErrorSums`` are those of any rate of a group, so the intervals
and tests of :mod:`~skfairfr._core._jackknife` serve both.

References: Pregibon (1981) for the one-step change without some rows, Aronow, Samii &
Assenova (2015) for pairs of people, and Greenland (1991) for standardised rates of a
regression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from skfairfr._core._jackknife import MOST_LEFT_OUT, Contrasts, ErrorSums

STEPS, PRECISION = 50, 1e-10
# Linear predictors beyond it are of rates below 1e-6: columns that separate errors go there.
SEPARATED = 14.0
# Precision of the prior of standardised coefficients if columns separate the errors.
RIDGE = 1.0
# Smallest eigenvalue of a correlation matrix whose columns can be distinguished.
LEAST_APART = 1e-10


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted logistic regression.

    Attributes
    ----------
    X : ndarray, shape (n_rows, n_columns)
        The first column is 1.
    error, weight, rate : ndarrays, shape (n_rows,)
        Whether a row is an error, how many it represents, and its predicted rate.
    coefficients : ndarray, shape (n_columns,)
    information : ndarray, shape (n_columns, n_columns)
        Of the weighted rows, with the ridge.
    ridge : float
        0 unless the columns separate the errors.
    """

    X: np.ndarray
    error: np.ndarray
    weight: np.ndarray
    rate: np.ndarray
    coefficients: np.ndarray
    information: np.ndarray
    ridge: float


def fit_regression(X, error, weight):
    """Maximum likelihood by Newton's method. With a ridge if there is no maximum.

    Parameters
    ----------
    X : ndarray, shape (n_rows, n_columns)
        The first column is 1, the others have a mean near 0 and a deviation near 1, as the
        ridge is of standardised coefficients.
    error : ndarray of float, shape (n_rows,)
    weight : ndarray, shape (n_rows,)

    Returns
    -------
    fitted : Regression
    """
    fitted = _newton(X, error, weight, 0.0)
    return fitted or _newton(X, error, weight, RIDGE)


def _newton(X, error, weight, ridge):
    """The Regression, or None if predictors grow beyond bounds and there is no ridge."""
    penalty = np.full(X.shape[1], ridge)
    penalty[0] = 0.0
    mean = np.average(error, weights=weight)
    beta = np.zeros(X.shape[1])
    beta[0] = np.log(mean / (1 - mean))

    def loss(beta):
        at = X @ beta
        logs = np.logaddexp(0, at) - error * at
        return weight @ logs + (penalty * beta**2).sum() / 2

    least = loss(beta)
    for _ in range(STEPS):
        rate = expit(X @ beta)
        slope = X.T @ (weight * (error - rate)) - penalty * beta
        information = (X * (weight * rate * (1 - rate))[:, None]).T @ X
        information += np.diag(penalty)
        try:
            step = cho_solve(cho_factor(information), slope)
        except np.linalg.LinAlgError:
            return None
        while (found := loss(beta + step)) > least + PRECISION * abs(least):
            step = step / 2
        beta, least = beta + step, found
        if not ridge and np.abs(X @ beta).max() > SEPARATED:
            return None
        if np.abs(step).max() < 1e-8:
            break
    rate = expit(X @ beta)
    information = (X * (weight * rate * (1 - rate))[:, None]).T @ X + np.diag(penalty)
    return Regression(X, error, weight, rate, beta, information, ridge)


def collinear(X, weight):
    """Columns of which some sum is constant in all rows, ndarray of bool (n_columns,)."""
    centred = X[:, 1:] - np.average(X[:, 1:], axis=0, weights=weight)
    moments = (centred * weight[:, None]).T @ centred
    scale = np.sqrt(np.diag(moments))
    scale[scale == 0] = 1.0
    values, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    null = vectors[:, values < LEAST_APART]
    return np.append(False, (np.abs(null) > 1e-4).any(axis=1))


@dataclass(frozen=True, eq=False)
class Standardised:
    """Average predicted rates of some settings of the columns.

    Attributes
    ----------
    sums : ErrorSums
        Each (n_settings,): errors are those of the rows that have the setting, at the rate.
    people : ndarray, shape (n_settings, n_people)
        What each person adds to the rate.
    couples : sparse array, shape (n_settings, n_couples)
        What each pair of people adds to it.
    """

    sums: ErrorSums
    people: np.ndarray
    couples: sparse.csr_array

    def contrasts(self, weights):
        """Contrasts of the logarithms of the rates, (n_contrasts, n_settings).

        Rates share people and coefficients: their covariance is added to the variance.
        """
        scaled = self.people / self.sums.rate[:, None]
        couples = sparse.diags_array(1 / self.sums.rate) @ self.couples
        both = scaled @ scaled.T - (couples @ couples.T).toarray()
        np.fill_diagonal(both, 0.0)
        added = np.einsum("cs,st,ct->c", weights, both, weights)
        return Contrasts(self.sums, weights, added)


def standardised(fitted, ends, n_people, settings, members):
    """Average predicted rates.

    Parameters
    ----------
    fitted : Regression
    ends : tuple of one or two ndarrays of int, shape (n_rows,)
        People of each row: one of a genuine pair, or two.
    n_people : int
    settings : list of ndarray, shape (n_rows, n_columns)
        Columns of all rows if they had the setting. Callables that return them.
    members : list of ndarray of bool, shape (n_rows,)
        Rows that have the setting, whose pairs and people count.

    Returns
    -------
    found : Standardised
    """
    change, of_two, key = _changes(fitted, ends, n_people)
    weight, total = fitted.weight, fitted.weight.sum()
    columns = []
    for setting, inside in zip(settings, members, strict=True):
        X = setting()
        rate = expit(X @ fitted.coefficients)
        value = weight @ rate / total
        slope = (weight * rate * (1 - rate)) @ X / total
        # Who is averaged over varies with people as well.
        moved = weight * (rate - value) / total
        people = change @ slope + _by_person(moved, ends, n_people)
        # Of a rate as it is, people without pairs of the level add nothing but rounding.
        adding = np.abs(people) > 1e-9 * np.abs(people).max()
        n = adding.sum()
        people[adding] -= people[adding].mean()
        people *= adding * np.sqrt((n - 1) / n)
        two = of_two @ slope + np.bincount(key, moved, len(of_two))
        columns.append((value, people, two, _counted(weight * inside, ends, n_people)))
    values, people, two, counted = map(np.array, zip(*columns, strict=True))
    two = two if len(ends) == 2 else np.zeros((len(values), 0))
    return Standardised(
        _sums(values, people, two, *counted.T), people, sparse.csr_array(two)
    )


def _counted(weight, ends, n_people):
    """Weight of some rows, and the effective number of their people."""
    of_people = _by_person(weight, ends, n_people)
    return weight.sum(), of_people.sum() ** 2 / (of_people**2).sum()


def _sums(values, people, two, pairs, n_people):
    """ErrorSums of average rates, as of so many pairs and people."""
    ones = np.ones(values.size)
    moments = [
        ((people**k).sum(axis=1) - (two**k).sum(axis=1)) * pairs**k for k in (2, 3, 4)
    ]
    own = (two**2).sum(axis=1) * pairs**2 if two.size else moments[0]
    moments[0] = np.maximum(moments[0], own)
    return ErrorSums(values * pairs, pairs, ones, ones, own, *moments, n_people)


def _by_person(values, ends, n_people):
    """Sums of values of rows over the rows of each person, (n_people,)."""
    return sum(np.bincount(end, values, n_people) for end in ends)


def _changes(fitted, ends, n_people):
    """One-step changes of the coefficients by each person and by every two, and their key.

    Without person k they change by (H - H_k)^-1 s_k, with s_k and H_k the slope and the
    information of the person's rows, of which no more counts than half of all.
    """
    n_rows, rows = fitted.error.size, np.arange(fitted.error.size)
    one, other = ends[0].astype(np.int64), ends[-1].astype(np.int64)
    couples = np.minimum(one, other) * n_people + np.maximum(one, other)
    key = np.unique(couples, return_inverse=True)[1]
    root = np.linalg.inv(np.linalg.cholesky(fitted.information))
    X = fitted.X @ root.T
    scores = X * (fitted.weight * (fitted.error - fitted.rate))[:, None]
    of = sparse.csr_array(
        (np.ones(n_rows * len(ends)), (np.concatenate(ends), np.tile(rows, len(ends)))),
        shape=(n_people, n_rows),
    )
    slopes = of @ scores
    varied = X * (fitted.weight * fitted.rate * (1 - fitted.rate))[:, None]
    own = np.stack([of @ (varied * column[:, None]) for column in X.T], axis=2)
    size = np.sqrt((own**2).sum(axis=(1, 2)))
    own *= np.minimum(1.0, MOST_LEFT_OUT / np.maximum(size, 1e-12))[:, None, None]
    left = np.eye(X.shape[1]) - own
    change = np.linalg.solve(left, slopes[:, :, None])[:, :, 0] @ root
    shared = sparse.csr_array((np.ones(n_rows), (key, rows))) @ scores @ root
    return change, shared, key
