"""The head between encoder and matcher: a small network from unit rows to unit rows."""

from copy import deepcopy

import numpy as np
import torch
from torch import nn
from torch.nn.functional import normalize, relu

from skfairfr.utils._errors import invalid
from skfairfr.utils._torch import new_linear

HEADS = ("residual", "mlp")
# Features at which ``lr`` is the rate of the optimizer itself. See rate_scale.
FEATURES_OF_RATE = 64
# Rows projected at a time where nothing is trained.
BLOCK_ROWS = 8192


def rate_scale(head):
    """Optimizer's rate over ``lr``: 64 / n_features for the residual head, else 1.

    Adam moves every weight by the rate, whatever the gradient. The residual head starts
    with an output of zero, and its 2 n_features hidden units then move a unit row by about
    0.65 rate n_features in one step, the same for all rows. The scale makes that 0.65 lr 64 for any
    number of features. The other head draws its output, and is the paper's with its rate.
    """
    return FEATURES_OF_RATE / head.sizes[0] if head.kind == "residual" else 1.0


class ProjectionHead(nn.Module):
    """Embeddings of any length in, unit rows out.

    A matcher by cosines ignores the length of an embedding, and so does the head: it
    normalises its input first. A row of zeros has no direction and stays a row of zeros,
    which is an error in a comparison by cosines.

    Parameters
    ----------
    n_features : int
    hidden_dim : int
    output_dim : int
    kind : {"mlp", "residual"}
        Of the unit row x. "mlp": W2 relu(W1 x + b1) + b2 (EM22 section 4). "residual": x
        plus that, with W2 and b2 zero at first: it starts as the identity map and needs
        output_dim = n_features.
    generator : torch.Generator, default=None
        Draws the weights, by the distribution of ``nn.Linear``.
    """

    def __init__(self, n_features, hidden_dim, output_dim, kind, generator=None):
        super().__init__()
        if kind == "residual" and output_dim != n_features:
            problem = f"must be the {n_features} features of X, to which head='residual' adds; "
            remedy = "Leave it None, or use head='mlp'."
            raise invalid(
                "output_dim", output_dim, f"{problem}got {output_dim}.", remedy
            )
        self.kind = kind
        self.hidden = new_linear(n_features, hidden_dim, generator)
        self.output = new_linear(hidden_dim, output_dim, generator)
        if kind == "residual":
            nn.init.zeros_(self.output.weight)
            nn.init.zeros_(self.output.bias)

    @property
    def sizes(self):
        """Features in, hidden and out."""
        return (
            self.hidden.in_features,
            self.hidden.out_features,
            self.output.out_features,
        )

    def forward(self, x):
        """Unit rows.

        Parameters
        ----------
        x : tensor, shape (n_samples, n_features)

        Returns
        -------
        z : tensor of float32, shape (n_samples, output_dim)
        """
        x = normalize(x.to(self.hidden.weight.dtype))
        known = (x != 0).any(dim=1, keepdim=True)
        z = self.output(relu(self.hidden(x))).to(x.dtype)
        return normalize(x + z if self.kind == "residual" else z) * known

    def extra_repr(self):
        return f"kind={self.kind!r}"


def made(given, generator, *sizes):
    """A copy of a module, or what a callable makes of sizes, drawn by the generator's seed."""
    if isinstance(given, nn.Module):
        return deepcopy(given)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(generator.initial_seed())
        return given(*sizes)


class OwnHead(nn.Module):
    """A head of the caller's between unit rows: of its input, and of its output.

    Parameters
    ----------
    given : nn.Module, copied, or callable
        ``given(n_features)`` makes a module that maps (n_samples, n_features) tensors to
        (n_samples, n_features_out).
    n_features : int
    generator : torch.Generator
    """

    kind = "own"

    def __init__(self, given, n_features, generator):
        super().__init__()
        module = made(given, generator, n_features)
        rows = torch.zeros(2, n_features, dtype=torch.get_default_dtype())
        with torch.no_grad():
            out = module.eval()(rows) if isinstance(module, nn.Module) else None
        if not isinstance(out, torch.Tensor) or out.ndim != 2 or len(out) != 2:
            problem = f"must be a name, a torch module of {n_features} features, or a function "
            problem += f"of their number that makes one; got {given!r}."
            raise invalid("head", given, problem)
        self.module = module.train()
        self.sizes = n_features, None, out.shape[1]

    def forward(self, x):
        """Unit rows, as those of :class:`ProjectionHead`."""
        x = normalize(x.to(torch.get_default_dtype()))
        known = (x != 0).any(dim=1, keepdim=True)
        return normalize(self.module(x).to(x.dtype)) * known


@torch.no_grad()
def project(head, rows, index=None):
    """Unit rows of the embeddings, a block of them at a time.

    Parameters
    ----------
    head : ProjectionHead
        On the device of ``rows``.
    rows : DeviceRows
    index : ndarray of int, shape (n_chosen,), default=None
        Which rows, in this order. If None, all.

    Returns
    -------
    projected : ndarray of float32, shape (n_chosen, output_dim)
    """
    head.eval()
    n_chosen = rows.shape[0] if index is None else len(index)
    projected = np.empty((n_chosen, head.sizes[2]), dtype=np.float32)
    start = 0
    for block in rows.in_order(BLOCK_ROWS, index):
        projected[start : start + len(block)] = head(block).cpu().numpy()
        start += len(block)
    return projected


@torch.no_grad()
def sums_by_identity(rows, people, head=None):
    """Sum of each identity's unit rows as a head makes them, or as they come.

    Returns
    -------
    sums : ndarray of float32, shape (n_identities, n_features)
    """
    n_features = rows.shape[1] if head is None else head.sizes[2]
    head = normalize if head is None else deepcopy(head).to(rows.device).eval()
    total = torch.zeros(people.identities.size, n_features, dtype=torch.float32)
    y, places = torch.as_tensor(people.y), torch.as_tensor(people.rows)
    for own, part in zip(y.split(BLOCK_ROWS), places.split(BLOCK_ROWS), strict=True):
        total.index_add_(0, own, head(rows.take(part)).float().cpu())
    return total.numpy()
