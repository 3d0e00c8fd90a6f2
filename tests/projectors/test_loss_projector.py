"""LossProjector: named losses, and modules and factories of the caller's."""

import pickle

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from torch import nn
from torch.nn.functional import cross_entropy, normalize

from skfairfr import FPRPenaltyProjector, IdentityKFold, make_fairness_scorer
from skfairfr.projectors import LossProjector
from tests.projectors.faces import IDENTITY, X, Y

FOLDS = IdentityKFold(2)
SCORER = make_fairness_scorer(rate="frr", how=None, far=0.1, operating_point="overall")


def projector(loss="cosface", **options):
    return LossProjector(
        loss, **{"max_epochs": 2, "random_state": 0, "device": "cpu"} | options
    )


class Contrastive(nn.Module):
    """Without weights."""

    def forward(self, embeddings, labels):
        distance = (2 - 2 * embeddings @ embeddings.T).clamp_min(1e-6).sqrt()
        same = labels[:, None] == labels
        return (distance * same).mean() + ((1 - distance).clamp_min(0) * ~same).mean()


class Softmax(nn.Module):
    """With a centroid of each person, as a loss of pytorch-metric-learning has."""

    def __init__(self, num_classes, embedding_size):
        super().__init__()
        self.W = nn.Parameter(torch.randn(num_classes, embedding_size))

    def forward(self, embeddings, labels):
        return cross_entropy(20 * embeddings @ normalize(self.W).T, labels)


@pytest.mark.parametrize(
    ("loss", "margin"), [("softmax", 0.0), ("cosface", 0.35), ("arcface", 0.5)]
)
def test_a_named_loss_is_the_margin_softmax_without_penalty(loss, margin):
    options = {"validation_fraction": 0.3, "max_epochs": 2, "random_state": 0}
    named = LossProjector(loss, **options).fit(X, IDENTITY)
    plain = FPRPenaltyProjector(alpha=0.0, base=loss, margin=margin, **options)
    plain.fit(X, IDENTITY)
    assert_array_equal(named.transform(X), plain.transform(X))
    assert_array_equal(named.centroids_, plain.centroids_)
    for name in ("train_loss", "valid_loss"):
        assert_array_equal(named.history_[name], plain.history_[name])


@pytest.mark.parametrize("loss", [Contrastive(), Softmax])
def test_a_loss_of_one_s_own_is_minimised(loss):
    fitted = projector(loss, max_epochs=6).fit(X, Y)
    losses = fitted.history_["train_loss"]
    assert losses.iloc[-1] < losses.iloc[0]
    sums = np.array([fitted.transform(X[IDENTITY == k]).sum(0) for k in range(40)])
    directions = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    assert_allclose(fitted.centroids_, directions, atol=1e-5)


def test_its_weights_are_trained_and_those_given_stay():
    seen = []

    def factory(n_identities, n_features):
        seen.append((n_identities, n_features))
        return Softmax(n_identities, n_features)

    fitted = projector(factory).fit(X, Y)
    assert seen == [(40, X.shape[1])]
    given = Softmax(40, X.shape[1])
    before = given.W.detach().clone()
    fitted = projector(given).fit(X, Y)
    assert torch.equal(given.W, before)
    assert not torch.equal(fitted.net_.criterion_.W.detach(), before)


def test_people_held_out_have_a_loss_only_without_weights():
    held_out = {"validation_fraction": 0.5}
    fitted = projector(Contrastive(), **held_out).fit(X, Y)
    assert np.isfinite(fitted.history_["valid_loss"]).all()
    with pytest.raises(ValueError, match=r"monitor is 'loss'.*monitor='frr_at_far'"):
        projector(Softmax, **held_out).fit(X, Y)
    rates = {"monitor": "frr_at_far", "monitor_far": 0.1}
    fitted = projector(Softmax, **held_out, **rates).fit(X, Y)
    assert np.isfinite(fitted.history_["valid_frr_at_far"]).all()
    assert np.isnan(fitted.history_["valid_loss"]).all()


class Recording(nn.Module):
    """Keeps the labels and groups of its batches."""

    seen = []  # noqa: RUF012

    def forward(self, embeddings, labels, groups):
        self.seen.append((embeddings.detach().clone(), labels.clone(), groups.clone()))
        return Contrastive()(embeddings, labels)


@pytest.mark.parametrize("validation_fraction", [0.0, 0.4])
def test_a_loss_that_takes_groups_gets_those_of_the_images(validation_fraction):
    """By the people whose labels a batch has, among those trained on or held out."""
    rng, Recording.seen = np.random.default_rng(0), []
    names = np.array([f"p{k:02}" for k in rng.permutation(40)])
    of_person = np.array(["f", "m", None], dtype=object)[rng.integers(0, 3, 40)]
    fitted = projector(Recording(), validation_fraction=validation_fraction).fit(
        X, names[IDENTITY], sensitive_features=of_person[IDENTITY]
    )
    known = {
        name: "fm".find(g or "-") for name, g in zip(names, of_person, strict=True)
    }
    trained = fitted.identities_
    held_out = np.setdiff1d(names, trained)
    assert bool(held_out.size) == bool(validation_fraction)
    found = {trained.size: set(), held_out.size: set()}
    for _, labels, groups in Recording.seen:
        whose = held_out if torch.unique(labels).numel() == held_out.size else trained
        expected = [known[whose[k]] for k in labels.tolist()]
        assert groups.tolist() == expected
        found[whose.size] |= set(expected)
    assert all(of == {-1, 0, 1} for n, of in found.items() if n)


def test_a_loss_that_takes_groups_needs_them():
    with pytest.raises(
        ValueError, match=r"sensitive_features is missing.*takes groups"
    ):
        projector(Recording()).fit(X, IDENTITY)


def test_it_is_searched_pickled_and_saved_without_its_loss(tmp_path):
    losses = {"loss": ["softmax", Softmax]}
    search = GridSearchCV(projector(), losses, scoring=SCORER, cv=FOLDS)
    search.fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    fitted = clone(projector(Softmax)).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(X), fitted.transform(X))
    with pytest.warns(UserWarning, match=r"\['loss'\]"):
        fitted.save(tmp_path / "head")
    again = LossProjector.load(tmp_path / "head")
    assert_array_equal(again.transform(X), fitted.transform(X))
    assert again.loss is None
    with pytest.raises(ValueError, match="The 'loss' parameter"):
        again.fit(X, Y)
    again.set_params(loss=Softmax).fit(X, Y)
    assert_array_equal(again.transform(X), fitted.transform(X))
