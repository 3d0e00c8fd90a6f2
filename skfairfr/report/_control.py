"""An audit at equal covariates: strata from columns of the data, and standardised rates.

The standardised rates are about the thresholds of the audit. Their intervals and tests are
those of all rates, from weighted pairs; the tests are a family of their own.
"""

import re
from copy import copy
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from skfairfr._core._intervals import support_of
from skfairfr._core._strata import Strata, standardised, standards
from skfairfr._text._words import RATES, listed
from skfairfr.report._measure import AuditedROC
from skfairfr.report._notes import in_words
from skfairfr.report._records import (
    Control,
    Disparity,
    Effective,
    Figure,
    GroupRates,
    Standardised,
    Stratum,
)
from skfairfr.report._verdicts import beyond_all_scores, judge
from skfairfr.utils._errors import plain, refused
from skfairfr.utils._labels import check_length, encode, join_columns, to_column
from skfairfr.utils._validation import check_sequence

FORM = re.compile(
    r"(?P<name>.+?)(?<!:gap)(?<!:[01])(:(?P<n>[2-9]|[1-9]\d+)(?P<gap>:gap)?)?",
    re.DOTALL,
)
# Strata of more categories, or of every two of them, would hold few pairs each.
MAX_CATEGORIES = 20
# Differences of more numbers than this are not tabulated.
MAX_VALUES = 200


class Covariate(NamedTuple):
    """What to control for: a column, how many quantiles (None: categories), of a gap or not."""

    name: str
    n_strata: int | None
    is_gap: bool


def covariates_of(control):
    """Covariates of one text, NAME, NAME:K or NAME:K:gap, or of a sequence of them, a list."""
    texts = (control,) if isinstance(control, str) else control
    texts, found = (
        check_sequence(texts, "control", "texts such as 'quality:4'", str),
        [],
    )
    for text in texts:
        parts = FORM.fullmatch(text)
        if parts is None:
            raise refused(
                *("control", text),
                f"must be NAME, NAME:K or NAME:K:gap with K >= 2; got {text!r}.",
                "NAME is of categories, K the number of quantiles of a number, gap of its "
                "difference between both images.",
            )
        n = parts["n"] and int(parts["n"])
        found.append(Covariate(parts["name"], n, bool(parts["gap"])))
    return found


# ---- strata from columns -------------------------------------------------------------


def strata_of(data, control):
    """Strata of the pairs of data by one covariate, or by several at once.

    Parameters
    ----------
    data : EmbeddingData or PairData
    control : str or sequence of str

    Returns
    -------
    strata : Strata
    """
    return reduce(
        Strata.crossed, [_strata(data, one) for one in covariates_of(control)]
    )


def _strata(data, asked):
    """Strata of one covariate."""
    if asked.name not in data.covariates:
        known = ", ".join(map(repr, data.covariates)) or "none"
        problem = f"{asked.name!r} is no covariate of the data; these are: {known}."
        raise refused("control", asked.name, problem)
    column, embedded = data.covariates[asked.name], data.kind == "embeddings"
    ends = column if isinstance(column, tuple) else (column,)
    ends = [to_column(end, asked.name) for end in ends]
    for end in ends:
        n_rows = len(data.X if embedded else data.y_score)
        check_length(end, n_rows, f"covariates[{asked.name!r}]", "the data")
    if embedded:
        found = _of_images(asked, *ends)
    elif len(ends) == 1:
        if asked.is_gap:
            raise refused(
                *("control", asked.name),
                f"{asked.name!r} is one column of the pair, which has no difference;",
                "leave :gap out, or give a column for each image.",
            )
        names, codes = _coded(asked, *ends)
        found = Strata(names, None, codes)
    else:
        both = _of_images(asked, join_columns(ends))
        left, right = np.split(both.codes, 2)
        found = Strata(both.names, None, both.of_codes[left, right])
    return found


def _of_images(asked, column):
    """Strata by codes of images, the last of which is unknown."""
    if asked.is_gap:
        return _of_gaps(asked, column)
    names, codes = _coded(asked, column)
    n = len(names)
    # Of quantiles the lower of both images, of categories both.
    places = np.full((n + 1, n + 1), -1)
    places[:n, :n] = np.minimum.outer(np.arange(n), np.arange(n))
    if asked.n_strata is None:
        one, other = np.triu_indices(n)
        places[one, other] = places[other, one] = np.arange(one.size)
        ends = zip(one, other, strict=True)
        names = [names[a] if a == b else f"{names[a]} and {names[b]}" for a, b in ends]
    return Strata(names, places, np.where(codes < 0, n, codes))


