"""The bench: which mitigation helps on these people, at which cost, or that none does, and its results."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._compat import Interval, validate_params
from skfairfr._core._kinds import COMPARISONS
from skfairfr._text._document import write_text
from skfairfr._text._words import in_terms, plain_form
from skfairfr.comparators._base import check_no_zero_row
from skfairfr.metrics._folds import PooledRatio, cells_of, compare
from skfairfr.model_selection._bench_fits import (
    METRICS,
    NoiseOfCost,
    People,
    Settings,
    all_fits,
    choose_and_fit,
    pool_fits,
    rows_of,
)
from skfairfr.model_selection._bench_text import (
    detectable_factor,
    document_of,
    find_winner,
    levelling_down,
    sentence_of,
    with_adjusted_p,
)
from skfairfr.model_selection._mitigations import (
    CONTROLS,
    NOTHING,
    Mitigation,
    Setting,
    has_control,
    lines_to_deploy,
    needs_groups,
    read_methods,
    save_mitigation,
)
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._frames import ShownAsTable, build_frame, library_of
from skfairfr.utils._labels import encode_attributes, label_images
from skfairfr.utils._types import Column, Columns, FilePath
from skfairfr.utils._validation import check_rows

SCHEMA_VERSION = 3
HIDDEN = {"json": False}


@dataclass(frozen=True)
class MetricChange(PooledRatio):
    """A disparity, or the FRR of everyone, with a method and with nothing.

    Attributes
    ----------
    metric : str
        "bfar", "bfrr", "frr_at_far", "far_max_geomean", "frr_max_geomean", or
        "own_threshold_gap": the largest over the smallest FRR of the groups if each has its
        own threshold at the level.
    attribute : str
        Attribute whose groups are compared.
    before, after, ratio : float
        Metric with nothing and with the method, and their ratio. Smaller is better.
    low, high : float
        Interval of the ratio for new people from the same population. It is of rates with
        half an error more than was counted, and ``ratio`` is of those as counted. If a
        group has no error, or few, the two can differ much.
    p_value : float
        p-value of no difference, unadjusted.
    log_error : float
        Standard error of the logarithm of the ratio.
    errors : float
        Fewest errors of a group, or of everyone, with nothing or with the method.
    p_before : float
        P-value for equal rates of the groups with nothing. NaN for the overall FRR.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> bench = compare_mitigations(
    ...     data.X, data.y, data.sensitive_features, ["WCCN"],
    ...     far=1e-2, n_splits=2, inner_splits=2, refit=False,
    ... )
    >>> change = bench.methods[0].changes["bfar"]
    >>> f"{change.before:.2f} -> {change.after:.2f}, ratio {change.low:.2f} to {change.high:.2f}"
    '2.32 -> 2.47, ratio 0.84 to 1.35'
    """

    metric: str
    attribute: str


@dataclass(frozen=True)
class GroupChange(PooledRatio):
    """A rate of one group, at the threshold of the overall FAR or at its own.

    Attributes
    ----------
    group : label
    rate : {"far", "frr"}
    before, after, ratio, low, high, p_value, log_error, errors, p_before : float
        See :class:`MetricChange`. Lower is better.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> bench = compare_mitigations(
    ...     data.X, data.y, data.sensitive_features, ["WCCN"],
    ...     far=1e-2, n_splits=2, inner_splits=2, refit=False,
    ... )
    >>> change = bench.methods[0].groups[0]
    >>> change.group, change.rate, f"{change.before:.4f} -> {change.after:.4f}"
    ('female', 'far', '0.0263 -> 0.0263')
    """

    group: object
    rate: str


@dataclass(frozen=True)
class ControlResult:
    """A method against a control, which has no regard to groups.

    Attributes
    ----------
    control : {"plain head", "margin head", "noise"}
        A trained head has the first two as controls. A method that lowers a disparity and
        raises the FRR has noise: on every image, as much as gives the same FRR.
    changes : dict of str -> MetricChange
        Changes by metric. ``before`` is with the control.
    p_adjusted : float
        P-value of the first metric, adjusted for the number of all such comparisons of a bench
        (Holm). Those with nothing are another family.
    """

    control: str
    changes: dict
    p_adjusted: float


@dataclass(frozen=True)
class MethodResult:
    """Results of the bench on one method.

    Attributes
    ----------
    name : str
    parameters : tuple of dict
        Chosen in every split, as text.
    changes : dict of str -> MetricChange
        Changes by metric, for the attribute that is mitigated.
    p_adjusted : float
        P-value of the first metric, adjusted for the number of methods (Holm).
    groups : tuple of GroupChange
        FAR and FRR of every group.
    own_threshold : tuple of GroupChange
        FRR of every group at its own threshold.
    others : tuple of MetricChange
        BFAR and BFRR by the other attributes.
    levelling_down : str
        How a disparity fell without a gain for any group, or empty if that is not found.
    harmed : tuple of str
        Other attributes whose disparity grew.
    seconds : float
        Time of a fit, its choice of parameters included: the mean over splits.
    n_numbers : int
        Numbers that a fit keeps, the mean over splits.
    needs_groups : bool
        Whether the groups of both images are needed to score a pair.
    controls : tuple of ControlResult
        Whether it does anything beyond training a head, or adding noise.
    cllr, min_cllr : float
        Mean over splits of the cost of log-likelihood ratios of everyone, in bits, as they
        are and after the best increasing map. NaN of scores that are no such ratios.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> bench = compare_mitigations(
    ...     data.X, data.y, data.sensitive_features, ["WCCN"],
    ...     far=1e-2, n_splits=2, inner_splits=2, refit=False,
    ... )
    >>> (method,) = bench.methods
    >>> method.name, list(method.changes), method.needs_groups
    ('WCCN', ['bfar', 'bfrr', 'frr_at_far', 'far_max_geomean', 'frr_max_geomean', 'own_threshold_gap'], False)
    """

    name: str
    parameters: tuple
    changes: dict
    p_adjusted: float
    groups: tuple
    own_threshold: tuple
    others: tuple
    levelling_down: str
    harmed: tuple
    seconds: float
    n_numbers: int
    needs_groups: bool
    controls: tuple = ()
    cllr: float = np.nan
    min_cllr: float = np.nan


@dataclass(frozen=True)
class Bench(ShownAsTable):
    """Mitigations on the same people: what each lowers, and what that costs.

    Attributes
    ----------
    attribute : str
        Whose groups are to have the same rates.
    groups : tuple of labels
    others : tuple of str
        Attributes that are watched.
    settings : dict
        Level, splits, confidence and the largest cost of a winner.
    n_people, n_images : int
    before : dict of str -> float
        Metrics of the embeddings as they are, pooled over the splits.
    methods : tuple of MethodResult
        Results, those with the most certain gain first: by the upper end of the interval of the
        ratio of the first metric.
    left_out : tuple of (str, str)
        Methods without a result, and why.
    notes : tuple of str
    detectable_factor : float
        The first metric has to fall by this factor to be found with probability 0.8, given
        the median of the methods' errors, or nan without methods.
    winner : str or None
        The best compromise of the metrics among the methods that surely lower the first
        one (by the adjusted p-value), cost no more than was allowed, need no groups to
        score a pair, and raise no group's rates to lower a disparity. None if there is none.
    system : fitted estimator or None
        The winner, chosen and fitted on all people, not in the JSON.
    parameters : dict of str -> str
        Parameters of ``system``, if some were chosen.
    library : str or None
        Frame library of the caller's data, not in the JSON.

    See Also
    --------
    compare_mitigations : Returns it.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> bench = compare_mitigations(
    ...     data.X, data.y, data.sensitive_features, ["WCCN"],
    ...     far=1e-2, n_splits=2, inner_splits=2, refit=False,
    ... )
    >>> bench.winner, [method.name for method in bench.methods]
    (None, ['WCCN'])
    >>> bench.before.keys()
    dict_keys(['bfar', 'bfrr', 'frr_at_far', 'far_max_geomean', 'frr_max_geomean', 'own_threshold_gap'])
    """

    attribute: str
    groups: tuple
    others: tuple
    settings: dict
    n_people: int
    n_images: int
    before: dict
    methods: tuple
    left_out: tuple
    notes: tuple
    detectable_factor: float
    winner: str | None
    system: object = field(default=None, metadata=HIDDEN, repr=False)
    parameters: dict = field(default_factory=dict)
    library: str | None = field(default=None, metadata=HIDDEN, repr=False)

    @property
    def metric(self) -> str:
        """The metric that is to fall."""
        return self.settings["metrics"][0]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence or two."""
        return sentence_of(self).replace("\N{NO-BREAK SPACE}", " ")

    def to_text(self) -> str:
        """The conclusion, then a table: ASCII of at most 100 columns.

        Returns
        -------
        text : str
        """
        return write_text(document_of(self))

    def to_json(self, **about: Any) -> str:
        """Strict JSON: nan as null, infinities as "Infinity" and "-Infinity".

        Parameters
        ----------
        **about : JSON-able values
            Keys written before the results.

        Returns
        -------
        text : str
        """
        record = {"schema_version": SCHEMA_VERSION, **plain_form(about)}
        record |= {"sentence": self.sentence, **plain_form(self)}
        record = in_terms(record, COMPARISONS)
        return json.dumps(record, indent=1, allow_nan=False, default=str) + "\n"

    def to_frame(self, backend: str | None = None) -> Any:
        """One row for each method, metric, and what it is compared with.

        ``p_adjusted`` is that of the first metric, and nan in rows of the others.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            If None: the library of the caller's data, or the first that is installed.

        Returns
        -------
        frame : the library's own frame
        """
        names = ["method", "against", "metric", "attribute"]
        names += [*PooledRatio.__dataclass_fields__, "p_adjusted"]
        names += ["seconds", "n_numbers", "needs_groups", "cllr", "min_cllr"]
        rows = []
        for method in self.methods:
            own = *method.changes.values(), *method.others
            found = [(NOTHING, method.p_adjusted, own)]
            for each in method.controls:
                found.append((each.control, each.p_adjusted, each.changes.values()))
            rows += [
                {**vars(method), **vars(c), "method": method.name, "against": against}
                | {"p_adjusted": np.nan if place else p_adjusted}
                for against, p_adjusted, changes in found
                for place, c in enumerate(changes)
            ]
        columns = {name: np.array([row[name] for row in rows]) for name in names}
        return build_frame(columns, backend, self.library)

    def save(self, folder: FilePath) -> str:
        """Write the winner, fitted on all people, without pickle.

        Parameters
        ----------
        folder : str or path-like
            Made where there is none. :func:`load_mitigation` reads it.

        Returns
        -------
        lines : str
            Python that loads it and scores pairs.

        Raises
        ------
        ValueError
            If there is no winner, or something fitted has no form without pickle.
        """
        if self.system is None:
            raise ValueError(
                "There is nothing to save: no method won, or refit was False. Fit one by "
                "hand, or give the bench more people."
            )
        save_mitigation(self.system, folder)
        return lines_to_deploy(self.system, folder)


