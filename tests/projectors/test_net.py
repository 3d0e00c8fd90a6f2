"""The private loop: a plain torch loop's weights, what stops it, what it leaves alone."""

from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from torch.nn.functional import cross_entropy, linear, normalize, relu

from skfairfr._core._vmf import log_vmf_normalizer
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    Breaking,
    Counting,
    X,
    Y,
    assert_same_bits,
    losses,
    module,
)


class Recording(Counting):
    """Keeps the weights a training starts from, too."""

    def on_train_begin(self, net, **kwargs):
        super().on_train_begin(net)
        parts = (net.module_.state_dict(), net.criterion_.state_dict())
        self.start = [{k: v.double() for k, v in part.items()} for part in parts]


def plain_loop(seen, optimizer, lr, kind):
    """The same batches through autograd of the formulas, in float64."""
    weights, loss = seen.start
    free = {**weights, "mu": loss["centroids"]}
    free = {k: v.clone().requires_grad_() for k, v in free.items()}
    # Identities are numbered in the order of their labels.
    groups = [GROUP[IDENTITY == who][0] for who in np.unique(IDENTITY)]
    kappa = torch.tensor([{"male": 25.0, "female": 15.0}[g] for g in groups]).double()
    log_c = torch.as_tensor(log_vmf_normalizer(kappa.numpy(), 16))
    steps = optimizer(free.values(), lr=lr)
    for x, y in seen.batches:
        x = x.double()
        hidden = relu(linear(x, free["hidden.weight"], free["hidden.bias"]))
        z = linear(hidden, free["output.weight"], free["output.bias"])
        z = normalize(z + x if kind == "residual" else z)
        value = cross_entropy(log_c + kappa * (z @ normalize(free["mu"]).T), y)
        steps.zero_grad()
        value.backward()
        steps.step()
    return {k: v.detach().numpy() for k, v in free.items()}


@pytest.mark.parametrize(
    ("given", "optimizer"),
    [
        ("adam", torch.optim.Adam),
        (torch.optim.SGD, torch.optim.SGD),
        2 * (partial(torch.optim.AdamW, weight_decay=0.5),),
    ],
)
@pytest.mark.parametrize("head", ["mlp", "residual"])
def test_weights_are_those_of_a_plain_loop(given, optimizer, head):
    seen = Recording()
    # 16 features: the rate of the residual head is four times lr.
    lr = 3e-3 / (4 if head == "residual" else 1)
    options = {"optimizer": given, "head": head, "lr": lr}
    fitted = module(callbacks=[seen], **options).fit(X, Y)
    expected = plain_loop(seen, optimizer, 3e-3, head)
    for name, found in fitted.head_.state_dict().items():
        assert_allclose(found, expected[name], atol=2e-4)
    mu = expected["mu"] / np.linalg.norm(expected["mu"], axis=1, keepdims=True)
    assert_allclose(fitted.centroids_, mu, atol=2e-4)


def test_adam_is_torch_s_to_the_bit():
    ours = module().fit(X, Y)
    theirs = module(optimizer=partial(torch.optim.Adam, fused=True)).fit(X, Y)
    assert_array_equal(ours.centroids_, theirs.centroids_)
    for own, other in zip(
        ours.head_.parameters(), theirs.head_.parameters(), strict=True
    ):
        assert torch.equal(own, other)


def test_a_fit_that_fails_leaves_the_one_before():
    fitted = module().fit(X, Y)
    before = dict(vars(fitted))
    fitted.set_params(kappa0=9.0, callbacks=[Breaking(2, RuntimeError)])
    with pytest.raises(RuntimeError):
        fitted.fit(X[:80], Y[:80])
    changed = {n for n, v in vars(fitted).items() if v is not before.get(n)}
    assert changed == {"kappa0", "callbacks"}


@pytest.mark.parametrize("epoch", [2, 3])
def test_an_interrupt_keeps_the_epochs_before_it(epoch):
    broken = [Breaking(epoch, KeyboardInterrupt, at="batch")]
    fitted = module(kappa0=9.0).fit(X[:80], Y[:80])
    fitted.set_params(kappa0=30.0, callbacks=broken, validation_fraction=0.3)
    with pytest.warns(UserWarning, match=f"interrupted in epoch {epoch} of 3"):
        fitted.fit(X, Y)
    assert fitted.kappa_["male"] == 30.0
    options = {"kappa0": 30.0, "validation_fraction": 0.3}
    # The best epoch of those that were finished is the last.
    assert_same_bits(fitted, module(max_epochs=epoch - 1, **options).fit(X, Y))


def test_without_people_held_out_the_steps_of_the_broken_epoch_count():
    broken = [Breaking(2, KeyboardInterrupt, at="batch")]
    with pytest.warns(UserWarning, match="interrupted in epoch 2 of 3"):
        fitted = module(callbacks=broken).fit(X, Y)
    whole = module(max_epochs=1).fit(X, Y)
    assert losses(fitted) == losses(whole)
    assert not np.array_equal(fitted.transform(X), whole.transform(X))


def test_an_interrupt_in_the_first_epoch_is_raised_and_sets_nothing():
    made = module(callbacks=[Breaking(1, KeyboardInterrupt, at="batch")])
    before = dict(vars(made))
    with pytest.raises(KeyboardInterrupt):
        made.fit(X, Y)
    assert vars(made) == before


def test_bfloat16_is_close_to_float32():
    exact = module().fit(X, Y)
    rounded = module(precision="bfloat16").fit(X, Y)
    assert_allclose(
        losses(rounded)["train_loss"], losses(exact)["train_loss"], rtol=2e-3
    )
    assert losses(rounded)["train_loss"] != losses(exact)["train_loss"]
    assert rounded.transform(X).dtype == rounded.centroids_.dtype == np.float32
