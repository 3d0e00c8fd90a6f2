"""Systems on the same people: which groups a change of system harms, and which it helps.

Every rate of every group is compared with the first system's person by person, and all
these comparisons are judged as one family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain, combinations, product, repeat
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._jackknife import holm
from skfairfr._core._kinds import several
from skfairfr._core._parallel import next_step, show_progress
from skfairfr._core._rates import in_digits
from skfairfr._text._words import (
    NO_DIFFERENCE,
    RATES,
    TOO_FEW,
    level_percent,
    plural,
    printable,
)
from skfairfr.metrics import SimilarityROC
from skfairfr.metrics._roc._estimates import MIN_SETTERS
from skfairfr.metrics._roc._paired import check_same_images, compare, compare_rates
from skfairfr.report._data import EmbeddingData, check_data
from skfairfr.report._failing import BETWEEN
from skfairfr.report._given import check_about, reraise_for
from skfairfr.report._measure import AuditedROC, Points
from skfairfr.report._notes import (
    collecting,
    lack_of_group,
    lack_of_rows,
    notes_of,
    rates_in,
    reason_to_withhold,
)
from skfairfr.report._prepared import (
    AuditOptions,
    check_one_threshold,
    prepare,
)
from skfairfr.report._records import Change, DisparityChange, Measured
from skfairfr.report._report import SystemsComparison
from skfairfr.report._verdicts import beyond_all_scores
from skfairfr.report.sections import _costs, _curves
from skfairfr.utils._errors import ArgumentError, kind_of_value, plain, refused
from skfairfr.utils._labels import check_spelling, encode, join_columns, to_column
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

    The rates of all groups, and of everyone, are compared with those of the first system
    by what every person, and every two people, add to their difference, so that what
    varies for both systems cancels. Without groups everyone is compared. All comparisons are one family: the nominal
    chance that any of them names a change that there is not is ``1 - confidence_level``
    [1]_. Intervals and ``p_value`` are of each comparison alone and agree with each other.

    Parameters
    ----------
    before, after, *more : EmbeddingData or PairData
        Such as :func:`read_data` gives, all of one kind, with the same columns. Images are
        paired by the names of their rows, pairs of images by those of both, and what
        another system lacks is left out. Without names, rows stand in the same order. A
        group that loses most of its rows, or all pairs, is not compared.
    names : sequence of str, shape (n_systems,), default=None
        Of the systems. If None: the paths that were read, or "before" and "after".
    far : float in (0, 1) or array-like, shape (n_levels,), default=None
        Levels, which every system meets at a threshold of its own. If None: 1e-2 and
        1e-3.
    threshold : float or array-like, shape (n_levels,) or (n_systems, 1), default=None
        Similarities from which on all systems accept, instead, or one for each system; of
        data that were read as distances, distances up to which they do.
    average : {"pair", "identity"}, default="pair"
        Whether every pair weighs the same, or every person.
    impostors : {"all", "same_group"}, default="all"
        Pairs whose FAR sets the threshold. "same_group" needs one attribute.
    confidence_level : float in (0, 1), default=0.95
        Of the intervals, and of the family of tests.
    baseline : bool, default=False
        Whether the first system is in use, and the others are to replace it: a rate that is
        higher is then called harm.
    fail_on_harm : bool, default=False
        The same, and whether harm makes the ``exit_code`` of the result 1.
    p_target, llr : options
        As of :func:`audit_data`: changes of costs of everyone and of each group are ``costs``,
        each judged alone. They are neither harm nor improvement.
    about : dict of str -> str, default=None
        "title", "system", "dataset" and "organisation": what the report is to show, and its
        JSON to keep, about the test.
    progress : bool, default=False
        Whether standard error shows how far the measurement is: a bar, or, where that is
        no terminal, a line at most every ten seconds.
    n_jobs : int, default=None
        Workers of joblib. If None, one process, which uses all cores by threads.
    random_state : int, default=0
        Seed of samples of impostor pairs, and of draws.

    Returns
    -------
    found : SystemsComparison
        With ``harm``, ``improved`` and ``levelling_down``.

    Raises
    ------
    ValueError
        If the systems have nothing in common, other people or groups, two of them have
        equal scores, or an argument is out of range.

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
    >>> made = make_face_embeddings(n_identities=200, random_state=0)
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
    check_one_threshold(impostors, tuple(before.columns), "compare by them")
    asked_costs = None
    if p_target is not None or llr:
        asked_costs = _costs.asked_of(p_target, llr, before)
    asked = average, impostors, plain(confidence_level)
    options = AuditOptions(*asked, n_jobs, random_state)
    try:
        chosen, first = prepare(common[0], points[0], random_state, data)
    except ArgumentError:
        raise
    except ValueError as error:  # of groups, which a system may lack
        lacking = lack_of_rows(names, tuple(map(len, left_out)), *_rows_of(common[0]))
        raise ValueError(" ".join([str(error), *lacking])) from None
    _check_differ(common, names, points)
    notes = [*chain(*(one.notes for one in data))]
    with show_progress(progress, len(data) + 2):
        named = zip(names, common, strict=True)
        fits = [_fit(*own, chosen[-1], options, first.far_max) for own in named]
        rocs, warnings = zip(*fits, strict=True)
        if not before.decisions:
            _check_same(rocs, names, common)
        notes += notes_of(chain(*warnings), before.terms)
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
            rates = rates_in(measured[0].groups)
            lost = _lost(data, common, names, chosen, measured)
            if before.decisions:
                lost = _lacking_groups(data, names, chosen)
            changes = _changes(names, rocs, chosen, points, rates, lost)
            changes = _tested(changes, options.confidence_level, bool(withheld))
            changes = _without_gains(changes, measured, first, before.is_distance)
            notes += [change.reason for change in changes]
            disparities = _disparities(names, rocs, chosen, points, rates, changes)
            costs = ()
            if asked_costs is not None:
                costs = _costs.measure_changes(names, rocs, chosen, *asked_costs)
    n_rows, unit = _rows_of(common[0])
    settings = options.settings() | _settings_of(points, data, names, withheld)
    return SystemsComparison(
        tuple(names),
        settings | {"baseline": True} if baseline else settings,
        np.unique(common[0].people()).size,
        n_rows,
        tuple(map(len, left_out)),
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
    """Find the groups for which errors of decisions are more or fewer in another log.

    As :func:`compare_systems`, of logs of decisions, such as those before and after a new
    camera. People who are in several logs are paired: what they add to the rates of both
    cancels. Those in one log alone add to the variance of its rates.

    Parameters
    ----------
    before, after, *more : DecisionData
        Such as :func:`read_data` gives, with the same columns, and people with the same names. A
        group that a log lacks is not compared.
    kind : {"frr", "far", "bpcer", "apcer"}, default=None
        Whose errors are compared. If None: the kind of the logs if they have one alone.
    **options
        As of :func:`compare_systems`.

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
        raise refused("after", None, problem, "read all logs with the same options.")
    whose = [to_column(part.identities[0], "identity") for part in parts]
    people = encode(join_columns(whose), "identity")
    check_spelling(people.values, "identity")
    codes = np.split(people.codes, np.cumsum([*map(len, whose)])[:-1])
    parts = [
        replace(part, identities=(own, own), n_people=people.values.size)
        for part, own in zip(parts, codes, strict=True)
    ]
    found = compare_systems(*parts, threshold=BETWEEN, **options)
    sizes = [{"attempts": own.size, "people": np.unique(own).size} for own in codes]
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
    return replace(found, settings=settings, unit=unit, **counted, **lists)


