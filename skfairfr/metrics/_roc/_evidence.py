"""Effective errors of the rates of several scopes, and the people that they are of.

From a question about a fitted SimilarityROC to the numbers that ``_core._few_errors`` and
``_core._family`` judge: Wilson's intervals, tests of ratios, bands and comparisons of two
systems all start here.
"""

from dataclasses import dataclass, field, fields, replace

import numpy as np
from scipy import sparse

from skfairfr._core._bootstrap import point_rates, remember
from skfairfr._core._error_counts import (
    accepted_impostors,
    rejected_genuine,
    threshold_of,
)
from skfairfr._core._few_errors import (
    Effective,
    ErrorSums,
    dependence,
    effective_errors,
    share_left,
)
from skfairfr._core._parallel import in_threads

# How errors depend on each other is also estimated at these FAR levels, where errors are
# more; an answer does not depend on what else is asked.
HELPERS = np.array([1e-2, 1e-3])
# Between FAR levels whose rates show how fast a rate changes with its threshold.
STEP = 1.5
# Number of counts of errors that are kept for the next question.
MAX_COUNTS = 16


@dataclass(frozen=True)
class Evidence:
    """Effective errors of one rate, of several scopes at several levels.

    Attributes
    ----------
    scopes : tuple
    sums : ErrorSums
        Each (n_levels, n_scopes).
    effective : Effective
        Each (n_levels, n_scopes).
    share : ndarray, shape (n_levels, n_scopes)
        Of the variance, where the threshold was set on the same data; see ``share_left``.
    influence : list of sparse arrays, each (n_levels, n_people)
        Of each scope: that of people on the logarithm of its rate at a given threshold.
    slope : ndarray, shape (n_levels, n_scopes)
        Derivative of the logarithm of the rate by that of the FAR which sets the threshold;
        0 at given thresholds.
    of_threshold : list of sparse arrays, each (n_levels, n_people)
        Influence of people on the logarithm of that FAR.
    squared : ndarray, shape (n_levels, n_scopes)
        What people's influences on a FAR hold twice.
    thresholds : ndarray, shape (n_levels, n_scopes)
    setters : tuple of tuples, shape (n_levels, n_scopes)
        The scope whose FAR sets each threshold.
    sampled : tuple of frozensets, shape (n_levels,)
        Scopes whose impostor pairs are a sample at a level.
    judged : dict
        What was judged of its levels, for the next disparity.
    """

    scopes: tuple
    sums: ErrorSums
    effective: Effective
    share: np.ndarray
    influence: list
    slope: np.ndarray
    of_threshold: list
    squared: np.ndarray
    thresholds: np.ndarray
    setters: tuple
    sampled: tuple
    judged: dict = field(default_factory=dict, compare=False, repr=False)

    @property
    def rate(self):
        """Rates in the data, (n_levels, n_scopes)."""
        return self.sums.rate

    def with_threshold(self, place):
        """Influence on the rate of a scope whose threshold moves too, (n_levels, n_people)."""
        slope = self.slope[:, place][:, None]
        return self.influence[place].toarray() - slope * (
            self.of_threshold[place].toarray()
        )

    @classmethod
    def joined(cls, parts):
        """Evidence about increasing levels, one after the other."""
        if len(parts) == 1:
            return parts[0]
        n_scopes = len(parts[0].scopes)

        def stacked(name):
            return np.concatenate([getattr(part, name) for part in parts])

        def of_people(name):
            return [
                sparse.vstack([getattr(part, name)[s] for part in parts], format="csr")
                for s in range(n_scopes)
            ]

        records = (
            kind(
                *(
                    np.concatenate([getattr(getattr(p, name), f.name) for p in parts])
                    for f in fields(kind)
                )
            )
            for name, kind in (("sums", ErrorSums), ("effective", Effective))
        )
        return cls(
            parts[0].scopes,
            *records,
            stacked("share"),
            of_people("influence"),
            stacked("slope"),
            of_people("of_threshold"),
            *(stacked("squared"), stacked("thresholds")),
            *(sum((getattr(p, n) for p in parts), ()) for n in ("setters", "sampled")),
        )


