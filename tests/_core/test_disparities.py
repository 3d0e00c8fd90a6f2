"""Facts of the family of disparities."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfairfr._core._rates import DISPARITIES, gini, log_geomean, ratio, std

SYMMETRIC = sorted(set(DISPARITIES) - {"ratio"})
RANGED = sorted(how for how, m in DISPARITIES.items() if m.range_of is not None)
SCALE_FREE = ["max_min", "max_geomean", "log_geomean", "gini"]

rates_of_groups = st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=8).map(np.array)


def call(how, rates):
    return DISPARITIES[how].function(np.asarray(rates, dtype=float))


@pytest.mark.parametrize(
    ("strategy", "log10_far", "expected"),
    [  # GEO20's table of log10 FAR by continent and what follows from it
        (
            "finetuned",
            [-4.8, -4.8, -3, -3.7, -4.9, -4.9],
            [79.4328, 22.3872, 4.0, 0.8752],
        ),
        ("equal", [-4.7, -5, -4.1, -4.1, -5, -4.9], [7.9433, 3.4145, 2.1333, 0.5325]),
        (
            "adjusted",
            [-4.7, -4.6, -4.2, -4.2, -4.7, -4.9],
            [5.0119, 2.2387, 1.4, 0.3799],
        ),
        ("dynamic", [-4.7, -5, -4.3, -4.1, -4.9, -4.9], [7.9433, 3.5481, 1.8, 0.5059]),
    ],
)
def test_disparities_of_a_published_table(strategy, log10_far, expected):
    far = 10.0 ** np.array(log10_far)
    assert [call(how, far) for how in SCALE_FREE] == pytest.approx(expected, abs=6e-5)


@given(rates_of_groups)
def test_gini_is_that_of_a_double_loop(rates):
    m = len(rates)
    differences = sum(abs(a - b) for a in rates for b in rates)
    expected = m / (m - 1) * differences / (2 * m**2 * np.mean(rates))
    assert gini(rates) == pytest.approx(expected, abs=1e-12)


@given(rates_of_groups)
def test_log_geomean_is_its_formula(rates):
    logs = [np.log10(rate) for rate in rates]
    terms = [abs(log - sum(logs) / len(logs)) for log in logs]
    assert log_geomean(rates) == pytest.approx(sum(terms), abs=1e-12)
    mean = sum(terms) / len(terms)
    assert log_geomean(rates, reduce="mean") == pytest.approx(mean, abs=1e-12)
    in_bits = sum(terms) / np.log10(2)
    assert log_geomean(rates, base=2) == pytest.approx(in_bits, abs=1e-11)


@pytest.mark.parametrize("how", SYMMETRIC)
@given(rates=rates_of_groups)
def test_values_lie_in_the_natural_range(how, rates):
    low, high = DISPARITIES[how].bounds
    assert low - 1e-12 <= call(how, rates) <= high + 1e-12


def test_the_gini_coefficient_of_one_group_that_errs_alone_nears_its_bound():
    value = call("gini", np.append(np.zeros(999), 0.1))
    assert 0.99 * DISPARITIES["gini"].bounds[1] < value


def of_all_on_a_grid(how, smallest, n_groups):
    """Values of all rates on a fine grid of which the smallest and the largest are given."""
    steps = np.unique(np.append(np.linspace(smallest, 1, 13), smallest**0.5))
    others = np.array(list(combinations_with_replacement(steps, n_groups - 2)))
    ends = np.broadcast_to([smallest, 1.0], (len(others), 2))
    return call(how, np.hstack([ends, others.reshape(len(others), -1)]))


@pytest.mark.parametrize("how", RANGED)
@pytest.mark.parametrize("n_groups", [2, 3, 4, 5])
def test_the_range_of_a_disparity_is_what_a_search_finds(how, n_groups):
    for smallest in (1.0, 0.7, 0.04):
        values = of_all_on_a_grid(how, smallest, n_groups)
        least, most = DISPARITIES[how].range_of(np.float64(smallest), n_groups)
        assert most == pytest.approx(values.max(), rel=1e-9, abs=1e-12)
        assert least <= values.min() + 1e-12
        # The middle of the ends, where a standard deviation is least, is on the grid.
        assert least == pytest.approx(values.min(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("how", RANGED)
@pytest.mark.parametrize("n_groups", [2, 5])
def test_the_range_beside_a_zero_rate_is_the_limit_of_small_ones(how, n_groups):
    ends = DISPARITIES[how].range_of(np.array([0.0, 1e-300]), n_groups)
    for at_zero, near in ends:
        assert at_zero == (np.inf if near > 100 else pytest.approx(near))


@pytest.mark.parametrize("how", sorted(DISPARITIES))
def test_leading_dimensions_are_kept(how):
    stacked = np.random.default_rng(0).uniform(0.1, 0.9, size=(3, 4, 2))
    values = call(how, stacked)
    assert values.shape == (3, 4)
    assert values[2, 1] == pytest.approx(call(how, stacked[2, 1]))


def test_ratio_is_signed_and_std_takes_ddof():
    assert call("ratio", [0.1, 0.1]) == DISPARITIES["ratio"].neutral
    assert ratio(np.array([0.1, 0.2])) == pytest.approx(2)
    assert ratio(np.array([0.2, 0.1])) == pytest.approx(0.5)
    assert std(np.array([0.1, 0.3]), ddof=0) == pytest.approx(0.1)
    assert std(np.array([0.1, 0.3]), ddof=1) == pytest.approx(0.02**0.5)
