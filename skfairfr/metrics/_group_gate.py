"""A classifier of groups in front of a matcher: what it does to the rates, in closed form."""

from dataclasses import dataclass
from numbers import Real

from skfairfr.metrics._frames import Framed
from skfairfr.utils._validation import check_count, check_level, plain


@dataclass(frozen=True)
class GroupGateRates(Framed):
    """Rates of a matcher behind a gate; lower is better for all of them.

    Attributes
    ----------
    far : float
        False acceptance rate over all impostor pairs, in [0, 1].
    frr : float
        False rejection rate, in [0, 1].
    far_within : float
        FAR of pairs within a group, in [0, 1].
    far_between : float
        FAR of pairs of two groups, in [0, 1].

    Raises
    ------
    dataclasses.FrozenInstanceError
        If an attribute is assigned to.

    See Also
    --------
    group_gate_rates : What builds it.
    """

    far: float
    frr: float
    far_within: float
    far_between: float


def group_gate_rates(*, far=1e-5, frr=1e-2, error=1e-3, n_groups=2):
    """Rates of a matcher behind a classifier that rejects pairs of two groups.

    A thought experiment: a matcher treats all groups alike, within and between them. A
    classifier tells the group of each image, wrongly at a rate ``error``; a pair of two
    predicted groups is rejected, and the matcher decides on the others. The overall FAR
    is divided by the number of groups, which reads as progress, but within a group, where
    an impostor will look for a victim, it is what it was; and the FRR rises. A low
    overall FAR says little where groups are told apart.

    Parameters
    ----------
    far : float in (0, 1), default=1e-5
        FAR of the matcher, for every two groups.
    frr : float in [0, 1], default=1e-2
        Its FRR, for every group.
    error : float in [0, 1], default=1e-3
        Share of images whose group is told wrongly, each wrong group equally often, and
        independently for both images of a pair.
    n_groups : int, default=2
        Number of groups, of equal size, at least 2.

    Returns
    -------
    rates : GroupGateRates
        Of the two together; lower is better.

    Raises
    ------
    ValueError
        If a rate or the number of groups is out of range.

    References
    ----------
    .. [1] Bruveris, M., Mortazavian, P., Gietema, J., & Mahadevan, M. (2020). Reducing
       Geographic Performance Differentials for Face Recognition. WACV Workshops. The
       slides' thought experiment, for two groups.

    Examples
    --------
    >>> from skfairfr.metrics import group_gate_rates
    >>> rates = group_gate_rates(far=1e-5, frr=1e-2, error=1e-3)
    >>> f"{rates.far:.3g} {rates.far_within:.3g} {rates.far_between:.1g} {rates.frr:.4g}"
    '5e-06 9.98e-06 2e-08 0.01198'
    """
    if check_level(far).ndim:
        raise ValueError(f"far must be one number; got {plain(far)!r}.")
    for name, value in (("frr", frr), ("error", error)):
        if not isinstance(value, Real) or not 0 <= value <= 1:
            raise ValueError(f"{name} must lie in [0, 1]; got {plain(value)!r}.")
    n_groups = check_count(n_groups, "n_groups", 2)
    others = n_groups - 1
    # Two images of one group pass when both are told right, or wrong alike.
    within = (1 - error) ** 2 + error**2 / others
    # Two of different groups: one taken for the other's, or both for the same third.
    between = (1 - within) / others
    return GroupGateRates(
        far=float(far * (within + others * between) / n_groups),
        frr=float(1 - within * (1 - frr)),
        far_within=float(far * within),
        far_between=float(far * between),
    )
