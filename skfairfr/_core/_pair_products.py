"""Sums of products of multiplicities over a few pairs, for all resamples side by side.

The products of small multiplicities are summed as 16-bit integers. LLVM would keep such
sums in memory from pair to pair, where each waits for the one before; here they are
written as vectors, which stay in registers. Everything else takes a plain loop.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

# Resamples that are summed together: two registers of 32 sums on the widest processors.
LANES = 64

_INDEX = ir.IntType(64)


def sum_products(sums, left_weight, right_weight, left, right, base, start, stop):
    """Write the weight of the pairs [start, stop) in every resample; call it jitted.

    Parameters
    ----------
    sums : ndarray of int16, int32 or float64, shape (n_resamples,)
        Every sum fits into its type.
    left_weight, right_weight : ndarrays, shape (n_units, n_resamples)
    left, right : ndarrays of int32, shape (n_pairs,)
        Unit of each member.
    base : ndarray of float64, shape (n_pairs,), or None
        Base weights of the pairs; None where all weigh 1.
    start, stop : int
    """
    raise NotImplementedError("only jitted code calls this")


@overload(sum_products, jit_options={"nogil": True})
def _choose(sums, left_weight, right_weight, left, right, base, start, stop):
    arrays = (sums, left_weight, right_weight, left, right)
    kinds = [types.int16, *(types.uint8,) * 2, *(types.int32,) * 2]
    narrow = [a.dtype for a in arrays] == kinds and all(a.layout == "C" for a in arrays)
    return _in_registers if narrow and isinstance(base, types.NoneType) else _in_a_loop


def _in_a_loop(sums, left_weight, right_weight, left, right, base, start, stop):
    kind = sums.dtype.type
    sums[:] = 0
    for p in range(start, stop):
        a = left_weight[left[p]]
        b = right_weight[right[p]]
        if base is None:
            for r in range(sums.size):
                sums[r] += kind(a[r]) * kind(b[r])
        else:
            for r in range(sums.size):
                sums[r] += base[p] * (kind(a[r]) * kind(b[r]))


_loop = njit(nogil=True, cache=True)(_in_a_loop)


def _in_registers(sums, left_weight, right_weight, left, right, base, start, stop):
    if sums.size < LANES:
        _loop(sums, left_weight, right_weight, left, right, base, start, stop)
        return
    for lane in range(0, sums.size, LANES):
        # The last lanes overlap those before, which are then written twice.
        first = min(lane, sums.size - LANES)
        _sum_lanes(sums, left_weight, right_weight, left, right, start, stop, first)


@intrinsic
def _sum_lanes(
    typing, sums, left_weight, right_weight, left, right, start, stop, first
):
    """Write the sums of LANES resamples from ``first`` on; arrays as ``_choose`` asks."""

    def generate(context, builder, signature, arguments):
        arrays = [
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args[:5], arguments[:5], strict=True)
        ]
        start, stop, first = arguments[5:]
        n_resamples = builder.extract_value(arrays[0].shape, 0)
        sums, *weights, left, right = (array.data for array in arrays)
        products = ir.VectorType(ir.IntType(16), LANES)
        bytes_ = ir.VectorType(ir.IntType(8), LANES)
        total = cgutils.alloca_once_value(builder, ir.Constant(products, None))
        step = ir.Constant(_INDEX, 1)
        with cgutils.for_range_slice(builder, start, stop, step, _INDEX) as (pair, _):
            factors = []
            for weight, units in zip(weights, (left, right), strict=True):
                unit = builder.sext(builder.load(builder.gep(units, [pair])), _INDEX)
                place = builder.add(builder.mul(unit, n_resamples), first)
                row = builder.bitcast(builder.gep(weight, [place]), bytes_.as_pointer())
                factors.append(builder.zext(builder.load(row, align=1), products))
            product = builder.mul(*factors)
            builder.store(builder.add(builder.load(total), product), total)
        out = builder.bitcast(builder.gep(sums, [first]), products.as_pointer())
        builder.store(builder.load(total), out, align=2)
        return context.get_dummy_value()

    arrays = (sums, left_weight, right_weight, left, right)
    return types.void(*arrays, types.intp, types.intp, types.intp), generate
