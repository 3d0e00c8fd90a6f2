"""How errors of the same people depend on each other: as given, or as a pilot shows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skfairfr._core._error_counts import people_with_pairs
from skfairfr._text._words import RATES
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._errors import invalid, plain
from skfairfr.utils._validation import check_count, check_number, check_option

INDEPENDENT, DEPENDENT = "independent errors", "dependent errors"
# Rates that a plan may be about. Errors of one person's searches are correlated, as are those
# of genuine pairs.
NAMES = RATES | {"fpir": "FPIR", "attempt": "FRR"}
DEPENDS = {"far": "far", "frr": "frr", "fpir": "frr", "attempt": "frr"}
USUAL_FRR = 0.01
MOST_IMAGES = 1000
# Errors of a pilot from which its dependence is taken, if any level nearby has as many.
ENOUGH_ERRORS = 100


@dataclass(frozen=True)
class Dependence:
    """How errors depend on each other: those of one person, or of the same two people.

    Parameters
    ----------
    correlation : float in [0, 1], default=0.5
        Between errors of two pairs of images of the same person (FRR) or of the same two
        people (FAR). If it is 1, all pairs of a person are errors together.
    variation : float in [0, 100], default=1.0
        Squared coefficient of variation of people's own rates. It matters for the FAR,
        if one person is in pairs with all others.

    Raises
    ------
    ValueError
        If a number is out of its range.

    See Also
    --------
    plan_test : Takes it.

    Notes
    -----
    The defaults are those of people who differ much. With m images of each person, errors
    vary by phi = 1 + correlation (c - 1) times as much as if pairs were independent, with
    c = m**2 for the FAR and m (m - 1) / 2 for the FRR. With K people the logarithm of the
    FAR varies by 4 variation / K more.

    Examples
    --------
    >>> from skfairfr.metrics import Dependence
    >>> Dependence(correlation=0.25).inflation("far", images_per_person=2)
    1.75
    """

    correlation: float = 0.5
    variation: float = 1.0

    def __post_init__(self):
        for name, most in (("correlation", 1), ("variation", 100)):
            words = f"must be a number in [0, {most}]"
            value = check_number(
                getattr(self, name), name, lambda x, most=most: 0 <= x <= most, words
            )
            object.__setattr__(self, name, value)

    def inflation(self, rate: str, images_per_person: int) -> float:
        """By how much errors vary more than those of independent pairs: phi.

        Parameters
        ----------
        rate : {"far", "frr", "fpir", "attempt"}
        images_per_person : int
            From 1 to 1000. For an FPIR each is a search, of attempts an attempt.

        Returns
        -------
        phi : float
            At least 1.

        Raises
        ------
        ValueError
            If the rate is none of them, or the number of images is out of its range.
        """
        check_option(rate, "rate", tuple(NAMES))
        m = check_count(images_per_person, "images_per_person", 1, MOST_IMAGES)
        cluster = {"far": m**2, "frr": max(m * (m - 1) / 2, 1)}.get(rate, m)
        return float(1 + self.correlation * (cluster - 1))


def dependence_by_basis(dependence, pilot, far, threshold, attempts=None):
    """Basis -> rate -> Dependence; rate -> a pilot's (errors, level); what it shows."""
    # Number of groups, and FRR, if no pilot shows them.
    usual = {"n_groups": 2, "frr": USUAL_FRR}
    if pilot is None:
        if threshold is not None:
            raise invalid("threshold", threshold, "is that of a pilot;", "give one.")
        bases = {INDEPENDENT: Dependence(0.0, 0.0), DEPENDENT: Dependence()}
        bases = bases if dependence is None else {"given dependence": dependence}
        return {name: _by_rate(known) for name, known in bases.items()}, {}, usual
    if dependence is not None:
        raise invalid(
            "dependence", None, "and pilot were both given;", "leave one out."
        )
    if not isinstance(pilot, SimilarityROC):
        raise invalid(
            "pilot", pilot, f"must be a fitted SimilarityROC; got {plain(pilot)!r}."
        )
    check_is_fitted(pilot)
    if pilot._engine.pairs.images.n_drawn is not None:
        raise invalid(
            "pilot",
            None,
            "names no people, so that it cannot show how errors depend on each other;",
            "name whom the two images of each pair show, or leave it out.",
        )
    if threshold is None and not pilot.n_impostor_[0]:
        raise invalid(
            "threshold",
            None,
            "is missing, and the pilot has no impostor pair, so that no level of the FMR sets "
            "one;",
            "give the threshold at which its system accepts.",
        )
    known, pilot_errors, n_groups = {}, {}, []
    for rate in RATES:
        # Levels with more errors, from the one that is asked about on.
        steps = 10.0 ** (np.arange(3) if rate == "far" else -np.arange(3))
        levels = np.minimum(far * steps, pilot._engine.far_max)
        if threshold is not None:
            levels = np.array([np.nan])  # of the FAR. The threshold was given
        sums = [_sums_of_pilot(pilot, rate, at, threshold) for at in levels.tolist()]
        if sums[0] is None:
            known[rate] = Dependence()
            continue
        errors = np.array([of_level.errors.sum() for of_level in sums])
        place = int(np.argmax(np.minimum(errors, ENOUGH_ERRORS)))
        known[rate] = _shown_by(sums[place])
        if attempts is not None:
            known[rate] = _as_uneven(pilot, sums[place], known[rate], attempts)
        pilot_errors[rate] = round(errors[place]), float(levels[place])
        n_groups.append(sums[0].errors.size)
        if rate == "frr" and errors[0]:
            usual["frr"] = min(errors[0] / sums[0].pairs.sum(), 1 - USUAL_FRR)
    if pilot.groups_.size > 1:
        usual["n_groups"] = max(n_groups, default=2)
    return {"pilot": known}, pilot_errors, usual


