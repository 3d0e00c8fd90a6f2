"""The candidate whose larger log-distance from the best is smallest, never an unknown one."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skfairfr import BestTradeOff, fairness_scores
from tests.metrics._scorers.test_one_score import SCORERS
from tests.metrics.searches import FAR, FOLDS, IDENTITY, WEIGHTS, Stretch, X, Y

NAN = np.nan


def results(**metrics):
    return {f"mean_test_{name}": -np.asarray(m, float) for name, m in metrics.items()}


def brute_force(a, b):
    """The definition, candidate by candidate."""
    regret = [
        max(np.log(x / min(a)), np.log(y / min(b))) for x, y in zip(a, b, strict=True)
    ]
    return regret.index(min(regret))


@pytest.mark.parametrize("seed", range(20))
def test_equals_the_definition(seed):
    a, b = np.random.default_rng(seed).lognormal(size=(2, 9))
    choose = BestTradeOff(("a", "b"))
    assert choose(results(a=a, b=b)) == brute_force(a, b)
    assert BestTradeOff(("b", "a"))(results(a=a, b=b)) == brute_force(a, b)
    assert choose(results(a=100 * a, b=b / 7)) == brute_force(a, b)


@pytest.mark.parametrize(
    ("a", "b", "chosen"),
    [
        ([1, 2, 4], [4, 2, 1], 1),
        ([1, 1], [1, 1], 0),
        ([NAN, 3, 4], [1, 2, 3], 1),
        ([1, 3, 4], [np.inf, 2, 3], 1),
        # The unknown candidate's own 0.1 is no best that others are held to.
        ([0.1, 2, 1], [NAN, 1, 8], 1),
        ([0, 0.1, 1], [9, 1, 1], 1),
        ([0, 0.1, 1], [1, 1, 1], 0),
        ([0, 1], [1.9, 1], 0),
        ([0, 1], [2.1, 1], 1),
        ([0, 0, 0], [3, 2, 4], 1),
    ],
)
def test_choices_that_can_be_seen(a, b, chosen):
    assert BestTradeOff(("a", "b"))(results(a=a, b=b)) == chosen


def test_one_metric_is_minimised():
    assert BestTradeOff(("a",))(results(a=[NAN, 3, 2])) == 2


def test_no_finite_candidate_is_an_error_that_tells_what_to_change():
    found = results(bfar=[NAN, NAN], frr_at_far=[0.1, NAN])
    with pytest.raises(ValueError, match=r"'frr_at_far': 1.*error_score='raise'"):
        BestTradeOff()(found)
    found = results(bfar=[NAN, 1], frr_at_far=[0.1, NAN])
    with pytest.raises(ValueError, match="No candidate"):
        BestTradeOff()(found)


@pytest.mark.parametrize(
    ("metrics", "found", "message"),
    [
        (("bfar", "x"), results(bfar=[1], bfrr=[1]), "the scores are: 'bfar', 'bfrr'"),
        (("bfar", "x"), results(score=[1]), "fairness_scores"),
        (("bfar", "x"), {}, "none"),
        (("a", "b"), results(a=[1, 2], b=[-0.9, 1]), "'b' is positive"),
        (("bfar", "far_log_ratio@1e-3"), results(bfar=[1]), "signed"),
        ("bfar", results(bfar=[1]), "metrics must be"),
        ((), results(bfar=[1]), "metrics must be"),
        (("bfar", "bfar"), results(bfar=[1]), "metrics must be"),
    ],
)
def test_refusals(metrics, found, message):
    with pytest.raises(ValueError, match=message):
        BestTradeOff(metrics)(found)


def test_it_clones_pickles_and_says_what_it_is():
    choose = BestTradeOff(("bfrr", "frr_at_far"))
    assert repr(choose) == "BestTradeOff(metrics=('bfrr', 'frr_at_far'))"
    for copy in (clone(choose), pickle.loads(pickle.dumps(choose))):
        assert repr(copy) == repr(choose)


# ---- in a search -----------------------------------------------------------------------


def search(**options):
    options = {"refit": BestTradeOff(), "cv": FOLDS, "error_score": "raise", **options}
    return GridSearchCV(Stretch(), {"weight": WEIGHTS}, **options)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "scoring", [fairness_scores(FAR), SCORERS], ids=["one", "dict"]
)
def test_a_search_is_refitted_on_the_trade_off(scoring, n_jobs):
    fitted = search(scoring=scoring, n_jobs=n_jobs).fit(X, Y)
    a, b = (-fitted.cv_results_[f"mean_test_{n}"] for n in ("bfar", "frr_at_far"))
    assert fitted.best_index_ == brute_force(a, b)
    assert fitted.best_estimator_.weight == WEIGHTS[fitted.best_index_]


@pytest.mark.parametrize("refit", [BestTradeOff(), BestTradeOff(("bfar",))])
def test_a_search_without_any_score_raises(refit):
    quiet = search(scoring=fairness_scores(FAR), error_score=np.nan, refit=refit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="No candidate has"):
            quiet.fit(X, IDENTITY)


def test_a_search_of_one_score_is_refused():
    with pytest.raises(ValueError, match="single score"):
        search(scoring=SCORERS["bfar"]).fit(X, Y)
