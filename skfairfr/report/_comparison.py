"""Systems on the same people: which groups a change of system harms, and which it helps.

Every rate of every group is compared with the first system's person by person, and all
these comparisons are judged as one family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._kinds import several
from skfairfr._core._parallel import next_step, show_progress
from skfairfr._text._words import printable
from skfairfr.metrics import SimilarityROC
from skfairfr.report._data import INDEPENDENT, EmbeddingData, check_data
from skfairfr.report._decisions import BETWEEN
from skfairfr.report._given import check_about, reraise_for
from skfairfr.report._measure import AuditedROC, Points
from skfairfr.report._notes import (
    collecting,
    lack_of_rows,
    notes_of,
    reason_to_withhold,
)
from skfairfr.report._paired import (
    changes_of,
    check_differ,
    check_same,
    groups_lacking,
    groups_lost,
    overlap,
    rows_of,
)
from skfairfr.report._prepared import AuditOptions, check_one_threshold, prepare
from skfairfr.report._records import Measured
from skfairfr.report._report import SystemsComparison
from skfairfr.report.sections import _costs, _curves
from skfairfr.utils._errors import ArgumentError, invalid, kind_of_value, plain
from skfairfr.utils._labels import check_spelling, encode_joined, to_column
from skfairfr.utils._options import with_options_of
from skfairfr.utils._validation import to_array

if TYPE_CHECKING:
    from skfairfr.report._data import DecisionData, PairData

NAMES = ("before", "after")


def compare_systems(
    before: EmbeddingData | PairData,
    after: EmbeddingData | PairData,
    *more: EmbeddingData | PairData,
    names: Sequence[str] | None = None,
    far: ArrayLike | None = None,
    threshold: ArrayLike | None = None,
    average: str = "pair",
    impostors: str = "all",
    confidence_level: float = 0.95,
    baseline: bool = False,
    fail_on_harm: bool = False,
    p_target: ArrayLike | None = None,
    llr: bool = False,
    about: dict | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> SystemsComparison:
    """Find the groups that a change of system harms or helps, on the same people.

    The overall rates and those of all groups are compared with those of the first system,
    by the contribution of each person and each pair of people to the difference. Variation
    common to both systems cancels. Without groups, only overall rates are compared. All
    comparisons are one family: the nominal chance that any of them reports a change that does
    not exist is ``1 - confidence_level`` [1]_. An interval and its
    ``p_value`` refer to one comparison and agree with each other.

    Parameters
    ----------
    before, after, *more : EmbeddingData or PairData
        Data, as :func:`read_data` returns them, all of one kind, with the same columns.
        Images are paired by the names of their rows, and pairs of images by both names.
        Those that another system lacks are left out. Without names, rows are in the same order. A
        group that loses most of its rows, or all pairs, is not compared.
    names : sequence of str, shape (n_systems,), default=None
        Names of the systems. If None: the paths that were read, or "before" and "after".
    far : float in (0, 1) or array-like, shape (n_levels,), default=None
        FAR levels, which each system meets at its own threshold. If None: 1e-2 and 1e-3.
    threshold : float or array-like, shape (n_levels,) or (n_systems, 1), default=None
        Thresholds at or above which all systems accept, instead of ``far``, or one for each
        system. For data read as distances, the largest accepted distances.
    average : {"pair", "identity"}, default="pair"
        Whether each pair has the same weight, or each person.
    impostors : {"all", "same_group"}, default="all"
        Pairs whose FAR sets the threshold. "same_group" needs one attribute.
    confidence_level : float in (0, 1), default=0.95
        Confidence level of the intervals, and of the family of tests.
    baseline : bool, default=False
        Whether the first system is in use, and the others are to replace it: a rate that is
        higher is then called harm.
    fail_on_harm : bool, default=False
        The same, and whether harm makes the ``exit_code`` of the result 1.
    p_target : float in (0, 1) or array-like, shape (n_points,), default=None
        Shares of genuine pairs among those to be decided, at each of which detection costs of
        everyone and of each group are compared, each alone. Their changes are ``costs``. They
        do not count as harm or improvement.
    llr : bool, default=False
        Whether scores are natural logarithms of likelihood ratios: Cllr, and costs of
        decisions at the threshold of Bayes, are compared too.
    about : dict of str -> str, default=None
        "title", "system", "dataset" and "organisation": what the report is to show, and its
        JSON to keep, about the test.
    progress : bool, default=False
        Whether to show progress on standard error: a bar or, if it is not a terminal, a
        line at most every ten seconds.
    n_jobs : int, default=None
        Workers of joblib. If None, one process, which uses all cores by threads.
    random_state : int, default=0
        Seed of samples of impostor pairs, and of draws.

    Returns
    -------
    found : SystemsComparison
        Result with ``harm``, ``improved`` and ``levelling_down``.

    Raises
    ------
    ValueError
        If the systems have nothing in common, their people or groups differ, two of them
        have equal scores, or an argument is out of range.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.compare : One rate, or one disparity, of two systems.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure.
       Scandinavian Journal of Statistics, 6, 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.report import EmbeddingData, compare_systems
    >>> made = make_face_embeddings(n_identities=100, random_state=0)
    >>> noise = np.random.default_rng(0).normal(0, 0.1, made.X.shape)
    >>> noise[made.sensitive_features == "male"] = 0
    >>> groups = {"gender": made.sensitive_features}
    >>> before = EmbeddingData(made.X, made.y, groups)
    >>> after = EmbeddingData(made.X + noise, made.y, groups)
    >>> found = compare_systems(before, after, far=1e-2)
    >>> [(change.group, change.rate) for change in found.harm if change.group]
    [('female', 'frr'), ('male', 'far')]
    """
    check_about(about)
    data = (before, after, *more)
    _check_all(data)
    names = _names_of(data, names)
    points = [
        replace(Points.of(far, own, one.is_distance), terms=one.terms)
        for own, one in zip(_of_each(threshold, len(data)), data, strict=True)
    ]
    common, left_out = overlap(data, names)
    left_out = tuple(map(len, left_out))
    check_one_threshold(impostors, tuple(before.columns), "compare by them")
    asked_costs = None
    if p_target is not None or llr:
        asked_costs = _costs.asked_of(p_target, llr, before)
    asked = average, impostors, plain(confidence_level)
    options = AuditOptions(*asked, n_jobs, random_state)
    chosen, far_max = _prepared(data, common[0], points[0], names, left_out, options)
    check_differ(common, names, points)
    with show_progress(progress, len(data) + 2):
        rocs, warnings = _fits(names, common, chosen[-1], options, far_max)
        withheld = _why_withheld(names, warnings)
        # What is undefined is nan, as the tables show.
        with collecting([]):
            next_step("measuring every system")
            measured = [
                _measured(*system, attributes)
                for attributes in chosen
                for system in zip(names, rocs, common, points, strict=True)
            ]
            next_step("comparing systems")
            lost = groups_lost(data, common, names, chosen, measured)
            if before.decisions:
                lost = groups_lacking(data, names, chosen)
            family = options.confidence_level, bool(withheld), before.is_distance
            systems = names, rocs, chosen, points
            changes, disparities = changes_of(systems, measured, lost, *family)
            costs = ()
            if asked_costs is not None:
                costs = _costs.measure_changes(names, rocs, chosen, *asked_costs)
    notes = [
        *chain(*(one.notes for one in data)),
        *notes_of(chain(*warnings), before.terms),
        *(change.reason for change in changes),
    ]
    n_rows, unit = rows_of(common[0])
    settings = options.settings() | _settings_of(points, data, names, withheld)
    return SystemsComparison(
        tuple(names),
        settings | {"baseline": True} if baseline else settings,
        np.unique(common[0].people()).size,
        n_rows,
        left_out,
        unit,
        tuple(changes),
        tuple(disparities),
        tuple(dict.fromkeys(filter(None, notes))),
        fail_on_harm,
        tuple(measured),
        about or {},
        costs,
    )


@with_options_of(
    compare_systems, without=("far", "threshold", "impostors", "p_target", "llr")
)
def compare_decisions(
    before: DecisionData,
    after: DecisionData,
    *more: DecisionData,
    kind: str | None = None,
    **options: Any,
) -> SystemsComparison:
    """Find the groups for which wrong decisions are more or less frequent in another log.

    Like :func:`compare_systems`, for logs of decisions, such as those before and after a
    new camera. People who are in several logs are paired: what they add to the rates of both
    cancels. Those in one log alone add to the variance of its rates.

    Parameters
    ----------
    before, after, *more : DecisionData
        Data, as :func:`read_data` returns them, with the same columns and names of people.
        A group that a log lacks is not compared.
    kind : {"frr", "far", "bpcer", "apcer"}, default=None
        Kind of errors to compare. If None, the kind of the logs if they have only one.
    **options
        Options of :func:`compare_systems`.

    Returns
    -------
    found : SystemsComparison
        In its records "frr" is the rate, whatever its kind, which ``settings["decisions"]``
        names. Lower is better. ``n_people`` are those in all logs, and
        ``settings["attempts"]`` has the attempts and the people of each.

    Raises
    ------
    ValueError
        As :func:`compare_systems`, and if logs have several kinds of attempts and none was
        given, or one log lacks it.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.report import DecisionData, PairData, compare_decisions
    >>> rng = np.random.default_rng(0)
    >>> def log(people, share):
    ...     who = rng.choice(people, 3000)
    ...     sex = np.where(who % 2, "f", "m")
    ...     accepted = rng.random(3000) > np.where(sex == "f", share, 0.05)
    ...     columns = {"sex": (sex, sex)}
    ...     return DecisionData(
    ...         (PairData(accepted * 1.0, (who, who), columns, decisions="frr", mated_only=True),)
    ...     )
    >>> found = compare_decisions(log(range(300), 0.2), log(range(100, 400), 0.1))
    >>> [(change.group, change.verdict) for change in found.changes]
    [(None, 'lower'), ('f', 'lower'), ('m', 'no significant difference')]
    """
    data = (before, after, *more)
    parts = [
        _of_kind(one, name, kind)
        for one, name in zip(data, chain(NAMES, repeat("after")), strict=False)
    ]
    if len({(part.decisions, part.best_of, part.failures) for part in parts}) > 1:
        problem = "has attempts, transactions or failures of another kind than before;"
        raise invalid("after", None, problem, "read all logs with the same options.")
    of_nobody = [part.independent for part in parts]
    if any(of_nobody) and not all(of_nobody):
        name = "before" if of_nobody[0] else "after"
        problem = "names no people, by whom logs are paired, and another does;"
        raise invalid(name, None, problem, "read all with their people, or none.")
    cuts = np.cumsum([len(part.y_score) for part in parts])
    whose = np.split(np.arange(cuts[-1]), cuts[:-1])  # without people each of its own
    if not any(of_nobody):
        whose = [to_column(part.identities[0], "identity") for part in parts]
    people = encode_joined(whose, "identity")
    check_spelling(people.values, "identity")
    codes = np.split(people.codes, cuts[:-1])
    parts = [
        replace(part, identities=(own, own), y_true=None, n_people=people.values.size)
        for part, own in zip(parts, codes, strict=True)
    ]
    found = compare_systems(*parts, threshold=BETWEEN, **options)
    n_people = [0 if any(of_nobody) else np.unique(own).size for own in codes]
    sizes = [
        {"attempts": own.size, "people": n}
        for own, n in zip(codes, n_people, strict=True)
    ]
    first, settings = parts[0], found.settings | {"threshold": None}
    for name in ("decisions", "best_of", "failures"):
        if getattr(first, name) is not None:
            settings[name] = getattr(first, name)
    settings["attempts"] = dict(zip(found.systems, sizes, strict=True))
    lists = {
        name: tuple(replace(one, threshold=None) for one in getattr(found, name))
        for name in ("changes", "disparities")
    }
    shared = reduce(np.intersect1d, codes).size
    counted = {"n_people": shared, "n_rows": people.codes.size}
    unit = several(first.terms.trial)
    notes = (*[INDEPENDENT.format(first.terms.trial)] * any(of_nobody), *found.notes)
    counted["notes"] = notes
    return replace(found, settings=settings, unit=unit, **counted, **lists)


def _of_kind(data, name, kind):
    """The decisions of a log of one kind, PairData."""
    known = {part.decisions: part for part in getattr(data, "parts", ())}
    if not known:
        problem = f"must be a DecisionData, got {kind_of_value(data)}."
        raise invalid(name, data, problem, "Give what read_data reads from a log.")
    if kind is None and len(known) == 1:
        (kind,) = known
    if kind not in known:
        problem = f"must be one of {', '.join(known)}, which {name} has, got {kind!r}."
        raise invalid("kind", kind, problem, "All logs need attempts of it.")
    return known[kind]


def _check_all(data):
    """Raise, naming the argument, unless all systems are data whose people are known."""
    for argument, one in zip(chain(NAMES, repeat("after")), data, strict=False):
        try:
            check_data(one)
        except ValueError as error:
            raise reraise_for(error, argument, one) from None
        if one.failed is not None and not one.decisions:
            problem = "keeps failures to be rejected, which a comparison of systems does not count;"
            raise invalid(
                argument, one, problem, "give data read with failures='report'."
            )
        if one.independent:
            raise invalid(
                argument,
                one,
                "shows which pairs are genuine, but not whose, so systems cannot be "
                "compared person by person.",
                "Name the people of both images with identity_1 and identity_2.",
            )


def _names_of(data, names):
    if names is None:
        names = []
        for position, one in enumerate(data):
            name = NAMES[position] if position < len(NAMES) else f"after {position}"
            if one.reading is not None:
                name = ", ".join([str(one.reading.path), *_options_of_one(one, data)])
            names.append(name if name not in names else f"{name} ({position + 1})")
    names = [str(name) for name in names]
    if len(names) != len(data) or len(set(names)) < len(names):
        raise invalid(
            "names",
            names,
            f"must be {len(data)} different ones, one for each system, got {names}.",
            "Give each system a name of its own.",
        )
    return names


def _options_of_one(one, data):
    """Options by which a system was read, and not all others of the same file."""
    read = [other.reading for other in data if other.reading is not None]
    others = [own.options for own in read if own.path == one.reading.path]
    options = one.reading.options.items()
    return [str(v) for n, v in options if any(own[n] != v for own in others)]


# ---- what systems have in common -----------------------------------------------------


def _of_each(threshold, n_systems):
    """The thresholds of each system, a list."""
    given = None if threshold is None else to_array(threshold, "threshold")
    if given is None or given.ndim < 2:
        return [threshold] * n_systems
    if given.shape != (n_systems, 1):
        problem = (
            f"must have the shape (n_levels,) or ({n_systems}, 1), got {given.shape}."
        )
        remedy = "Give the thresholds of all systems, or one for each."
        raise invalid("threshold", threshold, problem, remedy)
    return list(given)


def _prepared(data, first, points, names, left_out, options):
    """The attributes of each audit, and the FAR up to which pairs are kept."""
    try:
        chosen, points = prepare(first, points, options.random_state, data)
    except ArgumentError:
        raise
    except ValueError as error:  # of groups, which a system may lack
        lacking = lack_of_rows(names, left_out, *rows_of(first))
        raise ValueError(" ".join([str(error), *lacking])) from None
    return chosen, points.far_max


def _fits(names, common, attributes, options, far_max):
    """SimilarityROCs of the systems, and the warnings of each fit."""
    rocs, warnings = [], [[] for _ in names]
    for name, data, warned in zip(names, common, warnings, strict=True):
        next_step(f"comparing all pairs of {printable(name)}")
        with collecting(warned):
            roc = SimilarityROC(**vars(options), far_max=far_max)
            rocs.append(data.fit(roc, attributes))
    if not common[0].decisions:
        check_same(rocs, names, common)
    return rocs, warnings


def _why_withheld(names, warnings):
    """The code of WITHHELD of each system that has one, by its name."""
    codes = [reason_to_withhold(of_system) for of_system in warnings]
    why = {name: code for name, code in zip(names, codes, strict=True) if code}
    if len(why) < len(codes):
        of_some = {"reversed_scores": "reversed_beside_others"}
        why = {name: of_some.get(code, code) for name, code in why.items()}
    return why


def _settings_of(points, data, names, withheld):
    """Operating points, the scale of scores, digests of files, and what withholds verdicts."""
    read = [(name, one.reading) for name, one in zip(names, data, strict=True)]
    known = {
        "distance": data[0].is_distance,
        "sha256": {name: own.sha256 for name, own in read if own is not None},
        "withheld": withheld,
    }
    settings = points[0].settings()
    if len({str(own.threshold) for own in points}) > 1:
        settings["threshold"] = [float(own.threshold[0]) for own in points]
        settings["threshold_of_each"] = True
    return settings | {name: value for name, value in known.items() if value}


def _measured(name, roc, data, points, attributes):
    """One system by one attribute."""
    audited = AuditedROC(roc.by(attributes or None, method="jackknife"), points)
    return Measured(
        name,
        " & ".join(attributes),
        audited.groups(data.people(), data.images(), data.groups(attributes)),
        audited.levels(None),
        None
        if data.decisions
        else _curves.measure(audited, not isinstance(data, EmbeddingData)),
    )
