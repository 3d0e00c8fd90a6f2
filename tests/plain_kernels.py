"""Kernels as plain Python: what stands in for vectors of processors.

With NUMBA_DISABLE_JIT=1 a kernel runs line by line, so that its lines can be counted and
changed. A few functions have no lines in Python: they write the processor's vectors. After
:func:`install` slow loops stand in for them.
"""

import sys

import numpy as np

WIDTH = 64


def _bits(reached):
    return sum(1 << k for k, is_reached in enumerate(reached) if is_reached)


def _added_in_pairs(values):
    while len(values) > 1:
        half = len(values) // 2
        values = [values[k] + values[k + half] for k in range(half)]
    return values[0]


def sum_of_lanes(wide, row, n):
    """Feature k is added to lane k mod 32, the last ones to the first 8 lanes."""
    lanes = [np.float64(0)] * 32
    whole = n - n % 32
    for k, (a, b) in enumerate(zip(wide[:n].tolist(), row[:n].tolist(), strict=True)):
        lanes[k % 32 if k < whole else (k - whole) % 8] += a * b
    parts = [_added_in_pairs(lanes[k::8]) for k in range(8)]
    return np.float64(_added_in_pairs(parts))


def reaching(values, start, limit):
    """Of the bits of floats: all positive ones lie above the negative ones."""
    few = values[start : start + WIDTH]
    return _bits((few >= limit) if limit >= 0 else (few >= 0) | (few <= limit))


def screened(products, scales, distances, start, gain, limit):
    """The comparison of the integer screen."""
    part = slice(start, start + WIDTH)
    left = products[part].astype(np.float32) * scales[part]
    return _bits(left + gain * distances[part] >= limit)


def _largest(products, scales, distances, part, scale, a, b, r):
    value = scale * (scales[part] * products[part].astype(np.float64))
    return value + b * distances[part] + r * np.abs(value) + a


def affine(products, scales, distances, gains, offsets, start, *numbers):
    """The comparison of affine scores in the screen of adjusted ones."""
    part = slice(start, start + WIDTH)
    *error, gain, low = numbers
    value = _largest(products, scales, distances, part, *error)
    return _bits(value * (gain + gains[part]) - offsets[part] >= low)


def limited(products, scales, distances, limits, _, start, *numbers):
    """The comparison of scores with a limit in the screen of adjusted ones."""
    part = slice(start, start + WIDTH)
    *error, limit, _ = numbers
    value = _largest(products, scales, distances, part, *error)
    return _bits(value >= np.minimum(limit, limits[part]))


STAND_INS = {
    "_inner_products.fetch": lambda vectors, row: None,
    "_inner_products._sum_of_lanes": sum_of_lanes,
    "_reaching._reaching": reaching,
    "_reaching._lowest_bit": lambda bits: (int(bits) & -int(bits)).bit_length() - 1,
    "_integer_screen._reaching": screened,
    "_adjusted_screen._affine": affine,
    "_adjusted_screen._limited": limited,
}


def install():
    """Let numba's intrinsics be called from Python; for NUMBA_DISABLE_JIT=1 alone."""
    from numba.core.extending import _Intrinsic

    found = {}

    def call(self, *arguments):
        if self not in found:
            module = sys.modules[self._defn.__module__]
            name = next(name for name, value in vars(module).items() if value is self)
            found[self] = STAND_INS[f"{module.__name__.rpartition('.')[2]}.{name}"]
        return found[self](*arguments)

    _Intrinsic.__call__ = call
