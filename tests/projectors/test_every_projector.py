"""What every projector does: a broken fit goes on, all comes back, bad options are named."""

import pickle

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfairfr import EthicalModule, FPRPenaltyProjector, TripletProjector
from skfairfr.projectors import (
    AdversarialProjector,
    CentroidFairnessProjector,
    LossProjector,
)
from tests.projectors.faces import (
    Breaking,
    Counting,
    Stop,
    X,
    Y,
    assert_same_bits,
    every_other_twice,
)

SMALL = {"discriminator_dim": 8, "n_discriminators": 2, "discriminator_epochs": 3}
HELD_OUT = {"validation_fraction": 0.3, "lr": 0.05}
# Of every one a plain and a rarer fit.
FITS = {
    "ethical": (EthicalModule, {"groups": ("male", "female")}),
    "penalty": (FPRPenaltyProjector, {"momentum": 0.9, **HELD_OUT}),
    "mean square": (FPRPenaltyProjector, {"penalty": "mean_square", "alpha": 1.0}),
    "loss": (LossProjector, {"loss": "arcface", "hidden_dim": 5}),
    "adversary": (AdversarialProjector, SMALL),
    "adversary, held out": (AdversarialProjector, SMALL | HELD_OUT),
    "centroids": (CentroidFairnessProjector, {"reference": "male"}),
    "centroids, mlp": (
        CentroidFairnessProjector,
        {"head": "mlp", "output_dim": 7, "precision": "bfloat16"},
    ),
    "triplets": (TripletProjector, {"validation_fraction": 0.0}),
    "dynamic": (TripletProjector, {"sampling": "dynamic", "far": 0.05} | HELD_OUT),
}


# Options that a broken fit depends on, too.
RARE = {
    "patience": {"patience": 2, "max_epochs": 12, **HELD_OUT},
    "sampler": {"sampler": every_other_twice, "final_lr": 1e-4},
    "sgd": {"head": "mlp", "optimizer": torch.optim.SGD, "batch_size": 7},
    "bfar": {"monitor": "bfar", "monitor_far": 0.05, "validation_fraction": 0.5},
}


def made(name, **options):
    """Three short epochs, the same in every run."""
    kind, own = FITS[name] if name in FITS else (EthicalModule, RARE[name])
    usual = {"max_epochs": 3, "batch_size": 64, "device": "cpu", "random_state": 0}
    return kind(**(usual | own | options))


@pytest.mark.parametrize("name", [*FITS, *RARE])
@pytest.mark.parametrize(
    ("epoch", "at"),
    [(2, "epoch"), pytest.param(3, "batch", marks=pytest.mark.slow)],
)
def test_a_broken_fit_ends_with_the_same_bits(tmp_path, name, epoch, at):
    with pytest.raises(Stop):
        broken = [Breaking(epoch, at=at)]
        made(name, checkpoint_dir=tmp_path, callbacks=broken).fit(X, Y)
    assert len(list(tmp_path.iterdir())) == 1
    seen, whole = Counting(), made(name).fit(X, Y)
    resumed = made(name, checkpoint_dir=tmp_path, callbacks=[seen]).fit(X, Y)
    assert list(tmp_path.iterdir()) == []
    assert_same_bits(resumed, whole)
    assert seen.n_begun == len(whole.history_) - 2


@pytest.mark.parametrize("name", FITS)
def test_what_is_saved_pickled_or_cloned_is_the_same(tmp_path, name):
    fitted = made(name).fit(X, Y)
    fitted.save(tmp_path / "head", include_people=True)
    for again in (
        type(fitted).load(tmp_path / "head"),
        pickle.loads(pickle.dumps(fitted)),
    ):
        assert_same_bits(again, fitted)
        assert_array_equal(again.transform(X), fitted.transform(X))
        assert again.get_params() == fitted.get_params()
        for attribute, value in vars(fitted).items():
            if isinstance(value, np.ndarray | float | str):
                assert_array_equal(getattr(again, attribute), value, strict=True)
        assert not any(p.requires_grad for p in again.head_.parameters())
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


BAD = {
    "ethical": {
        "kappa1": (-1.0,),
        "kappa0": (np.nan,),
        "margin": (2.0,),
        "min_agreement": (0.5,),
        "head": ("linear", None),
        "hidden_dim": (0, 1.5),
        "output_dim": (1,),
        "max_epochs": (0, 1.5),
        "batch_size": (0, "all"),
        "lr": (0.0, np.nan, np.inf),
        "final_lr": (0.0,),
        "optimizer": ("lion",),
        "sampler": ("natural",),
        "validation_fraction": (1.0, -0.1),
        "monitor": ("far",),
        "patience": (0,),
        "precision": ("half", "tf32"),
        "checkpoint_dir": (3,),
        "callbacks": ("early",),
        "device": (None, "tpu"),
        "random_state": ("zero",),
        "warm_start": ("yes",),
        "verbose": (-1,),
    },
    "penalty": {
        "penalty": ("paper",),
        "far": (0.0, "low"),
        "alpha": (-1.0, np.inf),
        "base": ("sphereface",),
        "scale": (0.0,),
        "margin": (2.0,),
        "weighting": ("none",),
        "momentum": (1.0,),
        "monitor": ("bfar",),
    },
    "loss": {"loss": ("hinge", 3, lambda n, d: "nothing", None)},
    "adversary": {
        "alpha": (-1.0,),
        "scale": (0.0,),
        "n_discriminators": (0,),
        "discriminator_dim": (0,),
        "discriminator_epochs": (0,),
        "discriminator_accuracy": (0.0, 1.1),
    },
    "centroids": {
        "reference": ("nobody", 0),
        "genuine_weight": (-1.0,),
        "min_agreement": (0.5,),
    },
    "triplets": {"margin": (0, 5), "selection_size": (1,), "smoothing": (1.1,)},
}


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (name, option, value)
        for name, options in BAD.items()
        for option, values in options.items()
        for value in values
    ],
)
def test_bad_options_are_named(name, option, value):
    with pytest.raises(ValueError, match=option):
        made(name, **{option: value}).fit(X, Y)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_image_without_an_embedding_is_a_failure(name, bad):
    broken = X.copy()
    broken[3, 1] = bad
    with pytest.raises(ValueError, match=r"^X has nan or .*--failures") as caught:
        made(name).fit(broken, Y)
    assert "HistGradient" not in str(caught.value)
