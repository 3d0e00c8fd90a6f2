"""One epoch of EthicalModule against the three matrix products of each of its steps.

The products are those of the loss alone: logits, and the gradients by embeddings and by
centroids. Beside it, as the reference a user has today, the same epoch as a plain loop
whose concentrations are float64, so that logits and cross-entropy are, too.

    python -m docs.studies.bench_ethical_module [n_batches [n_identities]]

Prints ratios of processor times, each the smallest of interleaved runs. Bound: 1.7.
"""

import numpy as np
import torch
from torch.nn.functional import cross_entropy, normalize

from docs.studies._command import run_command
from docs.studies.bench_engine import seconds
from skfairfr import EthicalModule, face_labels
from skfairfr._core._vmf import log_vmf_normalizer

BATCH, N_FEATURES, REPEATS = 1024, 512, 5


def products(n_batches, n_identities):
    """The three products of every step."""
    z = torch.randn(BATCH, N_FEATURES)
    mu = torch.randn(n_identities, N_FEATURES)
    for _ in range(n_batches):
        q = z @ mu.T
        q @ mu
        q.T @ z


def epoch(X, y):
    """One epoch of the estimator, everything included."""
    options = {"head": "mlp", "lr": 0.01, "batch_size": BATCH, "device": "cpu"}
    options |= {"groups": ("a", "b"), "max_epochs": 1, "random_state": 0}
    EthicalModule(15.0, 20.0, **options).fit(X, y)


def plain_epoch(X, y):
    """One epoch of a loop with float64 concentrations, unfused Adam and autograd."""
    identities, codes = np.unique(y["identity"], return_inverse=True)
    kappa = np.where(identities % 2 == 0, 15.0, 20.0)
    log_c = torch.tensor(log_vmf_normalizer(kappa, N_FEATURES))
    kappa = torch.tensor(kappa)
    head = torch.nn.Sequential(
        torch.nn.Linear(N_FEATURES, 2 * N_FEATURES),
        torch.nn.ReLU(),
        torch.nn.Linear(2 * N_FEATURES, N_FEATURES),
    )
    mu = torch.nn.Parameter(torch.randn(identities.size, N_FEATURES))
    optimizer = torch.optim.Adam([*head.parameters(), mu], lr=0.01)
    X, codes = torch.from_numpy(X), torch.from_numpy(codes)
    for rows in torch.randperm(len(X)).split(BATCH):
        optimizer.zero_grad()
        cosines = normalize(head(X[rows])) @ normalize(mu).T
        cross_entropy(log_c + kappa * cosines, codes[rows]).backward()
        optimizer.step()


def main(n_batches=20, n_identities=10_000):
    rng = np.random.default_rng(0)
    n_images = n_batches * BATCH
    X = rng.standard_normal((n_images, N_FEATURES), dtype=np.float32)
    identity = np.arange(n_images) % n_identities
    y = face_labels(identity, np.where(identity % 2 == 0, "a", "b"))
    runs = {
        "three products": lambda: products(n_batches, n_identities),
        "EthicalModule": lambda: epoch(X, y),
        "plain float64 loop": lambda: plain_epoch(X, y),
    }
    best = seconds(runs, REPEATS)
    floor = best["three products"]
    print(
        f"one epoch, {n_batches} batches of {BATCH}, {n_identities} identities, "
        f"{N_FEATURES} features, {torch.get_num_threads()} threads"
    )
    for name, taken in best.items():
        print(f"{name:>20} {taken / floor:6.2f} x the three products")


if __name__ == "__main__":
    run_command(main, __doc__)
