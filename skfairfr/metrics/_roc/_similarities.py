"""Similarities and comparators: checks of them, and the rows whose products they score."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np

from skfairfr._core._pair_tiles import PreparedImages, is_available, unit_rows
from skfairfr.utils._errors import invalid
from skfairfr.utils._extras import missing
from skfairfr.utils._labels import Labels
from skfairfr.utils._validation import check_no_zero_row, plain

SIMILARITIES = ("cosine", "dot")


@dataclass(frozen=True)
class BestRow:
    """A similarity of images with several rows each, of which the best counts.

    Attributes
    ----------
    rows : ndarray, shape (n_rows, n_features)
        Those of one image together.
    first : ndarray of int, shape (n_images + 1,)
        Where those of each image begin. Probes have one.
    similarity : {"cosine", "dot"} or comparator
        Of two rows.
    """

    rows: np.ndarray
    first: np.ndarray
    similarity: object

    def prepare(self, X, attributes, side=None):
        """As :func:`prepare` of all rows. Labels are those of the images."""
        image = np.repeat(np.arange(len(X)), np.diff(self.first))
        side = None if side is None else side[image]
        of_rows = {
            n: Labels(of.values, of.codes[image]) for n, of in attributes.items()
        }
        return prepare(self.rows, self.similarity, of_rows, side)


def is_comparator(similarity):
    """Whether scores come from a comparator, and not from rows alone."""
    return hasattr(similarity, "prepare")


def check_parameters(similarity, method, resample):
    """Raise unless pairs are scored by a similarity or a comparator, and drawn as asked.

    A method of intervals may not be about what ``resample`` draws.
    """
    if method in ("jackknife", "wilson") and resample != "identities":
        raise ValueError(
            f"method={method!r} is about new people from the same population, and "
            f"resample={resample!r} draws photographs of these people. Use "
            "resample='identities', or method='recentered'."
        )
    if isinstance(similarity, str) and similarity in SIMILARITIES:
        return
    if is_comparator(similarity) and not isinstance(similarity, type):
        return
    remedy = (
        "Fit one of skfairfr.comparators on different people, such as "
        "CohortNormalizer().fit(X_cohort, y_cohort), and give it."
    )
    if hasattr(similarity, "transform"):
        remedy = "Give what its transform(X) returns as X instead."
    raise invalid(
        *("similarity", similarity),
        f"must be 'cosine', 'dot' or a fitted comparator, got {plain(similarity)!r}.",
        remedy,
    )


def check_device(device, similarity):
    """Raise unless the pass over all pairs can run on this device.

    Parameters
    ----------
    device : str
        Other than "cpu".
    similarity : {"cosine", "dot"} or comparator

    Raises
    ------
    ValueError
        If the name is unknown or there is no such device.
    ImportError
        If torch is missing, which every device but the CPU needs.
    """
    if not re.fullmatch("cuda(:[0-9]+)?", device):
        problem = f"must be 'cpu', 'cuda' or 'cuda:' with an index, got {device!r}."
        raise invalid("device", device, problem)
    problem = "takes no comparator as similarity;" if is_comparator(similarity) else ""
    if missing(("torch",)):
        raise ImportError(
            f'device={device!r} needs torch: pip install "skfairfr[mitigate]", or use '
            "device='cpu'.",
            name="torch",
        )
    if problem or not is_available(device):
        problem = f"{device!r} {problem or 'is no CUDA device that torch finds;'}"
        raise invalid("device", device, problem, "use device='cpu'.")


def prepare(X, similarity, attributes, side=None):
    """Rows to multiply, and what makes scores of their products.

    Parameters
    ----------
    X : ndarray, shape (n_images, n_features)
    similarity : {"cosine", "dot"} or comparator
        A comparator is fitted, such as those of ``skfairfr.comparators``.
    attributes : dict of str -> Labels
        Groups of the rows of X, for comparators that use them.
    side : ndarray of int, shape (n_images,), default=None
        0 of a probe, 1 of a reference, for comparators that treat them differently.

    Returns
    -------
    prepared : PreparedImages
    """
    if isinstance(similarity, BestRow):
        return similarity.prepare(X, attributes, side)
    if similarity == "dot":
        largest = float(np.abs(X).max()) * np.sqrt(X.shape[1])
        if largest**2 > np.finfo(np.float32).max:
            problem = (
                f"reaches {np.abs(X).max():.3g}, so inner products exceed float32."
            )
            remedy = (
                "Divide all embeddings by one constant, or use similarity='cosine'."
            )
            raise invalid("X", None, problem, remedy)
    elif similarity == "cosine":
        check_no_zero_row(X)
    if isinstance(similarity, str):
        return PreparedImages(unit_rows(X, similarity), None)
    groups = {name: labels.of_rows() for name, labels in attributes.items()}
    sides = {"side": side} if getattr(similarity, "takes_side", False) else {}
    with warnings.catch_warnings():
        # X was a frame before it came here. ``check_names`` compares its columns.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        vectors, adjustment = similarity.prepare(
            X, sensitive_features=groups or None, **sides
        )
    _check_prepared(similarity, vectors, adjustment, len(X))
    return PreparedImages(vectors, adjustment)


def check_names(similarity, names):
    """Raise if a comparator was fitted on other columns than those of X, by name.

    Parameters
    ----------
    similarity : comparator
    names : ndarray of str, shape (n_features,), or None
        Of the columns of X.
    """
    fitted = getattr(similarity, "feature_names_in_", None)
    if names is None or fitted is None or np.array_equal(names, fitted):
        return
    raise ValueError(
        f"X has the columns {plain(names.tolist()[:3])}..., and "
        f"{type(similarity).__name__} was fitted on {plain(fitted.tolist()[:3])}... Pass "
        "the same columns in one order."
    )


def _check_prepared(similarity, vectors, adjustment, n_images):
    """Raise if a comparator returned what gives no scores."""
    problem = None
    if vectors.dtype != np.float32 or vectors.ndim != 2 or len(vectors) != n_images:
        problem = (
            f"{vectors.dtype} of shape {vectors.shape} for {n_images} rows instead of one row "
            "of float32 for each"
        )
    elif not np.isfinite(np.einsum("ij,ij->i", vectors, vectors)).all():
        problem = "rows whose inner products are not finite in float32"
    elif adjustment is not None and not np.isfinite(adjustment.numbers).all():
        problem = "numbers that are not finite: fit it on more images"
    elif adjustment is not None:
        smallest = adjustment.numbers[0].min()
        if not smallest > 0:
            problem = f"a gain of {smallest:g}, which must be above zero"
    if problem:
        raise ValueError(f"{type(similarity).__name__}.prepare(X) returned {problem}.")
