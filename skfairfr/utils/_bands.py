"""Numbers as groups: a few ranges of them, by quantiles or at cut points."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import check_spelling, encode, to_column
from skfairfr.utils._validation import to_numbers

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
FORM = re.compile(rf"(.+):(\d+|{NUMBER}(?:,{NUMBER})*,?)", re.DOTALL)
RANGE = re.compile(
    rf"(?P<below>(?:under|below|<=?) *{NUMBER})|>=? *(?P<from>{NUMBER})|(?P<start>{NUMBER})"
    rf"(?: *(?:-|–|to|to under) *{NUMBER}| and (?:over|older)| *\+)"
)
# More quantiles than this are not meant: "age:18" is one cut point.
MOST_QUANTILES = 9
# More different numbers than this are measurements, and no labels of groups.
MOST_NUMBERS = 20


def to_bands(
    values: ArrayLike, cuts: int | Sequence[float], people: ArrayLike | None = None
) -> np.ndarray:
    """Labels of the ranges that numbers, such as ages, are in.

    Parameters
    ----------
    values : array-like, shape (n_samples,)
        Numbers. None and NaN are unknown.
    cuts : int or sequence of float, shape (n_cuts,)
        How many ranges, between quantiles, or the cut points between ranges, in ascending
        order. A value at a cut point is in the range above it.
    people : array-like, shape (n_samples,), default=None
        Whose value each is: quantiles then count a person's value once.

    Returns
    -------
    labels : ndarray of object, shape (n_samples,)
        Labels such as "under 18", "18 to under 30" and "30 and over", or None if unknown.

    Raises
    ------
    ValueError
        If values are no numbers, cut points do not ascend, or so many equal values make
        fewer ranges.

    Examples
    --------
    >>> from skfairfr.utils import to_bands
    >>> to_bands([15, 18, 42, None], [18, 30]).tolist()
    ['under 18', '18 to under 30', '30 and over', None]
    """
    if isinstance(cuts, int | np.integer):
        cuts = quantile_cuts(values, cuts, people)
    cuts = to_numbers(cuts, "cuts")
    ascending = cuts.ndim == 1 and cuts.size and (np.diff(cuts) > 0).all()
    if not (ascending and np.isfinite(cuts).all()):
        problem = f"need a list of cut points in ascending order, got {cuts.tolist()}."
        raise invalid("cuts", cuts, problem)
    labels, numbers = _numbers(values)
    places = np.searchsorted(cuts, numbers, side="right")
    names = np.array([*band_names(cuts), None], dtype=object)
    return names[np.append(places, -1)[labels.codes]]


def band_names(cuts):
    """Names of the ranges between cut points."""
    shown = [f"{cut:.12g}" for cut in cuts]
    between = [f"{a} to under {b}" for a, b in itertools.pairwise(shown)]
    return [f"under {shown[0]}", *between, f"{shown[-1]} and over"]


def range_start(label):
    """Lower end of a range such as "under 18", "18-30" or "65+", a float, or None for others."""
    found = RANGE.fullmatch(str(label).strip())
    if found is None:
        return None
    return -np.inf if found["below"] else float(found["start"] or found["from"])


def in_ascending_order(labels):
    """Labels sorted by where their ranges begin, a list, or None if one is no range."""
    starts = [range_start(label) for label in labels]
    if not starts or None in starts or len({*starts}) < len(starts):
        return None
    return [label for _, label in sorted(zip(starts, labels, strict=True))]


def quantile_cuts(values, n, people=None):
    """Cut points of n ranges by quantiles. Arguments as in :func:`to_bands`."""
    labels, numbers = _numbers(values)
    known = labels.codes >= 0
    person = np.arange(known.size) if people is None else encode(people, "people").codes
    once = np.unique(np.stack([person, labels.codes])[:, known], axis=1)[1]
    cuts = np.empty(0)
    if once.size:
        shares = np.arange(1, n) / n
        cuts = np.unique(np.quantile(numbers[once], shares, method="higher"))
        cuts = cuts[cuts > numbers.min()]
    if cuts.size != n - 1:
        problem = (
            f"need quantiles of different numbers, and {n} are not: {cuts.tolist()}."
        )
        raise invalid("cuts", n, problem, "Make fewer, or give cut points.")
    return cuts.tolist()


def _numbers(values):
    """Distinct values as Labels, and the number that each is."""
    labels = encode(to_column(values, "values"), "values", allow_unknown=True)
    numbers = np.array([to_number(value) for value in labels.values])
    if (wrong := np.isnan(numbers)).any():
        found = str(labels.values[wrong.argmax()])
        problem = f"contain what is no number, such as {found!r};"
        raise invalid("values", values, problem, "leave the ranges out.")
    return labels, numbers


def to_number(label):
    """The number that the text of a label is, 0.7 also of float32, or nan if it is none."""
    try:
        return float(str(label))
    except ValueError:
        return np.nan


def split_bands(attribute: str) -> tuple[str, int | list[float] | Callable | None]:
    """The column of NAME, NAME:K or NAME:CUT,CUT, and its ranges, or None without any."""
    found = FORM.fullmatch(attribute)
    if found is None:
        return attribute, None
    name, cuts = found.groups()
    if "," not in cuts and cuts.isdigit():
        if not 2 <= int(cuts) <= MOST_QUANTILES:
            problem = f"{attribute!r} may be {cuts} quantiles or a cut point at {cuts};"
            remedy = (
                f"give 2 to {MOST_QUANTILES} quantiles, or {name}:{cuts}, (a comma)."
            )
            raise invalid("attributes", attribute, problem, remedy)
        return name, int(cuts)
    return name, [float(cut) for cut in cuts.removesuffix(",").split(",")]


def check_groups(labels, name):
    """Raise if labels contain two spellings of a group, or more numbers than make groups.

    The numbers 0 to K - 1 without a gap are codes, as from LabelEncoder or a clustering.
    """
    if labels.values.dtype.kind != "f":
        check_spelling(labels.values, name, what="group")
    if labels.values.size <= MOST_NUMBERS:
        return
    numbers = np.array([to_number(value) for value in labels.values])
    numbers = np.unique(numbers[~np.isnan(numbers)])
    codes = np.array_equal(numbers, np.arange(numbers.size))
    if numbers.size > MOST_NUMBERS and not codes:
        problem = f"has {numbers.size} different numbers, such as {numbers[0]:g}, and groups are few;"
        if name == "sensitive_features":
            name = "age"
        else:
            problem = f"{name} {problem}"
        remedy = f"make ranges of them: {name}:4 (quantiles), {name}:18,30,50 (cut points) or, "
        remedy += "for arrays, skfairfr.utils.to_bands. Write codes with a letter, such as c21."
        raise invalid("sensitive_features", None, problem, remedy)
