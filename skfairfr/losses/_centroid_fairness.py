"""Regression of scores to identity centroids on those of a reference group's quantiles."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.functional import normalize
from torch.utils.checkpoint import checkpoint

from skfairfr.losses._softmax import rows_per_block, starting_centroids, to_tensor
from skfairfr.utils._errors import invalid
from skfairfr.utils._validation import check_count, check_number

# Impostor scores that the map of a group is made from: of some centroids alone where the
# group has more.
MOST_SCORES = 1 << 22
# Cells of the table over [-1, 1]. Within one the map is a straight line.
N_CELLS = 4096


class CentroidFairnessLoss(nn.Module):
    """Squared distance of scores to centroids from scores that groups would share.

    The pseudo-score of image i and person k is the cosine of the embedding of i and the
    centroid of k, genuine if i shows k. The pseudo-scores of the input embeddings are mapped
    within each group to the quantiles of the reference group, genuine and impostor scores
    separately: T = FRR_r^-1 o FRR_a and T = FAR_r^-1 o FAR_a. The loss of an image is the
    squared difference of its new genuine score to the mapped one, plus the mean such square
    over the others of its group. The loss of a batch is the mean over groups of their images'
    mean. Scores across groups are not used.

    Parameters
    ----------
    X : array-like, shape (n_images, n_features_in)
        Embeddings as they come, from whose scores the maps are made. Some of every group
        suffice.
    y : array-like of int, shape (n_images,)
        Identity of each, in 0..n_identities - 1.
    group : array-like of int, shape (n_identities,)
        Code of each identity's group, from 0.
    reference : int, default=None
        Code of the reference group, of two identities at least. If None, the group whose
        genuine and impostor scores lie furthest apart: largest difference of their means
        over the root of their mean variance.
    genuine_weight : float, default=1.0
        Weight of the squared errors of genuine scores, >= 0. That of impostor scores is 1.
    n_groups : int, default=None
        None is the largest code plus 1.
    n_features : int, default=None
        Number of features of the trained embeddings. If None, n_features_in.
    before : array-like, shape (n_identities, n_features_in), default=None
        Centroids of the embeddings as they come, of any length. If None, the mean over X.
    centroids : array-like, shape (n_identities, n_features), default=None
        Initial trained centroids. None draws directions uniformly on the sphere.
    generator : torch.Generator, default=None
        Source of randomness for them, and for a sample of the scores where they are very many.

    Attributes
    ----------
    centroids : nn.Parameter, shape (n_identities, n_features)
        Trained. Only their directions matter.
    reference : int
        Code of the reference group as used.
    takes_inputs : bool
        True: ``forward`` is also given the embeddings as they come.

    Raises
    ------
    ValueError
        If the reference is no group of two identities, or a weight is out of range.

    References
    ----------
    .. [1] Conti, J.-R., & Clémençon, S. (2025). Mitigating Bias in Facial Recognition
       Systems: Centroid Fairness Loss Optimization. arXiv:2504.19370. Of it the abstract
       and a summary were read.

    Examples
    --------
    >>> import torch
    >>> from skfairfr.losses import CentroidFairnessLoss
    >>> X, y = torch.randn(20, 8), torch.arange(20) % 5
    >>> loss = CentroidFairnessLoss(X, y, [0, 0, 0, 1, 1], reference=0)
    >>> embeddings = X.clone().requires_grad_()
    >>> loss(embeddings, y, X).backward()
    """

    takes_inputs = True

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        group: ArrayLike,
        *,
        reference: int | None = None,
        genuine_weight: float = 1.0,
        n_groups: int | None = None,
        n_features: int | None = None,
        before: ArrayLike | None = None,
        centroids: ArrayLike | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.genuine_weight = check_number(
            genuine_weight,
            "genuine_weight",
            lambda w: 0 <= w < math.inf,
            "must be a number >= 0",
        )
        if n_features is not None:
            check_count(n_features, "n_features", 1)
        X = normalize(to_tensor(X, "X", ("n_images", "n_features_in")))
        y = to_tensor(y, "y", (len(X),), np.int64)
        group = to_tensor(group, "group", ("n_identities",), np.int64)
        if n_groups is not None:
            check_count(n_groups, "n_groups", 1, len(group))
        _check_codes(y, "y", len(group))
        _check_codes(group, "group", n_groups or len(group))
        if before is None:
            before = sums_of_rows(X, y, len(group))
        before = normalize(to_tensor(before, "before", (len(group), X.shape[1])))
        self.register_buffer("group", group)
        self.register_buffer("before", before)
        scores = [
            pseudo_scores(X, y, group, before, code, generator)
            for code in range(n_groups or int(group.max()) + 1)
        ]
        self.reference = _reference(scores, reference)
        for kind in ("genuine", "impostor"):
            reference_scores = scores[self.reference][kind]
            # Scores of a group without any to learn from stay as they are.
            known = [s[kind] if s[kind].size else reference_scores for s in scores]
            maps = [score_map(own, reference_scores) for own in known]
            self.register_buffer(f"{kind}_maps", torch.from_numpy(np.stack(maps)))
        shape = len(group), n_features or X.shape[1]
        self.centroids = nn.Parameter(starting_centroids(centroids, *shape, generator))

    def forward(
        self, embeddings: torch.Tensor, y: torch.Tensor, X: torch.Tensor
    ) -> torch.Tensor:
        """Mean loss of a batch.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Trained rows, of any norm. Only their directions matter.
        y : tensor of int64, shape (n_samples,)
            Identity of each row, in 0..n_identities - 1.
        X : tensor, shape (n_samples, n_features_in)
            The same images' embeddings as they come.

        Returns
        -------
        loss : tensor, shape ()
            >= 0.
        """
        return self._loss(embeddings, y, X, self.group, self.centroids, self.before)

    @torch.no_grad()
    def held_out(
        self,
        embeddings: torch.Tensor,
        y: torch.Tensor,
        X: torch.Tensor,
        group: torch.Tensor,
    ) -> float:
        """The loss of people without a trained centroid, a float.

        Their centroids are the means of their images, before and after. The maps are those
        of the people trained on.

        Parameters
        ----------
        embeddings : tensor, shape (n_samples, n_features)
            Unit rows.
        y : tensor of int64, shape (n_samples,)
            Codes in 0..n_identities - 1.
        X : tensor, shape (n_samples, n_features_in)
            The same images' embeddings as they come.
        group : tensor of int64, shape (n_identities,)
            Code of each identity's group.

        Returns
        -------
        loss : float
            >= 0.
        """
        after = sums_of_rows(embeddings, y, len(group))
        before = normalize(sums_of_rows(normalize(X), y, len(group)))
        return float(self._loss(embeddings, y, X, group, after, before))

    def _loss(self, embeddings, y, X, group, centroids, before):
        z, x = (normalize(rows.to(before.dtype)) for rows in (embeddings, X))
        own, losses = group[y], []
        for code in own.unique().tolist():
            rows = (own == code).nonzero().squeeze(1)
            members = (group == code).nonzero().squeeze(1)
            genuine, impostor = self._squares(
                z[rows],
                x[rows],
                torch.searchsorted(members, y[rows])[:, None],
                normalize(centroids[members]),
                before[members],
                code,
            )
            total = self.genuine_weight * genuine + impostor / max(1, len(members) - 1)
            losses.append(total / len(rows))
        return torch.stack(losses).mean()

    def _squares(self, z, x, place, centroids, before, code):
        """Sums over the images of a group, a block of them at a time."""
        maps = self.genuine_maps[code], self.impostor_maps[code]
        n_rows = rows_per_block(len(before))
        if len(z) <= n_rows:
            return squared_errors(z, x, place, centroids, before, *maps)
        blocks = zip(z.split(n_rows), x.split(n_rows), place.split(n_rows), strict=True)
        # A block is computed again for its gradient rather than kept.
        sums = [
            checkpoint(
                squared_errors, *block, centroids, before, *maps, use_reentrant=False
            )
            for block in blocks
        ]
        return [torch.stack(part).sum() for part in zip(*sums, strict=True)]


def squared_errors(z, x, place, centroids, before, genuine_map, impostor_map):
    """Squared differences of scores from their targets, summed: genuine, impostor.

    Parameters
    ----------
    z : tensor, shape (n_samples, n_features)
        Unit rows whose scores are trained.
    x : tensor, shape (n_samples, n_features_in)
        Unit rows as they come.
    place : tensor of int64, shape (n_samples, 1)
        Whose images they are, among the centroids.
    centroids : tensor, shape (n_centroids, n_features)
        Unit rows.
    before : tensor, shape (n_centroids, n_features_in)
        Unit rows.
    genuine_map, impostor_map : tensors, shape (N_CELLS + 1,)

    Returns
    -------
    genuine, impostor : tensors, shape ()
    """
    with torch.no_grad(), torch.autocast(z.device.type, enabled=False):
        cosines = x @ before.T
        own = apply_score_map(genuine_map, cosines.gather(1, place))
        target = apply_score_map(impostor_map, cosines).scatter_(1, place, own)
    squares = (z @ centroids.T - target).square()
    genuine = squares.gather(1, place).sum()
    return genuine, squares.scatter(1, place, 0.0).sum()


def pseudo_scores(X, y, group, before, code, generator=None):
    """Scores of the images of a group to the centroids of its people.

    Parameters
    ----------
    X : tensor, shape (n_images, n_features)
        Unit rows.
    y : tensor of int64, shape (n_images,)
    group : tensor of int64, shape (n_identities,)
    before : tensor, shape (n_identities, n_features)
        Unit rows.
    code : int
        Code of the group.
    generator : torch.Generator, default=None
        Draws centroids where there are more scores than MOST_SCORES.

    Returns
    -------
    scores : dict of ndarray
        "genuine" (n_images_of_group,) and "impostor".
    """
    rows = (group[y] == code).nonzero().squeeze(1)
    members = (group == code).nonzero().squeeze(1)
    genuine = (X[rows] * before[y[rows]]).sum(1)
    most = max(1, MOST_SCORES // max(1, len(rows)))
    if len(members) > most:
        members = members[torch.randperm(len(members), generator=generator)[:most]]
    cosines = X[rows] @ before[members].T
    impostor = cosines[y[rows, None] != members]
    return {"genuine": genuine.numpy(), "impostor": impostor.numpy()}


def _check_codes(codes, name, n):
    bad = codes[(codes < 0) | (codes >= n)]
    if len(bad):
        problem = (
            f"has the code {int(bad[0])}, but must contain codes from 0 to {n - 1}."
        )
        remedy = "Number the identities of X, and their groups, from 0 on."
        raise invalid(name, codes, problem, remedy)


def sums_of_rows(rows, y, n_identities):
    """Sum of each identity's rows, (n_identities, n_features)."""
    return rows.new_zeros((n_identities, rows.shape[1])).index_add_(0, y, rows)


