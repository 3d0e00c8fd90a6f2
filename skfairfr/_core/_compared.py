"""Embeddings compared once: the pairs that all questions about them share.

The images fall into cells, the combinations of all attributes that occur. A question is
about the groups of one attribute, or of a combination of several, and every group is a
union of cells. ``ComparedImages`` takes the floor that each such partition needs, collects
the impostor pairs above the lowest floor of their two cells in one pass, and sorts them
once; the partitions (``EmbeddingPairs``) then read their scopes from the same pairs.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from skfairfr._core import _device_tiles, _pair_tiles
from skfairfr._core._pair_sequences import PairSequence, sorted_descending
from skfairfr._core._resampling import Images


@dataclass
class _Floors:
    """Lowest score held of each group of a partition.

    Attributes
    ----------
    group_of_cell : ndarray of int, shape (n_cells,)
        -1 is unknown.
    groups : ndarray of float32, shape (n_groups,)
    """

    group_of_cell: np.ndarray
    groups: np.ndarray


class ComparedImages:
    """Embeddings, their genuine pairs, and the tail of their impostor pairs.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, n_features)
        Rows whose inner product is the similarity, or what ``adjustment`` makes it of.
    images : Images
        Identities and sides; its groups are not used.
    columns : list of ndarrays of int32, shape (n_images,), default=()
        Codes of every attribute that partitions will be made of; -1 is unknown.
    similarity : {"cosine", "dot"}
    n_jobs : int or None
    device : str, default="cpu"
        Where passes over all pairs run; where there is no such device, on the CPU.
    adjustment : Adjustment, default=None
        What makes scores of inner products; None: they are the scores.

    Attributes
    ----------
    rows : tuple of two Rows
        Of the probes and of the references: the same object if there is one side.
    first_of_cell : ndarray of int, shape (n_cells,)
        An image of every cell.
    genuine : PairSequence
        All genuine pairs, descending.
    own_scores : ndarray of float32, shape (n_images,)
        Score s(x, x) of every image: that of two copies of it.
    sample : PairSequence or None
        A uniform sample of all impostor pairs, once a partition has drawn it.
    floors : dict
        Score down to which all impostor pairs are held, by what it was chosen for.
    """

    def __init__(
        self,
        vectors,
        images,
        columns=(),
        similarity="cosine",
        n_jobs=None,
        device="cpu",
        adjustment=None,
    ):
        n_images = images.identity.size
        self.vectors = vectors
        self.similarity = similarity
        self.n_jobs = n_jobs
        self.device = device
        self.adjustment = adjustment
        self.two_sides = images.side is not None
        codes = np.stack(columns) if len(columns) else np.zeros((1, n_images), np.int32)
        _, self.first_of_cell, cell = np.unique(
            codes, axis=1, return_index=True, return_inverse=True
        )
        self._in_cells = Images(
            images.identity,
            cell.ravel().astype(np.int32),
            images.side,
            images.n_identities,
            self.first_of_cell.size,
        )
        members = [np.arange(n_images)]
        if self.two_sides:
            members = [np.flatnonzero(images.side == s) for s in (0, 1)]
        rows = [
            _pair_tiles.Rows.of(vectors, self._in_cells, m, adjustment) for m in members
        ]
        self.rows = tuple(rows * (1 if self.two_sides else 2))
        left, right = _pair_tiles.genuine_pairs(images)
        scores = self.score_pairs(left, right)
        self.genuine = sorted_descending(scores, left, right)
        everyone = np.arange(n_images)
        self.own_scores = self.score_pairs(everyone, everyone)
        self.sample = None
        self.floors = {}
        self._overall = np.float32(np.inf)
        self._partitions = []
        self._held = None

    def score_pairs(self, left, right):
        """Exact scores of pairs of images, (n_pairs,) float32."""
        return _pair_tiles.score_pairs(self.vectors, left, right, self.adjustment)

    def tile(self, probe, reference):
        """Scores of all pairs of some images, with the errors of float32 products."""
        scores = self.vectors[probe] @ self.vectors[reference].T
        if self.adjustment is not None:
            self.adjustment[probe].adjust_tile(scores, self.adjustment[reference])
        return scores

    def hold(self, group, overall, groups):
        """Hold the impostor pairs of a partition down to its floors.

        Lower floors take effect at the next use of the pairs, so that one pass serves all
        partitions that ask before it.

        Parameters
        ----------
        group : ndarray of int, shape (n_images,)
            Group of each image in the partition; -1 is unknown.
        overall : float32
            Floor of all impostor pairs.
        groups : ndarray of float32, shape (n_groups,)
            Floor of the pairs within each group.
        """
        if overall < self._overall:
            self._overall, self._held = overall, None
        if groups.size == 0:
            return
        asked = _Floors(group[self.first_of_cell], groups.copy())
        for known in self._partitions:
            if np.array_equal(known.group_of_cell, asked.group_of_cell):
                if (asked.groups < known.groups).any():
                    known.groups = np.minimum(known.groups, asked.groups)
                    self._held = None
                break
        else:
            self._partitions.append(asked)
            self._held = None

    def held(self):
        """Impostor pairs at or above the floor of their two cells.

        Returns
        -------
        held : PairSequence
            Descending.
        """
        if self._held is None:
            self._held = PairSequence(*self._pass(self._floors()))
        return self._held

    def for_workers(self):
        """What resampling needs: the own scores."""
        small = copy(self)
        small.vectors = small.rows = small.genuine = small.sample = None
        small.adjustment = None
        small._held = PairSequence(*(np.empty(0, dtype=np.float32) for _ in range(3)))
        return small

    def _pass(self, floors):
        """One pass over all impostor pairs: the tail above the floors."""
        if _device_tiles.is_at_hand(self.device):
            return _device_tiles.collect_tail(*self.rows, floors, self.device)
        return _pair_tiles.collect_tail(*self.rows, floors, self.n_jobs)

    def _floors(self):
        """The lowest floor of every two cells; the last row and column are not used."""
        n_cells = self.first_of_cell.size
        floors = np.full((n_cells + 1, n_cells + 1), self._overall)
        for known in self._partitions:
            group = known.group_of_cell
            same = (group[:, None] == group) & (group[:, None] >= 0)
            own = np.where(same, known.groups[group][:, None], np.float32(np.inf))
            inside = floors[:n_cells, :n_cells]
            np.minimum(inside, own, out=inside)
        return floors


class ListedScores:
    """Scored pairs of a list, sorted once.

    Parameters
    ----------
    scores : ndarray, shape (n_pairs,)
    left, right : ndarrays of int32, shape (n_pairs,)
        Images, or identities where images are unnamed.
    identity : ndarray of int32, shape (n_images,)

    Attributes
    ----------
    genuine, impostors : PairSequence
        Descending.
    genuine_rows, impostor_rows : ndarrays of int
        Place of each of them in the list.
    n_pairs : int
    """

    def __init__(self, scores, left, right, identity):
        order = np.argsort(-scores, kind="stable")
        self.n_pairs = order.size
        genuine = identity[left[order]] == identity[right[order]]
        self.genuine_rows, self.impostor_rows = order[genuine], order[~genuine]
        self.genuine, self.impostors = (
            PairSequence(scores[rows], left[rows], right[rows])
            for rows in (self.genuine_rows, self.impostor_rows)
        )

    def held(self):
        """Impostor pairs, all of which are held."""
        return self.impostors
