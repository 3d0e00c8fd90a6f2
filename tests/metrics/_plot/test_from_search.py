"""What is read of a search is what it holds."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from skfairfr import fairness_scores
from skfairfr.metrics._plot import _from_search
from tests.metrics._plot.searched import Towards, search
from tests.metrics.searches import FOLDS, X, Y


@pytest.mark.parametrize("name", ["bfar@1e-2", "frr_at_far@2e-2"])
def test_a_metric_is_minus_its_score(name):
    scores = search().cv_results_[f"mean_test_{name}"]
    assert np.array_equal(_from_search.metric_of_search(search(), name), -scores)


def test_a_signed_ratio_is_the_geometric_mean_of_folds():
    found = _from_search.metric_of_search(search(), "far_log_ratio@1e-2")
    splits = [
        search().cv_results_[f"split{k}_test_far_log_ratio@1e-2"] for k in range(3)
    ]
    assert found == pytest.approx(np.prod(np.exp(splits), axis=0) ** (1 / 3))


def test_an_unfitted_search_is_refused():
    unfitted = GridSearchCV(Towards(), {}, scoring=fairness_scores())
    with pytest.raises(NotFittedError):
        _from_search.metric_of_search(unfitted, "bfar")


def test_the_level_comes_from_the_name_or_the_scorer():
    assert _from_search.level_of(search(), "bfar@1e-2") == "1e-2"
    options = {"scoring": fairness_scores(0.02), "cv": FOLDS, "refit": False}
    single = GridSearchCV(Towards(), {"kappa0": [1.0]}, **options).fit(X, Y)
    assert _from_search.level_of(single, "bfar") == "0.02"
    assert _from_search.chosen_of(single) is None
    assert _from_search.level_of(object(), "bfar") is None


@pytest.mark.parametrize(
    ("name", "level", "label"),
    [
        ("frr_at_far@1e-2", "1e-2", "FRR at FAR = 1e-2"),
        ("bfar", "0.001", "BFAR (max / min of FAR) at FAR = 0.001"),
        ("bfrr", None, "BFRR (max / min of FRR)"),
        ("mine", "0.001", "mine"),
    ],
)
def test_labels(name, level, label):
    assert _from_search.metric_label(name, level) == label


@pytest.mark.parametrize("pipeline", [False, True])
@pytest.mark.parametrize("name", ["kappa0", "towards__kappa0"])
def test_parameters_are_found_with_and_without_their_step(pipeline, name):
    if not pipeline and "__" in name:
        with pytest.raises(ValueError, match="'kappa0', 'kappa1'"):
            _from_search.find_parameter(search(), name)
        return
    full = "towards__kappa0" if pipeline else "kappa0"
    assert _from_search.find_parameter(search(pipeline), name) == full


def test_parameters_as_text():
    parameters = {"step__kappa0": 20.0, "head": "mlp", "warm": True, "n": np.int64(3)}
    assert (
        _from_search.parameter_text(parameters) == "kappa0=20, head=mlp, warm=True, n=3"
    )
