"""Errors of data as rows of regressions, and the regression of each rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skfairfr._core._error_counts import errors_first
from skfairfr._core._jackknife import holm
from skfairfr._core._parallel import next_step
from skfairfr.metrics import explain_errors
from skfairfr.report._data import DecisionData, PairData
from skfairfr.report._decisions import BETWEEN
from skfairfr.report._explained_errors import ExplainedErrors
from skfairfr.utils._errors import ArgumentError, invalid
from skfairfr.utils._labels import encode, intersect, is_unknown, to_column

# Of more non-mated comparisons of embeddings without an error, so many are drawn.
MOST_DRAWN = 500_000
# Share of non-mated comparisons that a given threshold may accept.
MOST_ACCEPTED = 0.2


def explained_by_regressions(
    parts, reference, threshold, level, settings, limits, notes, about, **options
):
    """One regression of each rate, as ExplainedErrors.

    Parameters
    ----------
    parts : list of tuple
        See :func:`rows_of`.
    reference : label, sequence of labels, or dict of attribute -> label, or None
    threshold, level, settings, limits, notes, about
        As of ExplainedErrors.
    **options : dict
        Of :func:`~skfairfr.metrics.explain_errors`.
    """
    found, problem, notes = {}, None, [*notes]
    if not parts:
        problem = "needs genuine or impostor attempts, and all are attacks;"
        raise invalid("sensitive_features", None, problem, "audit them by species.")
    options["reference"] = _references(parts, reference)
    for kind, rows in parts:
        try:
            found[kind] = explain_errors(**rows, **options)
        except ArgumentError as error:
            if error.argument != "sensitive_features":
                raise
            problem = error
            notes.append(f"{kind.name} is left out: {str(error).partition(' ')[2]}")
    if not found:
        raise problem
    notes += [f"{kind.name}: {note}" for kind, e in found.items() for note in e.notes]
    every = holm(np.array([one.p_value for e in found.values() for one in e.ratios]))
    cuts = np.cumsum([len(e.ratios) for e in found.values()])[:-1]
    kinds = {kind.name: kind for kind in found}
    return ExplainedErrors(
        dict(zip(kinds, found.values(), strict=True)),
        dict(zip(kinds, np.split(every, cuts), strict=True)),
        threshold,
        level,
        settings,
        limits,
        kinds,
        tuple(dict.fromkeys(notes)),
        about or {},
    )


def explained_in_audit(parts, measured, covariates, audits, options):
    """ExplainedErrors at the first operating point of an audit, or None, and notes.

    Parameters
    ----------
    parts : sequence of EmbeddingData or PairData
    measured : tuple
        AuditedROC of all pairs, and the settings of its audit.
    covariates : sequence of str
    audits : sequence of Audit
        Whose references the others are compared with.
    options : AuditOptions
    """
    next_step("comparing groups at equal covariates")
    chosen = []
    for part in parts:
        if unknown := [name for name in covariates if name not in part.covariates]:
            problem = f"names {unknown[0]!r}, which is no covariate of the data."
            raise invalid("explain_by", covariates, problem)
        own = {name: part.covariates[name] for name in covariates}
        chosen.append(replace(part, covariates=own))
    audited, settings = measured
    level = threshold = None
    data = DecisionData(tuple(chosen))
    if parts[0].decisions is None:
        (data,), points = chosen, audited.points
        threshold = float(points.threshold[0])
        level = None if points.far is None else float(points.far[0])
    try:
        found = explained_by_regressions(
            rows_of(data, audited.roc, threshold, options.random_state),
            {
                a.attribute: a.reference
                for a in reversed(audits)
                if a.reference is not None
            },
            threshold,
            level,
            settings | {"level_of": parts[0].terms.far.name},
            {},
            (),
            {},
            confidence_level=options.confidence_level,
            random_state=options.random_state,
        )
    except ArgumentError as few:
        if few.argument != "sensitive_features":
            raise
        return None, [f"No regression on covariates: {str(few).partition(' ')[2]}"]
    return found, [f"At equal covariates: {note}" for note in found.notes]


def _references(parts, asked):
    """The reference of each attribute that has one of the labels. Raise at another label."""
    columns = parts[0][1]["sensitive_features"]
    if isinstance(asked, dict):
        return {name: label for name, label in asked.items() if name in columns}
    labels = () if asked is None else [asked] if np.ndim(asked) == 0 else asked
    found = {}
    for label in labels:
        for name, column in columns.items():
            side = column[0] if isinstance(column, tuple) else column
            if str(label) in map(str, encode(side, name, allow_unknown=True).values):
                found[name] = label
                break
        else:
            raise invalid("reference", label, f"{label!r} is no group of the data.")
    return found


def rows_of(data, roc, threshold, random_state):
    """Each rate's ErrorKind, with arguments of explain_errors, a list.

    Parameters
    ----------
    data : EmbeddingData, PairData or DecisionData
    roc : SimilarityROC
        Fitted to embeddings, or searches.
    threshold : float
        A similarity, or None for decisions.
    random_state : int
        Seed of the comparisons that are drawn from many.
    """
    if isinstance(data, DecisionData):
        attempts = [part for part in data.parts if part.decisions != "apcer"]
        return [one for part in attempts for one in _of_pairs(part, BETWEEN)]
    if isinstance(data, PairData):
        return _of_pairs(data, threshold)
    if data.terms.task == "identification":
        return _of_searches(data, roc, threshold)
    return _of_images(data, roc, threshold, np.random.default_rng(random_state))


def _part(data, rate, error, people, *ends, weight=None):
    """ErrorKind of a rate and arguments of explain_errors, of rows or both images of pairs."""

    def taken(columns):
        found = {}
        for name, column in columns.items():
            sides = column if isinstance(column, tuple) else (column,)
            found[name] = tuple(
                to_column(sides[k % len(sides)], name)[ends[k % len(ends)]]
                for k in range(max(len(sides), len(ends)))
            )
        return found

    covariates = taken(data.covariates)
    if data.reading is not None and data.reading.options.get("enrolment"):
        # A template whose images differ has the value of what it is compared with.
        for name, (one, *_, other) in covariates.items():
            filled = np.where(is_unknown(one), other, one)
            covariates[name] = filled, np.where(is_unknown(other), filled, other)
    return data.terms[rate], {
        "error": error,
        "identity": people,
        "sensitive_features": taken(data.columns),
        "covariates": covariates,
        "sample_weight": weight,
    }


def _of_pairs(data, threshold):
    """Rows of listed pairs, or of decisions."""
    scores, parts = np.asarray(data.y_score), []
    if data.failed is not None:
        scores = np.where(data.failed, -np.inf, scores)
    left, right = np.split(data.people(), 2)
    genuine = left == right
    if data.independent and not data.decisions:
        genuine = np.asarray(data.y_true) == 1
    for rate, of_rate in (("frr", genuine), ("far", ~genuine)):
        if (rows := np.flatnonzero(of_rate)).size:
            accepted = scores[rows] >= threshold
            people = left[rows]
            if rate == "far" and not data.independent:
                people = people, right[rows]
            error = accepted if rate == "far" else ~accepted
            parts.append(_part(data, rate, error, people, rows))
    return parts


def _of_images(data, roc, threshold, rng):
    """Rows of all pairs of embeddings, or a sample of many without a false match."""
    people, parts = data.people(), []
    pairs, n = _errors_first(roc, "frr", threshold)
    if pairs.scores.size:
        error = np.arange(pairs.scores.size) < n
        of = people[pairs.left], pairs.left, pairs.right
        parts.append(_part(data, "frr", error, *of))
    pairs, n = _errors_first(roc, "far", threshold)
    errors = pairs.left[:n], pairs.right[:n]
    left, right, weight = _others(data, people, errors, roc.n_impostor_[0], rng)
    if n + left.size:
        error = np.arange(n + left.size) < n
        left, right = np.append(errors[0], left), np.append(errors[1], right)
        if weight is not None:
            weight = np.append(np.ones(n), weight)
        of = (people[left], people[right]), left, right
        parts.append(_part(data, "far", error, *of, weight=weight))
    return parts


def _errors_first(roc, rate, threshold):
    """Pairs of a rate with errors first, and the number of errors."""
    pairs = roc._engine.pairs
    found, (n,) = errors_first(pairs, None, rate, thresholds=np.array([threshold]))
    if rate == "far" and n == found.scores.size < roc.n_impostor_[0]:
        problem = (
            f"accepts more than {MOST_ACCEPTED:.0%} of the {roc.n_impostor_[0]:,} "
        )
        problem += "impostor pairs;"
        raise invalid("threshold", threshold, problem, "give a stricter one.")
    return found, n


def _others(data, people, errors, n_impostor, rng):
    """Impostor pairs that are no errors: all, or some with the number that each represents.

    Half of those drawn are of two images of one group, the same number of every group.
    """
    n, half = people.size, MOST_DRAWN // 2
    codes = [encode(c, k, allow_unknown=True) for k, c in data.columns.items()]
    group = intersect(codes).codes + 1
    domain = np.zeros(n, dtype=int)
    if data.domain is not None:
        domain = encode(data.domain, "domain").codes
    every = n * (n - 1) // 2 <= 2 * MOST_DRAWN
    if every:
        left, right = np.triu_indices(n, 1)
    else:
        order, sizes = np.argsort(group, kind="stable"), np.bincount(group)
        drawn = np.repeat(np.arange(sizes.size), half // sizes.size)
        drawn = drawn[sizes[drawn] > 0]
        first = (np.cumsum(sizes) - sizes)[drawn]
        within = order[first + (rng.random((2, drawn.size)) * sizes[drawn]).astype(int)]
        left, right = np.append(within, rng.integers(0, n, (2, half)), axis=1)
    keys = [
        np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
        for a, b in ((left, right), errors)
    ]
    keys = np.setdiff1d(*keys)
    left, right = np.divmod(keys, n)
    keep = people[left] != people[right]
    if data.domain is not None:
        keep &= domain[left] != domain[right]
    left, right = left[keep], right[keep]
    if every:
        return left, right, None

    def cells(left, right):
        return np.where(group[left] == group[right], group[left], 0)

    def squares(*columns):
        """Sum of squared numbers of images with equal columns, by group."""
        found, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
        return np.bincount(found[0], counts.astype(float) ** 2, group.max() + 1)

    total = squares(group) - squares(group, people)
    if data.domain is not None:
        total -= squares(group, domain) - squares(group, domain, people)
    total /= 2
    total[0] = n_impostor - total[1:].sum()
    own = cells(left, right)
    n_errors, n_drawn = (
        np.bincount(c, minlength=total.size) for c in (cells(*errors), own)
    )
    return left, right, ((total - n_errors) / np.maximum(n_drawn, 1))[own]


def _of_searches(data, roc, threshold):
    """Rows of mated and non-mated searches."""
    people, parts = data.people(), []
    for rate in ("frr", "far"):
        sequence, n = _errors_first(roc, rate, threshold)
        error = np.zeros(people.size, dtype=bool)
        error[sequence.left[:n]] = True
        rows = np.flatnonzero(roc._engine.pairs._counted[rate])
        if rows.size:
            parts.append(_part(data, rate, error[rows], people[rows], rows))
    return parts
