"""A screen of 8-bit integers: a quarter of the bytes, exact products, a wider bound.

Row x is screened as s k: a scale s of its own times integers k of at most 127. The product
of two rows of integers is exact, so that only the distances of the rows from their codes
count. With the lengths X = |x|, Y = |y| and the distances p = |x - s k|, q = |y - t m|:

1. xy <= (s k)(t m) + pY + Xq + pq, as in ``_screen``: a pair at a floor f has
   s t (k m) + (X + p) q >= f - pY.
2. Divided by s, and with g = (X + p) / s: t (k m) + g q >= (f - pY) / s. Scales and distances
   differ from column to column, so that the left side is computed in float32 for each pair:
   the integer k m is turned to a float32, multiplied, and g q is added. Each of the four
   operations errs by a factor of at most 1 + 2**-23, and all numbers that they make stay
   below t |k m| + g q <= g (Y + 2 q), for |k| = |s k| / s <= g and |t m| <= Y + q. The error
   is less than 5 * 2**-23 g (Y + 2 q).
3. Scales and distances are at least 2**-60 in any row, and g is at least 1, because X is at
   least 127 s or p at least s: nothing underflows.
4. The exact score reaches a floor f from at most ((1 + 2**-53)**d - 1) XY + 2**-24 |f| +
   2**-150 below. The floor is lowered by the first term, by 2**-23 |f| and by 2**-123.

If g (Y + 2 q) is so large that it could overflow, every pair is scored.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from skfairfr._core._compiled import njit
from skfairfr._core._reaching import WIDTH, write_bits

LARGEST_CODE = 127
# Products of codes stay below 2**31, also where the library shifts one factor by 128.
MOST_FEATURES = 2**15
# Codes of zero fill the last features up to a multiple of this. Of a single feature the
# product of torch 2.13 is wrong.
MULTIPLE = 4
# Scales and distances of zero rows, and of shorter ones than any other number here.
SMALLEST = np.float32(2.0**-60)


def empty_codes(vectors):
    """Codes of zero for rows."""
    n, d = vectors.shape
    return np.zeros((n, -(-d // MULTIPLE) * MULTIPLE), dtype=np.int8)


def multiplies(torch, n_features):
    """Whether products of codes are right, the largest ones included.

    The function that forms them is not public: it may be missing, or change.
    """
    if not hasattr(torch, "_int_mm") or n_features > MOST_FEATURES:
        return False
    codes = np.random.default_rng(0).integers(-127, 128, (2, 66, n_features))
    codes[:, 0], codes[:, 1] = LARGEST_CODE, -LARGEST_CODE
    rows, columns = codes.astype(np.int8)
    found = np.empty((len(rows), len(columns)), dtype=np.int32)
    try:
        multiply(rows, columns, torch, found)
    except (RuntimeError, TypeError):
        return False
    return bool((found == codes[0] @ codes[1].T).all())


@njit(nogil=True, cache=True)
def encode(vectors, up, codes, scales, distances):
    """Write the codes of rows, their scales, and distances rounded up to float32."""
    for i in range(vectors.shape[0]):
        largest = np.float32(0)
        for k in range(vectors.shape[1]):
            largest = max(largest, abs(vectors[i, k]))
        scale = max(np.float32(largest / LARGEST_CODE), SMALLEST)
        scales[i] = scale
        square = 0.0
        for k in range(vectors.shape[1]):
            value = np.float64(vectors[i, k])
            code = min(max(np.rint(value / scale), -LARGEST_CODE), LARGEST_CODE)
            codes[i, k] = np.int8(code)
            square += (value - code * np.float64(scale)) ** 2
        distances[i] = np.float32(max(np.sqrt(square) * up, SMALLEST) * up)


def multiply(rows, columns, torch, out):
    """Write the products of codes, int32, by a function of torch that is not public."""
    product = getattr(torch, "_int_mm", None)
    if product is None:  # on another machine than the one that chose
        out[:] = rows.astype(np.float64) @ columns.T.astype(np.float64)
        return
    a, b, tile = (torch.from_numpy(array) for array in (rows, columns, out))
    product(a, b.T, out=tile)


@njit(nogil=True, cache=True)
def passing(products, first, stop, scales, distances, gain, limit, found):
    """Write the columns in [first, stop) whose left side in 2 reaches the limit."""
    n = 0
    start = first
    while start + WIDTH <= stop:
        bits = _reaching(products, scales, distances, start, gain, limit)
        n = write_bits(bits, start, found, n)
        start += WIDTH
    if start < stop and stop >= WIDTH:
        # The last columns once more, without those that were compared already.
        last = stop - WIDTH
        bits = _reaching(products, scales, distances, last, gain, limit)
        return write_bits(bits & (-1 << (start - last)), last, found, n)
    for k in range(start, stop):
        reached = np.float32(products[k]) * scales[k] + gain * distances[k]
        found[n] = k
        n += reached >= limit
    return n


@intrinsic
def _reaching(typing_context, products, scales, distances, start, gain, limit):
    """One bit for each of WIDTH columns from ``start`` on; contiguous arrays."""
    arrays = (products, scales, distances)
    if any(array.layout != "C" for array in arrays):
        return None

    def generate(context, builder, signature, arguments):
        single = ir.FloatType()
        many = ir.VectorType(single, WIDTH)
        start, gain, limit = arguments[3:]

        def load(kind, value):
            data = cgutils.create_struct_proxy(kind)(context, builder, value).data
            one = context.get_data_type(kind.dtype)
            place = builder.gep(data, [start])
            vector = ir.VectorType(one, WIDTH)
            place = builder.bitcast(place, vector.as_pointer())
            return builder.load(place, align=kind.dtype.bitwidth // 8)

        def repeat(value):
            place = ir.Constant(ir.IntType(32), 0)
            first = builder.insert_element(
                ir.Constant(many, ir.Undefined), value, place
            )
            same = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
            return builder.shuffle_vector(first, first, same)

        values, scales, distances = (
            load(kind, value)
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        )
        left = builder.fmul(builder.sitofp(values, many), scales, flags=("contract",))
        right = builder.fmul(repeat(gain), distances, flags=("contract",))
        reached = builder.fadd(left, right, flags=("contract",))
        reaches = builder.fcmp_ordered(">=", reached, repeat(limit))
        return builder.bitcast(reaches, ir.IntType(WIDTH))

    numbers = (types.intp, types.float32, types.float32)
    return types.int64(*arrays, *numbers), generate
