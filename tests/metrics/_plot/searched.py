"""A search over two parameters, for the displays of searches."""

from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairfr import BestTradeOff, fairness_scores
from tests.metrics.searches import FOLDS, X, Y

LEVELS = (2e-2, 1e-2)
SCORES = fairness_scores(LEVELS, ratio=("male", "female"))
CHOOSE = BestTradeOff(("bfar@1e-2", "frr_at_far@1e-2"))
STEPS = {"kappa0": [0.8, 1.0, 1.2], "kappa1": [0.9, 1.0]}


class Towards(TransformerMixin, BaseEstimator):
    """Stretch the mean direction of either group."""

    def __init__(self, kappa0=1.0, kappa1=1.0):
        self.kappa0 = kappa0
        self.kappa1 = kappa1

    def fit(self, X, y):
        means = [X[y["group"] == group].mean(axis=0) for group in ("male", "female")]
        self.directions_ = [mean / np.linalg.norm(mean) for mean in means]
        return self

    def transform(self, X):
        kappas = (self.kappa0, self.kappa1)
        moved = [
            (kappa - 1) * np.outer(X @ direction, direction)
            for kappa, direction in zip(kappas, self.directions_, strict=True)
        ]
        return X + sum(moved)


@cache
def search(pipeline=False, refit=CHOOSE):
    """A fitted grid search, bare or of a pipeline."""
    estimator = make_pipeline(Towards()) if pipeline else Towards()
    before = "towards__" if pipeline else ""
    grid = {before + name: steps for name, steps in STEPS.items()}
    options = {"scoring": SCORES, "cv": FOLDS, "refit": refit, "error_score": "raise"}
    return GridSearchCV(estimator, grid, **options).fit(X, Y)


@cache
def baseline():
    """The same scores of the embeddings as they are."""
    return cross_validate(FunctionTransformer(), X, Y, scoring=SCORES, cv=FOLDS)
