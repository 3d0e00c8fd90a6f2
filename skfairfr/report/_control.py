"""An audit at equal covariates: strata from columns of the data, and standardised rates.

The standardised rates are about the thresholds of the audit. Their intervals and tests are
those of all rates, from weighted pairs. The tests are a family of their own.
"""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from skfairfr._core._strata import Strata, standards, weighed_by_strata
from skfairfr._text._words import RATES, listed, printable
from skfairfr.report._measure import AuditedROC
from skfairfr.report._records import Remeasured
from skfairfr.report._verdicts import judge
from skfairfr.report.sections._differences import Control, Stratum
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import check_length, encode, join_columns, to_column
from skfairfr.utils._validation import check_sequence

FORM = re.compile(
    r"(?P<name>.+?)(?<!:gap)(?<!:[01])(:(?P<n>[2-9]|[1-9]\d+)(?P<gap>:gap)?)?",
    re.DOTALL,
)
# Strata of more categories, or of pairs of them, here 210, would have few pairs each.
MAX_CATEGORIES = 20
# Differences of more numbers than this, such as 40,000, are not tabulated: ages have fewer.
MAX_VALUES = 200


class Covariate(NamedTuple):
    """A covariate to control for: a column, how many quantiles (None: categories), of a gap or not."""

    name: str
    n_strata: int | None
    is_gap: bool


def covariates_of(control):
    """Covariates of one text, NAME, NAME:K or NAME:K:gap, or of a sequence of them, a list."""
    texts = (control,) if isinstance(control, str) else control
    found = []
    for text in check_sequence(texts, "control", "texts such as 'quality:4'", str):
        parts = FORM.fullmatch(text)
        if parts is None:
            problem = f"must be NAME, NAME:K or NAME:K:gap with K >= 2, got {text!r}."
            remedy = "NAME is of categories, K the number of quantiles of a number, gap of its "
            remedy += "difference between both images."
            raise invalid("control", text, problem, remedy)
        n = parts["n"] and int(parts["n"])
        found.append(Covariate(parts["name"], n, bool(parts["gap"])))
    if len({*found}) < len(found):
        raise invalid("control", texts, "names a covariate twice;", "give it once.")
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
        problem = (
            f"{asked.name!r} is no covariate of the data. Its covariates: {known}."
        )
        raise invalid("control", asked.name, problem)
    column, embedded = data.covariates[asked.name], data.kind == "embeddings"
    ends = column if isinstance(column, tuple) else (column,)
    ends = [to_column(end, asked.name) for end in ends]
    for end in ends:
        n_rows = len(data.X if embedded else data.y_score)
        check_length(end, n_rows, f"covariates[{asked.name!r}]", "the data")
    if embedded:
        return _of_images(asked, *ends)
    if len(ends) == 1:
        if asked.is_gap:
            problem = f"{asked.name!r} is one column of the {data.terms.trial}, "
            problem += "which has no difference;"
            remedy = "leave :gap out, or give a column for each image."
            raise invalid("control", asked.name, problem, remedy)
        names, codes = _coded(asked, *ends)
        return Strata(names, None, codes)
    both = _of_images(asked, join_columns(ends))
    return Strata(both.names, None, both.of_codes[tuple(np.split(both.codes, 2))])


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
        problem = f"{asked.name!r} has {distinct.size:,} different values, and differences are "
        problem += f"taken of {MAX_VALUES} at most;"
        raise invalid("control", asked.name, problem, "round it, as ages to years.")
    gaps = np.full((distinct.size + 1,) * 2, np.nan)
    gaps[:-1, :-1] = np.abs(np.subtract.outer(distinct, distinct))
    weights = np.outer(counts, counts)
    names, places = _quantiles(asked, gaps, weights.ravel())
    codes = np.where(known, np.searchsorted(distinct, values), distinct.size)
    return Strata(names, places, codes)