# ---- the bench -----------------------------------------------------------------------


# FRR of a winner over that of doing nothing: a quarter more false rejections.
MAX_COST = 1.25


@validate_params(
    {
        "far": [Interval(Real, 0, 1, closed="neither")],
        "metrics": [str, tuple, list],
        "max_cost": [Interval(Real, 1, None, closed="both"), None],
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "inner_splits": [Interval(Integral, 2, None, closed="left")],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
    },
    prefer_skip_nested_validation=True,
)
def compare_mitigations(
    X: ArrayLike,
    y: Columns,
    sensitive_features: Column | None = None,
    methods: Sequence[str] | dict | None = None,
    *,
    others: Columns | None = None,
    far: float = 1e-3,
    metrics: Sequence[str] = ("bfar", "frr_at_far"),
    max_cost: float | None = MAX_COST,
    n_splits: int = 5,
    inner_splits: int = 3,
    confidence_level: float = 0.95,
    refit: bool = True,
    folder: FilePath | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Bench:
    """Find which mitigations lower a disparity on these people, and at what cost.

    All methods get the same split of people, balanced over groups. In each split, a method
    is tuned and fitted on the training part alone, and judged on the held-out people.
    Errors and pairs are summed over the splits. Each method is compared with doing nothing
    on the same people. Trained heads (small networks) are also compared with heads that use
    no groups ("plain head" and "margin head", if they are among the methods). Methods that
    lower a disparity but raise the FRR are also compared with noise that raises it equally.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Embeddings.
    y : array-like, shape (n_samples,)
        Identity of each row, or the output of :func:`~skfairfr.face_labels`.
    sensitive_features : array-like, shape (n_samples,), default=None
        Group of each row, if y contains none. None and NaN are unknown.
    methods : sequence of str, shape (n_methods,), or dict, default=None
        Methods to try: known names, or a dict of names to a known name, an estimator, or a
        tuple of an estimator and its parameter grid. Estimators are transformers,
        comparators, or pipelines of them. A comparator with only ``score_matrix(X1, X2)``
        takes more time and memory. A frozen estimator
        (``sklearn.frozen.FrozenEstimator``) is judged as it is: fit it on different people. If
        None, every named method whose libraries are installed is tried.
    others : frame or dict of str -> array-like, shape (n_samples,), default=None
        Other attributes. A method that raises a disparity by one of them is flagged, but
        may win.
    far : float in (0, 1), default=1e-3
        FAR of all methods. In each split, a method sets its threshold on the held-out
        people.
    metrics : sequence of str, shape (n_metrics,), default=("bfar", "frr_at_far")
        Metrics by which :class:`BestTradeOff` chooses parameters and the winner. A winner
        must lower the first significantly.
    max_cost : float >= 1 or None, default=1.25
        Largest overall FRR on held-out people with which a method can win, as a multiple of
        that of doing nothing: 1.25 allows 25 % more. None allows any. Parameters are chosen
        among those within it on the training part, if there are any.
    n_splits : int, at least 2, default=5
        Number of splits. Each person is held out in one of them.
    inner_splits : int, at least 2, default=3
        Number of splits of each training part, to choose parameters by ``GridSearchCV``.
    confidence_level : float in (0, 1), default=0.95
        Confidence level of the intervals, and of all tests of methods together.
    refit : bool, default=True
        Whether the winner is fitted on all people.
    folder : str or path-like, default=None
        Folder for finished fits. The same call resumes from them.
    progress : bool, default=False
        Whether stderr shows a bar of finished fits, or a line at most every ten seconds if
        it is not a terminal.
    n_jobs : int, default=None
        Number of parallel fits (joblib processes). Results do not depend on it.
    random_state : int, default=0
        Seed of the splits, and of estimators without one.

    Returns
    -------
    bench : Bench
        Result with ``sentence``, ``to_text()`` and the fitted winner, ``system``.

    Raises
    ------
    ValueError
        If an argument is out of range, there are fewer than two groups, or a split has too
        few pairs for the level.
    OSError
        If ``folder`` cannot be written, before any fit.

    Notes
    -----
    Embeddings from two fits cannot be compared, so pairs are taken within each test part:
    with five splits, a fifth of all impostor pairs. The logarithm of a ratio is tested with
    Student's distribution. Its variance and degrees of freedom come from a jackknife over
    people. A method whose fit raises a ValueError is left out, with the reason.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from skfairfr import make_face_embeddings
    >>> from skfairfr.model_selection import compare_mitigations
    >>> faces = make_face_embeddings(150, n_features=16, random_state=0)
    >>> bench = compare_mitigations(
    ...     faces.X, faces.y, faces.sensitive_features, {"half": PCA(8)}, far=1e-2,
    ...     n_splits=2)
    >>> [(m.name, m.changes["bfar"].ratio > 0) for m in bench.methods], bench.winner
    ([('half', True)], None)
    """
    people = _read_people(X, y, sensitive_features, others)
    metrics = _read_metrics(metrics)
    counts = map(int, (n_splits, inner_splits, random_state))
    max_cost = None if max_cost in (None, np.inf) else float(max_cost)
    settings = Settings(float(far), metrics, *counts, max_cost)
    level = float(confidence_level)
    splits, notes = _split(people, settings)
    tried, left_out = read_methods(methods, _setting_of(people, splits, settings))
    notes += [f"{m.name}: {m.note}" for m in tried if m.note]
    every = [Mitigation(NOTHING, None, []), *tried]
    fits = all_fits(people, every, splits, settings, folder, progress, n_jobs)
    failures = [next((f.failure for f in own if f.failure), "") for own in fits]
    if failures[0]:
        raise ValueError(failures[0])
    found = list(zip(every, fits, failures, strict=True))[1:]
    left_out += [(m.name, f"its fit failed: {why}") for m, _, why in found if why]
    baseline, results = fits[0], [(m, own) for m, own, why in found if not why]
    notes += _notes_of(results)
    noise = NoiseOfCost(people, splits, settings, folder, n_jobs)
    judged = _judge_all(people, baseline, results, noise, metrics[0], level)
    winner = find_winner(judged, metrics, level, max_cost)
    system, parameters = None, {}
    if winner is not None and refit:
        chosen = next(m for m in tried if m.name == winner)
        with warnings.catch_warnings(action="ignore"):  # those of the splits are noted
            system, parameters = choose_and_fit(people, chosen, settings, n_splits)
    before = judged[0].changes.items() if judged else ()
    return Bench(
        attribute=people.attribute,
        groups=tuple(people.groups[people.attribute]),
        others=tuple(people.columns)[1:],
        settings=vars(settings) | {"confidence_level": level},
        n_people=int(np.unique(people.y).size),
        n_images=len(people.y),
        before={name: change.before for name, change in before},
        methods=judged,
        left_out=tuple(left_out),
        notes=tuple(dict.fromkeys(notes)),
        detectable_factor=detectable_factor(judged, metrics[0], level),
        winner=winner,
        system=system,
        parameters=parameters,
        library=library_of(X, y, sensitive_features, others),
    )


# ---- arguments -----------------------------------------------------------------------


def _read_people(X, y, sensitive_features, others):
    """People from the caller's arguments. The attribute that is mitigated is first."""
    X = check_rows(X, dtype=(np.float32, np.float64))
    check_no_zero_row(X)
    identity, labels, domain = label_images(
        y, sensitive_features, None, len(X), by_attribute=True
    )
    if domain is not None:
        problem = "has a domain;"
        raise invalid("y", y, problem, "give identities, and groups, without one.")
    if len(labels) != 1:
        problem = f"has {len(labels)} columns;" if labels else "is missing;"
        remedy = "give the group of each image in one column, and the rest as others."
        raise invalid("sensitive_features", sensitive_features, problem, remedy)
    (name,) = labels
    named = {name if isinstance(name, str) else "group": labels[name]}
    others = {} if others is None else others
    for name, found in encode_attributes(others, "others", len(X)).items():
        text = name if isinstance(name, str) else f"attribute {name}"
        if text in named:
            problem = f"has {text!r}, which is mitigated;"
            raise invalid("others", others, problem, "leave it out.")
        named[text] = found
    columns, groups = {}, {}
    for name, found in named.items():
        if found.values.size < 2:
            argument = "others" if columns else "sensitive_features"
            problem = f"has fewer than two known groups in {name!r}."
            raise invalid(argument, found.values, problem)
        columns[name], groups[name] = found.of_rows(), found.values.tolist()
    return People(X, identity.codes.astype(np.int64), columns, groups)


def _read_metrics(metrics):
    metrics = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    if not metrics or not {*metrics} <= {*METRICS} or len({*metrics}) < len(metrics):
        problem = (
            f"must be different ones of {', '.join(METRICS)}, got {plain(metrics)!r}."
        )
        raise invalid("metrics", metrics, problem)
    return metrics


def _setting_of(people, splits, settings):
    """Factories of named methods."""
    labels = people.groups[people.attribute]
    fewest = min(np.unique(people.y[fit]).size for fit, _ in splits)
    # Candidates are fitted on all inner parts but one.
    fewest = fewest * (settings.inner_splits - 1) // settings.inner_splits
    n_groups = np.zeros(people.y.max() + 1, dtype=np.int64)
    for label in labels:
        n_groups[np.unique(people.y[people.group == label])] += 1
    n_ungrouped = int((n_groups != 1).sum())
    return Setting(settings.far, labels, fewest, n_ungrouped, people.X.shape[1])


def _split(people, settings):
    """Splits, and notes on them and on groups whose pairs do not resolve the level.

    Raises
    ------
    ArgumentError
        If the pairs of all groups together do not.
    """
    with warnings.catch_warnings(record=True, action="always") as caught:
        splits = settings.splits(people)
    few = {}
    for _, rows in splits:
        for group in (None, *people.groups[people.attribute]):
            own = rows if group is None else rows[people.group[rows] == group]
            images = np.bincount(people.y[own])
            impostors = (own.size**2 - (images**2).sum()) / 2
            if impostors * settings.far < 1:
                few.setdefault(group, []).append(int(impostors))
    if None in few:
        problem = f"is below what {min(few[None]):,} impostor pairs of a split resolve;"
        remedy = "give a larger one, fewer splits, or more people."
        raise invalid("far", settings.far, problem, remedy)
    return splits, [str(w.message) for w in caught] + [
        f"{group}: {min(counts):,} impostor pairs in a split, too few for the level: the "
        "threshold of this group is the one just above its largest impostor score."
        for group, counts in few.items()
    ]


# ---- results -------------------------------------------------------------------------


def _notes_of(results):
    """Warnings of the methods' fits, of those that differ in numbers alone the first."""
    found = {}
    for mitigation, fits in results:
        for text in (text for fit in fits for text in fit.warnings):
            of_text = found.setdefault(re.sub(r"\d[\d.,]*", "#", text), [])
            of_text.append((mitigation.name, text))
    notes = []
    for of_text in found.values():
        names, (text, *more) = zip(*of_text, strict=True)
        more = f" (The first of {len(of_text)} such warnings.)" if more else ""
        notes.append(f"{', '.join(dict.fromkeys(names))}: {text}{more}")
    return notes


def _judge_all(people, baseline, results, noise, first, confidence_level):
    """Results of all methods, the surest gain by the first metric first."""
    fits = {NOTHING: baseline} | {m.name: of_method for m, of_method in results}
    systems = {name: pool_fits(found) for name, found in fits.items()}
    judged = [
        _judge(people, *each, systems, noise, confidence_level) for each in results
    ]
    judged = with_adjusted_p(judged, first)
    controls = iter(with_adjusted_p([c for m in judged for c in m.controls], first))
    judged = [
        replace(method, controls=tuple(next(controls) for _ in method.controls))
        for method in judged
    ]
    highs = np.array([method.changes[first].high for method in judged])
    return tuple(judged[k] for k in np.argsort(highs, kind="stable"))


def _changes(people, systems, confidence_level, attribute, metrics=METRICS):
    """Metrics of the second of two systems against the first, by name."""
    cells, changes = cells_of(people.groups), {}
    for name in metrics:
        rows, how = rows_of(cells, attribute, name), METRICS[name].how
        found = compare(*systems, rows, how, confidence_level)
        changes[name] = MetricChange(name, attribute, **vars(found))
    return changes


def _group_changes(people, systems, confidence_level, point):
    """Rates of the groups, of the second of two systems against the first."""
    changes, about = [], (people.attribute, point)
    for row, cell in enumerate(cells_of(people.groups)):
        if (cell.attribute, cell.point) == about and cell.group is not None:
            found = compare(*systems, [row], None, confidence_level)
            changes.append(GroupChange(cell.group, cell.rate, **vars(found)))
    return tuple(changes)


def _judge(people, mitigation, fits, systems, noise, level):
    """What is known of one method, before p-values are adjusted."""
    attribute, own = people.attribute, systems[mitigation.name]
    both, controls = (systems[NOTHING], own), []
    changes = _changes(people, both, level, attribute)
    heads = {
        n: systems[n] for n in CONTROLS if has_control(mitigation) and n in systems
    }
    for name, system in (heads | noise.control_of(changes)).items():
        against = _changes(people, (system, own), level, attribute)
        controls.append(ControlResult(name, against, np.nan))
    own_threshold = _group_changes(people, both, level, "group")
    others = []
    for other in list(people.columns)[1:]:
        others += _changes(people, both, level, other, ("bfar", "bfrr")).values()
    cllr, min_cllr = np.mean([fit.errors.cllr for fit in fits], axis=0).tolist()
    return MethodResult(
        name=mitigation.name,
        parameters=tuple(fit.parameters for fit in fits),
        changes=changes,
        p_adjusted=np.nan,
        groups=_group_changes(people, both, level, "overall"),
        own_threshold=own_threshold,
        others=tuple(others),
        levelling_down=levelling_down(changes, own_threshold),
        harmed=tuple(dict.fromkeys(c.attribute for c in others if c.low > 1)),
        seconds=float(np.mean([fit.seconds for fit in fits])),
        n_numbers=round(float(np.mean([fit.n_numbers for fit in fits]))),
        needs_groups=needs_groups(mitigation.estimator),
        controls=tuple(controls),
        cllr=cllr,
        min_cllr=min_cllr,
    )
