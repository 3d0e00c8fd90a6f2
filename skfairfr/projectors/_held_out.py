"""Metrics of people held out of the training, measured after every epoch.

They are those of ``transform``, in float32 whatever the precision of the training.
"""

import numpy as np
import torch

from skfairfr._core._bootstrap import Query, point_rates
from skfairfr._core._disparities import max_min
from skfairfr._core._pair_design import CompleteDesign
from skfairfr._core._pair_sets import Expected, compare_images
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._resampling import Images
from skfairfr.projectors._head import project
from skfairfr.utils._torch import precision_of_products

MONITORS = ("loss", "bfar", "bfrr", "frr_at_far")
MONITOR_FAR = 1e-3  # the level of the ready scorers


class HeldOutMetrics:
    """The "valid_..." numbers of a head; smaller is better.

    Parameters
    ----------
    rows : DeviceRows
    people : People
        None of whose identities is trained on; all pairs of their images are compared.
    monitor : str
        One of MONITORS. The loss is always measured.
    held_out_loss : callable
        ``held_out_loss(embeddings, people)`` gives a float.
    extra_metrics : callable, default=None
        ``extra_metrics(embeddings)`` gives a dict of more numbers.

    Raises
    ------
    ValueError
        If these people do not suffice for the monitor.
    """

    def __init__(self, rows, people, monitor, held_out_loss, extra_metrics=None):
        self.rows = rows
        self.people = people
        self.monitor = monitor
        self.held_out_loss = held_out_loss
        self.extra_metrics = extra_metrics
        if monitor != "loss":
            self._images = images_of(people)
            _check_monitor(people, self._images, monitor)

    def __call__(self, head):
        """All numbers of this head, by name."""
        with precision_of_products("float32", self.rows.device):
            return self._measure(head)

    def _measure(self, head):
        embeddings = project(head, self.rows, self.people.rows)
        on_device = torch.from_numpy(embeddings).to(self.rows.device)
        values = {"valid_loss": self.held_out_loss(on_device, self.people)}
        if self.monitor == "frr_at_far":
            found = rates_at(MONITOR_FAR, self._images, embeddings, [None])
            values["valid_frr_at_far"] = float(found.frr[0, 0])
        elif self.monitor != "loss":
            # BFAR or BFRR, EM22 eq. 3-4.
            found = rates_at(
                MONITOR_FAR,
                self._images,
                embeddings,
                _within_groups(self._images),
                operating_point="worst_group",
            )
            rates = found.far if self.monitor == "bfar" else found.frr
            value = float(max_min(rates[:, 0]))
            # 0/0, where no group has an error, is undefined: never the best.
            values[f"valid_{self.monitor}"] = float("inf") if np.isnan(value) else value
        if self.extra_metrics is not None:
            values |= self.extra_metrics(embeddings)
        return values


class GroupFARs:
    """FAR within every group at the threshold of an overall FAR.

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
        self.people = people
        self.names = [f"far_{label}" for label in people.labels.tolist()]
        self._images = images_of(people)
        # The groups of ``_images`` are those that occur; these are their places.
        self._present = np.unique(people.groups[people.groups >= 0])
        design = CompleteDesign(self._images, "pair", "all")
        self.n_impostors = np.zeros(len(people.labels), dtype=np.int64)
        self.n_impostors[self._present] = [
            design.count_impostors(scope) for scope in _within_groups(self._images)
        ]
        self.resolved = far * design.count_impostors(None) >= 1

    def check_for_dynamic(self, labels):
        """Raise where the FARs that dynamic weights follow cannot be measured."""
        absent = labels[self.n_impostors == 0].tolist()
        if absent:
            raise ValueError(
                "sampling='dynamic' needs impostor pairs within every group among "
                f"{_described(self.people)}, and {absent} have none; give more people of "
                "these groups, a larger validation_fraction, or sampling='adjusted'."
            )
        if not self.resolved:
            more = (
                "" if self.people.is_sample else " or validation_fraction, more people"
            )
            raise ValueError(
                f"far={self.far:g} is not resolved by the impostor pairs of "
                f"{_described(self.people)}, so that dynamic weights would follow noise; "
                f"give a larger far{more}, or sampling='adjusted'."
            )

    def __call__(self, embeddings):
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
    design = CompleteDesign(images, "pair", "all")
    vectors = unit_rows(embeddings, "cosine")
    pairs = compare_images(vectors, design, far, expected=Expected(whole=False))
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


def _described(people):
    """What a message calls the people whose pairs are compared."""
    if people.is_sample:
        return f"the {people.rows.size} held-out images that are compared"
    return "the held-out people"


def _check_monitor(people, images, monitor):
    """Raise where these people have too few groups or pairs for the monitor."""
    scopes = [None]
    if monitor != "frr_at_far":
        scopes = _within_groups(images)
        if len(scopes) < 2:
            raise ValueError(
                f"monitor={monitor!r} compares groups, and the held-out people have "
                f"{len(scopes)}; give sensitive_features, a larger validation_fraction, "
                "or monitor='loss' or 'frr_at_far'."
            )
    more = "give more people, a larger validation_fraction"
    if people.is_sample:
        more = "give larger groups"
    design = CompleteDesign(images, "pair", "all")
    fewest = min(design.count_impostors(scope) for scope in scopes)
    if fewest * MONITOR_FAR < 1:
        raise ValueError(
            f"monitor={monitor!r} is measured at FAR {MONITOR_FAR:g}, which {fewest} "
            f"impostor pairs of {_described(people)} do not resolve; {more}, or "
            "monitor='loss'."
        )
    if monitor != "bfar" and min(design.count_genuine(scope) for scope in scopes) == 0:
        raise ValueError(
            f"monitor={monitor!r} needs genuine pairs of every group among "
            f"{_described(people)}; {more}, or monitor='loss'."
        )
