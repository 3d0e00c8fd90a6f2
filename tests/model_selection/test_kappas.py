"""Kappas that a search should try have the odds that the grid promises."""

import mpmath
import numpy as np
import pytest

from skfairfr.model_selection import kappa_grid


def log_normalizer(kappa, d):
    """log C_d(kappa) by mpmath."""
    order = mpmath.mpf(d) / 2 - 1
    bessel = mpmath.log(mpmath.besseli(order, kappa))
    return (
        order * mpmath.log(kappa)
        - mpmath.mpf(d) / 2 * mpmath.log(2 * mpmath.pi)
        - bessel
    )


def odds(smaller, larger, d):
    """Odds, by the softmax, halfway between the crossing of two logits and 1."""

    def logit(kappa, t):
        return log_normalizer(kappa, d) + kappa * t

    crossing = mpmath.findroot(lambda t: logit(smaller, t) - logit(larger, t), 0.1)
    middle = (crossing + 1) / 2
    return mpmath.exp(logit(larger, middle) - logit(smaller, middle)), crossing


@pytest.mark.parametrize("d", [16, 64, 512, 2048])
@pytest.mark.parametrize("kappa", [5.0, 20.0, 50.0])
def test_odds_of_a_pair(d, kappa):
    equal, *rest = kappa_grid(d, ["b", "a"], kappa=kappa)["kappas"]
    n_odds = 1 if (d, kappa) == (16, 5.0) else 2  # there no pair reaches odds of 10
    assert equal == {"b": kappa, "a": kappa} and len(rest) == 2 * n_odds
    for place, group in enumerate(("b", "a")):
        own = rest[n_odds * place : n_odds * (place + 1)]
        for found, expected in zip(own, (2.5, 10)[:n_odds], strict=True):
            assert list(found) == ["b", "a"] and max(found.values()) == kappa
            # A concentration has two digits: half a unit of the second moves the odds.
            step = 10 ** (np.floor(np.log10(found[group])) - 1) / 2
            low, high = (odds(found[group] + s, kappa, d)[0] for s in (step, -step))
            assert low <= expected <= high


def test_each_group_is_lowered_alone():
    grid = kappa_grid(128, [3, 1, 2])["kappas"]
    assert len(grid) == 1 + 2 * 3 and all(list(k) == [3, 1, 2] for k in grid)
    lowered = [[g for g, k in each.items() if k < 20] for each in grid]
    assert lowered == [[], [3], [3], [1], [1], [2], [2]]


def test_few_dimensions_reach_fewer_odds():
    assert len(kappa_grid(2, ["a", "b"])["kappas"]) == 3


@pytest.mark.parametrize("groups", [["a"], ["a", "a"], [], "ab"])
def test_fewer_than_two_groups_are_an_error(groups):
    with pytest.raises(ValueError, match="two or more different labels"):
        kappa_grid(64, groups)


def test_a_search_takes_the_grid():
    pytest.importorskip("torch")
    from sklearn.model_selection import GridSearchCV

    from skfairfr import EthicalModule, IdentityKFold, face_labels, make_fairness_scorer
    from tests.model_selection.toy_methods import crowd

    X, y, group = crowd(60)
    options = {"cv": IdentityKFold(2), "error_score": "raise"}
    module = EthicalModule(max_epochs=1, hidden_dim=4, random_state=0)
    grid = kappa_grid(X.shape[1], ["female", "male"])
    search = GridSearchCV(
        module, grid, scoring=make_fairness_scorer(far=0.1), **options
    )
    search.fit(X, face_labels(y, group))
    assert search.best_params_["kappas"] in grid["kappas"]
