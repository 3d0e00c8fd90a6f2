"""Whether a difference between groups remains at equal covariates: one regression of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skfairfr._core._jackknife import rate_ends
from skfairfr._core._paired import difference_ends
from skfairfr._core._regression import collinear, fit_regression, standardised
from skfairfr.utils._errors import ArgumentError, invalid
from skfairfr.utils._frames import ShownAsTable, build_frame
from skfairfr.utils._labels import check_length, encode, encode_joined, to_column
from skfairfr.utils._validation import check_level, plain

DIFFERENT = "different"
# A level needs errors of so many people, and each coefficient of a covariate as well
# (Vittinghoff & McCulloch 2007 find five to nine errors for each to be enough).
FEWEST_PEOPLE = 5
# A number with no more values is of categories.
MOST_CODES = 10
# Quantiles of a number at which its cubic spline has knots (Harrell 2015).
KNOTS = (0.05, 0.35, 0.65, 0.95)
N_POINTS = 25
# Of more rows, so many without an error are sampled for each error of every combination of
# groups: variances grow by 1 / 20 at most (Breslow & Day 1980, section 7.1). A combination
# keeps its share of LARGE rows in any case.
LARGE, WITHOUT_ERROR = 200_000, 20


@dataclass(frozen=True)
class ExplainedRatio:
    """A group's error rate over that of the reference, as it is and at equal covariates.

    Attributes
    ----------
    attribute : str
    group, reference : labels
        Of pairs of two people both images are of the group. "different" if they are of two.
    n_errors, n_trials : float
        Numbers of the group.
    raw, raw_low, raw_high : float
        Ratio of the rates as they are, and its interval. Above 1, the group's is higher.
    ratio, low, high : float
        The same at equal covariates and equal other attributes.
    p_value : float
        Two-sided, that ``ratio`` is 1.
    difference, difference_low, difference_high : float
        Difference of the average rates at equal covariates, group minus reference.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    explain_errors : Returns it, within an Explanation.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import explain_errors
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(2000), 8)
    >>> sex = np.where(person % 2, "f", "m")
    >>> poor = rng.random(16_000) < np.where(sex == "f", 0.6, 0.2)
    >>> error = rng.random(16_000) < np.where(poor, 0.2, 0.02)
    >>> (one,) = explain_errors(error, person, {"sex": sex}, covariates={"poor": poor}).ratios
    >>> print(f"{one.group} over {one.reference}: raw {one.raw:.1f}, at equal quality {one.ratio:.1f}")
    m over f: raw 0.5, at equal quality 1.0
    """

    attribute: str
    group: Any
    reference: Any
    n_errors: float
    n_trials: float
    raw: float
    raw_low: float
    raw_high: float
    ratio: float
    low: float
    high: float
    p_value: float
    difference: float
    difference_low: float
    difference_high: float


@dataclass(frozen=True)
class RateCurve:
    """An error rate over a number, such as age, at equal covariates.

    Attributes
    ----------
    name : str
    at, rate, low, high : ndarrays, shape (n_points,)
        Values of the number, the average rate at each, and its pointwise interval.
    band_low, band_high : ndarrays, shape (n_points,)
        Intervals that are valid for all values together (Bonferroni), to compare with limits.
    p_value : float
        Two-sided, that the rate has no trend: no rise or fall from the lowest to the highest
        knot, and no bend between them (Bonferroni over these two).

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    explain_errors : Returns it, within an Explanation.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import explain_errors
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(2000), 8)
    >>> sex = np.where(person % 2, "f", "m")
    >>> poor = rng.random(16_000) < np.where(sex == "f", 0.6, 0.2)
    >>> error = rng.random(16_000) < np.where(poor, 0.2, 0.02)
    >>> age = rng.integers(18, 80, 2000)[person]
    >>> found = explain_errors(error, person, {"sex": sex}, covariates={"age": age}, curves=["age"])
    >>> curve = found.curves[0]
    >>> curve.name, bool(curve.p_value > 0.05)
    ('age', True)
    """

    name: str
    at: np.ndarray
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    p_value: float


@dataclass(frozen=True)
class Explanation(ShownAsTable):
    """Ratios of groups' error rates, raw and at equal covariates.

    Attributes
    ----------
    ratios : tuple of ExplainedRatio
        One for each group but the references.
    curves : tuple of RateCurve
    covariates : dict of str -> str
        Use of each covariate, in words.
    n_errors, n_trials, n_people : float
        Numbers in the regression.
    notes : tuple of str
        Groups or columns left out or merged, and whether a ridge was needed.
    confidence_level : float in (0, 1)

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    explain_errors : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import explain_errors
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(2000), 8)
    >>> sex = np.where(person % 2, "f", "m")
    >>> poor = rng.random(16_000) < np.where(sex == "f", 0.6, 0.2)
    >>> error = rng.random(16_000) < np.where(poor, 0.2, 0.02)
    >>> found = explain_errors(error, person, {"sex": sex}, covariates={"poor": poor})
    >>> print(found.to_frame()[["group", "reference", "raw", "ratio"]].round(1))
      group reference  raw  ratio
    0     m         f  0.5    1.0
    """

    ratios: tuple
    curves: tuple = field(repr=False)
    covariates: dict
    n_errors: float
    n_trials: float
    n_people: int
    notes: tuple
    confidence_level: float

    def to_frame(self, backend: str | None = None) -> Any:
        """A row for each ratio.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Library of the frame. If None: the first of these that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        """
        names = [one.name for one in fields(ExplainedRatio)]
        columns = {name: [getattr(r, name) for r in self.ratios] for name in names}
        return build_frame(columns, backend)


def explain_errors(
    error: ArrayLike,
    identity: ArrayLike | tuple,
    sensitive_features: Mapping,
    *,
    covariates: Mapping | None = None,
    curves: Sequence[str] = (),
    interactions: Sequence[tuple] = (),
    sample_weight: ArrayLike | None = None,
    reference: Mapping | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.RandomState | None = 0,
) -> Explanation:
    """Ratios of groups' error rates at equal covariates, by one logistic regression.

    The average rate of a group is the one predicted if every row were of this group and kept
    its covariates and other attributes. Lower rates are better. A ratio above 1 means that the
    group's rate is higher. Intervals and p-values leave out one person at a time, as those of
    all rates of this package.

    Parameters
    ----------
    error : array-like of bool, shape (n_rows,)
        Whether a genuine pair was rejected, an impostor pair accepted, a search missed, ...
    identity : array-like, shape (n_rows,), or tuple of two
        The person of each row, or both people of an impostor pair.
    sensitive_features : mapping of str -> array-like, shape (n_rows,), or tuple of two
        Attributes, of a row or of both of its images. Two images of one group count for the
        group, others are "different". Rows with an unknown label are left out.
    covariates : mapping of str -> array-like, shape (n_rows,), or tuple of two, default=None
        Numbers enter as natural cubic splines (linearly if errors are few), others, and
        numbers with up to ten values, as categories. Of two numbers the smaller one and
        their difference enter, of two categories their combination.
    curves : sequence of str, shape (n_curves,), default=()
        Covariates that are numbers, over which the rate is computed. Of two numbers their
        mean enters. For two people the curve is at no difference.
    interactions : sequence of pairs of str, shape (n_interactions, 2), default=()
        Two attributes each, whose combinations are compared with that of their references. The
        regression then has a rate for each combination in place of one for each attribute.
    sample_weight : array-like, shape (n_rows,), default=None
        Number of rows that each represents, if those without errors are a sample. All rows are
        then used.
    reference : mapping of str -> label, default=None
        Group of an attribute to compare with. If None: that with the most trials.
    confidence_level : float in (0, 1), default=0.95
    random_state : int, RandomState instance or None, default=0
        Above 200,000 rows, all rows with errors are used, and a sample of the others: in each
        combination of groups 20 for each error, or more, weighted to their number.

    Returns
    -------
    explanation : Explanation

    Raises
    ------
    ArgumentError
        A ValueError: if arguments differ in length, fewer than two groups have errors of five
        people, or a covariate and a group determine each other.

    References
    ----------
    Greenland (1991), "Estimating standardized parameters from generalized linear models",
    for average predicted rates; Aronow, Samii & Assenova (2015) for pairs of people.

    Examples
    --------
    Poor images cause all errors, and more of f are poor:

    >>> import numpy as np
    >>> from skfairfr.metrics import explain_errors
    >>> rng = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(2000), 8)
    >>> sex = np.where(person % 2, "f", "m")
    >>> poor = rng.random(16_000) < np.where(sex == "f", 0.6, 0.2)
    >>> error = rng.random(16_000) < np.where(poor, 0.2, 0.02)
    >>> found = explain_errors(
    ...     error, person, {"sex": sex}, covariates={"poor": poor}, reference={"sex": "m"}
    ... )
    >>> (one,) = found.ratios
    >>> print(f"raw {one.raw:.1f}, at equal quality {one.ratio:.1f}")
    raw 2.2, at equal quality 1.0
    """
    check_level(confidence_level, "confidence_level")
    error = to_column(error, "error").astype(np.float64)
    tail = (1 - confidence_level) / 2

    def read(attributes, references):
        rows = _Rows(error, identity, sample_weight)
        for name, column in attributes.items():
            rows.add_attribute(name, column, references.get(name))
        for name, column in (covariates or {}).items():
            rows.add_covariate(name, column, name in curves)
        rows._take(rows.known)
        rows.leave_out_few()
        rows.merge_few()
        rows.sample(check_random_state(random_state))
        return rows

    rows = read(sensitive_features, reference or {})
    ratios, adjusted, fitted = rows.ratios(rows.attributes, tail)
    for names in interactions:
        attributes, combined = _with_combinations(sensitive_features, names)
        labels = [rows.reference_label(name) for name in names]
        references = (reference or {}) | {combined: " & ".join(map(str, labels))}
        try:
            of_both = read(attributes, references)
        except ArgumentError as few:
            if few.argument != "sensitive_features":
                raise
            rows.notes.append(str(few).partition(" ")[2])
            continue
        ratios += of_both.ratios([combined], tail)[0]
        rows.notes += of_both.notes
    return Explanation(
        ratios=tuple(ratios),
        curves=tuple(rows.curve(name, adjusted, fitted, tail) for name in curves),
        covariates=rows.used,
        n_errors=float(rows.weight @ rows.error),
        n_trials=float(rows.weight.sum()),
        n_people=np.unique(np.concatenate(rows.ends)).size,
        notes=tuple(dict.fromkeys(rows.notes)),
        confidence_level=confidence_level,
    )


def _with_combinations(attributes, names):
    """Attributes with the combination of two of them in their place, and its name."""
    for name in names:
        if name not in attributes:
            problem = f"names {name!r}, which is no attribute;"
            remedy = f"these are: {', '.join(map(str, attributes))}."
            raise invalid("interactions", names, problem, remedy)
    sides = [c if isinstance(c, tuple) else (c,) for c in map(attributes.get, names)]
    combined, found = " & ".join(map(str, names)), dict(attributes)
    columns = []
    for k in range(max(map(len, sides))):
        both = {n: side[k % len(side)] for n, side in zip(names, sides, strict=True)}
        columns.append(encode(both, combined, allow_unknown=True).of_rows())
    for name in names:
        del found[name]
    found[combined] = tuple(columns) if len(columns) == 2 else columns[0]
    return found, combined


class _Rows:
    """Rows of a regression: errors, people, attributes and covariates."""

    def __init__(self, error, identity, weight):
        self.error, self.notes, self.used = error, [], {}
        identity = identity if isinstance(identity, tuple) else (identity,)
        columns = [to_column(end, "identity") for end in identity]
        for column in columns:
            check_length(column, error.size, "identity", "error")
        people = encode_joined(columns, "identity").codes
        self.ends = tuple(np.split(people, len(columns)))
        self.weight = np.ones(error.size)
        if weight is not None:
            self.weight = to_column(weight, "sample_weight").astype(np.float64)
        self.attributes, self.references, self.covariates = {}, {}, {}
        self.numbers, self.known = {}, np.ones(error.size, dtype=bool)

    def _sides(self, name, column):
        sides = column if isinstance(column, tuple) else (column,)
        sides = [to_column(side, name) for side in sides]
        for side in sides:
            check_length(side, self.error.size, name, "error")
        if len(sides) == 2 and sides[0] is sides[1]:
            sides = sides[:1]
        return sides

    def add_attribute(self, name, column, reference):
        sides = self._sides(name, column)
        labels = encode_joined(sides, name, allow_unknown=True)
        codes = np.split(labels.codes, len(sides))
        self._leave_out("sensitive_features", name, np.min(codes, axis=0) < 0)
        values = [*labels.values.tolist(), DIFFERENT]
        same = codes[0] == codes[-1]
        self.attributes[name] = values, np.where(same, codes[0], len(values) - 1)
        if reference is not None:
            texts = [*map(str, values)]
            if str(reference) not in texts:
                problem = f"{plain(reference)!r} is no group of {name!r};"
                raise invalid("reference", reference, problem, f"these are: {values}.")
            self.references[name] = texts.index(str(reference))

    def add_covariate(self, name, column, as_curve):
        sides = self._sides(name, column)
        try:
            numbers = [np.array(side, dtype=np.float64) for side in sides]
            many = np.unique(numbers[0]).size > MOST_CODES
        except (TypeError, ValueError):
            many = False
            if as_curve:
                problem = f"{name!r} is no number, and has no curve;"
                remedy = "give it as an attribute."
                raise invalid("curves", name, problem, remedy) from None
        if many or as_curve:
            self._leave_out("covariates", name, ~np.isfinite(np.sum(numbers, axis=0)))
            self.numbers[name] = numbers, as_curve
            return
        labels = encode_joined(sides, name, allow_unknown=True)
        codes = np.sort(np.split(labels.codes, len(sides)), axis=0)
        self._leave_out("covariates", name, codes[0] < 0)
        texts, n = [*map(str, labels.values.tolist())], labels.values.size
        key, code = np.unique(codes[0] * n + codes[-1], return_inverse=True)
        both = [sorted({texts[k // n % n], texts[k % n]}) for k in key]
        self.covariates[name] = [" and ".join(one) for one in both], code

    def _take(self, keep):
        self.error, self.weight = self.error[keep], self.weight[keep]
        self.ends = tuple(end[keep] for end in self.ends)
        for columns in (self.attributes, self.covariates):
            for name, (values, codes) in columns.items():
                columns[name] = values, codes[keep]
        for name, (numbers, as_curve) in self.numbers.items():
            self.numbers[name] = [side[keep] for side in numbers], as_curve
        self.known = self.known[keep]

    def _leave_out(self, argument, name, unknown):
        """Mark rows in which an attribute or a covariate is unknown."""
        if unknown.all():
            raise invalid(argument, name, f"{name!r} is unknown in every row.")
        if n := int(unknown.sum()):
            self.notes.append(
                f"{name} is unknown in {n:,} of {unknown.size:,} rows "
                f"({100 * n / unknown.size:.3g} %), which are left out."
            )
        self.known &= ~unknown

    def _people_in_errors(self, inside):
        """Number of people with an error among some rows."""
        rows = inside & (self.error > 0)
        return np.unique(np.concatenate([end[rows] for end in self.ends])).size

    def leave_out_few(self):
        """Leave out groups with errors of few people."""
        if self.error.all():
            problem = f"{next(iter(self.attributes))!r} has errors in every row."
            raise invalid("sensitive_features", None, problem)
        for name in self.attributes:
            values, codes = self.attributes[name]
            for place in np.unique(codes):
                inside = self.attributes[name][1] == place
                if (n := self._people_in_errors(inside)) >= FEWEST_PEOPLE:
                    continue
                few = f"{values[place]} has errors of {n} people, {FEWEST_PEOPLE} "
                few += "needed"
                if place == self.references.get(name):
                    problem = f"{name!r}: the reference {few}."
                    raise invalid("sensitive_features", name, problem)
                self.notes.append(f"{name}: {few}, and is left out.")
                self._take(~inside)
            levels = np.unique(self.attributes[name][1])
            if levels.size < 2:
                problem = f"{name!r} has fewer than two groups with errors of "
                problem += f"{FEWEST_PEOPLE} people, so nothing can be compared;"
                remedy = "choose a threshold with more errors, or another attribute."
                raise invalid("sensitive_features", name, problem, remedy)

    def merge_few(self):
        """Merge categories with errors of few people, and store how covariates are used."""
        for name, (values, codes) in self.covariates.items():
            counts = {c: self._people_in_errors(codes == c) for c in np.unique(codes)}
            few = [c for c in counts if counts[c] < FEWEST_PEOPLE]
            if few:
                # The next category joins those with few if they are too few together.
                others = sorted((c for c in counts if c not in few), key=counts.get)
                together = sum(counts[c] for c in few)
                merged = few + others[: together < FEWEST_PEOPLE]
                names = ", ".join(values[c] for c in merged)
                self.notes.append(
                    f"{name}: categories with errors of few people are merged: {names}."
                )
                codes = np.where(np.isin(codes, merged), merged[0], codes)
            self.covariates[name] = values, codes
            if (n_left := np.unique(codes).size) > 1:
                self.used[name] = f"{n_left} categories"
                continue
            what = "category" if len(values) > 1 else "value"
            self.notes.append(f"{name} has one {what}, so it adjusts nothing.")

    def sample(self, random):
        """Keep rows with errors and, if there are many, a weighted sample of the others."""
        others = np.flatnonzero(self.error == 0)
        if self.error.size <= LARGE or (self.weight != 1).any():
            return
        groups = np.stack([codes for _, codes in self.attributes.values()])
        cell = np.unique(groups, axis=1, return_inverse=True)[1].ravel()
        n_others = np.bincount(cell[others], minlength=cell.max() + 1)
        n_errors = np.bincount(cell) - n_others
        kept = np.maximum(WITHOUT_ERROR * n_errors, LARGE // n_others.size)
        share = np.minimum(1.0, kept / np.maximum(n_others, 1))
        if (share == 1).all():
            return
        others = random.permutation(others)
        others = others[np.argsort(cell[others], kind="stable")]
        place = np.floor(np.cumsum(share[cell[others]]))
        chosen = others[np.diff(place, prepend=0) > 0]
        total = np.bincount(cell[others], self.weight[others], cell.max() + 1)
        kept = np.bincount(cell[chosen], self.weight[chosen], cell.max() + 1)
        keep = self.error > 0
        keep[chosen] = True
        self.weight[chosen] *= (total / np.maximum(kept, 1e-300))[cell[chosen]]
        self.notes.append(
            f"All rows with errors and {chosen.size:,} of the {total.sum():,.0f} others are used."
        )
        self._take(keep)

    def reference_label(self, name):
        """Label of the group of an attribute that others are compared with."""
        return self.attributes[name][0][self.reference_of(name)]

    def reference_of(self, name):
        values, codes = self.attributes[name]
        if name in self.references:
            return self.references[name]
        total = np.bincount(codes, self.weight, len(values))
        return int(np.argmax(total[:-1]))

    def design(self, only=None):
        """A _Design of one attribute alone, or of all attributes and covariates."""
        chosen = self.attributes if only is None else {only: self.attributes[only]}
        parts = []
        for name, (_, codes) in chosen.items():
            levels = np.unique(codes)
            others = levels[levels != self.reference_of(name)]
            parts.append((name, others, (codes[:, None] == others).astype(float)))
        if only is None:
            for name, (_, codes) in self.covariates.items():
                others = np.unique(codes)[1:]
                parts.append((name, others, (codes[:, None] == others).astype(float)))
            n_columns = 1 + sum(others.size for _, others, _ in parts)
            parts += self._parts_of_numbers(n_columns)
        return _Design(self.error.size, parts)

    def _parts_of_numbers(self, n_others):
        """Splines of numbers, or straight lines if errors are too few, next to other columns."""
        n_errors = self._people_in_errors(np.ones(self.error.size, dtype=bool))
        n_columns = n_others + len(KNOTS) * len(self.numbers)
        enough, parts = n_errors >= FEWEST_PEOPLE * n_columns, []
        for name, (sides, as_curve) in self.numbers.items():
            one, other = sides[0], sides[-1]
            value = (one + other) / 2 if as_curve else np.minimum(one, other)
            knots = np.unique(np.quantile(value, KNOTS))
            knots = knots if (enough or as_curve) and knots.size == len(KNOTS) else ()
            basis = partial(_spline, knots=knots)
            parts.append((name, basis, basis(value)))
            how = "spline" if len(knots) else "linear"
            if (one != other).any():
                gap = np.abs(one - other)[:, None]
                parts.append((f"difference of {name}", None, gap))
                how += ", with the difference of both images"
            self.used[name] = f"number ({how})"
        return parts

    def fit(self, design):
        dependent = collinear(design.X, self.weight)
        if dependent.any():
            names = dict.fromkeys(
                n for n, place in design.places.items() if dependent[place].any()
            )
            problem = f"and attributes determine each other ({', '.join(names)}), so "
            problem += "effects cannot be separated;"
            raise invalid("covariates", None, problem, "leave one of them out.")
        return fit_regression(design.scaled(design.X), self.error, self.weight)

    def ratios(self, names, tail):
        """ExplainedRatios of attributes. The design and the Regression of all columns."""
        adjusted, found = self.design(), []
        fitted = self.fit(adjusted)
        if fitted.ridge:
            self.notes.append(
                "Some columns separate the errors from the other rows. A ridge keeps their "
                "coefficients finite."
            )
        for name in names:
            values, codes = self.attributes[name]
            raw, *_ = self.judge(name, self.design(only=name), None, tail)
            equal, p_value, difference = self.judge(name, adjusted, fitted, tail)
            reference = values[self.reference_of(name)]
            for k, level in enumerate(self.levels(name)[1:]):
                inside = self.weight * (codes == level)
                numbers = [inside @ self.error, inside.sum(), *raw[:, k], *equal[:, k]]
                numbers += [p_value[k], *difference[:, k]]
                groups = name, values[level], reference
                found.append(ExplainedRatio(*groups, *map(float, numbers)))
        return found, adjusted, fitted

    def levels(self, name):
        """Codes of the groups of an attribute, the reference first."""
        reference = self.reference_of(name)
        others = np.unique(self.attributes[name][1])
        return [reference, *others[others != reference]]

    def judge(self, name, design, fitted, tail):
        """Ratios with ends, p-values, and differences with ends: all groups but the reference."""
        levels, codes = self.levels(name), self.attributes[name][1]
        found = self.standardised(
            fitted or self.fit(design),
            [partial(design.at_level, name, level) for level in levels],
            [codes == level for level in levels],
        )
        n = len(levels) - 1
        contrasts = found.contrasts(np.column_stack([-np.ones(n), np.eye(n)]))
        ends = contrasts.bounds(tail)
        own, rate = rate_ends(found.sums, tail), found.sums.rate
        base = [np.full(n, end[0]) for end in own]
        difference = difference_ends(ends, [end[1:] for end in own], base)
        return (
            np.array([np.exp(contrasts.value), *ends]),
            contrasts.p_value,
            np.array([rate[1:] - rate[0], *difference]),
        )

    def standardised(self, fitted, settings, members):
        n_people = max(end.max() for end in self.ends) + 1
        return standardised(fitted, self.ends, n_people, settings, members)

    def curve(self, name, design, fitted, tail):
        if name not in self.numbers:
            problem = f"{name!r} is no covariate;"
            raise invalid("curves", name, problem, "give its numbers (covariates).")
        one, other = self.numbers[name][0][0], self.numbers[name][0][-1]
        value = (one + other) / 2
        knots = np.quantile(value, KNOTS)
        at = np.append(np.linspace(knots[0], knots[-1], N_POINTS), knots)
        found = self.standardised(
            fitted,
            [partial(design.at_number, name, x, len(self.ends) == 2) for x in at],
            [np.ones(self.error.size, dtype=bool)] * at.size,
        )
        weights = np.zeros((2, at.size))
        weights[:, -4:] = [[-1, 0, 0, 1], [0.5, -0.5, -0.5, 0.5]]
        p_value = min(2 * found.contrasts(weights).p_value.min(), 1.0)
        ends = (*rate_ends(found.sums, tail), *rate_ends(found.sums, tail / N_POINTS))
        columns = (column[:N_POINTS] for column in (at, found.sums.rate, *ends))
        return RateCurve(name, *columns, float(p_value))


class _Design:
    """Columns of a regression, by the attribute or covariate that they are of."""

    def __init__(self, n_rows, parts):
        names, bases, columns = zip(*parts, strict=True)
        ends = 1 + np.cumsum([0, *(one.shape[1] for one in columns)])
        self.places = dict(zip(names, map(slice, ends, ends[1:]), strict=True))
        self.bases = dict(zip(names, bases, strict=True))
        self.X = np.column_stack([np.ones(n_rows), *columns])
        self.mean, self.scale = self.X.mean(axis=0), self.X.std(axis=0)
        self.mean[0], self.scale[0] = 0.0, 1.0
        self.scale[self.scale == 0] = 1.0

    def scaled(self, X):
        return (X - self.mean) / self.scale

    def at_level(self, name, level):
        """Columns if every row had a level of an attribute."""
        X = self.X.copy()
        X[:, self.places[name]] = self.bases[name] == level
        return self.scaled(X)

    def at_number(self, name, value, of_two):
        """Columns if every row had a value of a number, and two people the same."""
        X = self.X.copy()
        X[:, self.places[name]] = self.bases[name](np.array([value]))
        gap = self.places.get(f"difference of {name}")
        if of_two and gap is not None:
            X[:, gap] = 0.0
        return self.scaled(X)


def _spline(values, knots):
    """Natural cubic spline, (n, n_knots - 1): linear beyond the knots. Linear without any."""
    if not len(knots):
        return values[:, None]

    def cubes(knot):
        return np.maximum(values - knot, 0.0) ** 3

    *inner, before, last = knots
    width = (last - knots[0]) ** 2
    columns = [
        cubes(knot)
        - cubes(before) * (last - knot) / (last - before)
        + cubes(last) * (before - knot) / (last - before)
        for knot in inner
    ]
    return np.column_stack([values, *(column / width for column in columns)])