def _coded(asked, column):
    """Names of categories, or of quantiles, and the code of each row. -1 is unknown."""
    if asked.n_strata is not None:
        return _quantiles(asked, _numbers(asked, column))
    labels = encode(column, asked.name, allow_unknown=True)
    if labels.values.size > MAX_CATEGORIES:
        n, name = labels.values.size, asked.name
        problem = (
            f"{name!r} has {n:,} categories, and {MAX_CATEGORIES} are taken at most;"
        )
        remedy = (
            f"give {name}:4 for four quantiles, if it is a number, or fewer categories."
        )
        raise invalid("control", name, problem, remedy)
    return [f"{asked.name} {label}" for label in labels.values.tolist()], labels.codes


def _numbers(asked, column):
    """A column as floats, nan where unknown."""
    try:
        return np.array(column, dtype=np.float64)
    except (TypeError, ValueError):
        problem = (
            f"{asked.name!r} contains values that are no numbers, and has no quantiles;"
        )
        remedy = f"give {asked.name} alone for its categories."
        raise invalid("control", asked.name, problem, remedy) from None


def _quantiles(asked, values, weights=None):
    """Names of quantiles of a number, and that of each value, or -1 where it is not known."""
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
        weighed = weighed_by_strata(pairs, strata, self.standards)
        roc._engine = replace(roc._engine, pairs=weighed)
        super().__init__(roc, audited.points, audited.references)
        self.rates = tuple(r for r, of in self.standards.items() if of.shares.any())
        for rate in self.standards.keys() - self.rates:
            self.n_pairs[rate] = np.zeros_like(self.n_pairs[rate])

    def evidence(self, rate, operating_point):
        """As of AuditedROC, or none without a common stratum."""
        if rate not in self.rates:
            return None, np.empty(0, dtype=int)
        return super().evidence(rate, operating_point)

    def lacking(self):
        """A sentence for each rate that has pairs and no common stratum, a list."""
        terms = self.points.terms
        return [
            f"no stratum of the covariates has {terms[rate].trials} of all groups, so "
            f"the {terms[rate].name} cannot be standardised"
            for rate in RATES
            if rate not in self.rates and self.standards[rate].totals.any()
        ]

    def control(self, strata):
        """The Control of an audit."""
        columns = []
        for rate in RATES:
            of = self.standards[rate]
            totals = np.where(of.totals > 0, of.totals, np.nan)[:, None]
            within = [tuple(row) for row in (of.counts / totals).T.tolist()]
            columns += [of.shares.tolist(), within]
        rows = zip(strata.names, *columns, strict=True)
        lost = [self.standards[r].lost if r in self.rates else np.nan for r in RATES]
        return Control(
            tuple(self.labels[1:]), tuple(Stratum(*row) for row in rows), *lost
        )


def controlled(audits, audited, chosen, strata, asked, confidence_level):
    """Audits with their rates at equal covariates next to them.

    Parameters
    ----------
    audits : list of Audit
    audited : list of AuditedROC
    chosen : list of tuple of str
        Attributes of each.
    strata : list of Strata
        Of the pairs of each.
    asked : str or sequence of str
        The covariates.
    confidence_level : float in (0, 1)

    Returns
    -------
    audits : list of Audit
        Without rates of combinations of attributes that have no common stratum, of which a
        note reports it.
    """
    own = [StandardisedROC(*both) for both in zip(audited, strata, strict=True)]
    for audit, attributes, one in zip(audits, chosen, own, strict=True):
        # Attacks need not have the covariates of attempts.
        of_attacks = audit.settings.get("decisions") == "apcer"
        if len(attributes) == 1 and not one.rates and not of_attacks:
            why = listed(one.lacking())
            problem = f"leaves nothing common to groups of {attributes[0]!r}: {why};"
            raise invalid("control", asked, problem, "give fewer, or wider, strata.")
    sizes = [len(attributes) for attributes in chosen]
    tests = judge(own, sizes, confidence_level)
    found = []
    for audit, one, judged, of in zip(audits, own, tests, strata, strict=True):
        by = printable(audit.attribute)
        notes = [f"By {by}, {text}." for text in one.lacking()]
        audit = replace(audit, notes=(*audit.notes, *notes))
        if one.rates:
            how = {"in_short": True, "withheld": "withheld" in audit.settings}
            levels = one.levels(judged, **how)
            value = " & ".join(audit.settings["control"])
            other = Remeasured("control", value, levels)
            audit = replace(audit, standardised=other, control=one.control(of))
        found.append(audit)
    return found
