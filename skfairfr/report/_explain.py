"""Errors of a file explained: attributes and covariates of all images, in one regression."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from skfairfr._core._kinds import SEARCHES
from skfairfr.metrics import SimilarityROC
from skfairfr.report._data import (
    DecisionData,
    EmbeddingData,
    PairData,
    check_data,
    warn_if_mostly_rejected,
)
from skfairfr.report._decisions import check_without_points
from skfairfr.report._explained_errors import ExplainedErrors
from skfairfr.report._given import check_about
from skfairfr.report._identification import (
    as_of_pairs,
    in_arguments_of_searches,
    searches_of,
)
from skfairfr.report._measure import Points
from skfairfr.report._notes import collecting, notes_of, reason_to_withhold
from skfairfr.report._policy import settle_limits
from skfairfr.report._regressions import (
    MOST_ACCEPTED,
    explained_by_regressions,
    rows_of,
)
from skfairfr.utils._errors import invalid, plain

USUAL_FAR = 1e-3


def explain(
    data: EmbeddingData | PairData | DecisionData,
    *,
    gallery: EmbeddingData | None = None,
    rank: int = 1,
    template: str = "image",
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
        Data, as :func:`read_data` returns them. The columns of its ``control`` become
        ``covariates``.
    gallery : EmbeddingData, default=None
        Enrolled people: data are then searches, and the level is an FPIR.
    rank : int, default=1
        For searches: a mate is found if fewer than ``rank`` others reach its score.
    template : {"image", "mean", "max"}, default="image"
        For searches: templates of the enrolled, as in :func:`identify_data`.
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
        "title", "system", "dataset" and "organisation": what the report is to show, and its
        JSON to keep, about the test.
    random_state : int, default=0
        Seed of the comparisons that are drawn from many.

    Returns
    -------
    found : ExplainedErrors
        One regression of each rate that the data have. Lower rates are better.

    Raises
    ------
    ValueError
        If there is no attribute, no rate has enough errors, or ``far`` or ``threshold`` is
        not one number.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import EmbeddingData, explain
    >>> made = make_face_embeddings(n_identities=60, random_state=0)
    >>> data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    >>> sorted(explain(data, far=0.001).explanations)
    ['FMR', 'FNMR']
    """
    for name, value in (("far", far), ("threshold", threshold)):
        if np.ndim(value):
            problem = f"must be one number, got {plain(value)!r}."
            raise invalid(name, value, problem, "Call explain once for each.")
    searching = gallery is not None
    if searching:
        data = searches_of(data, gallery, rank, template)
        _, limits = as_of_pairs(None, limits)
    check_data(data, decisions=True)
    check_about(about)
    curves = (curves,) if isinstance(curves, str) else tuple(curves)
    limits, confidence_level, _ = settle_limits(None, limits, confidence_level)
    limits = {SEARCHES.limit(n) if searching else n: v for n, v in limits.items()}
    for name in limits:
        if not curves:
            problem = "is of the rate at every value of a number, and none is named;"
            remedy = (
                "name a number, such as age (curves, --curve), or audit the groups."
            )
            raise invalid(name, limits[name], problem, remedy)
    is_log = isinstance(data, DecisionData)
    if not (data.parts[0] if is_log else data).columns:
        problem = "names no group;"
        raise invalid("attributes", (), problem, "name a column (--attribute).")
    settings = {"confidence_level": confidence_level, "random_state": random_state}
    notes, level, roc, warnings = [*data.notes], None, None, []
    if is_log:
        check_without_points((far, threshold, None, None), None)
        with collecting(warnings):
            for part in data.parts:
                warn_if_mostly_rejected(part)
        notes += notes_of(warnings)
    else:
        renaming = in_arguments_of_searches(data.is_distance)
        with collecting(warnings), renaming if searching else nullcontext():
            level = USUAL_FAR if far is None and threshold is None else far
            points = Points.of(level, threshold, data.is_distance)
            most = MOST_ACCEPTED if level is None else min(4 * level, 1.0)
            roc = data.fit(SimilarityROC(n_resamples=1, far_max=most), ())
            points = replace(points, terms=data.terms).settled(roc)
            threshold = points.threshold.item()
        notes += notes_of(warnings, data.terms)
        settings |= data.more_settings | {"level_of": data.terms.far.name}
    if (code := reason_to_withhold(warnings)) is not None:
        settings["withheld"] = code
    if data.reading is not None:
        settings |= {"sha256": data.reading.sha256, "distance": data.is_distance}
    return explained_by_regressions(
        rows_of(data, roc, threshold, random_state),
        reference,
        threshold,
        level,
        settings,
        limits,
        notes,
        about,
        interactions=interactions,
        curves=curves,
        confidence_level=confidence_level,
        random_state=random_state,
    )
