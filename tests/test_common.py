"""Every estimator obeys scikit-learn, routing off and on."""

import importlib
import inspect
import pkgutil
from numbers import Integral

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import skfairfr
from skfairfr import SimilarityROC
from skfairfr._compat import Interval
from skfairfr.comparators import (
    ClusterCalibration,
    CohortNormalizer,
    Comparator,
    FairScoreNormalizer,
    GroupThresholds,
    ScoreCalibrator,
)
from skfairfr.metrics import IdentificationROC
from skfairfr.utils import face_labels
from tests.comparators.test_scikit_learn import ESTIMATORS as WITH_THEIR_OWN_TESTS
from tests.rules import assert_none

# The checks' data hold few people, and no groups.
pytestmark = [
    pytest.mark.filterwarnings("ignore:There is no validation"),
    pytest.mark.filterwarnings("ignore:.* was fitted on the groups"),
    pytest.mark.filterwarnings("ignore:Of the thresholds of"),
    pytest.mark.filterwarnings("ignore:n_clusters=1 makes"),
    pytest.mark.filterwarnings("ignore:. of . clusters have fewer"),
    pytest.mark.filterwarnings("ignore:.*with fewer than two"),
]

MEASURES = [
    SimilarityROC(resample="identities", n_resamples=5, random_state=0),
    SimilarityROC(
        similarity="dot", resample="identities", n_resamples=5, random_state=0
    ),
]
COMPARATORS = [
    CohortNormalizer(),
    CohortNormalizer("z", cohort="images"),
    GroupThresholds(0.1),
    FairScoreNormalizer(2, far=0.1, random_state=0),
    FairScoreNormalizer(2, far=0.1, pairs="either", random_state=0),
    ClusterCalibration(2, random_state=0),
    ScoreCalibrator(random_state=0),
    ScoreCalibrator("isotonic", by="cluster", n_clusters=2, random_state=0),
    ScoreCalibrator("beta", by="group", random_state=0),
]
PROJECTORS = []
if "EthicalModule" in skfairfr.__all__:  # with the extra "mitigate"
    from skfairfr import EthicalModule, FPRPenaltyProjector, TripletProjector
    from skfairfr.projectors import (
        AdversarialProjector,
        CentroidFairnessProjector,
        LossProjector,
    )

    # Two epochs, of which the second may go on from the first: no check asks for more.
    PROJECTORS = [
        EthicalModule(max_epochs=2),
        EthicalModule(head="mlp", max_epochs=2),
        FPRPenaltyProjector(max_epochs=2),
        AdversarialProjector(max_epochs=2, discriminator_epochs=2),
        CentroidFairnessProjector(max_epochs=2),
        LossProjector(max_epochs=2),
        TripletProjector(max_epochs=2),
        TripletProjector(validation_fraction=0.0, head="mlp", max_epochs=2),
    ]
ESTIMATORS = MEASURES + COMPARATORS + PROJECTORS
# Routing passes through the class, whatever the parameters.
ONE_OF_EACH = list({type(estimator): estimator for estimator in ESTIMATORS}.values())
# What measures, what changes scores, what trains; the night has all.
DAILY = [MEASURES[0], COMPARATORS[0], *PROJECTORS[:1]]
ROUTED = DAILY[:1]


def expected_failures(estimator):
    """One check draws integers and so a row of zeros, whose cosine is undefined."""
    of_cosines = isinstance(estimator, Comparator)
    if of_cosines or getattr(estimator, "similarity", None) == "cosine":
        return {"check_estimators_dtypes": "its data contain a zero row, an error here"}
    return {}


def others(estimators, daily):
    return [e for e in estimators if not any(e is one for one in daily)]


@parametrize_with_checks(DAILY, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    others(ESTIMATORS, DAILY), expected_failed_checks=expected_failures
)
def test_scikit_learn_checks_of_other_options(estimator, check):
    check(estimator)


@parametrize_with_checks(ROUTED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_with_routing(estimator, check):
    with config_context(enable_metadata_routing=True):
        check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    others(ONE_OF_EACH, ROUTED), expected_failed_checks=expected_failures
)
def test_scikit_learn_checks_of_others_with_routing(estimator, check):
    with config_context(enable_metadata_routing=True):
        check(estimator)


def public_estimators():
    """Every public class that is fitted to data."""
    packages = [skfairfr]
    for found in pkgutil.iter_modules(skfairfr.__path__):
        if not found.name.startswith("_"):
            packages.append(importlib.import_module(f"skfairfr.{found.name}"))
    public = {
        getattr(package, name)
        for package in packages
        for name in getattr(package, "__all__", ())
    }
    return {
        value
        for value in public
        if inspect.isclass(value)
        and issubclass(value, BaseEstimator)
        and hasattr(value, "fit")
    }


def test_every_public_estimator_is_checked():
    checked = {type(estimator) for estimator in ESTIMATORS + WITH_THEIR_OWN_TESTS}
    # No check gives a gallery: its own tests ask for the same.
    checked.add(IdentificationROC)
    assert len(checked) >= 8
    assert_none(public_estimators() ^ checked)


X = np.random.default_rng(0).standard_normal((60, 8))
Y = face_labels(np.repeat(np.arange(20), 3), np.repeat(["a", "b"], 30))


# Parameters whose default lies outside what these few data allow, or is None.
VALUES = {
    "batch_size": 100,
    "selection_size": 100,
    "hidden_dim": 100,
    "output_dim": 8,
    "top": 5,
    "n_clusters": 2,
    "min_pairs": 10,
    "max_pairs": 100,
    "discriminator_dim": 100,
    "n_jobs": 1,
    "patience": 1,
    "final_lr": 1e-3,
    "min_agreement": 0.6,
    "validation_fraction": 0.3,
    "alpha": 0.3,
    "margin": 0.3,
    "momentum": 0.3,
    "far": 0.1,
    "shrinkage": 0.1,
}


def narrow_numbers(estimator):
    """Every number that it takes, in types that a product of two leaves, or that round."""
    found = {}
    for name, allowed in type(estimator)._parameter_constraints.items():
        kinds = {c.type for c in allowed if isinstance(c, Interval)}
        if kinds:
            default = getattr(type(estimator)(), name)
            value = VALUES.get(name, min(default or 3, 100))
            found[name] = np.int8(value) if Integral in kinds else np.float16(value)
    return found


@pytest.mark.parametrize(
    "estimator",
    {type(e): e for e in reversed(ESTIMATORS)}.values(),
    ids=lambda estimator: type(estimator).__name__,
)
def test_all_numbers_of_numpy_at_once_are_those_of_python(estimator):
    narrow = narrow_numbers(estimator)
    wide = {name: number.item() for name, number in narrow.items()}
    found = [answer_of(clone(estimator).set_params(**p)) for p in (narrow, wide)]
    np.testing.assert_array_equal(*found)


def answer_of(estimator):
    """What a fit says of the rows, as numbers."""
    if hasattr(estimator, "random_state"):
        estimator.set_params(random_state=0)
    fitted = estimator.fit(X, Y)
    if hasattr(fitted, "transform"):
        return fitted.transform(X)
    if isinstance(fitted, Comparator):
        fitted = clone(MEASURES[0]).set_params(similarity=fitted).fit(X[::-1], Y[::-1])
    found = fitted.estimate(far=0.1, rate="far", how="max_min")
    return [found.value, found.low, found.high]
