"""TripletProjector: domains, strategies, edges; scikit-learn, checkpoints, persistence."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skfairfr import (
    IdentityKFold,
    TripletProjector,
    face_labels,
    frr_at_far_scorer,
    make_face_embeddings,
)
from skfairfr.samplers import GroupWeightedSampler, HomogeneousBatchSampler
from tests.projectors.faces import Breaking, Stop, assert_same_bits

FACES = make_face_embeddings(
    150, 4, 16, groups={"EU": 0.6, "AM": 0.25, "AF": 0.15}, n_domains=2, random_state=0
)
X, IDENTITY, GROUP, DOMAIN = FACES.X, FACES.y, FACES.sensitive_features, FACES.domain
Y = face_labels(IDENTITY, GROUP, DOMAIN)
DYNAMIC = {"sampling": "dynamic", "far": 0.01}
HAND = {"sampling": "adjusted", "group_weights": {"EU": 1, "AM": 1, "AF": 3}}


def projector(**options):
    """Three short epochs, the same in every run."""
    usual = {"max_epochs": 3, "device": "cpu", "random_state": 0}
    return TripletProjector(**(usual | options))


def test_training_across_domains_lowers_the_frr_across_them():
    noisy = make_face_embeddings(
        400, 4, 16, n_domains=2, domain_shift=2.0, kappa=40.0, random_state=0
    )
    y = face_labels(noisy.y, noisy.sensitive_features, noisy.domain)
    train, test = next(IdentityKFold(3, shuffle=True, random_state=0).split(noisy.X, y))
    fitted = projector(max_epochs=8).fit(noisy.X[train], y[train])
    identity = FunctionTransformer().fit(noisy.X)
    before, after = (
        frr_at_far_scorer(e, noisy.X[test], y[test]) for e in (identity, fitted)
    )
    assert after > before + 0.05
    losses = fitted.history_["valid_loss"]
    assert losses.min() < 0.9 * losses[0]


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
    assert fitted.group_weights_.shape == fitted.group_fars_.shape == (3, 3)
    assert_allclose(fitted.group_weights_.mean(axis=1), 1)
    assert (fitted.history_["n_triplets"] > 0).all()
    assert len(fitted.identities_) == 120  # the rest is held out


def test_domain_is_routed_inside_y_or_an_argument_alike():
    inside = projector(**DYNAMIC).fit(X, Y)
    beside = projector(**DYNAMIC).fit(X, IDENTITY, GROUP, domain=DOMAIN)
    frame = pd.DataFrame({"identity": IDENTITY, "group": GROUP, "domain": DOMAIN})
    framed = projector(**DYNAMIC).fit(X, frame)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(FunctionTransformer(), projector(**DYNAMIC))
        routed.fit(X, IDENTITY, sensitive_features=GROUP, domain=DOMAIN)
    for other in (beside, framed, routed[-1]):
        assert_same_bits(inside, other)


def test_the_domain_matters():
    across, within = (
        projector().fit(X, face_labels(IDENTITY, GROUP, d)) for d in (DOMAIN, None)
    )
    assert not np.array_equal(across.transform(X), within.transform(X))


@pytest.mark.parametrize("name", ["n", "equal", "fit"])
def test_weights_are_those_of_the_strategy(name):
    if name == "equal":
        assert (projector(sampling="equal").fit(X, Y).group_weights_ == 1).all()
    elif name == "fit":
        weights = projector(**HAND).fit(X, Y).group_weights_
        assert_allclose(weights, np.tile([1.8, 0.6, 0.6], (3, 1)))
    else:
        natural = projector().fit(X, Y).group_weights_[0]
        counts = [90, 38, 22]
        assert natural == pytest.approx(np.array(counts[::-1]) / 50, abs=0.1)


def test_dynamic_weights_move_towards_the_group_of_the_larger_far():
    fitted = projector(**DYNAMIC, max_epochs=4).fit(X, Y)
    weights, fars = fitted.group_weights_, fitted.group_fars_
    assert (weights[0] == 1).all()
    for epoch in range(3):
        worst = np.argmax(fars[epoch])
        assert weights[epoch + 1, worst] > 0.8 * weights[epoch, worst] + 0.2
    table = fitted.history_
    assert_array_equal(table["weight_AF"], weights[:, 0])
    assert_array_equal(table["far_EU"], fars[:, 2])
    still = projector(**DYNAMIC, smoothing=0.0).fit(X, Y)
    assert (still.group_weights_ == 1).all()


def test_people_without_a_pair_are_left_out_and_counted():
    lone = IDENTITY == 0
    domain = np.where(lone, "domain_0", DOMAIN)
    single = np.flatnonzero(IDENTITY == 1)[1:]
    keep = np.setdiff1d(np.arange(len(X)), single)
    y = face_labels(IDENTITY[keep], GROUP[keep], domain[keep])
    fitted = projector(validation_fraction=0.0).fit(X[keep], y)
    assert fitted.n_left_out_ == 2
    assert not {0, 1} & set(fitted.identities_.tolist())
    within = projector(validation_fraction=0.0).fit(X[keep], IDENTITY[keep])
    assert within.n_left_out_ == 1


SMALL = face_labels(IDENTITY, np.where(IDENTITY == 0, "rare", GROUP), DOMAIN)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        (DYNAMIC, IDENTITY, "fit was given no groups"),
        ({"sampling": "equal"}, IDENTITY, "fit was given no groups"),
        ({"homogeneous": True}, IDENTITY, "fit was given no groups"),
        (DYNAMIC, SMALL, "do not resolve far=.*'rare': 0"),
        (DYNAMIC | {"far": 1e-7}, Y, "do not resolve far=1e-07"),
        (DYNAMIC | {"validation_fraction": 0.0}, Y, "set validation_fraction=0.2"),
        ({"sampling": "adjusted"}, Y, "needs group_weights"),
        (HAND | {"group_weights": {"EU": 1}}, Y, "missing for"),
        (
            HAND | {"group_weights": HAND["group_weights"] | {"OC": 1}},
            Y,
            "no groups of the data",
        ),
        (HAND | {"group_weights": dict.fromkeys(["EU", "AM", "AF"], 0)}, Y, "all 0"),
        (HAND | {"group_weights": {"EU": 1, "AM": 1, "AF": -1}}, Y, ">= 0"),
        ({"group_weights": {"EU": 1}}, Y, "would be ignored"),
        ({"sampler": GroupWeightedSampler(), "homogeneous": True}, Y, "both say which"),
        ({"sampler": GroupWeightedSampler()}, IDENTITY, "given no groups"),
        ({"monitor": "bfar", "validation_fraction": 0.0}, Y, "people held out"),
        ({"monitor": "bfar"}, IDENTITY, "held-out people have 0"),
    ],
)
def test_refused(options, y, message):
    with pytest.raises(ValueError, match=message):
        projector(**options).fit(X, y)


def test_too_few_to_hold_out_are_all_trained_on_with_a_warning():
    few = IDENTITY < 4
    with pytest.warns(UserWarning, match="Nobody is held out: validation_fraction=0.2"):
        fitted = projector().fit(X[few], Y[few])
    assert len(fitted.identities_) == 4
    assert "valid_loss" not in fitted.history_
    with pytest.raises(ValueError, match=r"validation_fraction=0\.2 holds out"):
        projector(**DYNAMIC).fit(X[few], Y[few])


@pytest.mark.parametrize(
    "sampler",
    [
        GroupWeightedSampler(weights={"EU": 1, "AM": 0, "AF": 0}),
        HomogeneousBatchSampler(batch_size=50),
        lambda identity, group, generator: np.arange(40),
    ],
    ids=["weighted", "homogeneous", "plain"],
)
def test_a_sampler_says_which_images_are_drawn(sampler):
    fitted = projector(sampler=sampler).fit(X, Y)
    other = projector().fit(X, Y)
    assert not np.array_equal(fitted.transform(X), other.transform(X))


@pytest.mark.parametrize("monitor", ["bfar", "bfrr", "frr_at_far"])
def test_monitors_compare_across_domains(monitor):
    faces = make_face_embeddings(250, 4, 16, n_domains=2, random_state=0)
    y = face_labels(faces.y, faces.sensitive_features, faces.domain)
    fitted = projector(monitor=monitor, validation_fraction=0.5).fit(faces.X, y)
    assert f"valid_{monitor}" in fitted.history_
    if monitor != "frr_at_far":
        return
    best = fitted.history_["valid_frr_at_far"].min()
    held = ~np.isin(faces.y, fitted.identities_)
    assert -frr_at_far_scorer(fitted, faces.X[held], y[held]) == pytest.approx(best)


@pytest.mark.parametrize("options", [{}, DYNAMIC], ids=str)
def test_a_killed_fit_goes_on_with_the_same_bits(tmp_path, options):
    whole = projector(max_epochs=4, **options).fit(X, Y)
    halted = projector(max_epochs=4, checkpoint_dir=tmp_path, **options)
    with pytest.raises(Stop):
        halted.set_params(callbacks=[Breaking(3)]).fit(X, Y)
    assert len(list(tmp_path.iterdir())) == 1
    assert_same_bits(halted.set_params(callbacks=None).fit(X, Y), whole)
    assert list(tmp_path.iterdir()) == []


def test_saved_and_pickled_it_is_the_same(tmp_path):
    fitted = projector(**DYNAMIC).fit(X, Y)
    fitted.save(tmp_path / "projector", include_people=True)
    for again in (
        TripletProjector.load(tmp_path / "projector"),
        pickle.loads(pickle.dumps(fitted)),
    ):
        assert_same_bits(again, fitted)
        assert_array_equal(again.group_weights_, fitted.group_weights_)
        assert_array_equal(again.group_fars_, fitted.group_fars_)
        assert again.get_params() == fitted.get_params()
        assert_array_equal(again.transform(X), fitted.transform(X))


def test_a_search_chooses_a_strategy():
    search = GridSearchCV(
        projector(max_epochs=1, far=0.05),
        {"sampling": ["natural", "dynamic"]},
        scoring=frr_at_far_scorer,
        cv=IdentityKFold(2),
        error_score="raise",
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
