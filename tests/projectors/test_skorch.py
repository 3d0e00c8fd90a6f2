"""The net as users of skorch know it: net_, optimizers, callbacks, heads of one's own."""

import json
import pickle
from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNet
from skorch.callbacks import (
    Callback,
    Checkpoint,
    EarlyStopping,
    EpochScoring,
    LRScheduler,
    PrintLog,
    ProgressBar,
)
from torch import nn

from skfairfr import EthicalModule, IdentityKFold, TripletProjector
from tests.projectors.faces import (
    NOISY,
    NOISY_LR,
    X,
    Y,
    assert_same_bits,
    losses,
    module,
)

HELD_OUT = {"validation_fraction": 0.3}


class Rates(Callback):
    """Keeps the optimizer's rate of every batch."""

    def on_train_begin(self, net, **kwargs):
        self.rates_ = []

    def on_batch_end(self, net, training=False, **kwargs):
        if training:
            self.rates_.append(net.optimizer_.param_groups[0]["lr"])


def test_net_is_a_fitted_net_of_skorch_s():
    fitted = module(**HELD_OUT).fit(X, Y)
    assert isinstance(fitted.net_, NeuralNet) and fitted.net_.module_ is fitted.head_
    history = fitted.net_.history
    assert_array_equal(history[:, "train_loss"], losses(fitted)["train_loss"])
    for name in ("train_loss", "valid_loss"):
        values = history[:, name]
        best = [v < min([np.inf, *values[:k]]) for k, v in enumerate(values)]
        assert history[:, f"{name}_best"] == best
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.net_.history[:, "valid_loss"], history[:, "valid_loss"])
    assert_array_equal(again.transform(X), fitted.transform(X))


@pytest.mark.parametrize("step_every", ["epoch", "batch"])
def test_a_schedule_of_the_caller_is_followed(step_every):
    seen = Rates()
    scheduler = LRScheduler("StepLR", step_size=1, gamma=0.5, step_every=step_every)
    fitted = module(lr=0.02, callbacks=[seen, scheduler]).fit(X, Y)
    steps = np.arange(9) // (3 if step_every == "epoch" else 1)
    assert_allclose(seen.rates_, 0.02 * 0.5**steps)
    of_epoch = 0.02 * 0.5 ** steps[::3]
    assert_allclose(fitted.history_["lr"], of_epoch)


@pytest.mark.parametrize("kind", [EthicalModule, TripletProjector])
def test_a_schedule_of_the_caller_is_not_undone_by_ours(kind):
    seen, halving = Rates(), ("halving", LRScheduler("StepLR", step_size=1, gamma=0.5))
    made = kind(max_epochs=3, batch_size=1000, final_lr=1e-5, device="cpu")
    made.set_params(callbacks=[seen, halving], random_state=0)
    with pytest.raises(ValueError, match=r"LRScheduler.*Set final_lr=None"):
        made.fit(X, Y)
    assert not hasattr(made, "head_")
    made.set_params(final_lr=None).fit(X, Y)
    assert_allclose(seen.rates_, [4e-3, 2e-3, 1e-3])


@pytest.mark.parametrize("on_train", [True, False])
@pytest.mark.parametrize("use_caching", [True, False])
def test_epochs_are_scored(on_train, use_caching):
    seen = []

    def score(net, given, y):
        Z = net.forward(given)
        assert_allclose(Z.detach().norm(dim=1), 1, atol=1e-6)
        seen.append((len(Z), None if y is None else y.tolist()))
        return float(len(Z))

    scoring = EpochScoring(
        score, name="rows", on_train=on_train, use_caching=use_caching
    )
    fitted = module(callbacks=[scoring], **HELD_OUT).fit(X, Y)
    n_rows = 112 if on_train else 48
    assert fitted.history_["rows"].tolist() == 3 * [n_rows]
    if use_caching:
        assert {len(set(y)) for _, y in seen} == {28 if on_train else 12}


def test_the_best_epoch_is_saved_and_loaded(tmp_path):
    best = Checkpoint(dirname=tmp_path, load_best=True)
    options = {**HELD_OUT, "max_epochs": 12, "lr": NOISY_LR}
    fitted = module(callbacks=[best], **options).fit(NOISY, Y)
    ours = module(**options).fit(NOISY, Y)
    assert_array_equal(fitted.transform(X), ours.transform(X))
    assert_array_equal(fitted.centroids_, ours.centroids_)
    saved = torch.load(tmp_path / "params.pt", weights_only=True)
    for name, weight in fitted.head_.state_dict().items():
        assert_array_equal(saved[name], weight)
    epochs = json.loads((tmp_path / "history.json").read_text())
    values = losses(fitted)["valid_loss"]
    assert 1 < len(epochs) == values.index(min(values)) + 1 < 12


