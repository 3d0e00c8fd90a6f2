"""Facts of pooled rates and of the ratio of two systems, against loops over everything."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gmean, norm
from scipy.stats import t as student

from skfairfr._core._jackknife import ErrorSums
from skfairfr.metrics._folds import FoldErrors, PooledErrors, compare, pool

N_CELLS, SIZES = 3, (4, 5)


def random_fold(n_people, rng):
    """Errors of a fold whose numbers have no meaning but their own."""
    sums = {name: rng.uniform(1, 2, N_CELLS) for name in ErrorSums._fields}
    sums["pairs"] = rng.integers(50, 90, N_CELLS).astype(float)
    sums["errors"] = rng.integers(4, 20, N_CELLS).astype(float)
    sums["people"] = rng.uniform(3, 4, N_CELLS)
    lost = rng.normal(size=(N_CELLS, n_people))
    cell, number = np.nonzero(rng.random((N_CELLS, n_people**2)) < 0.2)
    two = cell, number, rng.normal(0, 0.2, cell.size)
    return FoldErrors(tuple(sums.values()), lost - lost.mean(1, keepdims=True), two)


@pytest.fixture
def systems():
    rng = np.random.default_rng(0)
    return [[random_fold(n, rng) for n in SIZES] for _ in range(2)]


def total(folds, name, cell):
    """One field of the sums of a cell, over folds."""
    return sum(ErrorSums(*fold.sums)._asdict()[name][cell] for fold in folds)


def rate(folds, cell):
    return total(folds, "errors", cell) / total(folds, "pairs", cell)


def disparity(rates, how):
    of = {None: 1, "max_min": min(rates), "max_geomean": gmean(rates)}
    return max(rates) / of[how]


def contrast(*signed):
    """Estimate, error and freedom of a sum of logarithms, of (folds, {cell: weight})."""
    value, single, people, two = 0.0, 0.0, {}, {}
    for folds, weights in signed:
        for cell, weight in weights.items():
            errors = total(folds, "errors", cell)
            value += weight * np.log(rate(folds, cell))
            pairs = total(folds, "pairs", cell)
            of_pair = sum(f.sums[2][cell] * f.sums[1][cell] for f in folds) / pairs
            single += (weight * of_pair / errors) ** 2
            for place, fold in enumerate(folds):
                for person, lost in enumerate(fold.lost[cell]):
                    key = place, person
                    people[key] = people.get(key, 0.0) + weight * lost / errors
                for of, number, lost in zip(*fold.of_two, strict=True):
                    if of == cell:
                        key = place, number
                        two[key] = two.get(key, 0.0) + weight * lost / errors
    squares, fourths = (
        sum(v**power for v in people.values()) - sum(v**power for v in two.values())
        for power in (2, 4)
    )
    variance = max(squares, sum(v**2 for v in two.values())) + single
    n_people = min(
        total(folds, "people", cell)
        for folds, _ in signed
        for cell in every_cell(signed)
    )
    rest = fourths / variance**2 - 1 / n_people
    freedom = np.clip(2 / max(rest, 1e-9), 1, max(n_people - 1, 1))
    return value, np.sqrt(variance), freedom


def every_cell(signed):
    return sorted({cell for _, weights in signed for cell in weights})


def test_folds_are_put_side_by_side(systems):
    pooled = pool(systems[0])
    for cell in range(N_CELLS):
        for name in ("errors", "pairs", "variance", "people"):
            found = getattr(pooled.sums, name)[cell]
            assert_allclose(found, total(systems[0], name, cell))
        assert_allclose(
            pooled.lost[cell], [*systems[0][0].lost[cell], *systems[0][1].lost[cell]]
        )
    dense = np.zeros((N_CELLS, sum(n**2 for n in SIZES)))
    for fold, start in zip(systems[0], (0, SIZES[0] ** 2), strict=True):
        for cell, number, weight in zip(*fold.of_two, strict=True):
            dense[cell, start + number] = weight
    assert_allclose(pooled.of_two.toarray(), dense)


@pytest.mark.parametrize(
    ("cells", "how"), [([2], None), ([0, 1], "max_min"), ([0, 2], "max_geomean")]
)
def test_the_comparison_equals_loops(systems, cells, how):
    found = compare(*map(pool, systems), cells, how, 0.9)
    before, after = ([rate(folds, cell) for cell in cells] for folds in systems)
    assert_allclose(found.before, disparity(before, how))
    assert_allclose(found.after, disparity(after, how))
    assert_allclose(found.ratio, found.after / found.before)
    halves = [
        (total(systems[0], "errors", cell) + 0.5) / total(systems[0], "pairs", cell)
        for cell in cells
    ]
    measured = pool(systems[0]).of_cells(cells).measured(how)
    assert_allclose(measured, disparity(halves, how))
    counted = [total(folds, "errors", cell) for folds in systems for cell in cells]
    assert_allclose(found.errors, min(counted))
    signed = []
    for folds, rates, sign in ((systems[1], after, 1), (systems[0], before, -1)):
        weights = dict.fromkeys(cells, 0.0)
        weights[cells[int(np.argmax(rates))]] += sign
        for cell in cells:
            if how == "max_min":
                weights[cell] -= sign * (cell == cells[int(np.argmin(rates))])
            elif how == "max_geomean":
                weights[cell] -= sign / len(cells)
        signed.append((folds, weights))
    value, error, freedom = contrast(*signed)
    reach = student.ppf(0.95, freedom) * error
    assert_allclose(found.log_error, reach / norm.ppf(0.95))
    assert_allclose(np.log([found.low, found.high]), [value - reach, value + reach])
    assert_allclose(found.p_value, 2 * student.sf(abs(value) / error, freedom))


@pytest.mark.parametrize("how", ["max_min", "max_geomean"])
def test_more_than_two_groups_are_compared_by_contrasts(systems, how):
    """The largest contrast of one system against the surest of the other, by loops."""
    cells = range(N_CELLS)
    if how == "max_min":
        every = [
            {k: (k == i) - (k == j) for k in cells} for i, j in permutations(cells, 2)
        ]
    else:
        every = [{k: (i == k) - 1 / N_CELLS for k in cells} for i in cells]
    tail, highs, p_values = 0.05 / len(every), [], []
    nothing = dict.fromkeys(cells, 0.0)
    for one, other in (systems[::-1], systems):
        lowest = []
        for weights in every:
            value, error, freedom = contrast((other, weights), (one, nothing))
            lowest.append(value - student.ppf(1 - tail, freedom) * error)
        surest = {k: -w for k, w in every[int(np.argmax(lowest))].items()}
        found = [contrast((one, weights), (other, surest)) for weights in every]
        highs.append(max(v + student.ppf(1 - tail, f) * e for v, e, f in found))
        p_values.append(len(every) * max(student.cdf(v / e, f) for v, e, f in found))
    found = compare(*map(pool, systems), list(cells), how, 0.9)
    assert_allclose(np.log([found.low, found.high]), [-highs[1], highs[0]])
    assert_allclose(found.p_value, min(2 * min(p_values), 1))
    assert_allclose(found.log_error, sum(highs) / 2 / norm.ppf(0.95))


def test_a_system_is_equal_to_itself(systems):
    pooled = pool(systems[0])
    found = compare(pooled, pooled, [0, 1], "max_min", 0.95)
    assert (found.ratio, found.p_value) == (1, 1)
    assert found.low < 1 < found.high  # as if one more had erred in either


@pytest.mark.parametrize("cells", [[0, 1], [0, 1, 2]])
def test_the_interval_excludes_1_where_the_test_rejects(systems, cells):
    pooled = [pool(folds) for folds in systems]
    for level in (0.001, 0.05, 0.3, 0.6, 0.9, 0.99):
        found = compare(*pooled, cells, "max_min", level)
        excluded = found.low > 1 or found.high < 1
        assert excluded == (found.p_value < 1 - level)


def changed(pooled, **columns):
    return PooledErrors(pooled.sums._replace(**columns), pooled.lost, pooled.of_two)


def test_a_group_without_pairs_takes_no_part(systems):
    before, after = map(pool, systems)
    pairs = before.sums.pairs.copy()
    pairs[1] = 0
    before = changed(before, pairs=pairs)
    of_two = compare(before, after, [0, 1, 2], "max_min", 0.95)
    assert of_two == compare(before, after, [0, 2], "max_min", 0.95)
    alone = compare(before, after, [0, 1], "max_min", 0.95)
    assert np.isnan([alone.ratio, alone.low, alone.p_value]).all()


def test_a_group_without_errors_has_an_interval(systems):
    before, after = map(pool, systems)
    errors = after.sums.errors.copy()
    errors[1] = 0
    found = compare(before, changed(after, errors=errors), [0, 1], "max_min", 0.95)
    assert found.after == np.inf
    assert 0 < found.low < found.high < np.inf
