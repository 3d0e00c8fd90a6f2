"""Two systems on the same images: difference and ratio over the same resamples."""

from dataclasses import dataclass

import numpy as np

from skfairfr._core._intervals import percentile
from skfairfr.metrics._frames import Framed


@dataclass(frozen=True)
class Comparison(Framed):
    """A rate or disparity of one system against another's on the same images.

    Fields follow the shape of the ``far`` or ``threshold`` asked for.

    Attributes
    ----------
    difference : float or ndarray, shape (n_levels,)
        First minus second; below 0 the first system has the lower rate, which is better,
        or the smaller disparity (larger is less fair).
    low, high : float or ndarray, shape (n_levels,)
        Ends of the interval of the difference.
    p_value : float or ndarray, shape (n_levels,)
        Two-sided, in (0, 1]: twice the smaller share of replicates of the difference on
        either side of 0, each share counted with one replicate more.
    ratio : float or ndarray, shape (n_levels,)
        First over second, >= 0; +inf where the second is 0, nan where both are.
    ratio_low, ratio_high : float or ndarray, shape (n_levels,)
        Ends of the interval of the ratio.
    supported : bool or ndarray of bool, shape (n_levels,)
        Whether the answers of both systems are, as in :class:`Estimate`.
    reason : str or ndarray of str, shape (n_levels,)
        What the reasons of either say, "first" or "second" before them.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.compare : What builds it.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2024). Assessing Uncertainty in Similarity
       Scoring: Performance & Fairness in Face Recognition. ICLR. Section 3.2.
    """

    difference: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    p_value: float | np.ndarray
    ratio: float | np.ndarray
    ratio_low: float | np.ndarray
    ratio_high: float | np.ndarray
    supported: bool | np.ndarray
    reason: str | np.ndarray

    def _columns(self):
        """One row for each level, which comes first."""
        return {**self._asked, **super()._columns()}


def check_same_images(first, second):
    """Raise unless two measurements have the same images of the same people and groups."""
    for name, what in (
        ("identity", "identities (y)"),
        ("group", "groups (sensitive_features)"),
        ("side", "sides (domain or reference)"),
    ):
        one, two = (getattr(m.pairs.images, name) for m in (first, second))
        if (one is None) != (two is None) or (
            one is not None and not np.array_equal(one, two)
        ):
            raise ValueError(
                f"other was fitted on images with other {what}; a paired comparison needs "
                "both systems' embeddings of the same images in the same order."
            )
    if first.groups.tolist() != second.groups.tolist():
        raise ValueError(
            f"other has the groups {second.groups.tolist()} instead of "
            f"{first.groups.tolist()}; fit both with the same sensitive_features."
        )


def paired(first, second, question, confidence_level):
    """Comparison of two answers to one question over the same resamples."""
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = first.value - second.value
        differences = first.adjusted - second.adjusted
        ratio = first.value / second.value
        ratios = first.adjusted / second.adjusted
    low, high, _ = percentile(differences, confidence_level, (-np.inf, np.inf))
    ratio_low, ratio_high, _ = percentile(ratios, confidence_level, (0.0, np.inf))
    columns = (
        difference,
        low,
        high,
        p_values(differences),
        ratio,
        ratio_low,
        ratio_high,
        first.supported & second.supported,
        _reasons(first.reason, second.reason),
    )
    return Comparison(*(question.in_shape(values) for values in columns))


def _reasons(first, second):
    """What either system's answer says of each level, (n_levels,)."""
    said = []
    for both in zip(first, second, strict=True):
        named = zip(("first", "second"), both, strict=True)
        said.append("; ".join(f"{name}: {why}" for name, why in named if why))
    return np.array(said, dtype=object)


def p_values(differences):
    """Two-sided bootstrap p-values of differences (n_levels, n_resamples).

    An undefined replicate may lie on either side, and counts on both.
    """
    undefined = np.isnan(differences)
    sides = [undefined | (differences <= 0), undefined | (differences >= 0)]
    counts = np.minimum(*(side.sum(axis=-1) for side in sides))
    return np.minimum(2 * (counts + 1) / (differences.shape[-1] + 1), 1.0)
