"""Small audits that several test modules read."""

import numpy as np

from skfairfr.datasets import make_face_embeddings
from skfairfr.report import audit


def synthetic(n_identities=60, groups=None, **options):
    """Arrays of a small synthetic set: X, y, sensitive_features."""
    groups = {"male": 0.6, "female": 0.4} if groups is None else groups
    options = {"kappa": 30.0, "heterogeneity": 0.5} | options
    made = make_face_embeddings(
        n_identities, n_features=16, groups=groups, random_state=0, **options
    )
    return made.X, made.y, made.sensitive_features


def small_audit(data=None, **options):
    options = {"attribute": "gender", "far": 0.05, "n_resamples": 40} | options
    return audit(*(synthetic() if data is None else data), **options)


def with_a_lone_person(data=None):
    """The same data, where one person is a group of their own."""
    X, y, groups = synthetic() if data is None else data
    return X, y, np.where(y == y[0], "alone", groups)
