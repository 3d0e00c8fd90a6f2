"""People held out: which of their images are compared after every epoch, and the rates.

Pairs grow as the square of the images. Above a stated number of pairs a sample of the
people is drawn once a fit, so that all epochs are judged by the same pairs.
"""

from math import isqrt

import numpy as np
from skorch.callbacks import Callback

from skfairfr._core._bootstrap import Query, point_rates
from skfairfr._core._intervals import MIN_ERRORS
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._pairs import Expected, compare_images
from skfairfr._core._rates import max_min
from skfairfr._core._resampling import Images
from skfairfr._core._totals import Totals
from skfairfr.utils._validation import FewErrorsWarning, warn_caller

MONITORS = ("loss", "bfar", "bfrr", "frr_at_far")
# Pairs compared after an epoch, at most.
MOST_PAIRS = 2**24
# n images make n (n - 1) / 2 pairs. Where people have two images each, the loss compares
# them with n / 2 means, and with fewer where they have more: n**2 / 2 bounds both.
MOST_IMAGES = isqrt(2 * MOST_PAIRS)
# Images kept of a group that has them: their 130,816 pairs hold 130 errors at a FAR of 1e-3.
# Many groups share half of the sample.
FEWEST_IMAGES = 512
# People who share the images of a group, at least; of one with more images some are drawn.
FEWEST_PEOPLE = 32
# Makes the draws differ from all others of a fit.
STREAM = 1


class HeldOutNumbers(Callback):
    """Records what ``measure`` makes of the unit rows of the validation step."""

    def on_batch_end(self, net, y_pred=None, training=False, **kwargs):
        if not training:
            self._embeddings = y_pred.float().cpu().numpy()

    def on_epoch_end(self, net, **kwargs):
        for name, value in self.measure(self._embeddings).items():
            net.history.record(name, value)


class HeldOutRates(HeldOutNumbers):
    """Records the rate that is monitored, "valid_<monitor>"; smaller is better.

    Parameters
    ----------
    people : People
        None of whose identities is trained on; all pairs of their images are compared.
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
        # 0/0, where no group has an error, is undefined: never the best.
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
        Impostor pairs within each group; 0 for a group without images among them.
    resolved : bool
        Whether there are enough impostor pairs for the level.
    """

    def __init__(self, people, far):
        self.far = far
        self.names = [f"far_{label}" for label in people.labels.tolist()]
        self._images = images_of(people)
        # The groups of ``_images`` are those that occur; these are their places.
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
            raise ValueError(
                "sampling='dynamic' follows the FAR within each group of the people held "
                f"out, whose impostor pairs do not resolve far={self.far:g}: {found}. Give "
                "more of these people, a larger validation_fraction or far, or "
                "sampling='adjusted'."
            )

    def measure(self, embeddings):
        """FAR of each group by name, in [0, 1]; nan without an impostor pair."""
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
        None: all pairs; (g, g): the pairs within a group.
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
    """People as the Images that ``_core`` compares; only groups that occur have a code."""
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
    """Raise where the people held out have too few groups or pairs for the monitor."""
    scopes = [None] if monitor == "frr_at_far" else _within_groups(images)
    if not scopes or scopes == [(0, 0)]:
        raise ValueError(
            f"monitor={monitor!r} compares groups, and the held-out people have "
            f"{len(scopes)}; give sensitive_features, a larger validation_fraction, "
            "or monitor='loss' or 'frr_at_far'."
        )
    totals = Totals(images, "pair", "all")
    fewest = min(totals.count(scope) for scope in scopes)
    genuine = min(totals.count(scope, "frr") for scope in scopes)
    what = f"monitor={monitor!r} at monitor_far={far:g} rests on"
    remedy = "give more people, a larger validation_fraction or monitor_far"
    if fewest * far < 1 or (monitor != "bfar" and genuine == 0):
        raise ValueError(
            f"{what} {fewest} impostor and {genuine} genuine pairs of held-out people (of "
            f"the group with the fewest), which do not resolve it; {remedy}, or "
            "monitor='loss'."
        )
    if fewest * far < MIN_ERRORS:
        warn_caller(
            f"{what} {fewest * far:.0f} false acceptances of held-out people or fewer, "
            f"where {MIN_ERRORS} are wanted: the best epoch may be one of chance; {remedy}.",
            FewErrorsWarning,
        )


def sample_to_compare(people, seed):
    """People whose images make at most MOST_PAIRS pairs: these, or a sample of them.

    Every group is sampled by itself, and in it people of several images and of one. Each
    has its share of the sample, but FEWEST_IMAGES at least, so that the FAR within a rare
    group can still be measured. People are drawn whole, except that none has more than
    its part of FEWEST_PEOPLE equal ones; of such a person's images some are drawn, in
    turn from both domains.

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
    sizes = np.bincount(stratum, n_images).astype(np.int64)
    quotas = _quotas(sizes, MOST_IMAGES)
    n_people = np.minimum(np.bincount(stratum), FEWEST_PEOPLE)
    taken = np.minimum(n_images, np.maximum(2, quotas // n_people)[stratum])

    order = rng.permutation(n_images.size)
    order = order[np.argsort(stratum[order], kind="stable")]
    strata = stratum[order]
    reached = np.cumsum(taken[order])
    sums = np.bincount(stratum, taken)
    reached -= (np.cumsum(sums) - sums).astype(np.int64)[strata]
    taken[order[reached > quotas[strata]]] = 0

    turn = _turns(people, rng)
    return people.of(taken > 0, turn < taken[people.y])


def _strata(people, n_images):
    """Stratum of each identity: its group, and whether it has several images."""
    group = np.zeros(n_images.size, dtype=np.int64)
    if people.attribute is not None and people.attribute.dtype.kind != "f":
        group = people.attribute
    elif people.groups is not None:
        group = people.groups[np.unique(people.y, return_index=True)[1]]
    return np.unique(2 * group + (n_images > 1), return_inverse=True)[1]


def _quotas(sizes, total):
    """Images to take of each stratum: the same share of all, but a fewest of each.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n_strata,)
        Their sum exceeds the total.
    total : int

    Returns
    -------
    quotas : ndarray of int64, shape (n_strata,)
        At most ``sizes``; their sum is at most ``total``.
    """
    fewest = np.minimum(sizes, min(FEWEST_IMAGES, total // (2 * sizes.size)))
    shared = np.ones(sizes.size, dtype=bool)
    while True:
        share = (total - fewest[~shared].sum()) / sizes[shared].sum()
        below = shared & (share * sizes < fewest)
        if not below.any():
            return np.where(shared, np.floor(share * sizes), fewest).astype(np.int64)
        shared &= ~below


def _turns(people, rng):
    """Place of every image in a random order of its person's, the domains in turn."""
    order = rng.permutation(people.y.size)
    side = np.zeros(order.size, dtype=np.int8)
    if people.domain is not None:
        side = people.domain[order]
    place = _places(2 * people.y[order] + side)
    order = order[np.lexsort((side, place))]
    turn = np.empty(order.size, dtype=np.int64)
    turn[order] = _places(people.y[order])
    return turn


def _places(labels):
    """Place of every element among those of its label, from 0 on."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    places = np.empty(labels.size, dtype=np.int64)
    starts = np.cumsum(counts) - counts
    places[order] = np.arange(labels.size) - np.repeat(starts, counts)
    return places