def gather(pairs, query, rate):
    """Evidence about the rates that a query asks for.

    Parameters
    ----------
    pairs : EmbeddingPairs or ListedPairs
    query : Query
        Whose scopes share what is known of how errors depend on each other.
    rate : {"far", "frr"}

    Returns
    -------
    evidence : Evidence or None
        Of the scopes of the query that have pairs, in their order; None of none.
    """
    query, point = point_rates(pairs, replace(query, wanted=(rate,)))
    count = pairs.count if rate == "far" else pairs.genuine.count
    # Without a threshold of its own, a group is not judged.
    defined = ~np.isnan(point.thresholds).all(axis=1)
    places = [p for p, s in enumerate(query.scopes) if count(s) and defined[p]]
    scopes = tuple(query.scopes[p] for p in places)
    thresholds = point.thresholds.T[:, places]
    n_levels = len(thresholds)
    if not scopes:
        return None
    asking = _Asking(pairs, query, rate, scopes, _setters(pairs, query, point, scopes))
    near = asking.near()
    helper = threshold_of(pairs, None, HELPERS)
    helper = helper[~np.isnan(helper)]
    helpers = np.repeat(helper[:, None], len(scopes), axis=1)
    rows = np.concatenate([thresholds, *near, helpers])
    held = [asking.where_held(scope, rows[:, p]) for p, scope in enumerate(scopes)]
    counts = asking.counts(rate, zip(scopes, held, strict=True))
    every = ErrorSums.of_groups([c.sums for c in counts])
    sums = every.rows(slice(n_levels))
    effective = _effective(every, n_levels, len(helper))
    influence = [sparse.csr_array(c.influence[:n_levels]) for c in counts]
    squared = np.stack([c.squared[:n_levels] for c in counts], axis=-1)
    about = (thresholds, (tuple(asking.setters),) * n_levels)
    about += ((query.sampled,) * n_levels,)
    if query.levels is None:
        still = np.zeros(sums.errors.shape)
        none = [sparse.csr_array(i.shape) for i in influence]
        share = still + 1
        return Evidence(
            scopes, sums, effective, share, influence, still, none, squared, *about
        )
    slope = _slopes(every, np.stack(held, axis=-1), n_levels)
    setting = asking.counts("far", zip(asking.setters, rows.T, strict=True))
    share, of_threshold = asking.threshold_set(counts, setting, effective, slope)
    return Evidence(
        *(scopes, sums, effective, share, influence, slope, of_threshold, squared),
        *about,
    )