def _reference(scores, given):
    """Code of the reference group: as given, or the one whose scores lie furthest apart."""
    usable = [code for code, s in enumerate(scores) if all(a.size for a in s.values())]
    if given is not None:
        if check_count(given, "reference", 0) not in usable:
            problem = f"must be a group with images of two people, got {given!r}."
            raise invalid("reference", given, problem, f"These are {usable}.")
        return int(given)
    if not usable:
        raise ValueError(
            "No group has images of two identities, so there are no impostor scores "
            "to map others to. Pass more people of a group."
        )
    return max(usable, key=lambda code: _separation(**scores[code]))


def _separation(genuine, impostor):
    """Difference of the means over the root of the mean variance."""
    spread = math.sqrt((genuine.var() + impostor.var()) / 2)
    return float(genuine.mean() - impostor.mean()) / max(spread, 1e-300)


def score_map(scores, reference):
    """A table of the map T = R^-1 o F at evenly spaced scores.

    F is the distribution function of ``scores`` and R that of ``reference``, both with
    the j-th of n sorted scores at the level (j - 1/2) / n and straight lines between.
    Below the lowest and above the highest score the map goes on as a shift.

    Parameters
    ----------
    scores, reference : ndarray, shapes (n_scores,) and (n_reference,)
        In [-1, 1], one at least of each.

    Returns
    -------
    table : ndarray of float32, shape (N_CELLS + 1,)
        T(-1), ..., T(1), never falling.
    """
    own, other = np.sort(scores), np.sort(reference)
    grid = np.linspace(-1, 1, N_CELLS + 1)
    inside = np.clip(grid, own[0], own[-1])
    levels = np.interp(inside, own, _levels(own.size))
    mapped = np.interp(levels, _levels(other.size), other)
    return (mapped + (grid - inside)).astype(np.float32)


def apply_score_map(table, scores):
    """Scores mapped by the straight lines between the points of a table.

    Parameters
    ----------
    table : tensor of float32, shape (N_CELLS + 1,)
        As :func:`score_map` returns it.
    scores : tensor, any shape
        Cosines. Rounding may carry them beyond [-1, 1].

    Returns
    -------
    mapped : tensor
        Of the shape of ``scores``.
    """
    place = (scores + 1) * (N_CELLS / 2)
    cell = place.floor().clamp(0, N_CELLS - 1)
    below = cell.long()
    low = table[below]
    return low + (place - cell) * (table[below + 1] - low)


def _levels(n):
    return (np.arange(n) + 0.5) / n
