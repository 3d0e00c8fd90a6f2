"""FPRPenaltyProjector: groups ignored in training, known to scorers; options; edges."""

import math
import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from skfairfr import (
    FPRPenaltyProjector,
    IdentityKFold,
    bfar_scorer,
    bfrr_scorer,
    far_max_geomean_scorer,
    frr_at_far_scorer,
    frr_max_geomean_scorer,
)
from skfairfr.losses import FPRPenaltyLoss
from skfairfr.losses._fpr_penalty import target_cosine
from skfairfr.losses._softmax import held_out_cross_entropy
from tests.projectors.faces import (
    GROUP,
    IDENTITY,
    MORE,
    MORE_Y,
    NOISY,
    X,
    Y,
    assert_same_bits,
    losses,
    module,
    people_of,
)

PENALTIES = ["ratio", "mean_square"]


def projector(**options):
    """Three short epochs, the same in every run."""
    usual = {"max_epochs": 3, "batch_size": 64, "scale": 16.0, "device": "cpu"}
    usual |= {"head": "mlp", "init": "random", "lr": 0.01}
    return FPRPenaltyProjector(**(usual | {"random_state": 0} | options))


@cache
def trained():
    """A fit that many tests look at."""
    return projector().fit(X, IDENTITY)


def test_fitted_attributes():
    assert trained().identities_.tolist() == sorted(set(IDENTITY.tolist()))
    assert trained().centroids_.shape == (40, 16)
    assert trained().centroids_.dtype == np.float32
    assert_allclose(np.linalg.norm(trained().centroids_, axis=1), 1, rtol=1e-6)
    assert type(trained().threshold_) is float and -1 < trained().threshold_ < 1
    assert trained().n_features_in_ == 16 and len(trained().history_) == 3
    assert not hasattr(trained(), "groups_")
    rows = trained().transform(X)
    assert rows.dtype == np.float32
    assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)


DOORS = {
    "inside y": (Y, None),
    "beside y": (IDENTITY, GROUP),
    "both": (Y, GROUP),
    "unknown": (IDENTITY, np.full(len(X), None)),
    "changing within a person": (IDENTITY, np.arange(len(X))),
    "of another length": (IDENTITY, ["a"]),
    "a frame": (pd.DataFrame({"identity": IDENTITY, "group": GROUP}), None),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fraction", [0.0, 0.3])
def test_groups_change_no_bit(door, fraction, recwarn):
    y, groups = DOORS[door]
    plain = projector(validation_fraction=fraction).fit(X, IDENTITY)
    grouped = projector(validation_fraction=fraction)
    grouped.fit(X, y, sensitive_features=groups)
    assert_same_bits(grouped, plain)
    assert grouped.threshold_ == plain.threshold_
    assert all("This fit has" in str(w.message) for w in recwarn)


@pytest.mark.parametrize("y", [IDENTITY, Y])
def test_a_sampler_alone_is_told_the_groups(y):
    seen = []

    def once(identity, group, generator):
        seen.append(group)
        return np.arange(len(identity))

    fitted = projector(sampler=once).fit(X, y)
    for group in seen:
        if y is IDENTITY:
            assert group is None
        else:
            assert_array_equal(np.array(["female", "male"])[group], GROUP)
    # The loss is not: with or without groups the same.
    assert len(seen) == 3
    assert_same_bits(fitted, projector(sampler=once).fit(X, IDENTITY))


@pytest.mark.parametrize("head", ["mlp", "residual"])
@pytest.mark.parametrize(
    ("base", "margin"), [("softmax", 0.0), ("softmax", 0.35), ("cosface", 0.2)]
)
def test_alpha_zero_is_an_ethical_module_of_one_kappa(head, base, margin):
    ours = projector(alpha=0.0, base=base, margin=margin, head=head)
    ours.fit(X, IDENTITY)
    kept = {"groups": None, "head": head, "init": "random"}
    kept["margin"] = 0.0 if base == "softmax" else margin
    theirs = module(**kept, kappa0=16.0, kappa1=16.0).fit(X, IDENTITY)
    assert_allclose(ours.transform(X), theirs.transform(X), atol=2e-3)
    assert losses(ours)["train_loss"] == pytest.approx(
        losses(theirs)["train_loss"], rel=1e-3
    )
    assert math.isnan(ours.threshold_)


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 1.0},
        {"penalty": "mean_square"},
        {"base": "arcface"},
        {"base": "softmax"},
        {"far": 0.3},
        {"scale": 8.0},
        {"margin": 0.1},
        {"weighting": "cosine"},
        {"momentum": 0.9},
    ],
)
def test_every_option_arrives_at_the_loss(options):
    usual = projector().get_params()
    names = ["penalty", "far", "alpha", "base", "scale", "margin", "weighting"]
    fitted = projector(**options)
    people = people_of(IDENTITY)
    loss = fitted._make_loss(people, None, 16, None, torch.Generator())
    assert isinstance(loss, FPRPenaltyLoss)
    asked = {n: (usual | options)[n] for n in [*names, "momentum"]}
    asked["far"] = asked["far"] or 1 / 39
    assert {n: getattr(loss, n) for n in asked} == asked
    assert losses(fitted.fit(X, IDENTITY)) != losses(trained())