@dataclass(frozen=True)
class _Asking:
    """Errors of the scopes, and of those whose FAR sets their thresholds."""

    pairs: object
    query: object
    rate: str
    scopes: tuple
    setters: list

    def counts(self, rate, asked):
        """ErrorCounts of scopes at thresholds; no error where one is undefined.

        Parameters
        ----------
        rate : {"far", "frr"}
        asked : iterable of tuples (scope, thresholds)

        Returns
        -------
        counts : list of ErrorCounts
        """
        nothing = np.inf if rate == "far" else -np.inf
        count = accepted_impostors if rate == "far" else rejected_genuine
        keys, new, found = [], {}, {}
        for scope, thresholds in asked:
            sampled = rate == "far" and scope in self.query.sampled
            key = (rate, scope, sampled, thresholds.tobytes())
            keys.append(key)
            if key in self._store(scope):
                found[key] = self._store(scope)[key]
                continue
            at = np.where(np.isnan(thresholds), nothing, thresholds)
            new[key] = (self.pairs, scope, at, sampled)
            if rate == "far":
                self.pairs.impostors(scope, sampled)  # split once, before the threads
        counted = in_threads(count, list(new.values()))
        for key, counts in zip(new, counted, strict=True):
            remember(self._store(key[1]), key, counts, MAX_COUNTS)
            found[key] = counts
        return [found[key] for key in keys]

    def _store(self, scope):
        """Counts known already; all attributes share what is overall."""
        return self.pairs.overall_errors if scope is None else self.pairs.errors

    def near(self):
        """Thresholds a step below and above each level, two (n_levels, n_scopes).

        NaN where the pairs down to one are not held.
        """
        levels, n_scopes = self.query.levels, len(self.scopes)
        if levels is None:
            return [np.empty((0, n_scopes))] * 2
        asked = np.concatenate([levels / STEP, levels * STEP])
        of_setter = {
            setter: threshold_of(
                self.pairs, setter, asked, setter in self.query.sampled
            )
            for setter in set(self.setters)
        }
        found = np.stack([of_setter[setter] for setter in self.setters], axis=-1)
        return np.split(found, 2)

    def where_held(self, scope, thresholds):
        """The thresholds, nan where not all pairs that one accepts are held."""
        whole = scope in self.query.sampled or self.pairs.is_whole(scope)
        if self.rate == "frr" or whole:
            return thresholds
        held = self.pairs.holds(scope, np.nan_to_num(thresholds, nan=-np.inf))
        return np.where(held, thresholds, np.nan)

    def threshold_set(self, counts, setting, effective, slope):
        """What setting the thresholds on the same data does to every rate.

        Parameters
        ----------
        counts, setting : lists of ErrorCounts
            Of each scope, and of the FARs that set its thresholds; those of the levels first.
        effective : Effective
        slope : ndarray, shape (n_levels, n_scopes)

        Returns
        -------
        share : ndarray, shape (n_levels, n_scopes)
        of_threshold : list of sparse arrays, each (n_levels, n_people)
        """
        n_levels = len(slope)
        share, of_threshold = np.ones(slope.shape), []
        for place, (scope, setter, own, by) in enumerate(
            zip(self.scopes, self.setters, counts, setting, strict=True)
        ):
            of_setter = by.influence[:n_levels]
            together = (own.influence[:n_levels] * of_setter).sum(axis=1)
            errors = by.sums.errors[:n_levels]
            defined = errors > 0
            counted = np.where(defined, errors, 1.0)
            if self.rate == "far" and (None in (scope, setter) or scope == setter):
                # Clumps that both hold: those of the smaller scope.
                inner = by if scope is None else own
                of_scope = own.sums.errors[:n_levels]
                product = np.where(of_scope > 0, of_scope, 1.0) * counted
                together = together - inner.sums.squares[:n_levels] / product
            variance = by.sums.squares[:n_levels] + by.sums.shared[:n_levels]
            found = share_left(
                effective.columns([place]),
                slope[:, [place]],
                (np.maximum(variance, 0.0) / counted**2)[:, None],
                together[:, None],
            )
            share[:, place] = np.where(defined, found[:, 0], 1.0)
            of_threshold.append(sparse.csr_array(of_setter))
        return share, of_threshold


def _effective(every, n_levels, n_helpers):
    """Effective errors of each level, with the helping levels beside it."""
    first = every.errors.shape[0] - n_helpers
    found = []
    for level in range(n_levels):
        rows = [level]
        for row in range(first, first + n_helpers):
            # The same errors would count twice.
            if not np.array_equal(every.errors[row], every.errors[level]):
                rows.append(row)
        sums = every.rows(rows)
        found.append(effective_errors(sums, dependence(sums)).at(0))
    columns = (
        np.stack([getattr(e, field.name) for e in found]) for field in fields(Effective)
    )
    return Effective(*columns)


def _slopes(every, rows, n_levels):
    """Derivative of the logarithm of each rate by that of the FAR, (n_levels, n_scopes)."""
    here, low, high = (
        every.rows(slice(n_levels * part, n_levels * (part + 1))) for part in range(3)
    )
    beyond = np.isnan(rows[2 * n_levels : 3 * n_levels])
    half = here.single / 2
    upper = np.where(beyond, here.errors, high.errors)
    span = np.where(beyond, 1.0, 2.0) * np.log(STEP)
    return np.log((upper + half) / (low.errors + half)) / span


def _setters(pairs, query, point, scopes):
    """The scope whose FAR sets the thresholds of each scope."""
    if query.levels is None or query.operating_point == "overall":
        return [None] * len(scopes)
    if query.operating_point == "group":
        return list(scopes)
    # The group whose FAR is the largest at the middle level; all share the thresholds.
    at = point.thresholds[0, [query.levels.size // 2]]
    fars = [
        accepted_impostors(pairs, (g, g), at, (g, g) in query.sampled).sums.rate[0]
        for g in query.operating_groups
    ]
    worst = query.operating_groups[int(np.argmax(fars))]
    return [(worst, worst)] * len(scopes)
