"""Small sets that the calls share, without ties but where a call asks for them."""

from functools import cache

import numpy as np

from skfairfr import make_face_embeddings

KAPPA = {"female": 34.0, "male": 48.0}
FOUR = {"a": 0.35, "b": 0.3, "c": 0.2, "d": 0.15}


@cache
def faces(n_identities=70, seed=0, **options):
    """Two groups with both errors at a FAR of a per cent or a few."""
    options = {"kappa": KAPPA, "n_features": 24, "heterogeneity": 0.4} | options
    return make_face_embeddings(n_identities, (2, 5), random_state=seed, **options)


@cache
def four(n_identities=160):
    """Four groups, of which one has many false matches and one many false rejections."""
    return make_face_embeddings(
        n_identities,
        (2, 4),
        24,
        groups=FOUR,
        kappa={"a": 45.0, "b": 45.0, "c": 26.0, "d": 45.0},
        crowding={"a": 0.0, "b": 14.0, "c": 0.0, "d": 3.0},
        heterogeneity=0.4,
        random_state=1,
    )


@cache
def many():
    """Over four million pairs, which are not held whole."""
    return make_face_embeddings(
        1000,
        (2, 4),
        8,
        groups={"a": 0.6, "b": 0.4},
        kappa={"a": 25.0, "b": 20.0},
        heterogeneity=0.4,
        random_state=0,
    )


@cache
def clustered():
    """People about three directions far apart, so that no image is between clusters."""
    data = faces(90, seed=3)
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 3)))[0].T
    return data.X + 1.5 * directions[data.y % 3], data.y, data.sensitive_features


def columns(data):
    """X, y, sensitive_features."""
    return data.X, data.y, data.sensitive_features


def some_unknown(labels):
    """Labels of which every ninth is None."""
    found = np.asarray(labels).astype(object)
    found[::9] = None
    return found


@cache
def listed(n_identities=45, kept=0.5):
    """A list of about half of all pairs: scores, and image, person, group of both ends."""
    X, y, groups = columns(faces(n_identities, seed=2))
    X = np.asarray(X, dtype=np.float64)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    left, right = np.triu_indices(len(y), 1)
    chosen = (np.random.default_rng(0).random(left.size) < kept) | (y[left] == y[right])
    left, right = left[chosen], right[chosen]
    scores = (unit[left] * unit[right]).sum(axis=1)
    return scores, (left, right), (y[left], y[right]), (groups[left], groups[right])


@cache
def scored(n=900):
    """y_true, y_score and group of pairs that belong to nobody."""
    rng = np.random.default_rng(4)
    y_true = (rng.random(n) < 0.4).astype(int)
    code = rng.integers(0, 3, n)
    y_score = rng.normal(size=n) + y_true * (2.2 - code / 3) + code / 4
    return y_true, y_score, np.array(list("abc"))[code]
