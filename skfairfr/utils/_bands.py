"""Numbers as groups: a few ranges of them, by quantiles or at cut points."""

import itertools
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.utils._errors import refused
from skfairfr.utils._labels import is_unknown, to_column

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
FORM = re.compile(rf"(.+):(\d+|{NUMBER}(?:,{NUMBER})*,?)", re.DOTALL)
# More quantiles than this are not meant: "age:18" is one cut point.
MOST_QUANTILES = 9
# More different numbers than this are measurements, and no labels of groups.
MOST_NUMBERS = 20
CUT_POINTS = "give cut points, as age:18,30,50."


def to_bands(
    values: ArrayLike, cuts: int | Sequence[float], people: ArrayLike | None = None
) -> np.ndarray:
    """Labels of the ranges that numbers, such as ages, are in.

    Parameters
    ----------
    values : array-like, shape (n_samples,)
        Numbers; None and NaN are unknown.
    cuts : int or sequence of float, shape (n_cuts,)
        How many ranges, between quantiles; or the cut points between ranges, in ascending
        order. A value at a cut point is in the range above it.
    people : array-like, shape (n_samples,), default=None
        Whose value each is: quantiles then count a person's value once.

    Returns
    -------
    labels : ndarray of object, shape (n_samples,)
        Such as "under 18", "18 to under 30" and "30 and over"; None where unknown.

    Raises
    ------
    ValueError
        If values are no numbers, or cut points do not ascend.

    Examples
    --------
    >>> from skfairfr.utils import to_bands
    >>> to_bands([15, 18, 42, None], [18, 30]).tolist()
    ['under 18', '18 to under 30', '30 and over', None]
    """
    column = to_column(values, "values")
    unknown = is_unknown(column)
    try:
        numbers = np.where(unknown, np.nan, column).astype(np.float64)
    except (TypeError, ValueError):
        problem = f"hold what is no number, such as {str(column[~unknown][0])!r};"
        raise refused("values", values, problem, "leave the ranges out.") from None
    known = numbers[~unknown]
    if isinstance(cuts, int | np.integer):
        if people is not None:
            person = np.unique(
                to_column(people, "people")[~unknown], return_inverse=True
            )
            known = np.unique([person[1], known], axis=1)[1]
        shares = np.arange(1, cuts) / cuts
        cuts = (
            np.unique(np.quantile(known, shares, method="higher")) if known.size else ()
        )
        cuts = [cut for cut in cuts if cut > known.min()]
    cuts = np.asarray(cuts, dtype=np.float64)
    if not cuts.size or (np.diff(cuts) <= 0).any() or not np.isfinite(cuts).all():
        problem = (
            "need cut points in ascending order, or two quantiles or more of different "
        )
        raise refused("cuts", cuts, f"{problem}numbers; got {cuts.tolist()}.")
    places = np.searchsorted(cuts, numbers, side="right")
    shown = [f"{cut:.12g}" for cut in cuts]
    names = [f"under {shown[0]}"]
    names += [f"{a} to under {b}" for a, b in itertools.pairwise(shown)]
    names.append(f"{shown[-1]} and over")
    labels = np.array([*names, None], dtype=object)
    return labels[np.where(unknown, len(names), places)]


def split_bands(attribute: str) -> tuple[str, int | list[float] | Callable | None]:
    """The column of NAME, NAME:K or NAME:CUT,CUT, and its ranges; None without any."""
    found = FORM.fullmatch(attribute)
    if found is None:
        return attribute, None
    name, cuts = found.groups()
    if "," not in cuts and cuts.isdigit():
        if not 2 <= int(cuts) <= MOST_QUANTILES:
            problem = (
                f"{attribute!r} may be {cuts} quantiles or one cut point at {cuts};"
            )
            remedy = (
                f"give 2 to {MOST_QUANTILES} quantiles, or {name}:{cuts}, with a comma."
            )
            raise refused("attributes", attribute, problem, remedy)
        return name, int(cuts)
    return name, [float(cut) for cut in cuts.removesuffix(",").split(",")]


def check_cut_points(attribute: str, problem: str) -> None:
    """Raise if an attribute is of quantiles, which ``problem`` forbids."""
    if isinstance(split_bands(attribute)[1], int):
        raise refused("attributes", attribute, f"{attribute!r} {problem}", CUT_POINTS)


def check_not_numbers(labels, name):
    """Raise if labels are more different numbers than make groups."""
    values = labels.values.tolist()
    if len(values) > MOST_NUMBERS and all(isinstance(v, int | float) for v in values):
        problem = f"{name} has {len(values)} different numbers, such as {values[0]:g}, and groups "
        problem += "are few;"
        remedy = f"make ranges of them: {name}:4 (quantiles), {name}:18,30,50 (cut points) or, "
        remedy += (
            "of arrays, skfairfr.utils.to_bands; if they are codes, give them as text."
        )
        raise refused("sensitive_features", None, problem, remedy)
