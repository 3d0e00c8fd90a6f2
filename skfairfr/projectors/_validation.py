"""What a fit is watched by on people it does not train on."""

import numpy as np
import torch

from skfairfr._core._bootstrap import Query, point_rates
from skfairfr._core._disparities import max_min
from skfairfr._core._pair_design import CompleteDesign
from skfairfr._core._pair_sets import EmbeddingPairs
from skfairfr._core._pair_tiles import unit_rows
from skfairfr._core._resampling import Images
from skfairfr.projectors._head import project

MONITORS = ("loss", "bfar", "bfrr", "frr_at_far")
FAR = 1e-3  # the level of the ready scorers


class Validation:
    """Measures a net on held-out people, after every epoch.

    Parameters
    ----------
    rows : Rows
    people : People
        None of whose identities is trained on.
    monitor : str
        One of MONITORS; the loss is measured whatever it is.
    held_out_loss : callable
        ``held_out_loss(criterion, embeddings, people)`` gives a float.
    batch_size : int
    also : callable, default=None
        ``also(embeddings)`` gives a dict of more numbers.

    Raises
    ------
    ValueError
        If these people cannot answer what the monitor asks.
    """

    def __init__(self, rows, people, monitor, held_out_loss, batch_size, also=None):
        self.rows = rows
        self.people = people
        self.monitor = monitor
        self.held_out_loss = held_out_loss
        self.batch_size = batch_size
        self.also = also
        if monitor != "loss":
            self._images = as_images(people)
            _check_answerable(self._images, monitor)

    def __call__(self, net):
        """The "valid_..." numbers of a net, smaller is better."""
        batches = self.rows.in_order(self.batch_size, self.people.rows)
        embeddings = project(net.module_, batches)
        on_device = torch.from_numpy(embeddings).to(self.rows.device)
        loss = self.held_out_loss(net.criterion_, on_device, self.people)
        values = {"valid_loss": loss}
        if self.monitor != "loss":
            values[f"valid_{self.monitor}"] = self._fairness(embeddings)
        return values if self.also is None else values | self.also(embeddings)

    def _fairness(self, embeddings):
        """BFAR, BFRR (EM22 eq. 3-4) or FRR@FAR at 1e-3, of these embeddings."""
        scopes, operating_point = (None,), "overall"
        if self.monitor != "frr_at_far":
            scopes = tuple((g, g) for g in range(self._images.n_groups))
            operating_point = "worst_group"
        found = rates_at(FAR, self._images, embeddings, scopes, operating_point)
        if self.monitor == "frr_at_far":
            return float(found.frr[0, 0])
        of_groups = (found.far if self.monitor == "bfar" else found.frr)[:, 0]
        value = float(max_min(of_groups))
        # 0/0, no group has an error: undefined, which is never the best.
        return float("inf") if np.isnan(value) else value


def rates_at(far, images, embeddings, scopes, operating_point="overall"):
    """Rates (n_scopes, 1) at the threshold of a FAR level, of embeddings of Images."""
    design = CompleteDesign(images, "pair", "all")
    pairs = EmbeddingPairs(unit_rows(embeddings, "cosine"), design, far)
    query = Query(
        levels=np.array([far]),
        thresholds=None,
        operating_point=operating_point,
        scopes=scopes,
        operating_groups=tuple(range(images.n_groups)),
    )
    return point_rates(pairs, query)[1]


def as_images(people):
    """Held-out people as the Images that ``_core`` compares; groups without gaps."""
    groups = people.groups
    if groups is None:
        groups = np.full(people.rows.size, -1, dtype=np.int32)
    known, codes = np.unique(groups, return_inverse=True)
    # Codes without gaps: a group may have stayed among the people trained on.
    codes = codes.astype(np.int32) - np.int32(known[0] < 0)
    return Images(
        people.y.astype(np.int32),
        codes,
        people.domain,
        people.identities.size,
        int((known >= 0).sum()),
    )


def _check_answerable(images, monitor):
    """Raise where the held-out people cannot resolve the level or have no groups."""
    scopes = [None]
    if monitor != "frr_at_far":
        scopes = [(g, g) for g in range(images.n_groups)]
        if len(scopes) < 2:
            raise ValueError(
                f"monitor={monitor!r} compares groups, and the held-out people have "
                f"{len(scopes)}; give sensitive_features, a larger validation_fraction, "
                "or monitor='loss' or 'frr_at_far'."
            )
    design = CompleteDesign(images, "pair", "all")
    fewest = min(design.count_impostors(scope) for scope in scopes)
    if fewest * FAR < 1:
        raise ValueError(
            f"monitor={monitor!r} is measured at FAR {FAR:g}, which {fewest} impostor "
            "pairs of the held-out people do not resolve; give more people, a larger "
            "validation_fraction, or monitor='loss'."
        )
    if monitor != "bfar" and min(design.count_genuine(scope) for scope in scopes) == 0:
        raise ValueError(
            f"monitor={monitor!r} needs genuine pairs of every group among the held-out "
            "people; give more people, a larger validation_fraction, or monitor='loss'."
        )
