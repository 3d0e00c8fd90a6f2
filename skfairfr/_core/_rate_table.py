"""Rates by scope with everything an interval needs: point, centre and replicates."""

from dataclasses import dataclass, replace

from skfairfr._core._comparisons import TailTooShortError
from skfairfr._core._estimation import Rates, rates, replicate_rates, v_statistic_frr
from skfairfr._core._resampling import unit_weights


@dataclass(frozen=True)
class Resampling:
    """How resamples are drawn, and how many."""

    mode: str
    method: str
    n_resamples: int
    entropy: int
    n_jobs: int | None


@dataclass(frozen=True)
class RateTable:
    """Rates of every scope of a query.

    Attributes
    ----------
    query : Query
        As it was answered: with the scopes that needed a sample.
    point : Rates
        In the data, (n_scopes, n_levels).
    centre : Rates
        What the replicates are centred on (theta~ of METHODS), (n_scopes, n_levels).
    replicates : Rates
        (n_scopes, n_levels, n_resamples).
    """

    query: object
    point: Rates
    centre: Rates
    replicates: Rates


def point_table(pairs, query):
    """The query as it can be answered, and the rates in the data (n_scopes, n_levels)."""

    def compute(asked):
        found = rates(pairs, replace(asked, histograms=True), unit_weights())
        return _without_resamples(found)

    return _settle(pairs, query, compute)


def rate_table(pairs, query, resampling, known=None):
    """Point values, centres and replicates of a query.

    ``known`` is a table of the same query under another resampling, whose point values
    are these.

    A scope whose tail turns out too short in some resample is collected again with a lower
    floor, or answered from a sample where the tail would grow too large.
    """

    def compute(asked):
        return replicate_rates(
            pairs,
            asked,
            resampling.mode,
            resampling.entropy,
            resampling.n_resamples,
            resampling.n_jobs,
        )

    query = replace(query, copies=resampling.method != "offdiagonal")
    # The data first: what they need at all is then at hand for every resample.
    if known is not None:
        query, point = replace(known.query, copies=query.copies), known.point
    else:
        query, point = point_table(pairs, query)
    asked = query
    query, replicates = _settle(pairs, query, compute)
    if query.sampled != asked.sampled:
        query, point = point_table(pairs, query)
    return RateTable(query, point, _centre(pairs, query, point, resampling), replicates)


def has_copies(pairs, resampling):
    """Whether resamples hold pairs of two copies of one image that must be centred."""
    drawn = resampling.mode != "identities" and resampling.method != "offdiagonal"
    return drawn and pairs.has_copies


def _centre(pairs, query, point, resampling):
    """theta~: the data's own rates, but V-statistics where copies make pairs."""
    centre = point
    if query.sampled:
        centre = _without_resamples(rates(pairs, query, unit_weights()))
    if not has_copies(pairs, resampling):
        return centre
    return replace(centre, frr=v_statistic_frr(pairs, query.scopes, centre.thresholds))


def _settle(pairs, query, compute):
    """Answer a query, reaching further down the scores as often as it needs."""
    while True:
        try:
            return query, compute(query)
        except TailTooShortError as short:
            if short.lowest is None or pairs.can_reach(short.scope, short.lowest):
                pairs.deepen(short)
            else:
                query = replace(query, sampled=query.sampled | {short.scope})


def _without_resamples(found):
    return Rates(found.thresholds[..., 0], found.far[..., 0], found.frr[..., 0])
