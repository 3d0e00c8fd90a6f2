"""CentroidFairnessProjector: the reference, groups, what the maps are made of, edges."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr.losses import CentroidFairnessLoss
from skfairfr.projectors import CentroidFairnessProjector
from tests.projectors.faces import GROUP, IDENTITY, X, Y, losses

UNKNOWN = np.where(IDENTITY % 5 == 0, None, GROUP.astype(object))


def projector(**options):
    """Three short epochs, the same in every run."""
    usual = {"max_epochs": 3, "batch_size": 64, "device": "cpu", "random_state": 0}
    return CentroidFairnessProjector(**(usual | options))


FITTED = projector().fit(X, Y)


def test_fitted_attributes():
    assert FITTED.identities_.tolist() == sorted(set(IDENTITY.tolist()))
    assert FITTED.groups_.tolist() == ["female", "male"]
    assert FITTED.reference_ in ("female", "male")
    assert FITTED.n_left_out_ == FITTED.n_unified_ == 0
    assert FITTED.centroids_.shape == (40, 16)
    assert_allclose(np.linalg.norm(FITTED.centroids_, axis=1), 1, rtol=1e-6)
    assert list(FITTED.history_) == ["epoch", "lr", "dur", "train_loss"]
    assert FITTED.history_["train_loss"].is_monotonic_decreasing


def test_the_loss_sees_embeddings_as_they_come(monkeypatch):
    forward, seen = CentroidFairnessLoss.forward, []

    def spy(self, embeddings, y, X):
        seen.append((X.clone(), y.clone()))
        return forward(self, embeddings, y, X)

    monkeypatch.setattr(CentroidFairnessLoss, "forward", spy)
    projector(max_epochs=1).fit(X, Y)
    places = {row.tobytes(): k for k, row in enumerate(X)}
    for rows, y in seen:
        found = [places[row.tobytes()] for row in rows.numpy()]
        assert_array_equal(IDENTITY[found], y)


def test_people_of_unknown_group_are_left_out_where_asked():
    with pytest.raises(ValueError, match=r"identity 0, or is unknown.*min_agreement"):
        projector().fit(X, IDENTITY, UNKNOWN)
    fitted = projector(min_agreement=0.75).fit(X, IDENTITY, UNKNOWN)
    assert fitted.n_left_out_ == 8 and fitted.identities_.size == 32
    known = np.array([g is not None for g in UNKNOWN])
    alone = projector(min_agreement=0.75).fit(X[known], Y[known])
    assert_allclose(fitted.transform(X), alone.transform(X), atol=1e-5)


@pytest.mark.parametrize("reference", ["female", "male"])
def test_the_held_out_loss_is_that_of_the_loss_module(reference):
    options = {"max_epochs": 1, "validation_fraction": 0.3, "reference": reference}
    fitted = projector(**options).fit(X, Y)
    assert fitted.reference_ == reference
    held = ~np.isin(IDENTITY, fitted.identities_)
    who, y = np.unique(IDENTITY[held], return_inverse=True)
    group = [int((GROUP[IDENTITY == k] == "male").all()) for k in who]
    _, trained = np.unique(IDENTITY[~held], return_inverse=True)
    codes = [int((GROUP[IDENTITY == k] == "male").all()) for k in fitted.identities_]
    place = ["female", "male"].index(reference)
    loss = CentroidFairnessLoss(X[~held], trained, codes, reference=place)
    Z = fitted.transform(X[held])
    found = loss.held_out(*map(torch.as_tensor, (Z, y, X[held], group)))
    assert losses(fitted)["valid_loss"] == [pytest.approx(found, rel=1e-4)]
