"""Facts of pooled rates and of the ratio of two systems, against loops over everything."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gmean
from scipy.stats import t as student

from skfairfr.metrics._folds import FoldErrors, PooledErrors, compare, pool

N_PEOPLE = 9
# Two cells of the FAR, each of which sets its own threshold or that of another, and one FRR.
N_CELLS, N_RESAMPLES = 3, 6


def random_fold(people, rng):
    """Errors of a fold whose numbers have no meaning but their own."""
    pairs = rng.integers(50, 90, (N_CELLS, 1 + N_RESAMPLES)).astype(float)
    accepted = {}
    for cell in (0, 1):
        for _ in range(rng.integers(3, 9)):
            a, b = sorted(rng.choice(people, 2, replace=False).tolist())
            accepted[cell, a, b] = accepted.get((cell, a, b), 0) + 1
    errors = rng.integers(1, 20, pairs.shape).astype(float)
    for cell in (0, 1):
        errors[cell, 0] = sum(n for (c, *_), n in accepted.items() if c == cell)
    near = errors[:, :1] * [0.6, 1.5]
    accepted = np.array([(*key, n) for key, n in accepted.items()])
    return FoldErrors(errors, pairs, near, np.array([0, 0, 1]), accepted)


@pytest.fixture
def systems():
    rng = np.random.default_rng(0)
    parts = np.arange(4), np.arange(4, N_PEOPLE)
    return [[random_fold(people, rng) for people in parts] for _ in range(2)]


def shares(folds, cell):
    """What every two people add to the logarithm of a pooled rate, by loops."""
    total = sum(fold.errors[cell, 0] for fold in folds) + 0.5
    few, many = (sum(fold.near[cell, k] for fold in folds) + 0.5 for k in (0, 1))
    slope = (np.log(many) - np.log(few)) / (np.log(1.5) - np.log(1 / 1.5))
    found = {}
    for fold in folds:
        setter = fold.setter[cell]
        at_setter = sum(n for c, _, _, n in fold.accepted if c == setter)
        for c, a, b, n in fold.accepted:
            share = 0.0
            if c == cell:
                share += n / total
            if c == setter:
                share -= slope * fold.errors[cell, 0] / total * n / at_setter
            found[int(a), int(b)] = found.get((int(a), int(b)), 0.0) + share
    return found


def test_errors_and_pairs_of_folds_are_summed(systems):
    pooled = pool(systems[0], N_PEOPLE)
    for cell, column in product(range(N_CELLS), range(1 + N_RESAMPLES)):
        errors = sum(fold.errors[cell, column] for fold in systems[0])
        pairs = sum(fold.pairs[cell, column] for fold in systems[0])
        assert pooled.errors[cell, column] == errors
        assert_allclose(np.exp(pooled.logs[cell, column]), (errors + 0.5) / pairs)
    assert_allclose(pooled.rates, pooled.errors[:, 0] / pooled.pairs[:, 0])


def test_what_two_people_add_equals_loops(systems):
    found = pool(systems[0], N_PEOPLE).clusters.toarray()
    for cell in range(N_CELLS):
        expected = np.zeros((N_PEOPLE, N_PEOPLE))
        for people, share in shares(systems[0], cell).items():
            expected[people] = share
        assert_allclose(found[cell].reshape(N_PEOPLE, N_PEOPLE), expected, atol=1e-15)


def log_ratio(folds, cells, how, column):
    """Logarithm of a disparity of pooled rates, by loops."""
    logs = []
    for cell in cells:
        errors = sum(fold.errors[cell, column] for fold in folds) + 0.5
        logs.append(np.log(errors / sum(fold.pairs[cell, column] for fold in folds)))
    if how is None:
        return logs[0]
    return max(logs) - (min(logs) if how == "max_min" else np.mean(logs))


@pytest.mark.parametrize(
    ("cells", "how"), [([2], None), ([0, 1], "max_min"), ([0, 2], "max_geomean")]
)
def test_the_comparison_equals_loops(systems, cells, how):
    pooled = [pool(folds, N_PEOPLE) for folds in systems]
    found = compare(*pooled, cells, how, 7, 0.9)
    before, after = systems
    columns = range(1 + N_RESAMPLES)
    logs = [
        log_ratio(after, cells, how, c) - log_ratio(before, cells, how, c)
        for c in columns
    ]
    # The coefficients of the rates, from those in the data.
    both = {}
    for folds, sign in ((after, 1), (before, -1)):
        rates = [log_ratio(folds, [cell], None, 0) for cell in cells]
        for place, cell in enumerate(cells):
            coefficient = float(place == int(np.argmax(rates)))
            if how == "max_min":
                coefficient -= place == int(np.argmin(rates))
            elif how == "max_geomean":
                coefficient -= 1 / len(cells)
            for people, share in shares(folds, cell).items():
                both[people] = both.get(people, 0.0) + sign * coefficient * share
    assert_allclose(
        pooled[0].measured(cells, how), np.exp(log_ratio(before, cells, how, 0))
    )
    together = sum(share**2 for share in both.values())
    variance = max(np.var(logs[1:], ddof=1) - 2 * together, together)
    error = np.sqrt(variance)
    assert_allclose(found.log_error, error)
    reach = student.ppf(0.95, 7) * error
    assert_allclose((found.low, found.high), np.exp([logs[0] - reach, logs[0] + reach]))
    assert_allclose(found.p_value, 2 * student.sf(abs(logs[0]) / error, 7))
    assert_allclose(found.ratio, found.after / found.before)
    for folds, value in ((before, found.before), (after, found.after)):
        sums = [
            [sum(column[cell, 0] for column in columns) for cell in cells]
            for columns in zip(*((f.errors, f.pairs) for f in folds), strict=True)
        ]
        rates = np.divide(*sums)
        of = {None: 1, "max_min": min(rates), "max_geomean": gmean(rates)}
        assert_allclose(value, max(rates) / of[how])


@pytest.mark.parametrize("how", ["max_min", "max_geomean"])
def test_more_than_two_groups_are_compared_by_contrasts(systems, how):
    """The largest contrast of one system against the surest of the other, by loops."""
    cells, level = range(N_CELLS), 0.9
    if how == "max_min":
        every = [{i: 1, j: -1} for i, j in permutations(cells, 2)]
    else:
        every = [{k: (i == k) - 1 / N_CELLS for k in cells} for i in cells]
    before, after = systems
    columns, quantile = range(1 + N_RESAMPLES), student.ppf(1 - 0.05 / len(every), 7)

    def bounds(*signed):
        """Estimate and error of a sum of contrasts, each (folds, sign, weights)."""
        values, both = np.zeros(1 + N_RESAMPLES), {}
        for folds, sign, weights in signed:
            for cell, weight in weights.items():
                rates = [log_ratio(folds, [cell], None, c) for c in columns]
                values += sign * weight * np.array(rates)
                for people, share in shares(folds, cell).items():
                    both[people] = both.get(people, 0) + sign * weight * share
        together = sum(share**2 for share in both.values())
        variance = np.var(values[1:], ddof=1) - 2 * together
        return values[0], np.sqrt(max(variance, together))

    highs, p_values = [], []
    for one, other in ((after, before), (before, after)):
        lowest = [e - quantile * s for e, s in (bounds((other, 1, w)) for w in every)]
        surest = every[int(np.argmax(lowest))]
        found = [bounds((one, 1, w), (other, -1, surest)) for w in every]
        highs.append(max(e + quantile * s for e, s in found))
        p_values.append(len(every) * max(student.cdf(e / s, 7) for e, s in found))
    pooled = [pool(folds, N_PEOPLE) for folds in systems]
    found = compare(*pooled, list(cells), how, 7, level)
    assert_allclose(np.log([found.low, found.high]), [-highs[1], highs[0]])
    assert_allclose(found.p_value, min(2 * min(p_values), 1))
    assert_allclose(found.log_error, sum(highs) / 2 / student.ppf(0.95, 7))


def test_a_system_is_equal_to_itself(systems):
    pooled = pool(systems[0], N_PEOPLE)
    found = compare(pooled, pooled, [0, 1], "max_min", 5, 0.95)
    assert (found.ratio, found.low, found.high, found.p_value) == (1, 1, 1, 1)


@pytest.mark.parametrize("cells", [[0, 1], [0, 1, 2]])
def test_the_interval_excludes_1_where_the_test_rejects(systems, cells):
    pooled = [pool(folds, N_PEOPLE) for folds in systems]
    for level in (0.001, 0.05, 0.3, 0.6, 0.9, 0.99):
        found = compare(*pooled, cells, "max_min", 7, level)
        excluded = found.low > 1 or found.high < 1
        assert excluded == (found.p_value < 1 - level)


def test_a_group_without_pairs_takes_no_part(systems):
    before, after = (pool(folds, N_PEOPLE) for folds in systems)
    nobody = before.pairs.copy()
    nobody[1] = 0
    before = PooledErrors(before.errors, nobody, before.clusters)
    of_two = compare(before, after, [0, 1, 2], "max_min", 7, 0.95)
    assert of_two == compare(before, after, [0, 2], "max_min", 7, 0.95)
    alone = compare(before, after, [0, 1], "max_min", 7, 0.95)
    assert np.isnan([alone.ratio, alone.low, alone.p_value]).all()


def test_a_resample_without_a_group_s_pairs_takes_no_part(systems):
    pooled = [pool(folds, N_PEOPLE) for folds in systems]
    lost = np.ones((N_CELLS, 1 + N_RESAMPLES))
    lost[1, 1] = 0
    without, fewer = (
        [PooledErrors(change(s.errors), change(s.pairs), s.clusters) for s in pooled]
        for change in (lambda v: v * lost, lambda v: np.delete(v, 1, axis=1))
    )
    found = compare(*without, [0, 1, 2], "max_min", 7, 0.95)
    assert found == compare(*fewer, [0, 1, 2], "max_min", 7, 0.95)


def test_a_group_without_errors_has_an_interval(systems):
    before, after = (pool(folds, N_PEOPLE) for folds in systems)
    errors = after.errors.copy()
    errors[1] = 0
    after = PooledErrors(errors, after.pairs, after.clusters)
    found = compare(before, after, [0, 1], "max_min", 7, 0.95)
    assert found.after == np.inf
    assert 0 < found.low < found.high < np.inf
