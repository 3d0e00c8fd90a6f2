"""The results of a bench: changes of metrics and of groups, of each method and of all."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skfairfr._core._kinds import COMPARISONS
from skfairfr._text._document import write_text
from skfairfr._text._words import in_terms, plain_form
from skfairfr.metrics._folds import PooledRatio
from skfairfr.model_selection._bench_text import document_of, sentence_of
from skfairfr.model_selection._mitigations import (
    NOTHING,
    lines_to_deploy,
    save_mitigation,
)
from skfairfr.utils._frames import ShownAsTable, build_frame
from skfairfr.utils._types import FilePath

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
        By whose groups.
    before, after, ratio : float
        With nothing, with the method, and the latter over the former. Smaller is better.
    low, high : float
        Interval of the ratio for new people from the same population. It is of rates with
        half an error more than was counted, and ``ratio`` is of those as counted: where a
        group has no error, or few, the two can differ much.
    p_value : float
        p-value of no difference, unadjusted.
    log_error : float
        Standard error of the logarithm of the ratio.
    errors : float
        Fewest errors of a group, or of everyone, with nothing or with the method.
    p_before : float
        That the groups' rates with nothing are equal. NaN of the FRR of everyone.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> bench = compare_mitigations(
    ...     data.X, data.y, data.sensitive_features, ["WCCN"],
    ...     far=1e-2, n_splits=2, inner_splits=2, refit=False,
    ... )
    >>> change = bench.methods[0].changes["bfar"]
    >>> f"{change.before:.2f} -> {change.after:.2f}, ratio {change.low:.2f} to {change.high:.2f}"
    '2.77 -> 2.65, ratio 0.89 to 1.04'
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
        As of :class:`MetricChange`. Lower is better.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> bench = compare_mitigations(
    ...     data.X, data.y, data.sensitive_features, ["WCCN"],
    ...     far=1e-2, n_splits=2, inner_splits=2, refit=False,
    ... )
    >>> change = bench.methods[0].groups[0]
    >>> change.group, change.rate, f"{change.before:.4f} -> {change.after:.4f}"
    ('female', 'far', '0.0237 -> 0.0238')
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
        By metric. ``before`` is with the control.
    p_adjusted : float
        Of the first metric, adjusted for the number of all such comparisons of a bench
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
        By metric, for the attribute that is mitigated.
    p_adjusted : float
        Of the first metric, adjusted for the number of methods (Holm).
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
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
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
        Those with the largest sure gain first: by the upper end of the interval of the
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
        Of ``system``, where some were chosen.
    library : str or None
        Frame library of the caller's data, not in the JSON.

    See Also
    --------
    compare_mitigations : Returns it.

    Examples
    --------
    >>> from skfairfr import compare_mitigations, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
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
            None takes the library of the caller's data, or the first that is installed.

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
