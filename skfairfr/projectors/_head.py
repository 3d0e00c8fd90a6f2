"""The head between encoder and matcher: a small network from unit rows to unit rows."""

from copy import deepcopy

import numpy as np
import torch
from torch import nn
from torch.nn.functional import normalize, relu

from skfairfr.utils._errors import Argument
from skfairfr.utils._memory import check_space
from skfairfr.utils._torch import new_linear, threads_for

HEADS = ("residual", "mlp")
# Features at which ``lr`` is the rate of the optimizer itself; see rate_scale.
FEATURES_OF_RATE = 64
# Rows projected at a time where nothing is trained.
BLOCK_ROWS = 8192


def check_sizes(n_features, hidden_dim, output_dim):
    """Raise where the weights of a head do not fit into the memory, each with a gradient."""
    asked = {"hidden_dim": hidden_dim, "output_dim": output_dim}
    name = max(asked, key=asked.get)
    # A size may be a small number of numpy, whose products overflow.
    n_bytes = 8 * int(hidden_dim) * (int(n_features) + int(output_dim))
    check_space(Argument(name, asked[name]), n_bytes, "give a smaller one.")


def rate_scale(head):
    """Optimizer's rate over ``lr``: 64 / n_features for the residual head, else 1.

    Adam moves every weight by the rate, whatever the gradient. The residual head starts
    with an output of zero, and its 2 n_features hidden units then move a unit row by about
    .65 rate n_features in one step, all rows alike; the scale makes that .65 lr 64 for any
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
            raise ValueError(
                f"head='residual' adds to its input, so output_dim must be the "
                f"{n_features} features of X; got output_dim={output_dim}. Leave it "
                "None, or use head='mlp'."
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


class OwnHead(nn.Module):
    """A head of the caller's between unit rows: of its input, and of its output.

    Parameters
    ----------
    given : nn.Module, copied; or callable
        ``given(n_features)`` makes a module that maps (n_samples, n_features) tensors to
        (n_samples, n_features_out).
    n_features : int
    """

    kind = "own"

    def __init__(self, given, n_features):
        super().__init__()
        made = deepcopy(given) if isinstance(given, nn.Module) else given(n_features)
        rows = torch.zeros(2, n_features, dtype=torch.get_default_dtype())
        with torch.no_grad():
            out = made.eval()(rows) if isinstance(made, nn.Module) else None
        if not isinstance(out, torch.Tensor) or out.ndim != 2 or len(out) != 2:
            raise ValueError(
                "head must be the name of a head, a torch module from (n_samples, "
                f"{n_features}) to (n_samples, n_features_out) tensors, or a function of "
                f"the number of features that makes one; got {given!r}."
            )
        self.module = made.train()
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
        Which rows, in this order; None: all.

    Returns
    -------
    projected : ndarray of float32, shape (n_chosen, output_dim)
    """
    head.eval()
    n_chosen = rows.shape[0] if index is None else len(index)
    projected = np.empty((n_chosen, head.sizes[2]), dtype=np.float32)
    start = 0
    with threads_for(_operations_of_block(head, n_chosen)):
        for block in rows.in_order(BLOCK_ROWS, index):
            projected[start : start + len(block)] = head(block).cpu().numpy()
            start += len(block)
    return projected


def sums_by_identity(head, rows, people):
    """Sum of the projected images of each identity, (n_identities, n_features_out)."""
    shape = (people.identities.size, head.sizes[2])
    total = torch.zeros(shape, dtype=torch.float32)
    head, y = deepcopy(head).to(rows.device), torch.as_tensor(people.y)
    with threads_for(_operations_of_block(head, people.rows.size)):
        for start in range(0, people.rows.size, BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            block = project(head, rows, people.rows[part])
            total.index_add_(0, y[part], torch.from_numpy(block))
    return total.numpy()


def _operations_of_block(head, n_rows):
    """Multiplications and additions for a block of these rows, for every weight."""
    n_weights = sum(parameter.numel() for parameter in head.parameters())
    return 2 * min(BLOCK_ROWS, n_rows) * n_weights
