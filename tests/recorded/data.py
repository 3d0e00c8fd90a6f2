"""Small data sets and transformers that the cases share."""

from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from skfairfr import make_face_embeddings

HALVES = {"male": 0.5, "female": 0.5}
THREE = {"a": 0.5, "b": 0.3, "c": 0.2}


@cache
def faces(n_identities=40, n_features=16, groups=("male", "female"), **options):
    """A synthetic set whose groups have both errors at a FAR of a few per cent."""
    shares = {label: 1 / len(groups) for label in groups}
    options = {"kappa": 30.0, "heterogeneity": 0.5, "random_state": 0} | options
    return make_face_embeddings(
        n_identities, (2, 6), n_features, groups=shares, **options
    )


def columns(data):
    """X, y, sensitive_features."""
    return data.X, data.y, data.sensitive_features


def with_unknown(labels):
    """Labels of which every ninth is unknown."""
    found = np.asarray(labels).astype(object)
    found[::9] = None
    return found


@cache
def tied():
    """Embeddings whose cosines are multiples of 1/8; groups of images, some unknown."""
    rng = np.random.default_rng(3)
    X = rng.choice([-0.25, 0.25], size=(60, 16))
    y = rng.permutation(np.concatenate([np.arange(20), rng.integers(0, 20, 40)]))
    labels = np.array(["a", "b", "c", None], dtype=object)
    return X, y, labels[rng.choice(4, size=60, p=[0.4, 0.3, 0.2, 0.1])]


@cache
def scored_pairs(n_groups=2, n=600):
    """y_true, y_score, group of each pair."""
    rng = np.random.default_rng(n_groups)
    y_true = rng.integers(0, 2, n)
    code = rng.integers(0, n_groups, n)
    scores = rng.normal(size=n) + y_true * (2.0 - code / n_groups) + code / n_groups / 2
    return y_true, scores, np.array(list("abcdefgh"))[code]


@cache
def listed(n_identities=30):
    """A list of all pairs: scores, and image, identity and group of both sides."""
    X, y, groups = columns(faces(n_identities))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(y), 1)
    scores = (unit[left] * unit[right]).sum(axis=1)
    return scores, (left, right), (y[left], y[right]), (groups[left], groups[right])


class Stretch(TransformerMixin, BaseEstimator):
    """Multiply the first half of the features; weight=1 changes nothing."""

    def __init__(self, weight=1.0, power=1.0):
        self.weight = weight
        self.power = power

    def fit(self, X, y=None, sensitive_features=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X):
        half = np.shape(X)[1] // 2
        return np.hstack([self.weight * X[:, :half], X[:, half:] * self.power])
