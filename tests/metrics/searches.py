"""A cheap transformer and small sets of faces, for scorers in scikit-learn's searches."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GroupKFold

from skfairfr import face_labels, make_face_embeddings

# Loose images, so that every group has both errors in every fold.
KAPPA = {"male": 60.0, "female": 40.0}
FACES = make_face_embeddings(120, 4, 32, kappa=KAPPA, random_state=0)
X, IDENTITY, GROUP = FACES.X, FACES.y, FACES.sensitive_features
Y = face_labels(IDENTITY, GROUP)
# People whole, whatever y is.
FOLDS = list(GroupKFold(3).split(X, groups=IDENTITY))
FAR = 1e-2
WEIGHTS = [0.2, 1.0, 3.0]


class Stretch(TransformerMixin, BaseEstimator):
    """Multiply the first half of the features; weight=1 changes nothing."""

    def __init__(self, weight=1.0):
        self.weight = weight

    def fit(self, X, y=None, sensitive_features=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X):
        half = np.shape(X)[1] // 2
        return np.hstack([self.weight * X[:, :half], X[:, half:]])


class Counting(Stretch):
    """Counts its transforms."""

    n_calls = 0

    def transform(self, X):
        self.n_calls += 1
        return super().transform(X)
