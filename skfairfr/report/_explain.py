"""Errors of a file explained: attributes and covariates of all images, in one regression."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from skfairfr._core._error_counts import errors_first
from skfairfr._core._jackknife import holm
from skfairfr._core._kinds import SEARCHES
from skfairfr.metrics import SimilarityROC, explain_errors
from skfairfr.report._data import DecisionData, EmbeddingData, PairData, check_data
from skfairfr.report._decisions import check_without_points
from skfairfr.report._explanation import ExplainedErrors
from skfairfr.report._failing import BETWEEN
from skfairfr.report._given import check_about
from skfairfr.report._identification import (
    as_of_pairs,
    in_arguments_of_searches,
    searches_of,
)
from skfairfr.report._measure import Points
from skfairfr.report._notes import collecting, notes_of
from skfairfr.report._policy import settle_limits
from skfairfr.utils._errors import ArgumentError, refused
from skfairfr.utils._labels import encode, intersect, is_unknown, to_column

USUAL_FAR = 1e-3
# Of more non-mated comparisons of embeddings without an error, so many are drawn.
MOST_DRAWN = 500_000
# Share of non-mated comparisons that a given threshold may accept.
MOST_ACCEPTED = 0.2


def explain(
    data: EmbeddingData | PairData | DecisionData,
    *,
    gallery: EmbeddingData | None = None,
    rank: int = 1,
    far: float | None = None,
    threshold: float | None = None,
    curves: Any = (),
    interactions: Any = (),
    reference: Any = None,
    limits: dict | None = None,
    confidence_level: float | None = None,
    about: dict | None = None,
    random_state: int = 0,
) -> ExplainedErrors:
    """Compare the error rates of groups at equal covariates, of all errors at a threshold.

    Parameters
    ----------
    data : EmbeddingData, PairData or DecisionData
        Such as :func:`read_data` gives. ``control`` of it names the columns that become
        ``covariates``.
    gallery : EmbeddingData, default=None
        Who is enrolled: data are then searches, and the level is an FPIR.
    rank : int, default=1
        For searches: a mate counts whom fewer others reach.
    far : float in (0, 1), default=None
        Level that sets the threshold on these data. If None: 0.001.
    threshold : float, default=None
        Similarity from which on pairs are accepted (of distances, up to which), instead.
    curves : str or sequence of str, shape (n_curves,), default=()
        Covariates that are numbers, over which rates are computed.
    interactions : sequence of pairs of str, shape (n_interactions, 2), default=()
        Attributes whose combinations are compared too.
    reference : label or sequence of labels, shape (n_references,), default=None
        Groups to compare with, at most one of each attribute. If None: the largest.
    limits : dict of str -> float, default=None
        Largest rates allowed at every value of the numbers of the curves: ``max_fmr`` and
        ``max_fnmr``, of searches ``max_fpir`` and ``max_fnir``. ``max_fnmr`` is of the FRR too.
    confidence_level : float in (0, 1), default=None
        If None: 0.95.
    about : dict of str -> str, default=None
        As of :func:`audit_data`.
    random_state : int, default=0
        Of the comparisons that are drawn from many.

    Returns
    -------
    found : ExplainedErrors
        One regression of each rate that the data have. Lower rates are better.

    Raises
    ------
    ValueError
        If there is no attribute, or neither rate has enough errors.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import EmbeddingData, explain
    >>> made = make_face_embeddings(n_identities=200, random_state=0)
    >>> data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    >>> sorted(explain(data, far=0.001).explanations)
    ['FMR', 'FNMR']
    """
    searching = gallery is not None
    if searching:
        data = searches_of(data, gallery, rank, "image")
        _, limits = as_of_pairs(None, limits)
    check_data(data, decisions=True)
    check_about(about)
    curves = (curves,) if isinstance(curves, str) else tuple(curves)
    limits, confidence_level, _ = settle_limits(None, limits, confidence_level)
    limits = {SEARCHES.limit(n) if searching else n: v for n, v in limits.items()}
    for name in limits:
        if not curves:
            remedy = "name the number (curves, --curve), or audit the groups."
            raise refused(name, limits[name], "limits a rate over a number;", remedy)
    is_log = isinstance(data, DecisionData)
    if not (data.parts[0] if is_log else data).columns:
        problem = "names no group;"
        raise refused("attributes", (), problem, "name a column (--attribute).")
    settings = {"confidence_level": confidence_level, "random_state": random_state}
    notes, level = [*data.notes], None
    if is_log:
        check_without_points((far, threshold, None, None), None)
        parts = [_of_decisions(p) for p in data.parts if p.decisions != "apcer"]
    else:
        renaming = in_arguments_of_searches(data.is_distance)
        with collecting(warnings := []), renaming if searching else nullcontext():
            level = USUAL_FAR if far is None and threshold is None else far
            points = Points.of(level, threshold, data.is_distance)
            most = MOST_ACCEPTED if level is None else min(4 * level, 1.0)
            roc = data.fit(SimilarityROC(n_resamples=1, far_max=most), ())
            points = replace(points, terms=data.terms).settled(roc)
            threshold = points.threshold.item()
            make = _of_pairs if isinstance(data, PairData) else _of_images
            make = _of_searches if searching else make
            parts = make(data, roc, threshold, np.random.default_rng(random_state))
        notes += notes_of(warnings, data.terms)
        settings |= data.more_settings | {"level_of": data.terms.far.name}
    if data.reading is not None:
        settings |= {"sha256": data.reading.sha256, "distance": data.is_distance}
    found = {}
    options = {"interactions": interactions, "random_state": random_state}
    options |= {"curves": curves, "confidence_level": confidence_level}
    options["reference"] = _references(parts, reference)
    problem = None
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


def _references(parts, asked):
    """The reference of each attribute that has one of the labels; raises at another label."""
    labels = () if asked is None else [asked] if np.ndim(asked) == 0 else asked
    found = {}
    for label in labels:
        for name, column in parts[0][1]["sensitive_features"].items():
            side = column[0] if isinstance(column, tuple) else column
            if str(label) in map(str, encode(side, name, allow_unknown=True).values):
                found[name] = label
                break
        else:
            raise refused("reference", label, f"{label!r} is no group of the data;")
    return found


def _taken(columns, rows):
    """Columns of pairs, or of both of their images, at some rows."""
    return {
        name: tuple(to_column(side, name)[rows] for side in column)
        if isinstance(column, tuple)
        else to_column(column, name)[rows]
        for name, column in columns.items()
    }


def _of_decisions(part):
    """Kind of error and rows of a part of a log."""
    identity = (
        np.arange(len(part.y_score)) if part.identities is None else part.identities[0]
    )
    every = np.arange(len(part.y_score))
    columns = {n: c[0] if isinstance(c, tuple) else c for n, c in part.columns.items()}
    return part.terms.frr, {
        "error": np.asarray(part.y_score) < BETWEEN,
        "identity": to_column(identity, "identity"),
        "sensitive_features": _taken(columns, every),
        "covariates": _taken(part.covariates, every),
    }


def _of_pairs(data, roc, threshold, rng):
    """Rows of listed pairs, by the name of the rate."""
    scores, parts = np.asarray(data.y_score), []
    if data.failed is not None:
        scores = np.where(data.failed, -np.inf, scores)
    ends = (np.arange(scores.size),) * 2
    genuine = np.asarray(data.y_true) == 1 if data.independent else None
    if not data.independent:
        ends = np.split(data.people(), 2)
        genuine = ends[0] == ends[1]
    for kind, of_rate in ((data.terms.frr, genuine), (data.terms.far, ~genuine)):
        rows = np.flatnonzero(of_rate)
        people = tuple(end[rows] for end in ends)
        if of_rate is genuine or data.independent:
            people = people[0]
        if rows.size:
            above = scores[rows] >= threshold
            parts.append(
                (
                    kind,
                    {
                        "error": ~above if of_rate is genuine else above,
                        "identity": people,
                        "sensitive_features": _taken(data.columns, rows),
                        "covariates": _taken(data.covariates, rows),
                    },
                )
            )
    return parts


def _of_images(data, roc, threshold, rng):
    """Rows of all pairs of embeddings; of many without a false match a sample."""
    people = data.people()
    of_templates = data.reading is not None and data.reading.options.get("enrolment")

    def sides(columns, left, right):
        found = {}
        for name, column in columns.items():
            column = to_column(column, name)
            one, other = column[left], column[right]
            if of_templates and columns is data.covariates:
                # A template whose images differ has the value of what it is compared with.
                found[name] = (
                    np.where(is_unknown(one), other, one),
                    np.where(is_unknown(other), one, other),
                )
            else:
                found[name] = one, other
        return found

    def rows(error, left, right, identity, weight=None):
        return {
            "error": error,
            "identity": identity,
            "sensitive_features": sides(data.columns, left, right),
            "covariates": sides(data.covariates, left, right),
            "sample_weight": weight,
        }

    parts = []
    pairs, n = _errors_first(roc, "frr", threshold)
    if pairs.scores.size:
        error = np.arange(pairs.scores.size) < n
        found = rows(error, pairs.left, pairs.right, people[pairs.left])
        parts.append((data.terms.frr, found))
    pairs, n = _errors_first(roc, "far", threshold)
    errors = pairs.left[:n], pairs.right[:n]
    left, right, weight = _others(data, people, errors, roc.n_impostor_[0], rng)
    if n + left.size:
        error = np.arange(n + left.size) < n
        left, right = np.append(errors[0], left), np.append(errors[1], right)
        if weight is not None:
            weight = np.append(np.ones(n), weight)
        both = people[left], people[right]
        parts.append((data.terms.far, rows(error, left, right, both, weight)))
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
        raise refused("threshold", threshold, problem, "give a stricter one.")
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


def _of_searches(data, roc, threshold, rng):
    """Rows of non-mated and mated searches."""
    people, parts = data.people(), []
    for rate in ("frr", "far"):
        sequence, n = _errors_first(roc, rate, threshold)
        error = np.zeros(people.size, dtype=bool)
        error[sequence.left[:n]] = True
        rows = np.flatnonzero(roc._engine.pairs._counted[rate])
        if rows.size:
            of = {"error": error[rows], "identity": people[rows]}
            of["sensitive_features"] = _taken(data.columns, rows)
            of["covariates"] = _taken(data.covariates, rows)
            parts.append((data.terms[rate], of))
    return parts
