"""TripletProjector: domains, strategies, edges; scikit-learn, checkpoints, persistence."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairfr import (
    TripletProjector,
    face_labels,
    frr_at_far_scorer,
    make_face_embeddings,
)
from skfairfr.samplers import GroupWeightedSampler, HomogeneousBatchSampler
from tests.projectors.faces import assert_same_bits

FACES = make_face_embeddings(
    150, 4, 16, groups={"EU": 0.6, "AM": 0.25, "AF": 0.15}, n_domains=2, random_state=0
)
X, IDENTITY, GROUP, DOMAIN = FACES.X, FACES.y, FACES.sensitive_features, FACES.domain
Y = face_labels(IDENTITY, GROUP, DOMAIN)
DYNAMIC = {"sampling": "dynamic", "far": 0.01}
HAND = {"sampling": "adjusted", "group_weights": {"EU": 1, "AM": 1, "AF": 3}}


def projector(**options):
    """Two short epochs, the same in every run."""
    usual = {"max_epochs": 2, "device": "cpu", "random_state": 0}
    return TripletProjector(**(usual | options))


@pytest.mark.parametrize(
    "options",
    [{}, {"sampling": "equal"}, HAND, DYNAMIC, {"homogeneous": True}],
    ids=str,
)
def test_every_strategy_fits_and_projects_to_unit_rows(options):
    fitted = projector(**options).fit(X, Y)
    Z = fitted.transform(X)
    assert Z.dtype == np.float32 and Z.shape == X.shape
    assert_allclose(np.linalg.norm(Z, axis=1), 1, rtol=1e-5)
    assert fitted.groups_.tolist() == ["AF", "AM", "EU"]
    assert fitted.group_weights_.shape == fitted.group_fars_.shape == (2, 3)
    assert_allclose(fitted.group_weights_.mean(axis=1), 1)
    assert (fitted.history_["n_triplets"] > 0).all()
    assert len(fitted.identities_) == 120  # the rest is held out


def test_domain_is_routed_inside_y_or_an_argument_alike():
    made = projector(sampling="equal", max_epochs=1)
    inside = clone(made).fit(X, Y)
    beside = clone(made).fit(X, IDENTITY, GROUP, domain=DOMAIN)
    frame = pd.DataFrame({"identity": IDENTITY, "group": GROUP, "domain": DOMAIN})
    framed = clone(made).fit(X, frame)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(FunctionTransformer(), clone(made))
        routed.fit(X, IDENTITY, sensitive_features=GROUP, domain=DOMAIN)
    for other in (beside, framed, routed[-1]):
        assert_same_bits(inside, other)
    within = clone(made).fit(X, IDENTITY, GROUP)
    assert not np.array_equal(inside.transform(X), within.transform(X))


def test_weights_are_those_of_the_strategy():
    weights = projector(**HAND).fit(X, Y).group_weights_
    assert_allclose(weights, np.tile([1.8, 0.6, 0.6], (2, 1)))
    natural = projector(max_epochs=1).fit(X, Y).group_weights_[0]
    assert natural == pytest.approx(np.array([22, 38, 90]) / 50, abs=0.1)


def test_dynamic_weights_move_towards_the_group_of_the_larger_far():
    fitted = projector(**DYNAMIC, max_epochs=3).fit(X, Y)
    weights, fars = fitted.group_weights_, fitted.group_fars_
    assert (weights[0] == 1).all()
    for epoch in range(2):
        worst = np.argmax(fars[epoch])
        assert weights[epoch + 1, worst] > 0.8 * weights[epoch, worst] + 0.2
    table = fitted.history_
    assert_array_equal(table["weight_AF"], weights[:, 0])
    assert_array_equal(table["far_EU"], fars[:, 2])


def test_people_without_a_pair_are_left_out_and_counted():
    lone = IDENTITY == 0
    domain = np.where(lone, "domain_0", DOMAIN)
    single = np.flatnonzero(IDENTITY == 1)[1:]
    keep = np.setdiff1d(np.arange(len(X)), single)
    y = face_labels(IDENTITY[keep], GROUP[keep], domain[keep])
    options = {"validation_fraction": 0.0, "max_epochs": 1}
    fitted = projector(**options).fit(X[keep], y)
    assert fitted.n_left_out_ == 2
    assert not {0, 1} & set(fitted.identities_.tolist())
    within = projector(**options).fit(X[keep], IDENTITY[keep])
    assert within.n_left_out_ == 1


SMALL = face_labels(IDENTITY, np.where(IDENTITY == 0, "rare", GROUP), DOMAIN)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"homogeneous": True}, IDENTITY, "sensitive_features is None.*face_labels"),
        (DYNAMIC, SMALL, "far is 0.01.*'rare': 0.* do not resolve"),
        (DYNAMIC | {"validation_fraction": 0.0}, Y, "Set validation_fraction=0.2"),
        (HAND | {"group_weights": {"EU": 1}}, Y, "weights lacks an entry for"),
        ({"sampler": GroupWeightedSampler(), "homogeneous": True}, Y, "both say which"),
        ({"sampler": GroupWeightedSampler()}, IDENTITY, "sensitive_features is None"),
        ({"monitor": "bfar", "validation_fraction": 0.0}, Y, "monitor is 'bfar'"),
        ({"monitor": "bfar"}, IDENTITY, "monitor is 'bfar'.* groups, got 0"),
    ],
)
def test_refused(options, y, message):
    with pytest.raises(ValueError, match=message):
        projector(**options).fit(X, y)


def test_too_few_to_hold_out_are_all_trained_on_with_a_warning():
    few = IDENTITY < 4
    with pytest.warns(
        UserWarning, match="There is no validation: validation_fraction 0.2"
    ):
        fitted = projector().fit(X[few], Y[few])
    assert len(fitted.identities_) == 4
    assert "valid_loss" not in fitted.history_
    with pytest.raises(ValueError, match=r"validation_fraction 0\.2 reserves"):
        projector(**DYNAMIC).fit(X[few], Y[few])


@pytest.mark.parametrize(
    "sampler",
    [
        HomogeneousBatchSampler(batch_size=50),
        lambda identity, group, generator: np.arange(40),
    ],
    ids=["homogeneous", "plain"],
)
def test_a_sampler_says_which_images_are_drawn(sampler):
    fitted = projector(sampler=sampler, max_epochs=1).fit(X, Y)
    other = projector(max_epochs=1).fit(X, Y)
    assert not np.array_equal(fitted.transform(X), other.transform(X))


def test_monitors_compare_across_domains():
    faces = make_face_embeddings(200, 4, 16, n_domains=2, random_state=0)
    y = face_labels(faces.y, faces.sensitive_features, faces.domain)
    options = {"monitor": "frr_at_far", "validation_fraction": 0.5, "max_epochs": 2}
    fitted = projector(**options).fit(faces.X, y)
    best = fitted.history_["valid_frr_at_far"].min()
    held = ~np.isin(faces.y, fitted.identities_)
    assert -frr_at_far_scorer(fitted, faces.X[held], y[held]) == pytest.approx(best)
