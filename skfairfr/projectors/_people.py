"""The people of a fit: read from labels, used for training or validation, and their rates.

Pairs grow as the square of the images. Above a stated number of pairs a sample of the
validation people is drawn once a fit: all epochs are judged by the same pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

import numpy as np
from skorch.callbacks import Callback

from skfairfr._core._bootstrap import Query, point_rates
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._pairs import Expected, compare_images
from skfairfr._core._rates import max_min
from skfairfr._core._resampling import Images, Totals, places_among_equals
from skfairfr._core._support import MIN_ERRORS
from skfairfr.utils._errors import invalid
from skfairfr.utils._labels import FIELDS, label_images
from skfairfr.utils._validation import FewErrorsWarning, warn_caller

MONITORS = ("loss", "bfar", "bfrr", "frr_at_far")
# Pairs compared after an epoch, at most.
MOST_PAIRS = 2**24
# n images make n (n - 1) / 2 pairs. If people have two images each, the loss compares
# them with n / 2 means, and with fewer if they have more: n**2 / 2 bounds both.
MOST_IMAGES = isqrt(2 * MOST_PAIRS)
# Images kept of a group that has them: their 130,816 pairs have 130 errors at a FAR of 1e-3.
# Many groups share half of the sample.
FEWEST_IMAGES = 512
# People who share the images of a group, at least. For one with more images some are drawn.
FEWEST_PEOPLE = 32
# Makes the draws differ from all others of a fit.
STREAM = 1


@dataclass(frozen=True)
class People:
    """Images of some identities.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_images,)
        Increasing positions in X.
    y : ndarray of int64, shape (n_images,)
        Identity of each image, in 0..n_identities - 1.
    identities : ndarray, shape (n_identities,)
        Their labels, sorted.
    attribute : ndarray, shape (n_identities,), or None
        Code of the group, or value, of each identity, or None if no group is used.
    groups : ndarray of int32, shape (n_images,), or None
        Code of the group of each image, -1 unknown, as the caller gave it. Metrics of
        validation people and samplers use it.
    labels : ndarray, shape (n_groups,), or None
        Labels of the codes.
    domain : ndarray of int8, shape (n_images,), or None
        0 or 1, where images of two domains are compared with each other.
    """

    rows: np.ndarray
    y: np.ndarray
    identities: np.ndarray
    attribute: np.ndarray | None = None
    groups: np.ndarray | None = None
    labels: np.ndarray | None = None
    domain: np.ndarray | None = None

    def of(self, chosen, images=None):
        """The People among the chosen identities, with all or some of their images.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_identities,)
        images : ndarray of bool, shape (n_images,), default=None
            One of every chosen identity at least, and none of another. If None, all.
        """
        if images is None:
            images = chosen[self.y]
        return People(
            self.rows[images],
            (np.cumsum(chosen) - 1)[self.y[images]],
            self.identities[chosen],
            None if self.attribute is None else self.attribute[chosen],
            None if self.groups is None else self.groups[images],
            self.labels,
            None if self.domain is None else self.domain[images],
        )


def read_labels(y, sensitive_features, domain, n_samples, *, fields=FIELDS):
    """Identity, group and domain of the rows of X, as Labels, or None where not given.

    The arguments are those of :func:`~skfairfr.utils._labels.label_images`.

    Raises
    ------
    ValueError
        If there are not two people, or a label is wrong.
    """
    identity, group, domain = label_images(
        y, sensitive_features, domain, n_samples, fields=fields
    )
    if identity.values.size < 2:
        problem = "contains one identity (1 class), with nobody to compare it with;"
        raise invalid("y", y, problem, "give the images of at least two people.")
    return identity, group, domain


def everyone(identity, group=None, domain=None):
    """All images, as People without attribute.

    Parameters
    ----------
    identity : Labels
    group, domain : Labels or None
    """
    return People(
        np.arange(len(identity.codes)),
        identity.codes.astype(np.int64),
        identity.values,
        groups=None if group is None else group.codes,
        labels=None if group is None else group.values,
        domain=None if domain is None else domain.codes.astype(np.int8),
    )


def agree_on_group(identity, group, min_agreement):
    """The group of each identity, from those of its images that have one.

    Parameters
    ----------
    identity, group : Labels
    min_agreement : float or None
        Share of an identity's images that must agree. If None, all.

    Returns
    -------
    chosen : ndarray of int64, shape (n_identities,)
        Code of the group, or -1 where too few images agree.
    unified : ndarray of bool, shape (n_identities,)
        Whether some of its images have another group than the chosen one.

    Raises
    ------
    ValueError
        If ``min_agreement`` is None and the images of an identity disagree, or none of
        them has a group.
    """
    shape = (identity.values.size, group.values.size)
    known = group.codes >= 0
    place = identity.codes[known].astype(np.int64) * shape[1] + group.codes[known]
    counts = np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)
    n_known, most = counts.sum(1), counts.max(1, initial=0)
    chosen = counts.argmax(1) if shape[1] else np.full(shape[0], -1)
    agreed = (n_known > 0) & (most >= (min_agreement or 1.0) * n_known)
    if min_agreement is None and not agreed.all():
        who = np.flatnonzero(~agreed)[0]
        found = zip(group.values.tolist(), counts[who].tolist(), strict=True)
        found = {label: n for label, n in found if n} or "unknown for all"
        problem = "disagrees between the images of identity "
        problem += f"{identity.values.tolist()[who]!r}, or is unknown: {found}."
        remedy = "Set min_agreement=0.75 to leave out people whose images agree to less than "
        remedy += "that share, or correct the labels."
        raise invalid("sensitive_features", None, problem, remedy)
    return np.where(agreed, chosen, -1), agreed & (most < n_known)


def everyone_by_most(identity, group, domain=None):
    """Everyone, for validation by the group of most of their images. No images are lost."""
    people = everyone(identity, group, domain)
    if group is None or group.values.size == 0:
        return people
    most, _ = agree_on_group(identity, group, np.finfo(float).tiny)
    return replace(people, attribute=most)


def people_by_group(identity, group, min_agreement):
    """People whose images agree on a group, with its code as their attribute.

    Parameters
    ----------
    identity, group : Labels
    min_agreement : float or None
        As in :func:`agree_on_group`.

    Returns
    -------
    people : People
    n_left_out, n_unified : int
        Identities left out, and given the group of most of their images.

    Raises
    ------
    ValueError
        As :func:`agree_on_group` does, or if fewer than two identities are left.
    """
    chosen, unified = agree_on_group(identity, group, min_agreement)
    kept = chosen >= 0
    if kept.sum() < 2:
        problem = f"leaves {int(kept.sum())} of {kept.size} people, and two are needed;"
        remedy = "lower it, or correct sensitive_features."
        raise invalid("min_agreement", min_agreement, problem, remedy)
    people = replace(everyone(identity, group), attribute=chosen).of(kept)
    return people, int((~kept).sum()), int(unified.sum())


def mean_value(identity, group):
    """Mean of a numeric attribute over the images of each identity.

    Returns
    -------
    values : ndarray of float64, shape (n_identities,)

    Raises
    ------
    ValueError
        If the attribute is no number, or unknown for all images of an identity.
    """
    try:
        values = group.values.astype(np.float64)
    except (TypeError, ValueError):
        problem = f"contains {group.values.tolist()[:5]}, and kappas is of numbers;"
        remedy = "give numbers, or kappas={label: kappa}."
        raise invalid("sensitive_features", None, problem, remedy) from None
    known = group.codes >= 0
    owner = identity.codes[known]
    n_known = np.bincount(owner, minlength=identity.values.size)
    if (n_known == 0).any():
        who = identity.values.tolist()[int(np.flatnonzero(n_known == 0)[0])]
        problem = f"is unknown for every image of identity {who!r};"
        raise invalid("sensitive_features", None, problem, "drop such people.")
    weights = values[group.codes[known]]
    return np.bincount(owner, weights, minlength=identity.values.size) / n_known


def hold_out(people, fraction, rng):
    """Split off a share of the identities, the same share of every group.

    Returns
    -------
    trained, held_out : People

    Raises
    ------
    ValueError
        If either part is left without two people, or the second without a person of two
        images.
    """
    strata = people.attribute
    if strata is None or strata.dtype.kind == "f":
        strata = np.zeros(people.identities.size, dtype=np.int64)
    chosen = np.zeros(people.identities.size, dtype=bool)
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        chosen[members[: round(fraction * members.size)]] = True
    several = (np.bincount(people.y) > 1) & chosen
    if chosen.sum() < 2 or (~chosen).sum() < 2 or not several.any():
        problem = (
            f"{fraction} reserves {int(chosen.sum())} of {chosen.size} people for "
        )
        problem += f"validation, {int(several.sum())} of them with two images."
        remedy = "Both parts need two people, and one validation person two images."
        raise invalid("validation_fraction", fraction, problem, remedy)
    return people.of(~chosen), people.of(chosen)


# ---- rates of the validation people ---------------------------------------------------


class HeldOutNumbers(Callback):
    """Records what ``measure`` makes of the unit rows of the validation step."""

    def on_batch_end(self, net, y_pred=None, training=False, **kwargs):
        if not training:
            self._embeddings = y_pred.float().cpu().numpy()

    def on_epoch_end(self, net, **kwargs):
        for name, value in self.measure(self._embeddings).items():
            net.history.record(name, value)


class HeldOutRates(HeldOutNumbers):
    """Records the rate that is monitored, "valid_<monitor>". Smaller is better.

    Parameters
    ----------
    people : People
        None of whose identities is trained on. All pairs of their images are compared.
    monitor : str
        One of MONITORS but "loss".
    far : float
        Level of the rates.

    Raises
    ------
    ValueError
        If these people do not suffice for the monitor.
    """

    def __init__(self, people, monitor, far):
        self.monitor = monitor
        self.far = far
        self._images = images_of(people)
        _check_monitor(self._images, monitor, far)

    def measure(self, embeddings):
        """The rate of these unit rows, by its name."""
        if self.monitor == "frr_at_far":
            found = rates_at(self.far, self._images, embeddings, [None])
            return {"valid_frr_at_far": float(found.frr[0, 0])}
        # BFAR or BFRR, EM22 eq. 3-4.
        scopes = _within_groups(self._images)
        found = rates_at(self.far, self._images, embeddings, scopes, "worst_group")
        rates = found.far if self.monitor == "bfar" else found.frr
        value = float(max_min(rates[:, 0]))
        # 0/0, if no group has an error, is undefined: never the best.
        return {f"valid_{self.monitor}": float("inf") if np.isnan(value) else value}


class GroupFARs(HeldOutNumbers):
    """Records the FAR within every group at the threshold of an overall FAR.

    Parameters
    ----------
    people : People
        With ``groups`` and ``labels``.
    far : float

    Attributes
    ----------
    names : list of str
        Of the FARs in the history, "far_<label>".
    n_impostors : ndarray of int, shape (n_groups,)
        Impostor pairs within each group, or 0 for a group without images among them.
    resolved : bool
        Whether there are enough impostor pairs for the level.
    """

    def __init__(self, people, far):
        self.far = far
        self.names = [f"far_{label}" for label in people.labels.tolist()]
        self._images = images_of(people)
        # The groups of ``_images`` are those that occur. These are their places.
        self._present = np.unique(people.groups[people.groups >= 0])
        totals = Totals(self._images, "pair", "all")
        self.n_impostors = np.zeros(len(people.labels), dtype=np.int64)
        self.n_impostors[self._present] = [
            totals.count(scope) for scope in _within_groups(self._images)
        ]
        self.resolved = far * totals.count(None) >= 1

    def check_for_dynamic(self, labels):
        """Raise where the FARs that dynamic weights follow cannot be measured."""
        if not self.resolved or (self.n_impostors == 0).any():
            found = dict(zip(labels.tolist(), self.n_impostors.tolist(), strict=True))
            problem = (
                f"is {self.far:g}, which the impostor pairs within the groups of the "
            )
            problem += f"validation people, {found}, do not resolve."
            remedy = "Pass more people, a larger validation_fraction or far, or "
            raise invalid("far", self.far, problem, f"{remedy}sampling='adjusted'.")

    def measure(self, embeddings):
        """FAR of each group by name, in [0, 1], or nan without an impostor pair."""
        fars = np.full(len(self.n_impostors), np.nan)
        measured = np.flatnonzero(self.n_impostors[self._present] > 0)
        if measured.size:
            scopes = [(int(g), int(g)) for g in measured]
            found = rates_at(self.far, self._images, embeddings, scopes)
            fars[self._present[measured]] = found.far[:, 0]
        return dict(zip(self.names, fars.tolist(), strict=True))


def rates_at(far, images, embeddings, scopes, operating_point="overall"):
    """Rates at the threshold of a FAR level, without resamples.

    Parameters
    ----------
    far : float
    images : Images
    embeddings : ndarray of float32, shape (n_images, n_features)
    scopes : list
        None: all pairs. (g, g): the pairs within a group.
    operating_point : str, default="overall"

    Returns
    -------
    rates : Rates, of shape (n_scopes, 1)
    """
    totals = Totals(images, "pair", "all")
    vectors = unit_rows(embeddings, "cosine")
    pairs = compare_images(vectors, totals, far, expected=Expected(whole=False))
    query = Query(
        levels=np.array([far]),
        thresholds=None,
        operating_point=operating_point,
        scopes=tuple(scopes),
        operating_groups=tuple(range(images.n_groups)),
    )
    return point_rates(pairs, query)[1]


def images_of(people):
    """People as the Images that ``_core`` compares. Only groups that occur have a code."""
    groups = people.groups
    if groups is None:
        groups = np.full(people.rows.size, -1, dtype=np.int32)
    known, codes = np.unique(groups, return_inverse=True)
    # Code -1, unknown, comes first in ``known`` if it occurs.
    codes = codes.astype(np.int32) - np.int32(known[0] < 0)
    return Images(
        people.y.astype(np.int32),
        codes,
        people.domain,
        people.identities.size,
        int((known >= 0).sum()),
    )


def _within_groups(images):
    """The scopes of the pairs within each group."""
    return [(g, g) for g in range(images.n_groups)]


def _check_monitor(images, monitor, far):
    """Raise if the validation people have too few groups or pairs for the monitor."""
    scopes = [None] if monitor == "frr_at_far" else _within_groups(images)
    if not scopes or scopes == [(0, 0)]:
        problem = f"is {monitor!r}, which compares groups, got {len(scopes)} among the "
        problem += "validation people."
        remedy = (
            "Pass sensitive_features, raise validation_fraction, or use monitor='loss'."
        )
        raise invalid("monitor", monitor, problem, remedy)
    totals = Totals(images, "pair", "all")
    fewest = min(totals.count(scope) for scope in scopes)
    genuine = min(totals.count(scope, "frr") for scope in scopes)
    remedy = "Pass more people, a larger validation_fraction or monitor_far"
    if fewest * far < 1 or (monitor != "bfar" and genuine == 0):
        problem = (
            f"is {far:g}, which {fewest} impostor and {genuine} genuine validation "
        )
        problem += "pairs (of the group with the fewest) do not resolve."
        raise invalid("monitor_far", far, problem, f"{remedy}, or monitor='loss'.")
    if fewest * far < MIN_ERRORS:
        warn_caller(
            f"monitor={monitor!r} at monitor_far={far:g} rests on {fewest * far:.0f} false "
            f"acceptances of validation people or fewer, but needs {MIN_ERRORS}: the "
            f"best epoch may be best by chance. {remedy}.",
            FewErrorsWarning,
        )


def sample_to_compare(people, seed):
    """People whose images make at most MOST_PAIRS pairs: these, or a sample of them.

    Every group is sampled by itself, and in it people of several images and of one. Each
    has FEWEST_IMAGES, enough to measure the FAR within a rare group, and its share of the
    rest. People are drawn whole, except that none has more than its part
    of FEWEST_PEOPLE equal ones. For such a person's images some are drawn.

    Parameters
    ----------
    people : People
        Held out.
    seed : int
        Of the fit. The draws leave the others of the fit as they are.

    Returns
    -------
    sample : People
        ``people`` itself where all of them can be compared.
    """
    if people.rows.size <= MOST_IMAGES:
        return people
    rng = np.random.default_rng([seed, STREAM])
    n_images = np.bincount(people.y, minlength=people.identities.size)
    stratum = _strata(people, n_images)
    sizes = np.bincount(stratum, n_images)
    fewest = np.minimum(sizes, min(FEWEST_IMAGES, MOST_IMAGES // (2 * sizes.size)))
    share = (MOST_IMAGES - fewest.sum()) / (sizes - fewest).sum()
    taken = np.zeros_like(n_images)
    for s, quota in enumerate(np.floor(fewest + share * (sizes - fewest)).astype(int)):
        own = rng.permutation(np.flatnonzero(stratum == s))
        most = max(2, quota // min(own.size, FEWEST_PEOPLE))
        parts = np.minimum(n_images[own], most)
        taken[own] = np.where(parts.cumsum() <= quota, parts, 0)
    order = rng.permutation(people.y.size)
    turn = np.empty_like(order)
    turn[order] = places_among_equals(people.y[order])
    return people.of(taken > 0, turn < taken[people.y])


def _strata(people, n_images):
    """Stratum of each identity: its group, and whether it has several images."""
    group = np.zeros(n_images.size, dtype=np.int64)
    if people.attribute is not None and people.attribute.dtype.kind != "f":
        group = people.attribute
    elif people.groups is not None:
        group = people.groups[np.unique(people.y, return_index=True)[1]]
    return np.unique(2 * group + (n_images > 1), return_inverse=True)[1]
