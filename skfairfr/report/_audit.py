"""The audit: from data to a report, by one attribute or by several and their combinations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._parallel import show_progress
from skfairfr.datasets._decisions import read_times
from skfairfr.report._by_attribute import AuditPlan, audits_of
from skfairfr.report._data import (
    INDEPENDENT,
    DecisionData,
    EmbeddingData,
    PairData,
    check_data,
)
from skfairfr.report._decisions import (
    BETWEEN,
    NO_EMBEDDING,
    check_decisions,
    check_without_points,
    decisions,
    with_failures,
)
from skfairfr.report._given import (
    by_name,
    check_about,
    check_people,
    columns_of,
    two_columns,
)
from skfairfr.report._measure import Points
from skfairfr.report._policy import LIMITS, resolve_request
from skfairfr.report._prepared import AuditOptions, prepare
from skfairfr.report._reading import placeholders
from skfairfr.report._report import Report
from skfairfr.report.sections import _costs, _label_errors
from skfairfr.report.sections._audit_document import measured as measured_by_user
from skfairfr.report.sections._method import cross
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._labels import check_length, to_column
from skfairfr.utils._options import with_options_of
from skfairfr.utils._types import Column, Columns
from skfairfr.utils._validation import check_number, failed_rows


def audit_data(
    data: EmbeddingData | PairData,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    threshold_from: Any = None,
    threshold_group: object = None,
    limits: dict | None = None,
    policy: Any = None,
    about: dict | None = None,
    control: str | Sequence[str] | None = None,
    explain_by: Sequence[str] = (),
    reference: Any = None,
    sections: Sequence = (),
    metrics: dict | None = None,
    p_target: ArrayLike | None = None,
    llr: bool = False,
    label_errors: Any = None,
    label_error_rate: float | None = None,
    progress: bool = False,
    average: str = "pair",
    impostors: str = "all",
    confidence_level: float | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Report:
    """Audit by every attribute of the data and by every combination of them.

    Parameters
    ----------
    data : EmbeddingData, PairData or DecisionData
        Data, as :func:`read_data` returns them.
    far : float in (0, 1) or array-like, shape (n_levels,), default=None
        FAR levels. Each sets a threshold on the audited data, rounded to the shortest
        number that accepts the same pairs, which is then treated as given. If None:
        1e-2 and 1e-3, and 1e-4 if two groups of every attribute (or everyone, without
        an attribute) have 300,000 impostor pairs.
    threshold : float or array-like, shape (n_levels,), default=None
        Thresholds of a deployed system, instead of ``far``: the lowest accepted
        similarity, or the largest accepted distance of data read as distances.
    threshold_from : EmbeddingData, PairData or path-like, default=None
        Other data, on which the thresholds of the levels are set. A path is read like
        ``data``.
    threshold_group : label, default=None
        Group of an attribute, or of a combination of several ("f & young"), whose FAR
        meets the levels in place of that of all impostor pairs.
    limits : dict of str -> float, default=None
        Largest rate allowed for each group, in (0, 1), or for everyone if there is no
        attribute: ``max_fmr`` and ``max_fnmr``, the FAR and the FRR at the
        overall threshold. Largest allowed max / min of the groups' rates, above 1:
        ``max_fmr_ratio`` and ``max_fnmr_ratio`` there, ``max_bfar`` and ``max_bfrr`` at the
        threshold where no group's FAR exceeds the level. Largest cost allowed for everyone
        and for each group, above 0: ``max_dcf`` at each ``p_target``, of decisions at the
        Bayes threshold if ``llr``, else minDCF. ``max_cllr``, which requires ``llr``.
        They become the ``checks`` of the report and set its ``exit_code``.
    policy : Policy, str or path-like, default=None
        Policy that sets ``far`` or ``threshold``, ``limits``, ``confidence_level`` and
        the attributes, or its file, or the name of a shipped policy. An option that the
        policy also sets is an error.
    about : dict of str -> str, default=None
        Description of the test for the report and its JSON: "title", "system",
        "dataset" and "organisation".
    control : str or sequence of str, shape (n_covariates,), default=None
        Covariates for additional rates at equal values: NAME for the categories of a
        column (of both images), "NAME:K" for K quantiles of a number (the lower one of
        both images), or "NAME:K:gap" for quantiles of its difference. Several
        covariates form joint strata. Each stratum has the same weight in every group
        (direct standardisation). Strata in which a group has no pairs are left out.
    explain_by : sequence of str, shape (n_covariates,), default=()
        Covariates of one regression of each rate at the first operating point, as by
        :func:`explain`: ratios of the groups' rates at equal values of them.
    reference : label or sequence of labels, shape (n_references,), default=None
        Group with which the others are compared, or one of each attribute. If None: the
        group with the most people.
    sections : sequence of objects, shape (n_sections,), default=()
        Sections of your own, with a ``title``, ``measure(report)``, which returns data
        for the JSON, and ``document(record)``, which returns paragraphs, lists of
        texts, and tables (caption, columns, rows).
    metrics : dict of str -> callable, default=None
        Metrics of your own by name: functions of the FAR and of the FRR of all groups, two
        ndarrays (n_groups,), to a float. Intervals are valid for smooth functions, not for the
        largest or the smallest of several groups. ``limits`` may have ``max_`` and the name.
    p_target : float in (0, 1) or array-like, shape (n_points,), default=None
        Priors of genuine pairs. A section of the report has the detection cost at each,
        overall and by group.
    llr : bool, default=False
        Whether scores are natural logarithms of likelihood ratios. The section then has
        Cllr and the costs at the Bayes threshold.
    label_errors : path-like, frame or dict of columns, or list of such, default=None
        Counts of people whose true group is known: the first column names true groups, the
        others are labels. Rates of the attribute with these groups, and their ratios, are
        corrected for wrong labels (:func:`skfairfr.metrics.correct_for_label_errors`).
    label_error_rate : float in (0, 1), default=None
        Largest share of wrong labels in each group, from which bounds of rates follow
        (:func:`skfairfr.metrics.label_error_bounds`). With either option each difference states
        the share of wrong labels that would undo it.
    progress : bool, default=False
        Whether to show progress on standard error: a bar or, if it is not a terminal, a
        line at most every ten seconds.
    average : {"pair", "identity"}, default="pair"
        Whether every pair has the same weight, or every person.
    impostors : {"all", "same_group"}, default="all"
        Pairs whose FAR sets the threshold.
    confidence_level : float in (0, 1), default=None
        Confidence level of the intervals. If None: 0.95.
    n_jobs : int, default=None
        Joblib workers. If None, one process with threads on all cores.
    random_state : int, default=0
        Seed of the samples of impostor pairs used for rates above an FMR of 1e-2.

    Returns
    -------
    report : Report
        One audit for each attribute and for each combination of them. Without attributes
        one of everyone.

    Raises
    ------
    ValueError
        As :func:`audit`, and if limits cannot be judged, thresholds not be set, or groups
        have no stratum in common.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import EmbeddingData, audit_data
    >>> made = make_face_embeddings(n_identities=100, random_state=0)
    >>> data = EmbeddingData(made.X, made.y, {"gender": made.sensitive_features})
    >>> report = audit_data(
    ...     data, far=1e-2, limits={"max_fmr_ratio": 1.05}
    ... )
    >>> report.checks[0].verdict, report.exit_code
    ('failed', 1)
    """
    check_data(data, decisions=True)
    check_about(about)
    parts = getattr(data, "parts", (data,))
    if isinstance(data, DecisionData):
        points = far, threshold, threshold_from, threshold_group
        check_without_points(points, policy)
        threshold = BETWEEN
    own_limits = {}
    if metrics is not None:
        limits, own_limits = split_limits(limits, metrics, data)
    given = {"far": far, "threshold": threshold, "threshold_from": threshold_from}
    given |= {"limits": limits, "confidence_level": confidence_level}
    given |= {"threshold_group": threshold_group, "p_target": p_target}
    asked = resolve_request(policy, parts[0], given, llr)
    parts = (asked.data, *(part.by(tuple(asked.data.columns)) for part in parts[1:]))
    if not all(part.columns for part in parts):
        _check_without_groups(
            asked.names,
            reference=reference,
            threshold_group=threshold_group,
            control=control,
            explain_by=explain_by or None,
            metrics=metrics,
            impostors=None if impostors == "all" else impostors,
        )
    level, is_distance = asked.confidence_level, parts[0].is_distance
    options = AuditOptions(average, impostors, level, n_jobs, random_state)
    costs = None
    if asked.p_target is not None or asked.llr:
        costs = _costs.asked_of(asked.p_target, asked.llr, parts[0])
    points = Points.of(asked.far, asked.threshold, is_distance, threshold_group)
    prepared = [prepare(part, points, random_state) for part in parts]
    chosen = [
        (part, names)
        for part, (of_part, _) in zip(parts, prepared, strict=True)
        for names in of_part
    ]
    of_labels = None
    if label_errors is not None or label_error_rate is not None:
        of_labels = _label_errors.asked_of(label_errors, label_error_rate, chosen)
    plan = AuditPlan(
        parts,
        prepared,
        chosen,
        asked,
        options,
        threshold_from=threshold_from,
        control=control,
        reference=[] if reference is None else labels_of(reference),
        explain_by=explain_by,
        metrics=metrics,
        own_limits=own_limits,
        costs=costs,
        label_errors=of_labels,
    )
    notes = [INDEPENDENT.format(parts[0].terms.trial)] * parts[0].independent
    n_more = (threshold_from is not None) + (control is not None) + bool(explain_by)
    with show_progress(progress, 2 + n_more + len(chosen)):
        audits, found, of_regression = audits_of(plan)
    notes = [*notes, *parts[0].notes, *found]
    audits[0] = replace(audits[0], notes=(*notes, *audits[0].notes))
    combined = [names for names in prepared[0][0] if len(names) > 1]
    crossings = tuple(cross(parts[0], names) for names in combined)
    candidates = () if data.reading is None else data.reading.candidates
    more = {"candidates": candidates, "explained": of_regression}
    report = Report(tuple(audits), crossings, about or {}, **more)
    own = measured_by_user((*data.sections, *sections), report)
    return replace(report, sections=own)


@with_options_of(audit_data)
def audit(
    X: ArrayLike,
    y: Column,
    sensitive_features: Columns | None = None,
    *,
    attribute: str | None = None,
    domain: Column | None = None,
    similarity: Any = "cosine",
    covariates: Columns | None = None,
    failures: str | None = None,
    non_mated_only: bool = False,
    **options: Any,
) -> Report:
    """Measure the error rates of a verification system by group, with intervals and tests.

    Rates, intervals and verdicts refer to the thresholds in the report. A FAR level only
    chooses a threshold, which is then fixed.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings.
    y : array-like, shape (n_samples,)
        Identity of each row.
    sensitive_features : array-like, shape (n_samples,), or dict or frame of several, default=None
        Group of each row. None and NaN are unknown. With a dict of names to labels, or a
        frame with several columns, the audit is by each attribute and by their
        combinations. If None, only overall rates are audited.
    attribute : str, default=None
        Name of the attribute, for messages and the report. If None, the name of the series
        or of a frame's only column, else "group".
    domain : array-like, shape (n_samples,), default=None
        Domain of each row, one of two values. Only pairs across domains are compared.
    similarity : {"cosine", "dot"} or comparator, default="cosine"
        Similarity of a pair. A fitted comparator, such as
        :class:`~skfairfr.comparators.CohortNormalizer`, replaces the cosine.
    covariates : dict or frame of array-likes, shape (n_samples,), default=None
        Columns for ``control=``, such as quality or camera.
    failures : {"reject", "report", "error"}, default=None
        Treatment of missing embeddings: rows of X with NaN, infinity or, unless the
        similarity is "dot", only zeros. "reject" rejects every pair with one, so rates are
        FRR and FAR of ISO/IEC 19795-1, with failures to acquire. "report" leaves them out
        and counts them by group. "error" raises an error, as does None if any are missing.
    non_mated_only : bool, default=False
        Declares that every row is a different person. Otherwise such data raise an error.
    **options
        Options of :func:`audit_data`.

    Returns
    -------
    found : Report
        Rates (lower is better) and disparities (lower is more equal), by each attribute
        and by their combinations.

    Raises
    ------
    ValueError
        If an argument is out of range, the data have fewer than two people, an attribute has
        fewer than two groups or is a measurement rather than a label, or an option needs
        groups and there are none.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import audit
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2)
    >>> finding = found.audits[0].levels[0].findings[0]
    >>> finding.rate, finding.group, finding.verdict
    ('far', 'female', 'higher')
    """
    columns, named = columns_of(sensitive_features, attribute)
    more = {} if covariates is None else by_name(covariates)
    data = EmbeddingData(
        *(X, y, columns, domain),
        similarity=similarity,
        covariates=more,
        non_mated_only=non_mated_only,
    )
    check_data(data, "sensitive_features", named=named)
    failed = failed_rows(X, zeros=similarity != "dot")
    if failures is not None or failed.any():
        data = with_failures(data, failed, failures, ("X", NO_EMBEDDING))
    return audit_data(data, **options)


@with_options_of(audit_data)
def audit_pairs(
    y_score: ArrayLike,
    identities: tuple | None,
    sensitive_features: Columns | None = None,
    *,
    y_true: ArrayLike | None = None,
    attribute: str | None = None,
    images: tuple = (None, None),
    covariates: Columns | None = None,
    failures: str | None = None,
    mated_only: bool = False,
    non_mated_only: bool = False,
    **options: Any,
) -> Report:
    """Measure error rates by group, as :func:`audit` does, from scored pairs.

    Parameters
    ----------
    y_score : array-like, shape (n_pairs,)
        Similarities, larger meaning more similar. Negate distances.
    identities : tuple of two array-likes, shape (n_pairs,), or None
        Identities of the first and the second image of each pair, or None if unknown.
    sensitive_features : tuple of two array-likes, shape (n_pairs,), or dict or frames, default=None
        Groups of the first and of the second image of each pair, or one array-like,
        (n_pairs,), of the groups that both have. A dict of names to either, or a tuple of
        two frames with the same columns, is audited by each attribute and by their
        combinations. If None, only overall rates are audited.
    y_true : array-like, shape (n_pairs,), default=None
        Alternative to ``identities``: 1 if both images show one person, else 0. Pairs are
        then assumed to be independent, as the first line of the audit states.
    attribute : str, default=None
        Name of the attribute, for messages and the report. If None: that of two series or
        frames, which have one name, or NAME_1 and NAME_2, else "group".
    images : tuple of two array-likes, shape (n_pairs,), default=(None, None)
        Names of the images.
    covariates : dict or frame, default=None
        Columns for ``control=``: each an array-like (n_pairs,) for the pair or, in a dict, a
        tuple of two, one for each image.
    failures : {"reject", "report", "error"}, default=None
        Treatment of pairs whose score is NaN or minus infinity: "reject" counts them as
        rejected, "report" leaves them out and counts them by group. "error" raises an
        error, as does None if there are any.
    mated_only, non_mated_only : bool, default=False
        Declares that all pairs are genuine, or that none is. Otherwise such data raise an error.
    **options
        Options of :func:`audit_data`.

    Returns
    -------
    found : Report
        Rates, lower being better, and disparities, larger being less fair: an audit by each
        attribute, and by their combinations.

    Raises
    ------
    ValueError
        As :func:`audit`, if two frames differ in their columns, if one array was passed
        but each image of a pair needs one, or if not exactly one of the identities and
        ``y_true`` was passed.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import audit_pairs
    >>> rng = np.random.default_rng(0)
    >>> people = rng.integers(0, 40, (2, 4000))
    >>> groups = tuple(np.where(people % 2, "f", "m"))
    >>> scores = rng.normal(size=4000) + 2 * (people[0] == people[1])
    >>> found = audit_pairs(scores, tuple(people), groups, far=0.1)
    >>> [row.group for row in found.audits[0].groups]
    [None, 'f', 'm']
    """
    check_people(identities, y_true)
    if identities is not None:
        identities = two_columns(identities, "identities")
    images = two_columns(images, "images", needed=False)
    columns, named = columns_of(sensitive_features, attribute, of_pairs=True)
    more = {} if covariates is None else by_name(covariates)
    data = PairData(
        *(y_score, identities, columns, images, None, y_true, more),
        mated_only=mated_only,
        non_mated_only=non_mated_only,
    )
    known, failed = placeholders(data)
    check_data(known, "sensitive_features", named=named)
    data = with_failures(known, failed, failures, ("y_score", "is missing or infinite"))
    return audit_data(data, **options)


@with_options_of(
    audit_data,
    without=(
        *("far", "threshold", "threshold_from", "threshold_group"),
        *("impostors", "metrics", "p_target", "llr"),
    ),
)
def audit_decisions(
    error: ArrayLike,
    identity: Column | None,
    sensitive_features: Columns | None = None,
    *,
    kind: str = "frr",
    session: Column | None = None,
    best_of: int | None = None,
    time: Column | None = None,
    dates: str | None = None,
    failures: str | None = None,
    attribute: str | None = None,
    covariates: Columns | None = None,
    **options: Any,
) -> Report:
    """Measure error rates by group, as :func:`audit` does, from decisions without scores.

    People are the units, however many attempts each of them makes: rates, intervals, tests
    and limits are those of an audit of genuine pairs at one threshold.

    Parameters
    ----------
    error : array-like, shape (n_attempts,)
        1 for an error of the system, else 0. NaN if nothing was captured. An error of a
        genuine attempt is a rejection, of others an acceptance.
    identity : array-like, shape (n_attempts,), or None
        Person who makes each attempt, whoever is claimed. If None, attempts are assumed to
        be independent, as the first line of the audit states.
    sensitive_features : array-like, shape (n_attempts,), or dict or frame of several, default=None
        Group of each attempt. None and NaN are unknown. With ``kind="apcer"`` the species
        of the attack instrument, which is required. Several, and None, as in :func:`audit`.
    kind : {"frr", "far", "bpcer", "apcer"}, default="frr"
        Name of the errors: FRR of genuine attempts, FAR of impostor attempts, BPCER
        of bona fide and APCER of attack attempts (ISO/IEC 30107-3). Lower is better.
    session : array-like, shape (n_attempts,), default=None
        Session of each attempt, required with ``best_of``.
    best_of : int, default=None
        Number of attempts in a transaction: a person's first ones in a session. It is
        accepted if one of them is.
    time : array-like, shape (n_attempts,), default=None
        Time of each attempt, which orders those of a session: numbers, datetimes or texts.
        If None, rows are in order.
    dates : {"day-first", "month-first"}, default=None
        Format of dates in ``time`` with the year last, such as 31.01.2026. If None, only dates
        such as 2026-01-31 are read.
    failures : {"reject", "report", "error"}, default=None
        Treatment of attempts, or transactions, without a capture. "reject"
        counts them as rejected, as the FRR of ISO/IEC 19795-1 does. "report" leaves them out
        of the rates and counts them by group. "error" raises an error, as does
        None if any are missing.
    attribute : str, default=None
        Name of the attribute, for messages and the report. If None: that of a series or of a
        frame's one column, else "group".
    covariates : dict or frame of array-likes, shape (n_attempts,), default=None
        Columns for ``control=``, such as the device of each attempt. A transaction has
        those of its first attempt.
    limits : dict of str -> float, default=None
        Largest rate allowed of each group, in (0, 1), or of everyone without groups, and
        largest max / min allowed of the groups' rates, above 1: ``max_fnmr`` and
        ``max_fnmr_ratio`` of FRR and BPCER, ``max_fmr`` and ``max_fmr_ratio`` of FAR and
        APCER. They become the ``checks`` of the report and set its ``exit_code``.
    **options
        Options of :func:`audit_data`, without an operating point: the system had its own.

    Returns
    -------
    found : Report
        An audit by each attribute, and by their combinations. Records call a rate of any kind
        ``frr``, and ``audits[0].settings["decisions"]`` names the kind. Text, page, JSON and
        tables call it by its own name.

    Raises
    ------
    ValueError
        As :func:`audit`. If an error is not 0 or 1, or only one of ``session`` and ``best_of``
        was passed.

    References
    ----------
    .. [1] ISO/IEC 19795-1:2021. Information technology - Biometric performance testing and
       reporting - Part 1.
    .. [2] ISO/IEC 30107-3:2023. Information technology - Biometric presentation attack
       detection - Part 3.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import audit_decisions
    >>> rng = np.random.default_rng(0)
    >>> person = rng.integers(0, 300, 3000)
    >>> group = np.where(person % 2, "f", "m")
    >>> rejected = rng.random(3000) < np.where(group == "f", 0.08, 0.02)
    >>> found = audit_decisions(rejected, person, group, limits={"max_fnmr": 0.05})
    >>> found.checks[0].groups, found.checks[0].verdict
    (('f',), 'failed')
    """
    values = check_decisions(error, identity, session, best_of, kind, time)
    if kind == "apcer" and sensitive_features is None:
        problem = "is None, and errors of attacks are counted by species;"
        remedy = "give the species of the instrument of each attempt."
        raise invalid("sensitive_features", None, problem, remedy)
    columns, named = columns_of(sensitive_features, attribute)
    covariates = {} if covariates is None else by_name(covariates)
    of_group = "sensitive_features[{!r}]" if named else "sensitive_features"
    for called, known in ((of_group, columns), ("covariates[{!r}]", covariates)):
        for name, column in known.items():
            argument = called.format(name)
            check_length(to_column(column, argument), values.size, argument, "error")
    about = {"covariates": covariates, "failures": failures}
    about |= {"kind": kind, "session": session, "best_of": best_of}
    if time is not None:
        about["time"] = read_times(to_column(time, "time"), "time", dates)
    part = decisions(values, identity, columns, **about, problem=("error", "is nan"))
    return audit_data(DecisionData((part,)), **options)


def _check_without_groups(limits, **options):
    """Raise if a limit, or an option that was given, is about groups, and there are none."""
    asked = [name for name in sorted(limits) if LIMITS[name][2] is not None]
    for name in (*asked, *(n for n, value in options.items() if value is not None)):
        problem = "is about groups, and there is no attribute;"
        remedy = "name one: --attribute NAME, in Python sensitive_features."
        raise invalid(name, None, problem, remedy)


def split_limits(limits, metrics, data):
    """Limits of rates and ratios, and those of metrics of the user's. Raise for other names."""
    if not isinstance(metrics, dict) or not all(map(callable, metrics.values())):
        problem = f"must be functions by name, got {plain(metrics)!r}."
        raise invalid("metrics", metrics, problem)
    if isinstance(data, DecisionData):
        problem = "are functions of both rates, and decisions have one;"
        raise invalid("metrics", metrics, problem, "leave them out.")
    own = {f"max_{name}" for name in metrics}
    if taken := own & LIMITS.keys():
        problem = f"has the name of a limit of the package, {min(taken)!r};"
        raise invalid("metrics", metrics, problem, "give it another name.")
    limits = limits or {}
    kept = {name: limit for name, limit in limits.items() if name not in own}
    wanted = math.isfinite, "must be a finite number"
    of_own = {
        name: check_number(limit, name, *wanted)
        for name, limit in limits.items()
        if name in own
    }
    return kept or None, of_own


def labels_of(reference):
    """Labels of groups that are references, a list."""
    one = isinstance(reference, str) or np.ndim(reference) == 0
    return [reference] if one else list(reference)
