"""The candidate whose larger log-distance from the best is smallest, never an unknown one."""

import warnings

import numpy as np
import pytest
from scipy.stats import sem
from sklearn.model_selection import GridSearchCV

from skfairfr import BestTradeOff, fairness_scores
from tests.metrics._scorers.test_one_score import SCORERS
from tests.metrics.searches import FAR, FOLDS, IDENTITY, WEIGHTS, Stretch, X, Y


def results(**metrics):
    return {f"mean_test_{name}": -np.asarray(m, float) for name, m in metrics.items()}


def brute_force(a, b):
    """The definition, candidate by candidate."""
    regret = [
        max(np.log(x / min(a)), np.log(y / min(b))) for x, y in zip(a, b, strict=True)
    ]
    return regret.index(min(regret))


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_definition(seed):
    a, b = np.random.default_rng(seed).lognormal(size=(2, 9))
    choose = BestTradeOff(("a", "b"))
    assert choose(results(a=a, b=b)) == brute_force(a, b)
    assert BestTradeOff(("b", "a"))(results(a=a, b=b)) == brute_force(a, b)
    assert choose(results(a=100 * a, b=b / 7)) == brute_force(a, b)


def with_folds(rng, n_folds, **means):
    """Results whose folds scatter about their means, as a search gives them."""
    found = {}
    for name, mean in means.items():
        folds = -np.asarray(mean) * rng.uniform(0.8, 1.2, (n_folds, len(mean)))
        found |= {f"split{i}_test_{name}": row for i, row in enumerate(folds)}
        found[f"mean_test_{name}"] = folds.mean(axis=0)
    return found


def preferred_by_loop(found, names, tolerance, prefer):
    """The definition: all that are as good as the winner, then the smallest preferred."""
    metric = {n: (-found[f"mean_test_{n}"]).tolist() for n in {*names, prefer}}
    winner = brute_force(*(metric[n] for n in names))
    chosen = winner
    for candidate in range(len(metric[prefer])):
        alike = True
        for name in names:
            limit = metric[name][winner]
            if tolerance == "1se":
                keys = [
                    k for k in found if k.startswith("split") and k.endswith(f"_{name}")
                ]
                limit += sem([found[k][winner] for k in keys])
            else:
                limit += tolerance * limit
            alike &= metric[name][candidate] <= limit
        if alike and metric[prefer][candidate] < metric[prefer][chosen]:
            chosen = candidate
    return chosen, winner


@pytest.mark.parametrize(
    ("tolerance", "prefer"), [(0, "c"), (0.1, "b"), (3.0, "c"), ("1se", "c")]
)
def test_the_preferred_of_those_as_good_as_the_best_wins(tolerance, prefer):
    moved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b, c = rng.lognormal(0, 0.2, (3, 12))
        found = with_folds(rng, 4, a=a, b=b, c=c)
        choose = BestTradeOff(("a", "b"), tolerance=tolerance, prefer=prefer)
        expected, winner = preferred_by_loop(found, ("a", "b"), tolerance, prefer)
        assert choose(found) == expected
        moved += expected != winner
    assert (moved > 0) == (tolerance != 0)


@pytest.mark.parametrize(
    ("options", "found", "message"),
    [
        ({"tolerance": -0.1}, results(a=[1]), "tolerance must be None, a share"),
        ({"tolerance": "2se"}, results(a=[1]), "tolerance must be .* got '2se'"),
        (
            {"tolerance": "1se"},
            results(a=[1]),
            "tolerance is '1se'.* at least two folds",
        ),
        ({"tolerance": 0.1, "prefer": "x"}, results(a=[1]), "'x' is not a score"),
        ({"tolerance": 0.1, "prefer": "frr_log_ratio"}, results(a=[1]), "signed"),
    ],
)
def test_refusals_of_a_tolerance(options, found, message):
    with pytest.raises(ValueError, match=message):
        BestTradeOff(("a",), **options)(found)


@pytest.mark.parametrize("before", [None, {"c": 0.8}])
def test_only_what_keeps_the_limits_wins(before):
    """The definition among the candidates that keep them, as if there were no others."""
    for seed in range(20):
        a, b, c = np.random.default_rng(seed).lognormal(0, 0.3, (3, 30))
        limit = 1.1 * (1.0 if before is None else 0.8)
        kept = np.flatnonzero((c <= limit) & (b <= 1.3))
        at_most = {"c": 1.1, "b": 1.3}
        choose = BestTradeOff(("a", "b"), at_most=at_most, before=before)
        expected = kept[brute_force(a[kept], b[kept])]
        assert choose(results(a=a, b=b, c=c)) == expected
        alone = BestTradeOff(("a",), at_most=at_most, before=before, tolerance=0.2)
        best = kept[a[kept].argmin()]
        alike = kept[a[kept] <= 1.2 * a[best]]
        frr = np.arange(30)[::-1]
        found = results(a=a, b=b, c=c, frr_at_far=frr)
        assert alone(found) == alike[frr[alike].argmin()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"at_most": {"a": 0.5}},
            "at_most allows 'a' to be 0.5, and the smallest left is 1",
        ),
        ({"at_most": {"a": 2}, "before": {"a": 0.25}}, "allows 'a' to be 0.5"),
        ({"at_most": {"x": 2}}, "The scores are: 'a'"),
        ({"at_most": 2}, "at_most must be a dict"),
        ({"at_most": {"a": 1}, "before": {"a": -0.1}}, "before must be a dict"),
        ({"at_most": {"frr_log_ratio": 1}}, "signed"),
    ],
)
def test_refusals_of_limits(options, message):
    with pytest.raises(ValueError, match=message):
        BestTradeOff(("a",), **options)(results(a=[1, 2, np.nan]))


@pytest.mark.parametrize(
    ("metrics", "found", "message"),
    [
        (("bfar", "x"), results(bfar=[1], bfrr=[1]), "The scores are: 'bfar', 'bfrr'"),
        (("a", "b"), results(a=[1, 2], b=[-0.9, 1]), "metrics has 'b', .* positive"),
        ("bfar", results(bfar=[1]), "metrics must be"),
        (("bfar", "bfar"), results(bfar=[1]), "metrics must be"),
    ],
)
def test_refusals(metrics, found, message):
    with pytest.raises(ValueError, match=message):
        BestTradeOff(metrics)(found)


# ---- in a search -----------------------------------------------------------------------


def search(**options):
    options = {"refit": BestTradeOff(), "cv": FOLDS, "error_score": "raise", **options}
    return GridSearchCV(Stretch(), {"weight": WEIGHTS}, **options)


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "scoring", [fairness_scores(FAR), SCORERS], ids=["one", "dict"]
)
def test_a_search_is_refitted_on_the_trade_off(scoring, n_jobs):
    fitted = search(scoring=scoring, n_jobs=n_jobs).fit(X, Y)
    a, b = (-fitted.cv_results_[f"mean_test_{n}"] for n in ("bfar", "frr_at_far"))
    assert fitted.best_index_ == brute_force(a, b)
    assert fitted.best_estimator_.weight == WEIGHTS[fitted.best_index_]


def test_a_search_without_any_score_raises():
    quiet = search(scoring=fairness_scores(FAR), error_score=np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="No candidate has"):
            quiet.fit(X, IDENTITY)
