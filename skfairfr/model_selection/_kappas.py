"""Grids of kappas for the Ethical Module."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from scipy.optimize import brentq

from skfairfr._compat import Interval, validate_params
from skfairfr._core._vmf import log_vmf_normalizer
from skfairfr.utils._errors import invalid

# Odds that a pair of kappas adds between people of two groups: a mild and a firm step. In
# 512 features they are those of (18, 20) and (15, 20), which the study of the bench tried.
ODDS = (2.5, 10.0)


@validate_params(
    {
        "n_features": [Interval(Integral, 2, None, closed="left")],
        "kappa": [Interval(Real, 0, None, closed="neither")],
    },
    prefer_skip_nested_validation=True,
)
def kappa_grid(
    n_features: int, groups: Sequence[Any], *, kappa: float = 20.0
) -> dict[str, list]:
    """Concentrations of groups that a search should try in so many dimensions.

    In the Fair von Mises-Fisher loss the logit of a person whose group has the
    concentration :math:`\\kappa` is :math:`\\log C_d(\\kappa) + \\kappa t` for an image at the
    cosine t from that person's centroid. The logits of two people, whose groups have
    :math:`\\kappa_0 < \\kappa_1`, cross at

    .. math:: t^* = \\frac{\\log C_d(\\kappa_0) - \\log C_d(\\kappa_1)}{\\kappa_1 - \\kappa_0}
        \\approx \\frac{\\kappa_0 + \\kappa_1}{2 d},

    and the odds of the second person grow by :math:`\\exp[(\\kappa_1 - \\kappa_0)(t - t^*)]`.
    Many dimensions move the crossing towards 0, so the same pair has a larger effect. The
    grid has pairs of equal effect: halfway between the crossing and 1 the odds are 2.5 and 10.

    Parameters
    ----------
    n_features : int, at least 2
        Dimension d of the embeddings that the head returns.
    groups : sequence of labels, shape (n_groups,)
        Two or more.
    kappa : float > 0, default=20.0
        Concentration of all groups but one.

    Returns
    -------
    grid : dict
        ``{"kappas": [...]}``: equal concentrations first, then for each group two smaller
        ones, the nearer first, with two digits. Odds that no concentration reaches, in few
        dimensions, are left out.

    Raises
    ------
    ValueError
        If there are fewer than two different groups, or an argument is out of range.

    See Also
    --------
    skfairfr.EthicalModule : Its parameter ``kappas``.

    References
    ----------
    .. [1] Conti, J.-R., et al. (2022). Mitigating Gender Bias in Face Recognition Using
       the von Mises-Fisher Mixture Model. ICML. Section 3.

    Examples
    --------
    >>> from skfairfr.model_selection import kappa_grid
    >>> for kappas in kappa_grid(512, ["male", "female"])["kappas"]:
    ...     print(kappas)
    {'male': 20.0, 'female': 20.0}
    {'male': 18.0, 'female': 20.0}
    {'male': 15.0, 'female': 20.0}
    {'male': 20.0, 'female': 18.0}
    {'male': 20.0, 'female': 15.0}
    """
    if isinstance(groups, str) or len(dict.fromkeys(groups)) < max(2, len(groups)):
        problem = "must be two or more different labels, each once."
        raise invalid("groups", groups, problem)
    smaller = [found for odds in ODDS if (found := _smaller(n_features, kappa, odds))]
    equal = dict.fromkeys(groups, float(kappa))
    return {"kappas": [equal, *(equal | {g: k} for g in groups for k in smaller)]}


def _smaller(n_features, kappa, odds):
    """The concentration that adds these odds to kappa's, or None if there is none."""

    def beyond(smaller):
        # (kappa - smaller) (1 - crossing) / 2, without a quotient that is 0 / 0 at kappa.
        logs = log_vmf_normalizer([smaller, kappa], n_features)
        return (kappa - smaller - (logs[0] - logs[1])) / 2 - math.log(odds)

    if beyond(0.0) < 0:
        return None
    return float(f"{brentq(beyond, 0.0, kappa):.2g}")