@pytest.mark.parametrize(
    ("base", "penalty"),
    [
        *(("cosface", "ratio"), ("softmax", "mean_square")),
        *(
            pytest.param(base, penalty, marks=pytest.mark.slow)
            for base, penalty in (
                *(("cosface", "mean_square"), ("softmax", "ratio")),
                *(("arcface", penalty) for penalty in PENALTIES),
            )
        ),
    ],
)
def test_images_of_a_person_come_together(base, penalty):
    fitted = projector(penalty=penalty, base=base, max_epochs=80).fit(NOISY, IDENTITY)
    same = IDENTITY[:, None] == IDENTITY

    def gap(rows):
        scores = rows @ rows.T
        return scores[same].mean() - scores[~same].mean()

    noisy = NOISY / np.linalg.norm(NOISY, axis=1, keepdims=True)
    assert gap(fitted.transform(NOISY)) > gap(noisy) + 0.1
    history = losses(fitted)["train_loss"]
    assert history[-1] < history[0]


@pytest.mark.parametrize("base", ["cosface", "arcface", "softmax"])
def test_people_held_out_are_judged_by_the_base_alone(base):
    given = projector(base=base, alpha=5.0)
    people, embeddings = people_of(IDENTITY), torch.from_numpy(trained().transform(X))
    expected = held_out_cross_entropy(
        embeddings,
        torch.from_numpy(people.y),
        scale=torch.full((40,), 16.0),
        margin=lambda cosine: target_cosine(cosine, base, 0.35),
    )
    loss = given._make_loss(people, None, 16, None, None)
    y = torch.from_numpy(people.y)
    assert given._held_out_loss(people, loss, embeddings, y, None) == expected
    plain = held_out_cross_entropy(
        embeddings, torch.from_numpy(people.y), scale=torch.full((40,), 16.0)
    )
    assert expected == plain if base == "softmax" else expected > plain


OTHERS = {
    "plain": {},
    "without penalty": {"alpha": 0.0},
    "residual": {"head": "residual", "output_dim": None, "penalty": "mean_square"},
    "other sizes": {"hidden_dim": 5, "output_dim": 7, "base": "arcface"},
}


@pytest.mark.parametrize("other", OTHERS)
def test_saved_pickled_and_cloned(tmp_path, other):
    fitted = projector(**OTHERS[other]).fit(X, IDENTITY)
    fitted.save(tmp_path / "projector.safetensors", include_people=True)
    loaded = FPRPenaltyProjector.load(tmp_path / "projector.safetensors")
    for again in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(again.transform(X), fitted.transform(X))
        assert_same_bits(again, fitted)
        assert_array_equal(again.threshold_, fitted.threshold_)
        assert again.get_params() == fitted.get_params()
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(X)
    assert_same_bits(fresh.fit(X, IDENTITY), fitted)


FOLDS = IdentityKFold(2)
GRID = {"alpha": [0.0, 0.5], "max_epochs": [1]}
SCORERS = [
    bfar_scorer,
    bfrr_scorer,
    frr_at_far_scorer,
    far_max_geomean_scorer,
    frr_max_geomean_scorer,
]


def search(estimator=None, grid=GRID, **options):
    usual = {"scoring": bfar_scorer, "cv": FOLDS, "error_score": "raise"}
    return GridSearchCV(estimator or projector(), grid, **(usual | options))


@cache
def fits_by_hand():
    """(candidate, fold) -> projector of the other fold, and the rows of this one."""
    found = {}
    for i, alpha in enumerate(GRID["alpha"]):
        for j, (train, test) in enumerate(FOLDS.split(MORE.X, MORE_Y)):
            fitted = projector(alpha=alpha, max_epochs=1)
            found[i, j] = fitted.fit(MORE.X[train], MORE.y[train]), test
    return found


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("routing", [False, True])
def test_scorers_know_the_groups_that_fit_does_not(scorer, routing):
    with config_context(enable_metadata_routing=routing):
        beside = {"sensitive_features": MORE.sensitive_features} if routing else {}
        found = search(scoring=scorer).fit(
            MORE.X, MORE.y if routing else MORE_Y, **beside
        )
    expected = np.empty((2, 2))
    for (i, j), (fitted, test) in fits_by_hand().items():
        expected[i, j] = scorer(fitted, MORE.X[test], MORE_Y[test])
    means = found.cv_results_["mean_test_score"]
    assert np.isfinite(means).all()
    assert means == pytest.approx(expected.mean(1), rel=1e-12)
    assert_array_equal(found.transform(X), found.best_estimator_.transform(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "paper"}, "'penalty'"),
        ({"far": 0.0}, "'far'"),
        ({"far": 1.0}, "'far'"),
        ({"far": "low"}, "'far'"),
        ({"alpha": -1.0}, "'alpha'"),
        ({"base": "sphereface"}, "'base'"),
        ({"scale": 0.0}, "'scale'"),
        ({"margin": 2.0}, "'margin'"),
        ({"margin": -0.1}, "'margin'"),
        ({"weighting": "none"}, "'weighting'"),
        ({"momentum": 1.0}, "'momentum'"),
        ({"monitor": "bfar"}, "'monitor'"),
        ({"alpha": np.inf}, "alpha"),
        ({"scale": np.inf}, "scale"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        projector(**options).fit(X, IDENTITY)
