"""The learning rate, the best epoch, patience and the bar."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from skorch.history import History

from skfairfr.projectors._training import Monitor
from tests.projectors.faces import MORE, MORE_Y, X, Y, losses, module


def net_with(values, name="train_loss"):
    """What callbacks see of a net, and an iterator over its epochs."""
    net = SimpleNamespace(
        history=History(),
        lr=0.1,
        module_=torch.nn.Linear(1, 1),
        criterion_=torch.nn.Linear(1, 1),
    )

    def epochs(monitor):
        for n, value in enumerate(values):
            net.history.new_epoch()
            net.history.record("train_loss", 1.0)
            net.history.record(name, value)
            torch.nn.init.constant_(net.module_.weight, n + 1)
            monitor.on_epoch_end(net)
            if monitor.has_enough:
                break
        monitor.on_train_end(net)
        return len(net.history), int(net.module_.weight)

    return net, epochs


def watched(values, patience=None):
    """Epochs run, and the epoch whose weights were kept, watching held-out values."""
    monitor = Monitor("valid_x", True, patience)
    return net_with(values, "valid_x")[1](monitor.initialize())


@pytest.mark.parametrize(
    ("values", "patience", "n_run", "kept"),
    [
        ([3, 2, 1], None, 3, 3),
        ([1, 2, 3], None, 3, 1),
        ([3, 1, 2, 1, 5], None, 5, 2),
        ([3, 1, 2, 2, 0], 2, 4, 2),
        ([3, 1, 2, 0, 2, 0], 2, 6, 4),
        ([1, 1, 1], 1, 2, 1),
        ([math.nan, math.inf, 2, 3], None, 4, 3),
        ([math.inf, math.nan], None, 2, 2),
    ],
)
def test_the_best_epoch_is_kept_and_patience_ends(values, patience, n_run, kept):
    assert watched(values, patience) == (n_run, kept)


@pytest.mark.parametrize(
    ("values", "patience", "n_run"), [([3, 1, 2, 2, 0], 2, 4), ([1, 2, 3], None, 3)]
)
def test_without_held_out_people_the_last_weights_stay(values, patience, n_run):
    monitor = Monitor("train_loss", patience=patience).initialize()
    assert net_with(values)[1](monitor) == (n_run, n_run)


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_an_error(loss):
    monitor = Monitor("train_loss").initialize()
    with pytest.raises(
        ValueError, match=f"lr is too high: .* became {loss} in epoch 2"
    ):
        net_with([1.0, loss])[1](monitor)


@pytest.mark.parametrize("n_epochs", [1, 2, 7])
def test_the_rate_falls_geometrically(n_epochs):
    fitted = module(lr=0.1, final_lr=1e-3, max_epochs=n_epochs).fit(X, Y)
    assert_allclose(fitted.history_["lr"], np.geomspace(0.1, 1e-3, n_epochs))


@pytest.mark.parametrize("monitor", ["loss", "bfar", "frr_at_far"])
def test_every_monitor_chooses_its_own_best_epoch(monitor):
    options = {"validation_fraction": 0.5, "monitor": monitor, "lr": 0.1}
    fitted = module(max_epochs=5, **options).fit(MORE.X, MORE_Y)
    values = losses(fitted)[f"valid_{monitor}"]
    assert ("valid_bfar" in losses(fitted)) == (monitor == "bfar")
    best = values.index(min(values)) + 1
    short = module(max_epochs=best, **options).fit(MORE.X, MORE_Y)
    assert_array_equal(fitted.transform(X), short.transform(X))