def _of_kind(data, name, kind):
    """The decisions of a log of one kind, PairData."""
    known = {part.decisions: part for part in getattr(data, "parts", ())}
    if not known:
        problem = f"must be a DecisionData; got {kind_of_value(data)}."
        raise refused(name, data, problem, "Give what read_data reads from a log.")
    if kind is None and len(known) == 1:
        (kind,) = known
    if kind not in known:
        problem = f"must be one of {', '.join(known)}, which {name} has; got {kind!r}."
        raise refused("kind", kind, problem, "All logs need attempts of it.")
    if known[kind].independent:
        problem = "names no people, by whom logs are paired;"
        raise refused(name, None, problem, "read it with its people.")
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
            raise refused(
                argument, one, problem, "give data read with failures='report'."
            )
        if one.independent:
            raise refused(
                argument,
                one,
                "shows which pairs are genuine, and not whom they show, so that systems "
                "cannot be compared person by person;",
                "name the people of both images with identity_1 and identity_2.",
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
        raise refused(
            "names",
            names,
            f"must be {len(data)} different ones, one for each system; got {names}.",
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


def overlap(data, names):
    """The images, or the pairs, that all systems have, in one order.

    Images of embeddings are known by the names of their rows, pairs by those of their two
    images, in either order. Without names, rows are the same in the order of the files.

    Parameters
    ----------
    data : sequence of EmbeddingData or PairData
        All of one kind.
    names : sequence of str
        Of the systems, for messages.

    Returns
    -------
    common : list of EmbeddingData or PairData
    left_out : list of ndarray of int
        Rows of every system, the images or pairs of which another lacks.

    Raises
    ------
    ArgumentError
        If the systems have nothing in common.
    """
    for one, name in zip(data[1:], names[1:], strict=True):
        if type(one) is not type(data[0]):
            problem = f"contains {one.kind}, and {names[0]!r} {data[0].kind};"
            raise _unpaired(name, problem, "give files of one kind.")
        lost = [
            attribute for attribute in data[0].columns if attribute not in one.columns
        ]
        if lost:
            remedy = "give all systems the same columns."
            raise _unpaired(name, f"has no column {plain(lost[0])!r};", remedy)
    sides = [_image_names(one) for one in data]
    for own, name in zip(sides[1:], names[1:], strict=True):
        if (own is None) != (sides[0] is None):
            problem = f"and {names[0]!r} do not both name their images;"
            raise _unpaired(name, problem, data[0].naming)
    if sides[0] is None:
        return list(data), [np.empty(0, dtype=int)] * len(data)
    try:
        keys = _keys(sides)
    except ValueError as error:
        problem = f"and {names[0]!r} do not use the same names for images: {error}"
        raise _unpaired(names[1], problem, "Give each a name, in one type.") from None
    rows = _common_rows(keys, names)
    left_out = [
        np.setdiff1d(np.arange(own.size), found)
        for own, found in zip(keys, rows, strict=True)
    ]
    # If all have the same rows, nothing is copied.
    equal = all(np.array_equal(own, keys[0]) for own in keys)
    taken = zip(data, rows, strict=True)
    return [one if equal else one.take(own) for one, own in taken], left_out


def _unpaired(name, problem, remedy, which="after"):
    """An error about a system that cannot be paired with the first, or about the first."""
    return refused(which, name, f"{name!r} {problem}", remedy)


def _image_names(one):
    """Names of images, or of either image of pairs, (n_sides, n_rows); None without any."""
    sides = [one.names] if isinstance(one, EmbeddingData) else one.image_names
    if any(side is None for side in sides):
        return None
    return [to_column(side, "image") for side in sides]


def _keys(sides):
    """A code for every image, or for the two of every pair in either order, of every system."""
    columns = [column for own in sides for column in own]
    codes = encode(join_columns(columns), "image").codes.astype(np.int64)
    codes = np.split(codes, np.cumsum([len(column) for column in columns])[:-1])
    if len(sides[0]) == 1:
        return codes
    ends = zip(codes[::2], codes[1::2], strict=True)
    n_images = max(code.max() for code in codes) + 1
    return [np.minimum(*both) * n_images + np.maximum(*both) for both in ends]


def _common_rows(keys, names):
    """Rows of each system that all have."""
    if all(np.array_equal(own, keys[0]) for own in keys):
        return [np.arange(own.size) for own in keys]
    # In the order of the first system.
    common = keys[0]
    for own, name in zip(keys, names, strict=True):
        twice = own.size - np.unique(own).size
        if twice:
            problem = f"repeats the images of other rows in {plural(twice, 'row')};"
            which = "before" if own is keys[0] else "after"
            raise _unpaired(name, problem, "remove the repeats.", which)
        common = common[np.isin(common, own)]
        if not common.size:
            problem = f"has no images in common with {names[0]!r};"
            raise _unpaired(name, problem, "use the same names and type for images.")
    rows = []
    for own in keys:
        order = np.argsort(own, kind="stable")
        rows.append(order[np.searchsorted(own[order], common)])
    return rows


def _rows_of(data):
    """How many rows data have, and what these are."""
    if isinstance(data, EmbeddingData):
        return len(data.y), "images"
    return len(data.y_score), "pairs"


def _of_each(threshold, n_systems):
    """The thresholds of each system, a list."""
    given = None if threshold is None else to_array(threshold, "threshold")
    if given is None or given.ndim < 2:
        return [threshold] * n_systems
    if given.shape != (n_systems, 1):
        problem = (
            f"must have the shape (n_levels,) or ({n_systems}, 1); got {given.shape}."
        )
        remedy = "Give the thresholds of all systems, or one for each."
        raise refused("threshold", threshold, problem, remedy)
    return list(given)


def _check_differ(common, names, points):
    """Raise if two systems have equal scores, and thresholds."""
    systems = zip(names, map(_behind_scores, common, points), strict=True)
    for (first, ours), (name, theirs) in combinations(systems, 2):
        if all(map(_equal_in_any_order, ours, theirs)):
            what = "decisions" if common[0].decisions else "scores"
            problem = f"and {first!r}: the two systems are the same file, or have equal {what};"
            remedy = (
                "name the file of each system, or its column (--score, --embedding)."
            )
            raise _unpaired(name, problem, remedy)


def _equal_in_any_order(one, other):
    """Whether two systems have the same values, if only in another order of rows."""
    if np.ndim(one) == 0 or np.shape(one) != np.shape(other):
        return np.array_equal(one, other)
    first = (np.sort(of.reshape(len(of), -1)[:, 0]) for of in (one, other))
    # Most systems differ in their first column.
    return np.array_equal(*first) and np.array_equal(
        *(np.sort(of, axis=0) for of in (one, other))
    )


def _behind_scores(one, points):
    """The threshold of a system, and what its scores depend on."""
    if one.decisions:  # of each person
        return points.threshold, 2 * one.identities[0] + one.y_score
    if not isinstance(one, EmbeddingData):
        return points.threshold, to_array(one.y_score, "y_score")
    given = getattr(one, "candidates", None)
    if given is not None:
        given = given[-1] if isinstance(given, tuple) else given
        return points.threshold, to_array(given, "candidates")
    gallery = getattr(one, "gallery", one)  # of searches
    scores = one.similarity, to_array(one.X, "X"), to_array(gallery.X, "X")
    return points.threshold, *scores


def _check_same(rocs, names, common):
    """Raise, naming what differs, unless paired rows have the same labels."""
    remedy = ""
    if _image_names(common[0]) is None:
        remedy = f"Rows are paired in their order: {common[0].naming}"
    for roc, name in zip(rocs[1:], names[1:], strict=True):
        try:
            check_same_images(rocs[0], roc)
        except ValueError as error:
            why = str(error).removeprefix("other ")
            problem = f"cannot be paired with {names[0]!r}: it {why}"
            raise _unpaired(name, problem, remedy) from None


def _fit(name, data, attributes, options, far_max):
    """A system's SimilarityROC, and the warnings of its fit."""
    next_step(f"comparing all pairs of {printable(name)}")
    warnings = []
    with collecting(warnings):
        roc = data.fit(SimilarityROC(**vars(options), far_max=far_max), attributes)
    return roc, warnings


def _why_withheld(names, warnings):
    """The code of WITHHELD of each system that has one, by its name."""
    codes = [reason_to_withhold(of_system) for of_system in warnings]
    why = {name: code for name, code in zip(names, codes, strict=True) if code}
    if len(why) < len(codes):
        beside = {"reversed_scores": "reversed_beside_others"}
        why = {name: beside.get(code, code) for name, code in why.items()}
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


def _lost(data, common, names, chosen, measured):
    """Why rates of groups are not compared: (attribute, group, rate) -> str.

    Of the rows that a system has all systems share less than half, or no pair is left.
    """
    if all(map(is_, data, common)):
        return {}
    sizes = {
        (one.attribute, row.group): {"far": row.n_impostor, "frr": row.n_genuine}
        for one in measured
        for row in one.groups[1:]
    }
    found = {}
    for attributes in chosen:
        attribute = " & ".join(attributes)
        kept, *of_all = (_rows_of_groups(one, attributes) for one in (common[0], *data))
        for group in dict.fromkeys(chain(*(own["far"] for own in of_all))):
            lost, pairs = {}, sizes.get((attribute, group), {})
            for rate in RATES:
                rows = {
                    n: own[rate].get(group, 0)
                    for n, own in zip(names, of_all, strict=True)
                }
                most, left = max(rows.values()), kept[rate].get(group, 0)
                if left < most / 2 or (left < most and not pairs.get(rate)):
                    lost[rate] = pairs.get(rate, 0)
                    name = max(rows, key=rows.get)
                    without = [n for n in names if rows[n] < most / 2]
            if lost:
                # If no system has few of them, those are of other images.
                others = without or [n for n in names if n != name]
                why = lack_of_group(lost, group, attribute, name, others, data[0].terms)
                found |= {(attribute, group, rate): why for rate in lost}
    return found


def _lacking_groups(data, names, chosen):
    """As _lost, of logs of decisions, of which some may have no attempt of a group."""
    found = {}
    for attributes in chosen:
        attribute = " & ".join(attributes)
        known = [one.groups(attributes).values.tolist() for one in data]
        for group in dict.fromkeys(chain(*known)):
            has = [group in own for own in known]
            others = [name for name, own in zip(names, has, strict=True) if not own]
            if others:
                about = group, attribute, names[has.index(True)], others, data[0].terms
                found[attribute, group, "frr"] = lack_of_group({"frr": 0}, *about)
    return found


def _rows_of_groups(data, attributes):
    """Rate -> label -> how many pairs of a group, or how many images of both rates."""
    groups = data.groups(attributes)
    codes = dict.fromkeys(RATES, groups.codes)
    if not isinstance(data, EmbeddingData):
        (left, right), people = np.split(groups.codes, 2), np.split(data.people(), 2)
        within = np.where(left == right, left, -1)
        genuine = np.equal(*people)
        codes = {"far": within[~genuine], "frr": within[genuine]}
    labels = groups.values.tolist()
    counts = {
        rate: np.bincount(own[own >= 0], None, len(labels))
        for rate, own in codes.items()
    }
    return {
        rate: dict(zip(labels, n.tolist(), strict=True)) for rate, n in counts.items()
    }


def _changes(names, rocs, chosen, points, rates, lost):
    """Changes of every system against the first, with why they are not tested."""
    named = list(zip(names, rocs, points, strict=True))
    few = {name: _few_setters(roc, chosen[0], own) for name, roc, own in named}
    found = []
    # None: of everyone, then of the groups of every attribute.
    for (name, roc, own), attributes in product(
        named[1:], (None, *filter(None, chosen))
    ):
        attribute, labels, both = None, [None], (roc, rocs[0])
        if attributes is not None:
            both = [of_system.by(attributes) for of_system in both]
            attribute, labels = " & ".join(attributes), both[0].groups_.tolist()
            labels += [group for by, group, _ in lost if by == attribute]
            labels = list(dict.fromkeys(labels))
        engines = tuple(of_system._engine for of_system in both)
        for label, rate in product(labels, rates):
            if label is None and rate == "far" and own.threshold is None:
                continue  # it is set
            about = name, attribute, label, rate
            if why := lost.get(about[1:]):
                unknown = *[float("nan")] * 10, "undetermined", why
                places = [points_at(points[0], row) for row in range(own.size)]
                found += [Change(*about, *at, *unknown) for at in places]
                continue
            found += _of_group(engines, about, (own, points[0]))
    far = points[0].terms.far
    few_in_words = partial(_few_in_words, few, first=names[0], kind=far)
    return [replace(c, reason=c.reason or few_in_words(c)) for c in found]


def _of_group(engines, about, points):
    """Changes of one rate of a group at every level."""
    *_, label, rate = about
    questions = _questions(engines, points, rate, label, None)
    both = zip(engines, questions, strict=True)
    values = [engine.points(own) for engine, own in both]
    paired = compare_rates(engines, questions, values)
    columns = (
        *(values[1], values[0], paired.difference, paired.low, paired.high),
        *(paired.ratio, paired.ratio_low, paired.ratio_high, paired.p_value),
    )
    # A question's levels increase.
    return [
        Change(
            *(*about, *points_at(points[0], level)),
            *(float(column[row]) for column in columns),
            p_adjusted=float("nan"),
            verdict=TOO_FEW,
        )
        for level, row in enumerate(np.argsort(questions[0].order).tolist())
    ]


def _questions(engines, points, *asked):
    """A question about one rate or disparity to each of two engines at its own points."""
    both = zip(engines, points, strict=True)
    return [e.question(own.far, own.threshold, *asked, "overall") for e, own in both]


def points_at(points, level):
    """FAR level and threshold of an operating point, one of them None."""
    if points.far is None:
        return None, float(points.threshold[level])
    return float(points.far[level]), None


def _few_setters(roc, attributes, points):
    """FAR level -> how many impostor pairs set the threshold, if they are too few."""
    if points.far is None:
        return {}
    found = roc.by(attributes or None, method="jackknife").estimate(points.far)
    return {
        float(level): reason.found
        for level, reasons in zip(points.far, found.reasons, strict=True)
        for reason in reasons
        if reason.code == "few_setters"
    }


def _few_in_words(few, change, first, kind):
    """Why a change is not tested; empty if it is."""
    found = {name: few[name].get(change.far) for name in (first, change.system)}
    told = [f"{n} of {printable(name)}" for name, n in found.items() if n is not None]
    if not told:
        return ""
    return (
        f"{kind.name} {level_percent(change.far)}: {TOO_FEW}: the threshold is set by so "
        f"many {kind.trials}: {', '.join(told)} ({MIN_SETTERS} needed); no change is tested "
        "there."
    )


def _without_gains(changes, measured, points, is_distance):
    """The changes, none but harm told where a system accepts all pairs or none."""
    if points.threshold is None:
        return changes
    beyond = {}
    for one in measured:
        for level in one.levels:
            if why := beyond_all_scores(level.rates[0], points.terms):
                shown = in_digits(level.threshold * (-1 if is_distance else 1))
                beyond[one.system, level.threshold] = (
                    f"{printable(one.system)} at {shown}: {why}, and nothing but harm is "
                    "named there."
                )
    first, found = measured[0].system, []
    at = {one.system: [level.threshold for level in one.levels] for one in measured}
    for change in changes:
        place = at[change.system].index(change.threshold)
        of_both = [beyond.get((n, at[n][place])) for n in (first, change.system)]
        reason = " ".join(filter(None, of_both))
        if reason and change.verdict != "higher":
            change = replace(change, verdict="undetermined", reason=reason)
        found.append(change)
    return found


def _tested(changes, confidence_level, withheld):
    """All changes with p-values adjusted for one family, and verdicts unless withheld."""
    p = np.array([np.nan if change.reason else change.p_value for change in changes])
    tested = np.isfinite(p)
    p[tested] = holm(p[tested])
    judged = []
    for change, adjusted in zip(changes, p.tolist(), strict=True):
        verdict = NO_DIFFERENCE if np.isfinite(adjusted) else change.verdict
        if adjusted <= 1 - confidence_level:
            verdict = "higher" if change.difference > 0 else "lower"
        verdict = "undetermined" if withheld else verdict
        judged.append(replace(change, p_adjusted=adjusted, verdict=verdict))
    return judged


def _disparities(names, rocs, chosen, points, rates, changes):
    """max / min of either rate at every level, of every system by every attribute."""
    found, later = [], zip(names[1:], rocs[1:], points[1:], strict=True)
    for (name, roc, own), attributes, rate in product(
        later, filter(None, chosen), rates
    ):
        about = name, " & ".join(attributes), rate
        both = [own.by(attributes) for own in (roc, rocs[0])]
        if not np.array_equal(*(own.groups_ for own in both)):
            continue  # of logs
        found += _of_disparity(both, about, (own, points[0]), changes)
    return found


def _of_disparity(both, about, points, changes):
    """Changes of max / min of one rate at every level, as SimilarityROC.compare has them."""
    name, attribute, rate = about
    engines = [system._engine for system in both]
    questions = _questions(engines, points, rate, None, "max_min")
    compared = compare(*engines, questions)
    after, before = (
        system.estimate(
            own.far, threshold=own.threshold, rate=rate, how="max_min"
        ).value
        for system, own in zip(both, points, strict=True)
    )
    ratio = compared.ratio, compared.ratio_low, compared.ratio_high
    columns = before, after, *ratio, compared.p_value
    found = []
    for level in range(points[0].size):
        at = points_at(points[0], level)
        of_level = [
            change
            for change in changes
            if (change.system, change.far, change.threshold) == (name, *at)
            and change.attribute in (None, attribute)
        ]
        # Beyond all scores of a system, and with few errors, intervals say nothing.
        told = compared.supported[level] and not any(c.reason for c in of_level)
        fell = compared.ratio_high[level] < 1 and _nobody_better(of_level, rate)
        numbers = (float(column[level]) for column in columns)
        cost = [
            (change.before, change.after)
            for change in of_level
            if change.attribute is None and change.rate == "frr"
        ]
        (cost,) = cost or [(np.nan, np.nan)]  # of impostor pairs alone
        found.append(DisparityChange(*about, *at, *numbers, *cost, bool(told and fell)))
    return found


def _nobody_better(changes, rate):
    """Whether a group is worse off in a rate, and none, nor everyone, better off in any."""
    worse = any(
        c.verdict == "higher" and c.rate == rate for c in changes if c.attribute
    )
    return worse and all(change.verdict != "lower" for change in changes)
