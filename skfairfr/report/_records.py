"""Results of an audit: plain frozen records of numbers and labels.

Nothing is computed here. Rates are named ``far`` and ``frr`` as everywhere in Python, lower
being better. Disparities are larger if rates of groups differ more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skfairfr._core._kinds import COMPARISONS
from skfairfr._text._words import TOO_FEW, by_attribute
from skfairfr.report._notes import in_words

if TYPE_CHECKING:
    from skfairfr.report.sections._curves import Curves
    from skfairfr.report.sections._differences import Control
    from skfairfr.report.sections._matrix import Matrix

# Of a field that stays out of the JSON, of one that decisions do not have, and of the number
# of their attempts.
HIDDEN, OF_SCORES = {"json": ""}, {"decisions": ""}
ATTEMPTS = {"decisions": "n_attempts"}


@dataclass(frozen=True)
class Figure:
    """One number with its interval, nan where undefined.

    Attributes
    ----------
    value, low, high, standard_error : float
    supported : bool
        Whether the data carry it. See :class:`skfairfr.metrics.Estimate`.
    reason : str
        Why not, and where it comes from if not from all pairs.
    source : {"all pairs", "sample"}
        Source of the value.
    reasons : tuple of skfairfr.metrics.Reason
        The parts of ``reason``, as data.
    corrected, p_value : float or None
        For a disparity, as in :class:`skfairfr.metrics.Estimate`.
    """

    value: float
    low: float
    high: float
    standard_error: float
    supported: bool
    reason: str
    source: str = field(default="all pairs", metadata=OF_SCORES)
    reasons: tuple = field(default=(), metadata=HIDDEN)
    corrected: float | None = None
    p_value: float | None = None

    @classmethod
    def undefined(cls, *reasons, terms=COMPARISONS):
        """A number that the data have no pairs for, and the Reasons of that."""
        nan, text = math.nan, in_words(reasons, terms)
        return cls(nan, nan, nan, nan, False, text, reasons=reasons)


@dataclass(frozen=True)
class GroupRow:
    """Size of a group and its equal error rate. ``group`` None is everyone.

    ``equal_error_rate`` is None where all pairs are genuine, or none is.

    ``n_images`` is None where scored pairs do not name their images, and ``n_identities``
    where they do not name their people. ``n_mated`` of the people of searches are enrolled. It
    is shown, and not in the JSON.
    """

    group: object
    n_identities: int | None
    n_images: int | None = field(metadata=OF_SCORES)
    n_genuine: int = field(metadata=ATTEMPTS)
    n_impostor: int = field(metadata=OF_SCORES)
    equal_error_rate: Figure | None = field(metadata=OF_SCORES)
    n_mated: int | None = field(default=None, metadata={"json": ""})


@dataclass(frozen=True)
class Effective:
    """How many independent errors, of how many people, a rate is as well known from."""

    errors: float
    people: float


@dataclass(frozen=True)
class GroupRates:
    """Rates of a group at the threshold of a level. ``group`` None is over all pairs.

    ``far_errors`` impostor pairs were accepted and ``frr_errors`` genuine pairs rejected.
    The first is rounded where the rate was not counted over all pairs. ``far_effective``
    and ``frr_effective`` are the effective numbers of errors and people. ``frr_failures`` of the rejected
    genuine pairs are failures to enrol or to acquire, where these count as rejections.
    """

    group: object
    far: Figure = field(metadata=OF_SCORES)
    frr: Figure
    far_errors: int | None = field(default=None, metadata=OF_SCORES)
    frr_errors: int | None = None
    far_effective: Effective | None = field(default=None, metadata=OF_SCORES)
    frr_effective: Effective | None = None
    frr_failures: int | None = None


@dataclass(frozen=True)
class Disparity:
    """One disparity of the groups' FAR and of their FRR.

    ``neutral`` is its value when all groups have the same rate. Larger is less fair.
    """

    how: str
    operating_point: str = field(metadata=OF_SCORES)
    neutral: float
    far: Figure = field(metadata=OF_SCORES)
    frr: Figure


@dataclass(frozen=True)
class Finding:
    """A group's rate against that of the reference.

    Attributes
    ----------
    rate : {"far", "frr"}
    group : label
        None where there are no two groups to compare.
    reference : label
        The group that it is compared with.
    value, reference_value : float
        Rates of the two.
    ratio : Figure
        Of the two, with the interval and the p-value of this comparison alone: the interval
        excludes 1 where the p-value is below one minus the confidence level.
    p_adjusted : float in (0, 1]
        The p-value, adjusted for all comparisons of the report, or nan without two groups.
    n_comparisons : int
        That it is adjusted for: every group but the reference, of each rate, level and
        attribute (or of each combination of attributes).
    not_compared : tuple of labels
        Groups without the pairs of two people.
    verdict : {"higher", "lower", "no significant difference", "too few errors", \
            "undetermined"}
        Result of the test of the group's rate. "too few errors" if there are no two groups
        with the pairs, "undetermined" if the scores carry no information, or the threshold is
        beyond all of them.
    """

    rate: str
    group: object
    reference: object
    value: float
    reference_value: float
    ratio: Figure
    p_adjusted: float
    n_comparisons: int
    not_compared: tuple
    verdict: str

    @classmethod
    def untested(cls, rate, ratio, not_compared):
        """That fewer than two groups have the pairs."""
        none = (None, None, math.nan, math.nan, ratio, math.nan, 0)
        return cls(rate, *none, not_compared, TOO_FEW)


@dataclass(frozen=True)
class Deviation:
    """A group's rate against the geometric mean of all other groups with enough errors.

    Attributes
    ----------
    rate : {"far", "frr"}
    group : label
    ratio : Figure
        With the interval and the p-value of this comparison alone.
    p_adjusted : float in (0, 1]
        Adjusted for all comparisons of this kind of the report, which are a family of their
        own.
    """

    rate: str
    group: object
    ratio: Figure
    p_adjusted: float


@dataclass(frozen=True)
class Overall:
    """Whether a rate differs across all groups, of three groups or more.

    Attributes
    ----------
    rate : {"far", "frr"}
    p_adjusted : float in (0, 1]
        Of the hypothesis that all groups have the same rate: the smallest of those against
        the other groups. Nominally such a sentence is false in a fifth as many audits as a
        named group is.
    verdict : {"different", "no significant difference", "undetermined"}
        "undetermined" as in a :class:`Finding`.
    """

    rate: str
    p_adjusted: float
    verdict: str


@dataclass(frozen=True)
class Level:
    """Everything at one threshold, which was given or chosen by a FAR level.

    Attributes
    ----------
    far : float in (0, 1) or None
        The level that the threshold was set for. None of a given one.
    threshold, worst_group_threshold : float
        Similarity (minus a distance) from which on a pair is accepted. At it the FAR of all
        impostor pairs, or that of every group, meets the level. It is the shortest number that
        accepts the same pairs. The second is nan if the threshold was not set on these data.
    rates : tuple of GroupRates
        At ``threshold``. Everyone first, then the groups.
    disparities : tuple of Disparity
    findings : tuple of Finding
        Of the FAR, then of the FRR: every group against the reference, the largest ratio
        first.
    set_on : {"these data", "other data", "given"}
        Source of the threshold.
    indices : tuple of Index
        Of both rates at ``threshold``, without intervals.
    generalised : tuple of GeneralisedRates
        Everyone first, or empty where no failures were recorded.
    matrix : Matrix or None
        None with more groups than are shown. For searches, by the group of the person returned.
    metrics : tuple of OwnMetric
    against_others : tuple of Deviation
    overall : tuple of Overall
        Both empty of two groups.
    """

    far: float | None = field(metadata=OF_SCORES)
    threshold: float = field(metadata=OF_SCORES)
    worst_group_threshold: float = field(metadata=OF_SCORES)
    rates: tuple
    disparities: tuple
    findings: tuple
    set_on: str = field(default="these data", metadata=OF_SCORES)
    indices: tuple = field(default=(), metadata=OF_SCORES)
    generalised: tuple = field(default=(), metadata=OF_SCORES)
    matrix: Matrix | None = field(default=None, metadata=OF_SCORES)
    against_others: tuple = ()
    metrics: tuple = field(default=(), metadata=OF_SCORES)
    overall: tuple = ()


@dataclass(frozen=True)
class Remeasured:
    """The same levels measured with one setting changed, for a row next to the audit's.

    Attributes
    ----------
    setting : {"average", "control"}
    value : str
        New value of the setting, or the covariates.
    levels : tuple of Level
        With max_min at the overall threshold alone.
    """

    setting: str
    value: str
    levels: tuple


@dataclass(frozen=True)
class Check:
    """Whether rates or a disparity are within a limit, as far as the data show.

    Attributes
    ----------
    name : str
        Of the limit.
    limit : float
        Above 1 of a ratio. In (0, 1) of a rate.
    attribute : str
    far : float in (0, 1) or None
    threshold : float
        Operating point, see Level.
    figure : Figure
        The disparity, or the rate of the first of ``groups``. Both bounds of a rate are those
        of ``decided_by``: ``high`` is valid by itself, ``low`` for all groups at once.
    groups : tuple of labels
        First that of ``decided_by`` if groups exceed the limit, or else that of the highest
        rate. Then others that the verdict is about: those that exceed the limit or, if none
        seems to, those that may. For largest / smallest the groups of these rates, in this
        order.
    not_covered : tuple of labels
        Groups without the pairs it needs, which it is not about.
    verdict : {"passed", "failed", "undetermined"}
        Failed where ``low`` is above the limit, passed where ``high`` is not. Undetermined
        with a ``reason``, whatever the bounds.
    people_needed : tuple of (label, int)
        For an undetermined check, how many more people of which groups would settle it in
        80 % of cases if rates are as they were found, or how many more pairs where nobody
        is known, or empty where no number up to ten million does.
    reason : str
        Why nothing follows from an undetermined check, whatever its bounds, else empty.
    decided_by : tuple of labels
        The group whose bound decides. Empty of largest / smallest, whose bounds may be of
        any two groups.
    """

    name: str
    limit: float
    attribute: str
    far: float | None = field(metadata=OF_SCORES)
    threshold: float = field(metadata=OF_SCORES)
    figure: Figure
    groups: tuple
    not_covered: tuple
    verdict: str
    people_needed: tuple = ()
    reason: str = ""
    decided_by: tuple = ()


@dataclass(frozen=True)
class CostCheck(Check):
    """A check of a cost, of everyone (None) and of each group.

    Attributes
    ----------
    cost : {"min_dcf", "dcf", "cllr"}
    p_target : float or None
        Prior of genuine pairs of a detection cost.
    """

    cost: str = "min_dcf"
    p_target: float | None = None


@dataclass(frozen=True, repr=False)
class Audit:
    """An audit of a verification system by one attribute.

    Attributes
    ----------
    attribute : str
        Name of the attribute, or empty if there is none, and everyone is the one group.
    settings : dict
        Options of the measurement. ``independent_pairs`` is there, and True, if scored pairs
        do not name their people and were taken as independent. ``similarity`` is there if
        embeddings were not compared by their cosine, and ``gallery`` for searches, with "far"
        and "frr" then the FPIR and the FNIR.
    n_unknown : int
        Images of unknown group, which count overall and in no group. People, or pairs,
        where images, or people, are not named.
    largest_genuine_share : float in [0, 1]
        Share of the genuine pairs that one person supplies, or nan where people are not named.
    groups : tuple of GroupRow
        Everyone first.
    levels : tuple of Level
        Largest FAR first.
    reference : label
        The group that the others are compared with, or None without two groups.
    averaged : Remeasured or None
        With the average changed, if one person supplies over 5 % of the genuine pairs.
    notes : tuple of str
        Values that were undefined, left out or not resolved.
    checks : tuple of Check
        One for each limit and level. In the JSON they are next to the audits.
    sizes : callable or None
        For searches, what draws the rates over gallery sizes, not in the JSON.
    failures : tuple of Failures
        Everyone first, or empty where no failures to enrol or to acquire were recorded.
    curves : Curves or None
        Both rates over levels.
    control : Control or None
        Strata of the covariates that are controlled for.
    standardised : Remeasured or None
        The pairs within each group are weighted to give every stratum the same weight in all
        groups (direct standardisation). The findings have a family of tests of their own. Rates of
        everyone are as they are.
    costs : tuple of Cost
        For everyone first, at each operating point, or empty if none was asked for.
    reliability : ReliabilityDisplay or None
        Calibration of each group's log-likelihood ratios, with joint intervals, not in the JSON.
    label_errors : tuple of LabelErrors
        Result for each level, rate and group, if wrong labels were asked about, else not in the JSON.

    Examples
    --------
    >>> from skfairfr import audit, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> found = audit(data.X, data.y, data.sensitive_features, far=1e-2)
    >>> own = found.audits[0]
    >>> own.attribute, own.reference
    ('group', 'male')
    >>> [(rates.group, round(rates.far.value, 4)) for rates in own.levels[0].rates]
    [(None, 0.01), ('female', 0.0239), ('male', 0.0114)]
    """

    attribute: str
    settings: dict
    n_unknown: int
    largest_genuine_share: float
    groups: tuple
    levels: tuple
    reference: object
    averaged: Remeasured | None
    notes: tuple
    checks: tuple = field(default=(), metadata=HIDDEN)
    sizes: Any = field(default=None, compare=False, metadata=HIDDEN)
    failures: tuple = ()
    curves: Curves | None = field(default=None, metadata=OF_SCORES)
    control: Control | None = None
    standardised: Remeasured | None = None
    costs: tuple = field(default=(), metadata=OF_SCORES)
    reliability: Any = field(default=None, compare=False, metadata=HIDDEN)
    label_errors: tuple = ()

    def __repr__(self):
        groups = f"{len(self.groups) - 1} groups" if self.attribute else "everyone"
        return f"Audit{by_attribute(self.attribute)}: {groups} at {len(self.levels)} thresholds"


# ---- comparisons of systems ----------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One rate of one group before and after.

    Attributes
    ----------
    system : str
        The one that is compared with the first.
    attribute : str or None
        None is everyone.
    group : label or None
    rate : {"far", "frr"}
    far : float in (0, 1) or None
        Level, which each system meets at its own threshold. None of a given one.
    threshold : float or None
        The given one: the similarity (minus a distance) from which on a pair is accepted.
    before, after : float
        Rates, lower being better. NaN without the pairs they need.
    difference, low, high : float
        After minus before, and its interval for new people from the same population.
    ratio, ratio_low, ratio_high : float
        After over before, with the interval that goes with it.
    p_value : float
        p-value of no difference, unadjusted, or nan if it is unknown.
    p_adjusted : float
        The same for all changes of the comparison at once.
    verdict : {"higher", "lower", "no significant difference", "too few errors", \
            "undetermined"}
        Result by ``p_adjusted``. "too few errors" without a p-value or with such a
        ``reason``, "undetermined" for another reason, or if verdicts are withheld.
    reason : str
        Why the change is not tested: too few errors set the threshold of a system, or one
        lacks the pairs of a group that another has, or why it is no improvement: a system
        accepts all pairs, or none.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import compare_systems, make_face_embeddings
    >>> from skfairfr.report import EmbeddingData
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> noisy = data.X + np.random.default_rng(0).normal(0, 0.1, data.X.shape)
    >>> groups = {"gender": data.sensitive_features}
    >>> before, after = (EmbeddingData(X, data.y, groups) for X in (data.X, noisy))
    >>> found = compare_systems(before, after, far=1e-2)
    >>> change = found.harm[0]
    >>> change.group, change.rate, change.verdict
    (None, 'frr', 'higher')
    >>> print(f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}]")
    +0.435 [+0.377, +0.492]
    """

    system: str
    attribute: str | None
    group: object
    rate: str
    far: float | None
    threshold: float | None
    before: float
    after: float
    difference: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p_value: float
    p_adjusted: float
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class DisparityChange:
    """The largest over the smallest rate of the groups, before and after.

    Attributes
    ----------
    system, attribute, rate
        See :class:`Change`.
    far : float in (0, 1) or None
        See :class:`Change`.
    threshold : float or None
        See :class:`Change`. A pair is accepted from this similarity on.
    before, after : float
        max / min of the groups' rates, 1 where they are equal. Larger is less fair.
    ratio, ratio_low, ratio_high : float
        After over before, and its interval for new people, as
        :meth:`~skfairfr.metrics.SimilarityROC.compare` has them.
    p_value : float
        On its own. It is no part of the family, and agrees with the interval.
    frr_before, frr_after : float
        For everyone: what the disparity costs. nan without genuine pairs.
    levelling_down : bool
        Whether it fell, the interval of the ratio ending below 1, while a group got worse
        in this rate and none better in either rate at this level, not where it rests on too
        few errors, or a threshold lies beyond all scores of a system.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import compare_systems, make_face_embeddings
    >>> from skfairfr.report import EmbeddingData
    >>> data = make_face_embeddings(n_identities=100, random_state=0)
    >>> noisy = data.X + np.random.default_rng(0).normal(0, 0.1, data.X.shape)
    >>> groups = {"gender": data.sensitive_features}
    >>> before, after = (EmbeddingData(X, data.y, groups) for X in (data.X, noisy))
    >>> found = compare_systems(before, after, far=1e-2)
    >>> change = found.disparities[0]
    >>> change.attribute, change.rate, change.levelling_down
    ('gender', 'far', False)
    >>> print(f"{change.before:.2f} -> {change.after:.2f}")
    2.11 -> 1.52
    """

    system: str
    attribute: str
    rate: str
    far: float | None
    threshold: float | None
    before: float
    after: float
    ratio: float
    ratio_low: float
    ratio_high: float
    p_value: float
    frr_before: float
    frr_after: float
    levelling_down: bool


@dataclass(frozen=True)
class Measured:
    """One system by one attribute, as an audit measures it.

    Attributes
    ----------
    system : str
    attribute : str
    groups : tuple of GroupRow
        Everyone first.
    levels : tuple of Level
        Largest FAR first, without findings: conclusions are those about changes.
    curves : Curves
        Both rates over levels.
    """

    system: str
    attribute: str
    groups: tuple
    levels: tuple
    curves: Curves