def _of_gaps(asked, column):
    """The same of the difference of a number."""
    values = _numbers(asked, column)
    known = np.isfinite(values)
    distinct, counts = np.unique(values[known], return_counts=True)
    if distinct.size > MAX_VALUES:
        raise refused(
            *("control", asked.name),
            f"{asked.name!r} has {distinct.size:,} different values, and differences are "
            f"taken of {MAX_VALUES} at most;",
            "round it, as ages to years.",
        )
    gaps = np.full((distinct.size + 1,) * 2, np.nan)
    gaps[:-1, :-1] = np.abs(np.subtract.outer(distinct, distinct))
    weights = np.outer(counts, counts)
    names, places = _quantiles(asked, gaps, weights.ravel())
    codes = np.where(known, np.searchsorted(distinct, values), distinct.size)
    return Strata(names, places, codes)


def _coded(asked, column):
    """Names of categories, or of quantiles, and the code of each row; -1 is unknown."""
    if asked.n_strata is not None:
        return _quantiles(asked, _numbers(asked, column))
    labels = encode(column, asked.name, allow_unknown=True)
    if labels.values.size > MAX_CATEGORIES:
        raise refused(
            *("control", asked.name),
            f"{asked.name!r} has {labels.values.size:,} categories, and {MAX_CATEGORIES} "
            "are taken at most;",
            f"give {asked.name}:4 for four quantiles, if it is a number, or fewer categories.",
        )
    return [f"{asked.name} {label}" for label in labels.values.tolist()], labels.codes


def _numbers(asked, column):
    """A column as floats, nan where unknown."""
    try:
        return np.array(column, dtype=np.float64)
    except (TypeError, ValueError):
        problem = (
            f"{asked.name!r} holds what is no number, of which there are no quantiles;"
        )
        remedy = f"give {asked.name} alone for its categories."
        raise refused("control", asked.name, problem, remedy) from None


def _quantiles(asked, values, weights=None):
    """Names of quantiles of a number, and that of each value; -1 where it is not known."""
    known = np.isfinite(values)
    shares = np.arange(1, asked.n_strata) / asked.n_strata
    cuts, highest = np.empty(0), np.max(values[known], initial=-np.inf)
    below = values[known & (values < highest)]
    if below.size:
        options = {"method": "inverted_cdf", "weights": weights}
        cuts = np.quantile(values[known], shares, **options)
        # Where the highest value is most frequent, it is a stratum of its own.
        cuts = np.unique(np.minimum(cuts, below.max()))
    name = f"difference of {asked.name}" if asked.is_gap else asked.name
    above = ["", *(f" above {cut:.4g}" for cut in cuts)]
    up_to = [*(f" up to {cut:.4g}" for cut in cuts), ""]
    names = [f"{name}{a}{b}" for a, b in zip(above, up_to, strict=True)]
    return names, np.where(known, np.searchsorted(cuts, values), -1)


# ---- rates at equal covariates -------------------------------------------------------


