"""Thresholds at which every group meets a limit for new people, with a stated confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skfairfr._core._error_counts import errors_first, people_with_pairs, rate_curve_of
from skfairfr._core._jackknife import rate_ends
from skfairfr._core._kinds import COMPARISONS, SEARCHES
from skfairfr._core._planning import MAX_PEOPLE, enlarged, first_number, growth_of
from skfairfr._core._rates import threshold_at
from skfairfr._text._words import level_percent, listed, plural, printable, rounded_up
from skfairfr.utils._errors import invalid
from skfairfr.utils._frames import Framed


@dataclass(frozen=True)
class CertifiedThreshold(Framed):
    """Thresholds at which every group meets its limits, and what they cost each group.

    One row for each group. A number that applies to all groups is an array, (n_groups,),
    where every group has its own threshold.

    Attributes
    ----------
    threshold : float, or ndarray, shape (n_groups,)
        The loosest similarity from which on pairs may be accepted: there, and at every
        stricter one, the upper bounds of the FAR, which fall with it, meet the limit. The
        shortest decimal that accepts the same pairs, or nan where there is none.
    groups : ndarray, shape (n_groups,)
        Labels.
    far : ndarray, shape (n_groups,)
        FAR within each group at the threshold, in [0, 1]. Lower is better.
    far_high : ndarray, shape (n_groups,)
        Upper end of its two-sided interval, at most the limit.
    frr : ndarray, shape (n_groups,)
        FRR of each group there, in [0, 1]. Lower is better. NaN without genuine pairs.
    frr_low, frr_high : ndarrays, shape (n_groups,)
        Ends of its two-sided interval, in [0, 1]. If every group has its own threshold, at
        the level of the bounds of the FAR.
    binding_group : label or None
        The group whose FAR needs the threshold to be so strict, or None without a threshold,
        and where every group has its own.
    supported : bool
        Whether there is a threshold that meets all limits, for every group.
    reason : str
        Why there is none, else empty.
    needed : tuple of (label, int)
        Groups that are too small for any threshold, and about how many more people they
        take.
    threshold_high : float, or ndarray, shape (n_groups,)
        The strictest similarity at which, and at every looser one, the FRR meets its limit:
        all thresholds from ``threshold`` up to it meet both. Infinite without such a limit.
    binding_group_high : label or None
        The group whose FRR allows no stricter one.
    frr_least : ndarray, shape (n_groups,)
        Lower bounds of the FRR at the loosest threshold at which no group's FAR is known to
        exceed its limit. All are valid together. No threshold meets a limit below one of them.

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    skfairfr.metrics.SimilarityROC.certify : Returns it.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> data = make_face_embeddings(n_identities=200, random_state=0)
    >>> roc = SimilarityROC(random_state=0).fit(data.X, data.y, data.sensitive_features)
    >>> found = roc.certify(1e-2)
    >>> round(found.threshold, 3), found.binding_group
    (0.26, 'female')
    >>> bool((found.far_high <= 1e-2).all())
    True
    """

    threshold: float | np.ndarray
    groups: np.ndarray
    far: np.ndarray
    far_high: np.ndarray
    frr: np.ndarray
    frr_low: np.ndarray
    frr_high: np.ndarray
    binding_group: object
    supported: bool
    reason: str
    needed: tuple
    threshold_high: float | np.ndarray
    binding_group_high: object
    frr_least: np.ndarray

    def _columns(self):
        """One row for each group."""
        columns = super()._columns()
        del columns["needed"]
        return columns


def certify(engine, codes, far, frr, confidence_level, own):
    """The CertifiedThreshold of some groups of an engine.

    Parameters
    ----------
    engine : Engine
    codes : list of int
        Groups.
    far : float
    frr : float or None
    confidence_level : float
    own : bool
        Whether every group has its own threshold.
    """
    labels, n, wrong = engine.groups[codes], len(codes), 1 - confidence_level
    terms = SEARCHES if engine.terms is SEARCHES else COMPARISONS
    names = labels.tolist()
    # At one threshold the group whose crossing is strictest decides: no correction. Bounds
    # are the ends of two-sided intervals, as in audits. For few people with dependent errors they are
    # more often wrong than nominally.
    tail = wrong / 2 / (n if own else 1)
    asked = [_Limit(engine.pairs, (g, g), "far", far, tail) for g in codes]
    low, high = np.array([limit.threshold for limit in asked]), np.full(n, np.inf)
    beyond = np.isneginf(low).any() and not all(one.sequence.complete for one in asked)
    if beyond and terms is SEARCHES:
        # At one threshold for all it is that of another group.
        if own or np.isneginf(low).all():
            raise engine.pairs.too_low()
    elif beyond:
        problem = "is beyond the pairs that were kept;"
        raise invalid("far", far, problem, f"fit with far_max={far:g} or more.")
    limits = asked
    if frr is not None:
        of_frr = [_Limit(engine.pairs, (g, g), "frr", frr, tail) for g in codes]
        high, limits = np.array([limit.threshold for limit in of_frr]), asked + of_frr
    first, last = (None, None) if own else (np.argmax(low), np.argmin(high))
    if not own:
        low, high = np.full(n, low.max()), np.full(n, high.min())
    # What is printed is then what is certified.
    low, high = (
        np.array([engine.shortest(t) if np.isfinite(t) else t for t in ends])
        for ends in (low, high)
    )
    at = list(zip(codes, low, strict=True))
    bounds = np.array([one.bounds_at(t)[1] for one, t in zip(asked, low, strict=True)])
    of_far = np.array([_rate_at(engine, *one, "far", tail)[0] for one in at])
    ends = np.array([_rate_at(engine, *one, "frr", tail) for one in at]).T
    # No threshold meets both limits: half of the error probability for either rate.
    each = wrong / 2 / n
    possible = [replace(limit, tail=each).loosest_possible for limit in asked]
    possible = possible if own else [max(possible)] * n
    # At minus infinity every pair is accepted.
    least = np.where(np.isneginf(possible), 0.0, np.nan)
    for place in np.flatnonzero(np.isfinite(possible)):
        at = codes[place], possible[place]
        least[place] = _rate_at(engine, *at, "frr", each)[1]
    # More people would not help a system that certainly fails.
    failed = frr is not None and bool((least > frr).any())
    groups = engine.groups.tolist()
    needed, reasons = _people_lacking(limits, groups, terms, not failed)
    for g in np.flatnonzero(low > high)[: n if own else 1]:
        by = [printable(names[k]) for k in ((g, g) if own else (first, last))]
        reason = (
            f"the thresholds at which an {terms.far.name} of {level_percent(far)} is certain "
            f"(for {by[0]}) are stricter than those at which an {terms.frr.name} of "
            f"{level_percent(frr)} is certain (for {by[1]})"
        )
        if not failed:
            both = [(asked[k], of_frr[k]) for k in ([g] if own else range(n))]
            reason += _people_that_decide(both, each, by[0] if own else "")
        reasons.append(reason)
    known, known_high = ~np.isnan(low[0]), np.isfinite(high[0])
    return CertifiedThreshold(
        *(low if own else float(low[0]), labels, of_far, bounds, *ends),
        names[first] if known and not own else None,
        not reasons,
        "; ".join(reasons),
        tuple(needed),
        high if own else float(high[0]),
        names[last] if known_high and not own else None,
        least,
    )


@dataclass(frozen=True)
class _Limit:
    """A limit of the rate of a group, and the chance that its bounds are wrong."""

    pairs: object
    scope: tuple
    rate: str
    limit: float
    tail: float
    times: float = 1.0  # as many people, if rates are as found

    @property
    def rate_curve(self):
        """Errors of the group, as its threshold moves."""
        rate_curve = rate_curve_of(self.pairs, self.scope, self.rate)
        if self.times == 1:
            return rate_curve
        sums = enlarged(rate_curve.sums, self.times, self.growth)
        return replace(rate_curve, sums=sums, added=rate_curve.added / self.times)

    @property
    def people(self):
        """Number of people who have the pairs, or of independent pairs."""
        n_pairs = self.pairs.count(self.scope, self.rate)
        if not n_pairs or self.is_independent:
            return n_pairs
        return people_with_pairs(self.pairs, self.scope, self.rate)

    @property
    def is_independent(self):
        """Whether people are not known."""
        return self.pairs.images.n_drawn is not None

    @property
    def growth(self):
        """With which power of the number of people pairs grow."""
        if self.is_independent or self.pairs.people_in[self.rate] != 2:
            return 1
        return growth_of(self.people, self.pairs.count(self.scope, self.rate))

    @property
    def sequence(self):
        """Pairs of the group, in the order in which they become errors."""
        return errors_first(self.pairs, self.scope, self.rate)[0]

    @property
    def threshold(self):
        """The loosest for a FAR, or strictest for an FRR, within the limit. nan if there is none."""
        if not self.pairs.count(self.scope, self.rate):
            return np.nan
        return self._before(self.rate_curve.most_errors(self.tail, self.limit))

    @property
    def loosest_possible(self):
        """The loosest threshold at which the rate, a FAR, is not known to exceed its limit."""
        rate_curve = self.rate_curve
        low = rate_ends(rate_curve.sums, self.tail, rate_curve.added)[0]
        kept = np.flatnonzero(low <= self.limit)
        if kept.size == 0:
            return np.nan
        if kept[-1] + 1 == low.size:
            return -np.inf
        return self._before(rate_curve.place[kept[-1] + 1])

    def _before(self, errors):
        """The threshold up to which the weight of errors is no larger, or nan of nan."""
        if np.isnan(errors):
            return np.nan
        sequence = self.sequence
        place = sequence.weighed().first_exceeding(np.array([[errors]])).item()
        if self.rate == "far":
            return float(threshold_at(sequence.scores, place))
        return float(sequence.scores[place])

    def bounds_at(self, threshold):
        """Lower and upper bound of the rate at a threshold."""
        if np.isnan(threshold):
            return np.nan, np.nan
        about, rate_curve = (self.pairs, self.scope, self.rate), self.rate_curve
        sequence, n = errors_first(*about, thresholds=np.array([threshold]))
        errors = sequence.weighed().before(n[:, None]).item()
        low = rate_ends(rate_curve.sums, self.tail, rate_curve.added)[0]
        ends = low, rate_curve.upper_bounds(self.tail)
        return tuple(np.interp(errors, rate_curve.place, end) for end in ends)

    def more_people(self):
        """About how many more people let some threshold meet the limit, or None if one does.

        Infinite beyond ``MAX_PEOPLE``, or nan with too few pairs for an answer.
        """
        if not np.isnan(self.threshold):
            return None
        people = self.people
        # Two people have the pairs of one cluster, which do not show how people vary.
        if people < 3:
            return np.nan

        def keeps(number):
            return not np.isnan(replace(self, times=number / people).threshold)

        enough = first_number(keeps, people + 1)
        return np.inf if enough is None else enough - people

    def in_words(self, labels, more, terms, advise=True):
        """That no threshold meets the limit of groups, and, to advise, how many more people it takes."""
        label = listed(labels)
        kept = (
            f"certified for an {terms[self.rate].name} of {level_percent(self.limit)}"
        )
        way = "strict" if self.rate == "far" else "loose"
        if np.isnan(more):
            return f"too few {terms[self.rate].trials} within {label} to certify by"
        found = f"no threshold, however {way}, is {kept} for {label}"
        if not advise:
            return found
        one, several = self.more_units
        needed = f"over {MAX_PEOPLE:,} {several}"
        if np.isfinite(more):
            needed = f"about {plural(int(more), one, several)}"
        whom = label if len(labels) == 1 else "each of them"
        return f"{found}: {needed} of {whom} {'is' if more == 1 else 'are'} needed"

    @property
    def more_units(self):
        """Units of the people or pairs that are needed: one, and several."""
        if self.is_independent:
            return "more pair", "more pairs"
        return "more person", "more people"


def _people_lacking(limits, groups, terms, advise):
    """(group, number) of the people that limits lack, and a reason for each number."""
    needed, lacking = [], {}
    for limit in limits:
        more = limit.more_people()
        if more is not None:
            name = groups[limit.scope[0]]
            if np.isfinite(more):
                needed.append((name, more))
                more = rounded_up(more)
            *_, of = lacking.setdefault((limit.rate, str(more)), (limit, more, []))
            of.append(printable(name))
    found = lacking.values()
    return needed, [one.in_words(of, more, terms, advise) for one, more, of in found]


def _people_that_decide(limits, each, label=""):
    """About how many more people decide about both limits, if rates are as found, in words.

    Parameters
    ----------
    limits : list of tuple of two _Limit
        Of the FAR and of the FRR of each group, all of which grow in proportion.
    each : float
        Chance of a lower bound to be wrong.
    label : str, default=""
        Of the one group.
    """
    of_far, of_frr = zip(*limits, strict=True)
    people = sum(max(one.people for one in both) for both in limits)

    def decides(number):
        fars, frrs = (
            [replace(one, times=number / people) for one in of]
            for of in (of_far, of_frr)
        )
        loosest, strictest = ([one.threshold for one in of] for of in (fars, frrs))
        if max(loosest) <= min(strictest):
            return True
        at = max(replace(one, tail=each).loosest_possible for one in fars)
        least = (replace(one, tail=each).bounds_at(at)[0] for one in frrs)
        return max(least) > of_frr[0].limit

    enough = first_number(decides, people + 1, 0.01)
    one, several = of_far[0].more_units
    if enough is None:
        return f"; no number of {several} up to {MAX_PEOPLE:,} decides it"
    where = f" of {label}" if label else ", of all groups in proportion,"
    return f"; about {plural(rounded_up(enough - people), one, several)}{where} would decide it"


def _rate_at(engine, group, threshold, rate, tail):
    """A rate and the ends of its interval; nan without a threshold or pairs."""
    found, scope = None, (group, group)
    if not np.isnan(threshold):
        about = engine.question(None, threshold, rate, None, None, "overall")
        found = engine.evidence(replace(about, scope=scope), (scope,))
    if found is None:
        return [np.nan] * 3
    return [found.sums.rate.item(), *(end.item() for end in found.bounds(tail))]
