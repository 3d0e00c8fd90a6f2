"""Errors of presentation attack detection from scores, with the presenting people as units.

Each presentation is a pair of one person. The errors that are measured are those of genuine
pairs, and the presentations that set the threshold are impostor pairs, each with a partner of
its own: influences of a person on the threshold, and so its slope, are those of SimilarityROC.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from skfairfr._core._kinds import DECISIONS, Terms
from skfairfr._core._rates import next_above
from skfairfr.metrics._roc._similarity_roc import SimilarityROC
from skfairfr.utils._errors import invalid
from skfairfr.utils._frames import Framed
from skfairfr.utils._labels import check_length, encode, to_column
from skfairfr.utils._types import Column
from skfairfr.utils._validation import check_level, check_scores, to_array


@dataclass(frozen=True)
class AttackDetection(Framed):
    """Error rates of presentation attack detection, from :func:`attack_detection`.

    Attributes
    ----------
    rate : ndarray of str, shape (n_rows,)
        "apcer" at a level of the BPCER, "bpcer" at one of the APCER, or "eer".
    species : ndarray, shape (n_rows,)
        Species of the attacks. If None, all.
    level : ndarray in (0, 1), shape (n_rows,)
        Level of the other rate. NaN for an EER.
    threshold : ndarray, shape (n_rows,)
        Score, larger meaning more likely bona fide, from which on a presentation is accepted
        as bona fide. NaN of an EER.
    value, low, high : ndarrays, shape (n_rows,)
        The rate and its interval, lower being better.
    supported : ndarray of bool, shape (n_rows,)
        Whether enough errors, of enough people, carry it.
    reason : ndarray of str, shape (n_rows,)
        Why not, else empty.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr import attack_detection
    >>> rng = np.random.default_rng(0)
    >>> subject, attack = rng.integers(0, 200, 4000), rng.random(4000) < 0.5
    >>> tool = np.where(rng.random(4000) < 0.3, "mask", "print")
    >>> score = rng.normal(0, 1, 4000) - attack * np.where(tool == "mask", 2, 4)
    >>> found = attack_detection(score, attack, subject, tool, bpcer=0.05)
    >>> print(found.to_frame()[["rate", "species", "value"]].round(3)[1:3])
        rate species  value
    1  apcer    mask  0.325
    2  apcer   print  0.005
    """

    rate: np.ndarray
    species: np.ndarray
    level: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    supported: np.ndarray
    reason: np.ndarray


def attack_detection(
    y_score: ArrayLike,
    is_attack: ArrayLike,
    subject: Column,
    species: Column,
    *,
    bpcer: ArrayLike = (0.01, 0.05),
    apcer: ArrayLike = (0.05, 0.1),
    confidence_level: float = 0.95,
) -> AttackDetection:
    """APCER by species at levels of the BPCER, BPCER at levels of the APCER, and EER.

    Thresholds are set on the same data, and intervals allow for that. They generalise to
    new people from the same population, of whom the same people may present bona fide and
    attack.

    Parameters
    ----------
    y_score : array-like, shape (n_presentations,)
        Scores, larger meaning more likely bona fide: a presentation is accepted as such at
        a score of at least the threshold. Give minus a score of attacks.
    is_attack : array-like, shape (n_presentations,)
        1 for attacks, 0 for bona fide presentations.
    subject : array-like, shape (n_presentations,)
        The person who presents.
    species : array-like, shape (n_presentations,)
        Instrument of each attack, not used of bona fide presentations.
    bpcer : float in (0, 1) or array-like, shape (n_levels,), default=(0.01, 0.05)
        Shares of bona fide presentations that are taken for attacks, which set thresholds.
    apcer : float in (0, 1) or array-like, shape (n_levels,), default=(0.05, 0.1)
        Shares of attacks taken for bona fide that no species exceeds, which do so too.
    confidence_level : float in (0, 1), default=0.95
        Confidence level of the intervals.

    Returns
    -------
    found : AttackDetection
        Result with ``to_frame``. Lower is better. The APCER of ISO/IEC 30107-3 is the largest of
        the species [1]_.

    Raises
    ------
    ValueError
        If lengths differ, there are no attacks or no bona fide presentations, a species is
        not known, or a level is out of range.

    References
    ----------
    .. [1] ISO/IEC 30107-3:2023. Information technology - Biometric presentation attack
       detection - Part 3.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairfr.metrics import attack_detection
    >>> rng = np.random.default_rng(0)
    >>> subject, attack = rng.integers(0, 200, 4000), rng.random(4000) < 0.5
    >>> tool = np.where(rng.random(4000) < 0.3, "mask", "print")
    >>> score = rng.normal(0, 1, 4000) - attack * np.where(tool == "mask", 2, 4)
    >>> found = attack_detection(score, attack, subject, tool, bpcer=0.05, apcer=0.1)
    >>> for row in zip(found.rate[:4], found.species, found.value.round(3).tolist()):
    ...     print(*row)
    apcer None 0.107
    apcer mask 0.325
    apcer print 0.005
    bpcer None 0.219
    """
    score = check_scores(y_score, "y_score").astype(np.float64)
    attack = to_array(is_attack, "is_attack")
    if attack.shape != score.shape or not {*np.unique(attack).tolist()} == {0, 1}:
        problem = (
            "must be 1 for attacks and 0 for bona fide presentations, and both occur;"
        )
        remedy = "give one for each score."
        raise invalid("is_attack", None, problem, remedy)
    for name, column in (("subject", subject), ("species", species)):
        check_length(to_column(column, name), score.size, name, "y_score")
    attack, people = attack.astype(bool), encode(subject, "subject").codes
    kinds = np.full(score.size, None)
    kinds[attack] = to_column(species, "species")[attack]
    names = encode(kinds[attack], "species").values.tolist()
    trials, rows = (people, kinds, confidence_level), []
    # Attacks that pass have scores that are not low: of the negated ones they are rejected.
    levels = np.atleast_1d(check_level(bpcer, "bpcer"))
    roc = _fitted(-score, attack, *trials, of=("bpcer", "apcer"))
    thresholds = next_above(-np.asarray(roc.threshold_at(levels)))
    for name in (None, *names):
        found = roc.estimate(levels, group=name)
        rows += _rows("apcer", name, levels, thresholds, found)
    levels = np.atleast_1d(check_level(apcer, "apcer"))
    roc, worst = _fitted(score, ~attack, *trials), {"operating_point": "worst_group"}
    found = roc.estimate(levels, **worst)
    rows += _rows("bpcer", None, levels, roc.threshold_at(levels, **worst), found)
    nan = np.full(1, np.nan)
    for name in (None, *names):
        kept = ~attack | (kinds == name) if name is not None else slice(None)
        own = (column[kept] for column in (score, ~attack, people, kinds))
        found = _fitted(*own, confidence_level).equal_error_rate()
        rows += _rows("eer", name, nan, nan, found)
    columns = zip(*rows, strict=True)
    return AttackDetection(*map(_column, columns))


def _fitted(score, is_genuine, people, kinds, confidence_level, of=("apcer", "bpcer")):
    """A SimilarityROC whose genuine pairs are some presentations, and the others impostors.

    Its errors are called by ``of``: first what is accepted, then what is rejected by mistake.
    """
    people = encode(people, "subject").codes
    partner, n_people = people.copy(), people.max() + 1
    partner[~is_genuine] = n_people + np.arange(np.count_nonzero(~is_genuine))
    how = {"n_resamples": 1, "random_state": 0, "confidence_level": confidence_level}
    roc = SimilarityROC(method="jackknife", far_max=0.999, **how)
    roc._n_people = int(partner.max()) + 1
    roc.fit_pairs(score, people, partner, sensitive_features=kinds)
    terms = Terms(*(DECISIONS[kind] for kind in of), trial="attempt", level=of[0])
    roc._engine = replace(roc._engine, terms=terms)
    return roc


def _rows(rate, species, levels, thresholds, found):
    fields = (found.value, found.low, found.high, found.supported, found.reason)
    columns = levels, thresholds, *map(np.atleast_1d, fields)
    return [(rate, species, *row) for row in zip(*columns, strict=True)]


def _column(values):
    """An array. Labels make one of objects."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found if None in values else np.array(values)
