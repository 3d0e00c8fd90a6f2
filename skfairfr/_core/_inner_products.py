"""Inner products of float32 rows, equal in every bit on every machine.

The product of two float32 numbers is exact in float64, whether or not the processor fuses
it with the addition that follows. The sum has one order, which depends on the number of
features alone: feature k is added to lane k mod 32 and the lanes are added in pairs; the
features after the last multiple of 32, eight at a time, join the first eight lanes, and the
last seven at most follow one by one. So no thread, tile, processor or library changes a
score, s(x, y) = s(y, x), and equal rows have equal scores. LLVM may not reorder a sum of
floats: the lanes are written as vectors, which every processor has in some width.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from skfairfr._core._compiled import njit

WIDTH = 8
LANES = 32
# Features of float32 in a line of the cache, on nearly all processors.
CACHE_LINE = 16

_INDEX = ir.IntType(64)


@njit(nogil=True, cache=True)
def score_pairs(vectors, left, right):
    """Scores of listed pairs of rows: sums in float64, rounded once to float32.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n_images, n_features)
        C contiguous.
    left, right : ndarrays of int, shape (n_pairs,)

    Returns
    -------
    scores : ndarray of float32, shape (n_pairs,)
    """
    scores = np.empty(left.size, dtype=np.float32)
    wide = np.empty(vectors.shape[1])
    for p in range(left.size):
        if p == 0 or left[p] != left[p - 1]:
            widen(vectors[left[p]], wide)
        scores[p] = inner_product(wide, vectors[right[p]])
    return scores


@njit(nogil=True, cache=True)
def widen(row, out):
    """Copy a float32 row to float64."""
    for k in range(out.size):
        out[k] = row[k]


@njit(nogil=True, cache=True, inline="always")
def inner_product(wide, row):
    """Sum over features of a float64 copy of one row and a float32 row, in float64."""
    whole = wide.size - wide.size % 8
    total = _sum_of_lanes(wide, row, whole)
    for k in range(whole, wide.size):
        total += wide[k] * np.float64(row[k])
    return total


@intrinsic
def fetch(typing_context, vectors, row):
    """Ask for a row of a contiguous float32 matrix ahead of its use; changes no result."""
    if vectors.dtype != types.float32 or vectors.layout != "C":
        return None

    def generate(context, builder, signature, arguments):
        array = cgutils.create_struct_proxy(signature.args[0])
        vectors = array(context, builder, arguments[0])
        n_features = builder.extract_value(vectors.shape, 1)
        data = builder.gep(vectors.data, [builder.mul(arguments[1], n_features)])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        name = "llvm.prefetch.p0"
        prefetch = cgutils.get_or_insert_function(builder.module, kind, name)
        # To read, to be kept in all caches, data.
        how = [ir.Constant(number, flag) for flag in (0, 3, 1)]
        first, step = ir.Constant(_INDEX, 0), ir.Constant(_INDEX, CACHE_LINE)
        with cgutils.for_range_slice(builder, first, n_features, step, _INDEX) as (
            k,
            _,
        ):
            place = builder.bitcast(builder.gep(data, [k]), byte)
            builder.call(prefetch, [place, *how])
        return context.get_dummy_value()

    return types.void(vectors, types.intp), generate


@intrinsic
def _sum_of_lanes(typing_context, wide, row, n):
    """Sum of the first n products, n a multiple of 8; two contiguous arrays."""
    kinds = [(array.dtype, array.layout) for array in (wide, row)]
    if kinds != [(types.float64, "C"), (types.float32, "C")]:
        return None

    def generate(context, builder, signature, arguments):
        wide, row = (
            cgutils.create_struct_proxy(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
        )
        n = arguments[2]
        double = ir.VectorType(ir.DoubleType(), WIDTH)
        single = ir.VectorType(ir.FloatType(), WIDTH)
        zero = ir.Constant(double, [0.0] * WIDTH)
        lanes = [
            cgutils.alloca_once_value(builder, zero) for _ in range(LANES // WIDTH)
        ]

        def add_products(start, lane):
            a, b = (
                builder.load(
                    builder.bitcast(builder.gep(data, [start]), kind.as_pointer()),
                    align=size,
                )
                for data, kind, size in ((wide, double, 8), (row, single, 4))
            )
            # "contract" allows a fused product, which is the same number: see above.
            product = builder.fmul(a, builder.fpext(b, double), flags=("contract",))
            sums = builder.fadd(builder.load(lane), product, flags=("contract",))
            builder.store(sums, lane)

        whole = builder.and_(n, ir.Constant(_INDEX, -LANES))
        first, step = ir.Constant(_INDEX, 0), ir.Constant(_INDEX, LANES)
        with cgutils.for_range_slice(builder, first, whole, step, _INDEX) as (k, _):
            for i, lane in enumerate(lanes):
                add_products(builder.add(k, ir.Constant(_INDEX, i * WIDTH)), lane)
        step = ir.Constant(_INDEX, WIDTH)
        with cgutils.for_range_slice(builder, whole, n, step, _INDEX) as (k, _):
            add_products(k, lanes[0])
        lanes = _added_in_pairs(builder, [builder.load(lane) for lane in lanes])
        places = [ir.Constant(ir.IntType(32), k) for k in range(WIDTH)]
        parts = [builder.extract_element(lanes, place) for place in places]
        return _added_in_pairs(builder, parts)

    return types.float64(wide, row, types.intp), generate


def _added_in_pairs(builder, values):
    """The sum of values: the first half plus the second, again and again."""
    while len(values) > 1:
        half = len(values) // 2
        values = [builder.fadd(values[i], values[i + half]) for i in range(half)]
    return values[0]