def _sums_of_pilot(roc, rate, far, threshold):
    """ErrorSums of the groups, or of everybody, at a level or threshold, each (n_groups,)."""
    engine = roc._engine
    how = "gini" if roc.groups_.size > 1 else None
    far = far if threshold is None else None
    question = engine.question(far, threshold, rate, None, how, "overall")
    with warnings.catch_warnings():
        # A level that the pilot cannot resolve shows no error, which is no fault here.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        evidence = engine.evidence(question)
    return None if evidence is None else evidence.sums.rows(0)


def _shown_by(sums):
    """The Dependence of the errors of all groups together. The usual one without any."""
    errors = sums.errors.sum()
    wrong = (sums.errors * (1 - sums.rate)).sum()
    if not wrong:
        return Dependence()
    single, cluster = (
        sums.errors @ sums.single / errors,
        sums.errors @ sums.clustered / errors,
    )
    correlation = 0.0
    if cluster > single:
        correlation = (sums.own.sum() / wrong - single) / (cluster - single)
    between = ((sums.variance - sums.own) * sums.people / 4).sum()
    variation = between / (sums.errors**2).sum()
    return Dependence(
        float(np.clip(correlation, 0, 1)), float(np.clip(variation, 0, 100))
    )


def _as_uneven(pilot, sums, known, attempts):
    """The Dependence if everybody has so many attempts, with the variance of unequal ones.

    Errors of n attempts of a person vary 1 + correlation (n - 1) times as much, and n is here
    the mean weighted by attempts, in proportion to the attempts that are planned.
    """
    if attempts < 2:
        return known
    pairs = pilot._engine.pairs
    mean = pairs.count(None, "frr") / people_with_pairs(pairs, None, "frr")
    weighted = (sums.pairs @ sums.clustered) / sums.pairs.sum() / mean * attempts
    correlation = known.correlation * (weighted - 1) / (attempts - 1)
    return replace(known, correlation=float(np.clip(correlation, 0, 1)))


def _by_rate(dependence):
    """A Dependence for either rate."""
    if isinstance(dependence, Dependence):
        return dict.fromkeys(RATES, dependence)
    if not isinstance(dependence, Mapping) or not all(
        isinstance(dependence.get(rate), Dependence) for rate in RATES
    ):
        raise invalid(
            "dependence",
            dependence,
            "must be a Dependence, or a dict with one for 'far' and one for 'frr'; got "
            f"{plain(dependence)!r}.",
        )
    return {rate: dependence[rate] for rate in RATES}
