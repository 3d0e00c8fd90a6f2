"""Mitigations of each kind, as small as can be, for tests of the bench."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from skfairfr import make_face_embeddings
from skfairfr._core._pair_tiles import score_prepared_matrix
from skfairfr.comparators import Adjustment, Comparator, PreparedImages


def crowd(n_identities=120, random_state=0, **options):
    """People of two groups, one of which is crowded, and an attribute beside it."""
    options = {"images_per_identity": 3, "n_features": 12, "kappa": 40.0} | options
    options.setdefault("crowding", {"male": 0.0, "female": 12.0})
    made = make_face_embeddings(n_identities, random_state=random_state, **options)
    return made.X, made.y, made.sensitive_features


class Remover(TransformerMixin, BaseEstimator):
    """Takes a share of a group's mean direction out of the embeddings."""

    seen: list = []  # noqa: RUF012

    def __init__(self, strength=1.0, group="female", random_state=None):
        self.strength = strength
        self.group = group
        self.random_state = random_state

    def fit(self, X, y=None, sensitive_features=None):
        Remover.seen.append(np.unique(y))
        mean = X[np.asarray(sensitive_features) == self.group].mean(axis=0)
        self.direction_ = mean / np.linalg.norm(mean)
        return self

    def transform(self, X):
        check_is_fitted(self)
        along = X @ self.direction_
        return X - self.strength * along[:, None] * self.direction_


class Scaled(TransformerMixin, BaseEstimator):
    """Knows no groups; keeps the first features."""

    def __init__(self, n_kept=8):
        self.n_kept = n_kept

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return np.asarray(X)[:, : self.n_kept]


class Shifted(Comparator):
    """Cosines less a number of either image's group, which it has to be told."""

    takes_groups = True

    def __init__(self, shift=0.1, group="female"):
        self.shift = shift
        self.group = group

    def fit(self, X, y=None, sensitive_features=None):
        self.n_features_in_ = X.shape[1]
        self.known_ = np.array(sorted(set(sensitive_features)))
        return self

    def _prepare(self, X, sensitive_features):
        rows = X / np.linalg.norm(X, axis=1, keepdims=True)
        inside = np.asarray(sensitive_features) == self.group
        half = np.full(len(X), 0.5)
        moved = Adjustment.affine(half, np.where(inside, self.shift / 2, 0.0))
        return PreparedImages(rows.astype(np.float32), moved)


class MatrixAlone(BaseEstimator):
    """A comparator's scores, without what makes them quick to compute."""

    def __init__(self, comparator, told=False, wrong=False):
        self.comparator = comparator
        self.told = told
        self.wrong = wrong
        if told:
            self.score_matrix = self._told

    def fit(self, X, y=None, sensitive_features=None):
        self.fitted_ = clone(self.comparator).fit(X, y, sensitive_features)
        return self

    def score_matrix(self, X1, X2):
        scores = self.fitted_.score_matrix(X1, X2)
        return scores[:, :-1] if self.wrong else scores

    def _told(self, X1, X2, *, sensitive_features_1, sensitive_features_2):
        groups = sensitive_features_1, sensitive_features_2
        first, second = map(self.fitted_.prepare, (X1, X2), groups)
        return score_prepared_matrix(first, second)


class Cosines(BaseEstimator):
    """Scores as they are, of what is never fitted."""

    def score_matrix(self, X1, X2):
        one, other = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (X1, X2))
        return one @ other.T


class Broken(Scaled):
    """Cannot be fitted."""

    def fit(self, X, y=None):
        raise ValueError("there is nothing to learn here")


class Warns(Scaled):
    """Says how many people and images it was fitted on."""

    def fit(self, X, y=None):
        for _ in range(2):
            text = f"{np.unique(y).max()}.5 people, {len(X)} images"
            warnings.warn(text, stacklevel=2)
        return super().fit(X, y)