class StandardisedROC(AuditedROC):
    """The groups of an audit, whose pairs weigh by strata.

    Parameters
    ----------
    audited : AuditedROC
        Whose points have thresholds.
    strata : Strata

    Attributes
    ----------
    standards : dict of str -> Standard
        Of either rate.
    rates : tuple of str
        Those with a common stratum.
    """

    def __init__(self, audited, strata):
        roc = copy(audited.roc)
        pairs = roc._engine.pairs
        self.standards = standards(pairs, strata)
        weighed = standardised(pairs, strata, self.standards)
        roc._engine = replace(roc._engine, pairs=weighed)
        super().__init__(roc, audited.points)
        self.rates = tuple(r for r, of in self.standards.items() if of.shares.any())

    def evidence(self, rate, operating_point):
        """As of AuditedROC; none without a common stratum."""
        if rate not in self.rates:
            return None, np.empty(0, dtype=int)
        return super().evidence(rate, operating_point)

    def lacking(self):
        """A sentence for each rate that has pairs and no common stratum, a list."""
        return [
            f"no stratum of the covariates has {kind} pairs of all groups, so that the "
            f"{RATES[rate]} cannot be standardised"
            for rate, kind in (("far", "impostor"), ("frr", "genuine"))
            if rate not in self.rates and self.standards[rate].totals.any()
        ]

    def control(self, covariates, strata):
        """The Control of an audit."""
        rows = [
            Stratum(name, *of_rates)
            for name, *of_rates in zip(
                strata.names,
                *(self.standards[r].shares.tolist() for r in RATES),
                *(_within(self.standards[r]) for r in RATES),
                strict=True,
            )
        ]
        lost = [self.standards[r].lost if r in self.rates else np.nan for r in RATES]
        return Control(tuple(covariates), tuple(self.labels[1:]), tuple(rows), *lost)

    def standardised(self, level, place, judged, withheld):
        """The Standardised rates of a level, by its place in the points.

        Parameters
        ----------
        level : Level
        place : int
        judged : dict
            As of ``AuditedROC.levels``, by tests of standardised rates alone.
        withheld : bool
        """
        of_level = [judged.get((rate, "overall", place)) for rate in RATES]
        none = {label: (Figure.undefined(), None, None) for label in self.labels[1:]}
        found = [
            none if of is None else none | self._figures(rate, of, level.threshold)
            for rate, of in zip(RATES, of_level, strict=True)
        ]
        rows = tuple(
            GroupRates(label, *sum(zip(*(of[label] for of in found), strict=True), ()))
            for label in self.labels[1:]
        )
        findings = [
            finding
            for rate, of in zip(RATES, of_level, strict=True)
            for finding in (self._findings(rate, rows, of) if of is not None else [])
        ]
        if withheld or beyond_all_scores(level.rates[0]):
            findings = [replace(f, verdict="undetermined") for f in findings]
        ratios = (
            Figure.undefined() if of is None else _largest(of, figures.values())
            for of, figures in zip(of_level, found, strict=True)
        )
        ratio = Disparity("max_min", "overall", 1.0, *ratios)
        return Standardised(rows, ratio, tuple(findings))

    def _figures(self, rate, judged, threshold):
        """Figure, errors and what they are worth by label, of the groups that were judged."""
        compared, found = judged.compared, {}
        evidence, row, sums = compared.evidence, compared.level, compared.sums
        low, high = (end[row] for end in evidence.bounds(judged.tail))
        people = sums.effective_people(2 if rate == "far" else 1)
        sampled = evidence.asked[row].query.sampled
        for g, label in enumerate(judged.labels):
            asked = (
                evidence.scopes[g],
                np.array([threshold]),
                evidence.scopes[g] in sampled,
            )
            support = support_of(self.roc._engine.pairs, rate, *asked)
            reasons = tuple(support.reasons(0, (plain(label),), rate))
            source = "sample" if asked[-1] else "all pairs"
            numbers = (
                sums.rate[g],
                low[g],
                high[g],
                np.sqrt(sums.variance[g]) / sums.pairs[g],
            )
            why = in_words(reasons, source), source, reasons
            figure = Figure(*map(float, numbers), not reasons, *why)
            worth = Effective(float(sums.effective_errors[g]), float(people[g]))
            if not support.named:
                worth = None
            found[label] = figure, int(support.n_errors[0]), worth
        return found


def _within(standard):
    """Of each stratum its share of the pairs of every group, a list of tuples."""
    totals = np.where(standard.totals > 0, standard.totals, np.nan)
    return [tuple(row) for row in (standard.counts / totals[:, None]).T.tolist()]


def _largest(judged, figures):
    """The Figure of the largest over the smallest rate."""
    low, high, *_ = judged.compared.largest_ratio(judged.tail)
    rates = judged.sums.rate
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(rates.max() / rates.min()) if rates.size > 1 else np.nan
    reasons = tuple(reason for figure, *_ in figures for reason in figure.reasons)
    why = in_words(reasons), "all pairs", reasons
    numbers = value, float(low), float(high), np.nan, not reasons
    return Figure(*numbers, *why, p_value=judged.compared.p_value)


def controlled(audits, audited, chosen, strata, asked, confidence_level):
    """Audits with their rates at equal covariates beside them.

    Parameters
    ----------
    audits : list of Audit
    audited : list of AuditedROC
    chosen : list of tuple of str
        Attributes of each.
    strata : Strata
    asked : str or sequence of str
        The covariates.
    confidence_level : float in (0, 1)

    Returns
    -------
    audits : list of Audit
        Without rates of combinations of attributes that have no common stratum, of which a
        note says so.
    """
    covariates = (asked,) if isinstance(asked, str) else tuple(asked)
    own = [StandardisedROC(one, strata) for one in audited]
    for attributes, one in zip(chosen, own, strict=True):
        if len(attributes) == 1 and not one.rates:
            why = listed(one.lacking())
            problem = f"leaves nothing common to the groups of {attributes[0]}: {why};"
            raise refused("control", asked, problem, "give fewer, or wider, strata.")
    sizes = [len(attributes) for attributes in chosen]
    told = judge(own, sizes, confidence_level)
    found = []
    for audit, one, judged in zip(audits, own, told, strict=True):
        notes = [f"By {audit.attribute}, {text}." for text in one.lacking()]
        audit = replace(audit, notes=(*audit.notes, *notes))
        if one.rates:
            withheld = "withheld" in audit.settings
            levels = tuple(
                replace(
                    level, standardised=one.standardised(level, n, judged, withheld)
                )
                for n, level in enumerate(audit.levels)
            )
            audit = replace(
                audit, levels=levels, control=one.control(covariates, strata)
            )
        found.append(audit)
    return found
