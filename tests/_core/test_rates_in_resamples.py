"""Facts of rates in resamples: given its weights, a resample's rates are the oracle's."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from skfairfr._core import _pairs, _resampling
from skfairfr._core._bootstrap import (
    Query,
    far_in,
    frr_in,
    rate_table,
    rates,
    v_statistic_frr,
)
from skfairfr._core._pairs import TailTooShortError
from skfairfr._core._resampling import MODES, Resamples, Resampling, draw
from tests._core.cases import (
    GROUPS,
    ONE,
    compare,
    embedded,
    hamming,
    oracle_of_pairs,
    oracle_scope,
    resample,
)

OWN = (None, (0, 0), (1, 1))
LEVELS = (0.05, 0.25)
# mode, sides, average, impostors, operating point, groups
CASES = [
    (None, 1, "pair", "all", "overall", "changing"),
    ("images", 1, "pair", "all", "overall", "changing"),
    ("images", 1, "identity", "same_group", "worst_group", "unknown"),
    ("identities", 1, "identity", "all", "group", "constant"),
    ("both", 1, "identity", "all", "worst_group", "changing"),
    ("both", 1, "pair", "same_group", "group", "unknown"),
    ("images", 2, "identity", "all", "worst_group", "changing"),
    ("both", 2, "pair", "same_group", "overall", "constant"),
]


def frr_of(pairs, scope, thresholds, weights):
    """The FRR of a scope, copies included."""
    return frr_in(pairs, scope, thresholds, weights, True)


def query(levels=LEVELS, thresholds=None, operating_point="overall", **options):
    levels = None if levels is None else np.asarray(levels)
    thresholds = None if thresholds is None else np.asarray(thresholds)
    scopes = options.pop("scopes", OWN)
    return Query(levels, thresholds, operating_point, scopes, (0, 1), **options)


def assert_rates_are_the_oracle_s(found, twin, images, weights, asked):
    """Every scope, level and resample of a block."""
    grid = asked.levels if asked.thresholds is None else asked.thresholds
    keyword = "level" if asked.thresholds is None else "threshold"
    for (s, x, r), _ in np.ndenumerate(found.far):
        if asked.scopes[s] is None and asked.operating_point == "group":
            continue  # each group has its own threshold, and all together none
        options = {
            keyword: float(grid[x]),
            "group": oracle_scope(asked.scopes[s]),
            "operating_point": asked.operating_point,
            **resample(images, weights, r),
        }
        far = twin.replicate(rate="far", **options)
        frr = twin.replicate(rate="frr", diagonal=asked.copies, **options)
        assert_allclose(found.far[s, x, r], far, rtol=1e-12)
        assert_allclose(found.frr[s, x, r], frr, rtol=1e-12)


# Without pairs of two copies of one image, which are drawn with images alone.
WITHOUT_COPIES = CASES[1:3] + CASES[6:7]


@pytest.mark.parametrize(
    ("mode", "sides", "average", "impostors", "operating_point", "groups", "copies"),
    [
        pytest.param(*case, copies, marks=() if daily else pytest.mark.slow)
        for copies in (True, False)
        for case in CASES
        for daily in [copies or case in WITHOUT_COPIES]
    ],
)
def test_rates_at_levels_are_the_oracle_s(
    mode, sides, average, impostors, operating_point, groups, copies
):
    pairs = embedded(1, average, impostors, sides=sides, groups=groups)
    weights = ONE if mode is None else draw(pairs.images, mode, 5, 0, 4)
    drawn = None if mode is None else Resamples(mode, 5, 0, 4)
    asked = query(operating_point=operating_point, copies=copies)
    found = rates(pairs, asked, drawn)
    twin = oracle_of_pairs(pairs)
    assert_rates_are_the_oracle_s(found, twin, pairs.images, weights, asked)


@pytest.mark.parametrize("mode", [None, *MODES])
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_rates_at_given_thresholds_are_the_oracle_s(average, mode):
    pairs = embedded(2, average)
    weights = ONE if mode is None else draw(pairs.images, mode, 5, 0, 4)
    drawn = None if mode is None else Resamples(mode, 5, 0, 4)
    # High enough that some images do not match even themselves.
    asked = query(None, [1.0, 4.0, 9.5])
    assert (pairs.own_scores < 9.5).any()
    found = rates(pairs, asked, drawn)
    twin = oracle_of_pairs(pairs)
    assert_rates_are_the_oracle_s(found, twin, pairs.images, weights, asked)
    assert_array_equal(found.thresholds[0, :, 0], asked.thresholds)


def test_no_rejection_is_exactly_zero():
    pairs = embedded(3, "identity")
    weights = draw(pairs.images, "both", 0, 0, 50)
    everything = np.full((1, 50), -np.inf)
    assert (frr_of(pairs, None, everything, weights) == 0).all()
    assert_allclose(far_in(pairs, None, everything, weights), 1)


def test_far_below_the_tail_is_an_error_that_names_the_scope(monkeypatch):
    monkeypatch.setattr(_pairs, "WHOLE", 1)
    monkeypatch.setattr(_pairs, "WHOLE_GROUP", 1)
    images, vectors = hamming()
    pairs = compare(images, vectors, far_max=0.02)
    below = pairs.impostors((0, 0)).scores[-1] - 1.0
    with pytest.raises(TailTooShortError) as caught:
        far_in(pairs, (0, 0), np.array([[below + 9, below]]), ONE)
    assert caught.value.scope == (0, 0)


@pytest.mark.parametrize("mode", MODES)
def test_blocks_and_workers_change_no_bit(mode, monkeypatch):
    pairs = embedded(1, "identity")
    whole = rates(pairs, query(), Resamples(mode, 5, 0, 11))
    monkeypatch.setattr(_resampling, "FEWEST_RESAMPLES", 1)
    for size, n_jobs in [(3, None), (4, None), (6, 2)]:
        monkeypatch.setattr(_resampling, "MOST_RESAMPLES", size)
        resampling = Resampling(mode, "naive", 11, 5, n_jobs)
        with parallel_config("threading"):
            found = rate_table(pairs, query(), resampling).replicates
        for name in ("thresholds", "far", "frr"):
            assert_array_equal(getattr(found, name), getattr(whole, name))


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("average", ["pair", "identity"])
def test_v_statistic_is_the_oracle_s(average, groups):
    pairs = embedded(4, average, groups=groups)
    twin = oracle_of_pairs(pairs)
    thresholds = np.array([[0.0, 3.0, 9.5]] * 3)
    found = v_statistic_frr(pairs, OWN, thresholds)
    for (s, x), t in np.ndenumerate(thresholds):
        expected = twin.v_statistic_frr(t, oracle_scope(OWN[s]))
        assert_allclose(found[s, x], float(expected), rtol=1e-12)


def test_undefined_thresholds_give_an_undefined_far_and_disturb_no_other():
    pairs = embedded(1)
    weights = draw(pairs.images, "identities", 5, 0, 3)
    thresholds = np.array([[2.0, np.nan, 0.0], [0.0, 2.0, np.nan]])
    found = far_in(pairs, None, thresholds, weights)
    assert_array_equal(np.isnan(found), np.isnan(thresholds))
    plain = far_in(pairs, None, np.nan_to_num(thresholds, nan=1.0), weights)
    defined = ~np.isnan(thresholds)
    assert_array_equal(found[defined], plain[defined])
