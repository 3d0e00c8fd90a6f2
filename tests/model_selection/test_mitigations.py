"""Every mitigation that has a name can be made, fitted, and written without pickle."""

from importlib.util import find_spec

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import Pipeline

from skfairfr.comparators import CohortNormalizer, GroupMeanRemover, GroupThresholds
from skfairfr.metrics import SimilarityROC
from skfairfr.model_selection import (
    MITIGATIONS,
    _mitigations,
    kappa_grid,
    load_mitigation,
    save_mitigation,
)
from skfairfr.model_selection._mitigations import (
    Setting,
    count_numbers,
    embed,
    fit_system,
    named_mitigation,
    read_methods,
    seeded,
)
from tests.model_selection.toy_methods import crowd

FAR = 0.05
SETTING = Setting(FAR, ["female", "male"])
KNOWN = _mitigations._known(SETTING)
TRAINED = {n for n, (module, *_) in KNOWN.items() if module == "skfairfr.projectors"}
X, Y, GROUP = crowd(60)


def made(name, **options):
    """A named mitigation, fitted with the first of its candidates."""
    if name in TRAINED:
        pytest.importorskip("torch")
    mitigation = named_mitigation(name, SETTING)
    parameters = mitigation.candidates[0] if mitigation.candidates else {}
    system = seeded(mitigation.estimator, 0)
    system.set_params(**parameters, **options)
    return fit_system(system, X, Y, GROUP)


@pytest.mark.parametrize("name", MITIGATIONS)
@pytest.mark.filterwarnings("ignore:Of the thresholds of", "ignore:.*of .* clusters")
def test_what_has_a_name_is_fitted_judged_and_saved(name, tmp_path):
    system = made(name, **({"max_epochs": 1} if name in TRAINED else {}))
    save_mitigation(system, tmp_path)
    again = load_mitigation(tmp_path)
    assert count_numbers(system) == count_numbers(again) > 0
    scores = []
    for fitted in (system, again):
        Z, similarity = embed(fitted, X, GROUP)
        roc = SimilarityROC(
            similarity=similarity,
            resample="identities",
            n_resamples=2,
            random_state=0,
        )
        roc.fit(Z, Y, GROUP)
        scores.append([roc.threshold_at(FAR), roc.estimate(FAR).value])
    assert scores[0] == scores[1] and np.isfinite(scores).all()


@pytest.mark.parametrize(("n_people", "tried"), [(199, [10, 99]), (20, [10]), (3, [2])])
def test_clusters_are_as_many_as_people_allow(n_people, tried):
    found = named_mitigation("FSN", SETTING._replace(n_people=n_people))
    assert found.candidates == [{"n_clusters": n} for n in tried]


def test_those_that_train_stand_last_and_need_the_extra(monkeypatch):
    assert set(MITIGATIONS[-len(TRAINED) :]) == TRAINED
    given = {n: found for n, found in KNOWN.items() if n not in TRAINED}
    absent = {"absent": ("skfairfr.absent", "Nothing", {}, {})}
    monkeypatch.setattr(_mitigations, "_known", lambda setting: given | absent)
    found, ((name, reason),) = read_methods(None, SETTING)
    assert [m.name for m in found] == list(given)
    assert name == "absent" and "skfairfr.absent" in reason
    with pytest.raises(ImportError):
        read_methods(["absent"], SETTING)


@pytest.mark.skipif(find_spec("torch") is None, reason="trains")
@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_concentrations_of_any_number_of_groups_are_tried(n_groups):
    labels = ["a", "b", "c"][:n_groups]
    tried = named_mitigation("ethical module", Setting(FAR, labels))
    kappas = [candidate["kappas"] for candidate in tried.candidates]
    assert kappas == kappa_grid(512, labels)["kappas"]
    for candidate in kappas:
        assert tried.estimator.set_params(kappas=candidate).kappas == candidate


def test_steps_of_a_pipeline_get_identities_and_groups():
    steps = [
        ("out", GroupMeanRemover()),
        ("none", None),
        ("scores", CohortNormalizer()),
    ]
    system = fit_system(Pipeline(steps), X, Y, GROUP)
    alone = GroupMeanRemover().fit(X, Y, sensitive_features=GROUP)
    cohort = CohortNormalizer().fit(alone.transform(X), Y)
    Z, similarity = embed(system, X, GROUP)
    assert_array_equal(Z, alone.transform(X))
    for one, other in zip(
        (similarity.prepare(Z).vectors, similarity.prepare(Z).adjustment.numbers),
        (cohort.prepare(Z).vectors, cohort.prepare(Z).adjustment.numbers),
        strict=True,
    ):
        assert_array_equal(one, other)


def test_the_groups_of_one_attribute_reach_a_comparator():
    thresholds = GroupThresholds(FAR).fit(X, Y, sensitive_features=GROUP)
    Z, similarity = embed(thresholds, X, GROUP)
    expected = thresholds.prepare(X, sensitive_features=GROUP)
    both = {"sex": GROUP, "odd": Y % 2}
    found = similarity.prepare(Z, sensitive_features=both)
    assert_array_equal(found.adjustment.numbers, expected.adjustment.numbers)


def cosines(name, rows, people):
    """Cosines after a named mitigation whose covariance is shrunk by a half."""
    estimator = named_mitigation(name, SETTING).estimator.set_params(shrinkage=0.5)
    Z, _ = embed(fit_system(estimator, rows, people, None), rows, None)
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return Z @ Z.T


def test_lda_is_wccn_where_rows_are_of_one_length_and_people_many():
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    apart = cosines("LDA", rows, Y) - cosines("WCCN", rows, Y)
    assert np.abs(apart).max() < 1e-5
    longer = rows * np.where(np.arange(len(rows)) % 2, 1.0, 5.0)[:, None]
    apart = cosines("LDA", longer, Y) - cosines("WCCN", longer, Y)
    assert np.abs(apart).max() > 0.1
    # With as many people as features LDA leaves out a direction.
    few = np.unique(Y)[: X.shape[1]]
    some = np.isin(Y, few)
    apart = cosines("LDA", rows[some], Y[some]) - cosines("WCCN", rows[some], Y[some])
    assert np.abs(apart).max() > 0.01
