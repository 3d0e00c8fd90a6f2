"""Whether errors suffice to support an estimate.

An estimate is supported if it has enough errors, from enough people, and no one person is
in too many of them. A :class:`Reason` records what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np

from skfairfr._core._error_counts import (
    chances_of_errors,
    errors_by_level,
    errors_by_person,
    errors_first,
)
from skfairfr._core._kinds import PAIRS

# Rule of 30 (Doddington et al. 2000): a rate of 30 independent errors is known to within 30 %
# with a probability of 90 %.
MIN_ERRORS = 30
# A standard error of n people is itself known to one over the root of 2 (n - 1), a quarter.
MIN_IDENTITIES = 10
# Without a person in a larger share of the errors, the rate would be a third lower: more than
# the 30 % to which 30 errors determine it.
MAX_SHARE = 1 / 3


@dataclass(frozen=True)
class Reason:
    """Why the data do not support an estimate. ``str`` puts it in words.

    Attributes
    ----------
    code : str
        "no_errors", "few_errors", "few_people" (they come from too few people) or
        "one_person" (one is in too many of them), "undefined" or "undefined_resamples".
        A FAR level can be "below_resolution", or have "few_setters": impostor pairs that
        determine its threshold. A disparity can have "few_groups" or "all_errors" (all rates
        are 1), and "no_pairs" means none of the kind that ``rate`` needs.
    groups : tuple of labels, default=None
        One group, or two, or empty for all pairs. None if the reason is about the whole
        estimate.
    rate : {"far", "frr"}, default=None
        Rate whose errors or pairs are meant, if an estimate depends on both.
    system : {"first", "second"}, default=None
        System to which it refers, in a comparison of two.
    found, needed : int or float, default=None
        The number that was found, and the least (for "one_person" and
        "undefined_resamples" the largest) that would do.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> reason = roc.estimate(1e-2, group="female").reasons[0]
    >>> reason.code, reason.found, reason.needed
    ('few_errors', 10, 30)
    """

    code: str
    groups: tuple | None = None
    rate: str | None = None
    system: str | None = None
    found: float | None = None
    needed: float | None = None

    @property
    def label(self) -> str:
        """System, groups and rate in words. May be empty."""
        return label_of(self, PAIRS)

    @property
    def words(self) -> str:
        """The reason in words, without its label."""
        return words_of(self, PAIRS)

    def __str__(self):
        return ": ".join(filter(None, (self.label, self.words)))


def label_of(reason, terms):
    """System, groups and rate of a Reason in words. May be empty."""
    label = "" if reason.groups is None else " x ".join(map(str, reason.groups))
    if reason.groups == ():
        label = "overall"
    if reason.rate is not None and reason.code not in ("no_pairs", "all_errors"):
        label = f"{label}, {terms[reason.rate].name}"
    return ": ".join(filter(None, (reason.system, label)))


def words_of(reason, terms):
    """The reason in words, without its label."""
    found, needed = reason.found, reason.needed
    match reason.code:
        case "no_errors":
            return f"no errors, {needed} needed"
        case "few_errors":
            return f"{found} error{'s' * (found != 1)}, {needed} needed"
        case "few_people":
            people = "person" if found == 1 else "people"
            return f"errors from {found} {people}, {needed} needed"
        case "one_person":
            return (
                f"one person is in {100 * found:.0f} % of the errors, at most "
                f"{100 * needed:.0f} % allowed"
            )
        case "no_pairs":
            return f"no {terms[reason.rate].trial}"
        case "all_errors":
            above = "not above the score of any"
            if reason.rate == "frr":
                above = "above the score of every"
            trial = terms[reason.rate].trial
            return f"all rates are 1, because the threshold is {above} {trial}"
        case "few_groups":
            return f"fewer than two groups have the {terms.trials} it needs"
        case "undefined_resamples":
            return f"undefined in {found} resamples"
        case "few_setters":
            far = terms.far
            set_by = f"{far.trial} sets" if found == 1 else f"{far.trials} set"
            return f"too few errors: {found} {set_by} the threshold, {needed} needed"
        case "below_resolution":
            return f"the {terms.far.name} level is below 1 / ({terms.far.trials})"
    return "undefined"


def join_reasons(reasons, terms=PAIRS):
    """Reasons in words, those about one label behind it, or empty without any."""
    sentences = []
    labelled = [
        (label_of(reason, terms), words_of(reason, terms)) for reason in reasons
    ]
    for label, of_label in groupby(labelled, itemgetter(0)):
        words = "; ".join(words for _, words in of_label)
        sentences.append(f"{label}: {words}" if label else words)
    return "; ".join(sentences)


@dataclass(frozen=True)
class Support:
    """Errors behind the rates of one scope at several thresholds, each (n_levels,).

    Attributes
    ----------
    n_errors : ndarray of int
        Erroneous pairs.
    n_identities : ndarray of int
        People in at least one of them.
    largest_share : ndarray
        Largest share of the errors that touch one person, or nan without errors.
    named : bool
        Whether the people are known. Else pairs were taken as independent, each of people
        of its own: they are not reported, since too few have too few errors as well.
    """

    n_errors: np.ndarray
    n_identities: np.ndarray
    largest_share: np.ndarray
    named: bool = True

    def reasons(self, level, groups, rate=None):
        """Why the rate at a level is not supported, a list of Reason, or empty if it is."""
        errors, people = int(self.n_errors[level]), int(self.n_identities[level])
        share = float(self.largest_share[level])
        if errors == 0:
            return [Reason("no_errors", groups, rate, None, 0, MIN_ERRORS)]
        missed = []
        if errors < MIN_ERRORS:
            missed.append(("few_errors", errors, MIN_ERRORS))
        if self.named and people < MIN_IDENTITIES:
            missed.append(("few_people", people, MIN_IDENTITIES))
        if self.named and share > MAX_SHARE:
            missed.append(("one_person", share, MAX_SHARE))
        return [Reason(code, groups, rate, None, *both) for code, *both in missed]


def support_of(pairs, rate, scope, thresholds, sampled):
    """Support of a rate of a scope. That of the last questions is kept.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    rate : {"far", "frr"}
    scope : None, (g, g) or (g, h)
    thresholds : ndarray, shape (n_levels,)
        NaN where there is none: no pair is an error.
    sampled : bool
        Whether impostor pairs come from a uniform sample.

    Returns
    -------
    support : Support
    """
    key = ("support", rate, scope, sampled, thresholds.tobytes())
    if key not in pairs.known:
        images, asked = pairs.images, (scope, rate, sampled, thresholds)
        sequence, n_errors = errors_first(pairs, *asked)
        ends = sequence.identities(images, n_errors.max(initial=0))
        if sequence.of_one and sequence.base is not None:
            pairs.known[key] = _support_of_chances(sequence, n_errors, images)
            return pairs.known[key]
        people, most = np.zeros((2, n_errors.size), dtype=np.int64)
        asked = *ends, None, n_errors, images.n_identities
        for level, of_person in errors_by_level(*asked):
            people[level] = np.count_nonzero(of_person)
            most[level] = of_person.max(initial=0)
        with np.errstate(invalid="ignore"):
            share, named = most / n_errors, images.n_drawn is None
        pairs.known[key] = Support(n_errors, people, share, named)
    return pairs.known[key]


def _support_of_chances(sequence, positions, images):
    """Support of weights that are chances of errors: as of so many errors and people (Kish)."""
    asked = (*sequence.identities(images), sequence.base, positions)
    of_person, _ = errors_by_person(*asked, images.n_identities)
    total, squares = of_person.sum(axis=1), (of_person**2).sum(axis=1)
    with np.errstate(invalid="ignore"):
        people = np.nan_to_num(total**2 / squares)
        share = of_person.max(axis=1) / total
    number = chances_of_errors(sequence, positions, images)
    return Support(*(np.rint(n).astype(int) for n in (number, people)), share)
