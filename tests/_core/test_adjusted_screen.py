"""The screen of adjusted scores, column by column in Python's floats."""

import numpy as np
import pytest

from skfairfr._core import _adjusted_screen
from skfairfr._core._adjustments import AFFINE, CALIBRATED

N = 300


def columns_of(rng, n=N):
    """Scales, distances, gains, offsets and limits."""
    scales, distances, gains = rng.uniform(0.1, 1, (3, n))
    offsets, limits = rng.normal(size=(2, n))
    limits[::7] = -np.inf
    return scales, distances, gains, offsets, limits


def by_loop(kind, products, span, error, floor, row, columns):
    """The columns that pass, by the formula, with the margins that they pass or fail by."""
    scale, gain, offset, limit = row
    found, margins = [], []
    for k in range(*span):
        t, q, g, o, own = (float(column[k]) for column in columns)
        v = scale * t * float(products[k])
        v += error[0] + error[1] * q + error[2] * abs(v)
        margin = v - min(limit, own)
        if kind == AFFINE:
            margin = v * (gain + g) - (offset + o) - float(floor)
        margins.append(margin)
        if margin >= 0:
            found.append(k)
    return found, np.abs(margins)


@pytest.mark.parametrize("kind", [AFFINE, CALIBRATED])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("start", [0, 1, 63, 64, 100, N - 1])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 128, 190, N])
def test_columns_that_pass_are_those_of_a_loop(kind, dtype, start, n):
    rng = np.random.default_rng(n)
    span = (start, min(start + n, N))
    products = (20 * rng.normal(size=N)).astype(dtype)
    columns = columns_of(rng)
    error, floor = (0.1, 0.3, 2.0**-8), np.float32(0.7)
    row = (0.05, 0.4, -0.2, 0.6)
    arguments = (products, span, error, floor, row, columns)
    found = np.empty(N, dtype=np.int32)
    size = _adjusted_screen.passing(kind, *arguments, found)
    expected, margins = by_loop(kind, *arguments)
    assert found[:size].tolist() == expected
    # The floor of an affine score is lowered by its rounding; nothing stands so near.
    assert margins.min(initial=1) > 1e-6


@pytest.mark.parametrize("kind", [AFFINE, CALIBRATED])
def test_what_stands_at_the_floor_passes(kind):
    """In the vectors, in the last columns once more, and in a short span."""
    ones = np.ones(N)
    columns = (ones, 0 * ones, ones, 0.25 * ones, 0.5 * ones)
    products = np.full(N, 0.5, dtype=np.float32)
    row, found = (1.0, 1.0, 0.25, 0.5), np.empty(N, dtype=np.int32)
    for value, passes in ((0.5, True), (0.499, False)):
        products[:] = value
        for span in ((0, N), (3, 70), (N - 5, N), (0, 9)):
            size = _adjusted_screen.passing(
                kind,
                products,
                span,
                (0.0, 0.0, 0.0),
                np.float32(0.5),
                row,
                columns,
                found,
            )
            assert size == (span[1] - span[0] if passes else 0)


def test_no_number_passes_nothing():
    ones = np.ones(N)
    products = np.full(N, np.nan, dtype=np.float32)
    found = np.empty(N, dtype=np.int32)
    for kind in (AFFINE, CALIBRATED):
        arguments = ((0.0, 0.0, 0.0), np.float32(0), (1.0,) * 4, (ones,) * 5)
        assert _adjusted_screen.passing(kind, products, (0, N), *arguments, found) == 0
