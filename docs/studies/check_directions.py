"""In how many directions people, and the images of a person, vary in real embeddings.

    python -m docs.studies.check_directions

The participation ratio (sum w)**2 / sum w**2 of the eigenvalues w of a covariance is d for
d directions of equal variance. With few people its plain estimate is far too small; here
each trace is estimated without bias, from two images of each person: the products of
different people's first images, and of their second ones, are independent estimates of the
same thing. Intervals are by a jackknife over people; the images are drawn ``DRAWS`` times.
"""

from pathlib import Path

import numpy as np

from docs.studies._command import run_command
from skfairfr import make_face_embeddings

LFW = Path(__file__).resolve().parents[3] / "shared/data/lfw_facenet/lfw_facenet.npz"
DRAWS = 20


def participation(X, y, rng):
    """Participation ratios between and within people, each with its standard error."""
    first, second = two_images(X, y, rng)
    within = (first - second) / np.sqrt(2)
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    products = (first @ first.T) * (second @ second.T)
    return (
        ratio((first * second).sum(axis=1), products),
        ratio((within**2).sum(axis=1), (within @ within.T) ** 2),
    )


def two_images(X, y, rng):
    """Two images drawn of every person who has as many, two arrays (n_people, d)."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    _, starts, counts = np.unique(y[order], return_index=True, return_counts=True)
    starts = starts[counts >= 2]
    return (X[order[starts + k]].astype(np.float64) for k in (0, 1))


def ratio(traces, products):
    """(trace)**2 / trace of the square, and its jackknife standard error over people.

    Parameters
    ----------
    traces : ndarray, shape (n,)
        Of each person; their mean is the trace.
    products : ndarray, shape (n, n)
        Of two people; the mean off the diagonal is the trace of the square.
    """
    n = traces.size
    products = products - np.diag(np.diag(products))
    whole = (traces.mean() ** 2) / (products.sum() / (n * (n - 1)))
    left_out = ((traces.sum() - traces) / (n - 1)) ** 2
    left_out /= (products.sum() - 2 * products.sum(axis=1)) / ((n - 1) * (n - 2))
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return whole, error


def report(name, X, y):
    """One line: both ratios, means over draws of two images of each person."""
    rng = np.random.default_rng(0)
    found = np.mean([participation(X, y, rng) for _ in range(DRAWS)], axis=0)
    (between, of_between), (within, of_within) = found
    print(
        f"{name:34} {len(y):6} images {X.shape[1]:4} features   between people "
        f"{between:5.1f} ({of_between:.1f})   within {within:5.1f} ({of_within:.1f})"
    )


def main():
    """Print one line for each set."""
    if LFW.exists():
        lfw = np.load(LFW)
        report("LFW, FaceNet", lfw["embedding"], lfw["identity"])
    for directions in (None, (33, 43), 24):
        faces = make_face_embeddings(
            n_features=128,
            groups={"all": 1.0},
            crowding=0,
            heterogeneity=0,
            n_directions=directions,
            random_state=0,
        )
        report(f"synthetic, n_directions={directions}", faces.X, faces.y)


if __name__ == "__main__":
    run_command(main, __doc__)
