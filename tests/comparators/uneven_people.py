"""Small people of two groups, with some images of one person only."""

import numpy as np

from skfairfr import face_labels


def draw_people(n_people=30, n_features=6, images=(1, 5), seed=0):
    """Gaussian people whose covariances are uneven, and whose groups have means.

    Returns
    -------
    X : ndarray of float64, shape (n_images, n_features)
    y : structured ndarray, shape (n_images,)
    """
    rng = np.random.default_rng(seed)
    n_images = rng.integers(*images, size=n_people, endpoint=True)
    identity = rng.permutation(np.repeat(np.arange(n_people), n_images))
    group = np.array(["a", "b"])[np.arange(n_people) % 2][identity]
    uneven = np.linspace(0.5, 2, n_features)
    people = rng.standard_normal((n_people, n_features)) * uneven
    X = people[identity] + 0.5 * rng.standard_normal((identity.size, n_features))
    X += np.where(group == "a", 1.0, 0.2)[:, None] * np.linspace(1, 0, n_features)
    return X, face_labels(identity, group)