def test_training_stops_early_by_the_people_held_out(capsys):
    stop = EarlyStopping(patience=2, threshold=0)
    options = {**HELD_OUT, "max_epochs": 40, "lr": NOISY_LR}
    fitted = module(callbacks=[stop], **options).fit(NOISY, Y)
    assert_same_bits(fitted, module(patience=2, **options).fit(NOISY, Y))
    assert "Stopping since valid_loss" in capsys.readouterr().out


def test_a_bar_counts_the_batches_and_the_people_held_out(capsys):
    bar = ProgressBar(detect_notebook=False)
    module(callbacks=[bar], **HELD_OUT).fit(X, Y)
    # 112 images in batches of 64, and one batch of 48 held out.
    assert bar.pbar_.n == bar.pbar_.total == 3
    assert capsys.readouterr().err.count("0/3") == 3


def test_a_log_has_a_line_for_each_epoch(capsys):
    lines = []
    log = PrintLog(sink=lines.append)
    fitted = module(callbacks=[log], **HELD_OUT).fit(X, Y)
    header, _, *rows = lines
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert set(header.split()) == set(losses(fitted)) | {"dur"}
    assert capsys.readouterr().out == ""
    module(verbose=1).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) == 2 + 3


OPTIMIZERS = {
    "a class": torch.optim.SGD,
    "a partial": partial(torch.optim.SGD, momentum=0.5),
}


@pytest.mark.parametrize("given", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_an_optimizer_has_arguments_by_prefix(given):
    made = module(optimizer=given).set_params(optimizer__weight_decay=0.25)
    assert made.get_params()["optimizer__weight_decay"] == 0.25
    assert clone(made).get_params()["optimizer__weight_decay"] == 0.25
    optimizer = made.fit(X, Y).net_.optimizer_
    (group,) = optimizer.param_groups
    assert type(optimizer) is torch.optim.SGD and group["weight_decay"] == 0.25
    assert group["momentum"] == getattr(given, "keywords", {}).get("momentum", 0)


def test_arguments_of_the_optimizer_are_searched():
    grid = {"optimizer__weight_decay": [0.0, 10.0], "lr": [0.01]}
    search = GridSearchCV(
        module(),
        grid,
        scoring=lambda made, X, y: made.net_.optimizer_.param_groups[0]["weight_decay"],
        cv=IdentityKFold(2),
    ).fit(X, Y)
    assert search.best_params_ == {"optimizer__weight_decay": 10.0, "lr": 0.01}
    decayed = np.abs(search.best_estimator_.head_.output.weight.numpy()).mean()
    assert decayed < np.abs(module().fit(X, Y).head_.output.weight.numpy()).mean()


@pytest.mark.parametrize("n_features", [512])
def test_the_first_step_is_as_long_in_any_number_of_features(n_features):
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((n_features, 16)))[0]

    def moved(rows, lr):
        options = {"head": "residual", "max_epochs": 1, "batch_size": 160, "lr": lr}
        Z = module(**options).fit(rows, Y).transform(rows)
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return np.linalg.norm(Z - unit, axis=1).mean()

    assert moved(X @ axes.T, 1e-3) == pytest.approx(moved(X, 1e-3), rel=0.3)
    assert moved(X @ axes.T, 2e-3) == pytest.approx(2 * moved(X, 1e-3), rel=0.3)


class Rotation(nn.Module):
    """A head without a bias, that starts as the identity map."""

    def __init__(self, n_features=16):
        super().__init__()
        self.linear = nn.Linear(n_features, n_features, bias=False)
        nn.init.eye_(self.linear.weight)

    def forward(self, x):
        return self.linear(x)


@pytest.mark.parametrize("head", [Rotation(), Rotation], ids=["module", "factory"])
def test_a_head_of_ones_own(head, tmp_path):
    made = module(head=head, callbacks=[Rates()], **HELD_OUT)
    fitted = made.fit(X, Y)
    trained = fitted.head_.module
    assert type(trained) is Rotation and trained is not head
    Z = torch.from_numpy(X) @ trained.linear.weight.T
    assert_allclose(fitted.transform(X), nn.functional.normalize(Z), atol=1e-6)
    assert losses(fitted)["train_loss"][-1] < losses(fitted)["train_loss"][0]
    assert losses(fitted)["lr"] == 3 * [0.01]
    assert_array_equal(clone(made).fit(X, Y).transform(X), fitted.transform(X))
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(X), fitted.transform(X))
    warm = fitted.set_params(warm_start=True).fit(X, Y)
    assert len(warm.history_) == 6
    with pytest.raises(ValueError, match=r"(?s)head is one of your own.*pickle"):
        fitted.save(tmp_path / "module")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"head": lambda n: n}, "head must be a name"),
        ({"head": nn.Flatten(0)}, "head must be a name"),
        ({"head": Rotation(), "hidden_dim": 3}, "head is one of your own, and hidden"),
    ],
)
def test_heads_that_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        module(**options).fit(X, Y)
