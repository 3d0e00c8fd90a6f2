"""Sums of products of multiplicities over a few pairs, for all resamples side by side.

The products of small multiplicities are summed as 16-bit integers, or as floats where the
pairs have base weights. LLVM would keep such sums in memory from pair to pair, where each
waits for the one before; here they are written as vectors, which stay in registers.
Everything else takes a plain loop.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from skfairfr._core._compiled import njit

# Resamples that are summed together: two registers of 32 integers on the widest
# processors, or four of 8 floats.
LANES = 64
FLOAT_LANES = 32

_INDEX = ir.IntType(64)


def sum_products(sums, left_weight, right_weight, left, right, base, start, stop):
    """Write the weight of the pairs [start, stop) in every resample; call it jitted.

    Not jitted (under NUMBA_DISABLE_JIT) it is the plain loop.

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
    _in_a_loop(sums, left_weight, right_weight, left, right, base, start, stop)


@overload(sum_products, jit_options={"nogil": True})
def _choose(sums, left_weight, right_weight, left, right, base, start, stop):
    arrays = (sums, left_weight, right_weight, left, right)
    kinds = [a.dtype for a in arrays]
    in_order = all(a.layout == "C" for a in arrays)
    small = kinds[1:] == [*(types.uint8,) * 2, *(types.int32,) * 2] and in_order
    if small and kinds[0] == types.int16 and isinstance(base, types.NoneType):
        return _in_registers
    has_base = isinstance(base, types.Array) and base.layout == "C"
    if small and has_base and kinds[0] == base.dtype == types.float64:
        return _in_float_registers
    return _in_a_loop


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


def _in_float_registers(
    sums, left_weight, right_weight, left, right, base, start, stop
):
    if sums.size < FLOAT_LANES:
        _loop(sums, left_weight, right_weight, left, right, base, start, stop)
        return
    for lane in range(0, sums.size, FLOAT_LANES):
        first = min(lane, sums.size - FLOAT_LANES)
        _sum_float_lanes(
            sums, left_weight, right_weight, left, right, base, start, stop, first
        )


@intrinsic
def _sum_lanes(
    typing, sums, left_weight, right_weight, left, right, start, stop, first
):
    """Write the sums of LANES resamples from ``first`` on; arrays as ``_choose`` asks."""

    def generate(context, builder, signature, arguments):
        arrays = _structs(context, builder, signature, arguments[:5])
        _write_lanes(builder, arrays, None, arguments[5:])
        return context.get_dummy_value()

    arrays = (sums, left_weight, right_weight, left, right)
    return types.void(*arrays, types.intp, types.intp, types.intp), generate


@intrinsic
def _sum_float_lanes(
    typing, sums, left_weight, right_weight, left, right, base, start, stop, first
):
    """As ``_sum_lanes``, with base weights and FLOAT_LANES resamples."""

    def generate(context, builder, signature, arguments):
        *arrays, base = _structs(context, builder, signature, arguments[:6])
        _write_lanes(builder, arrays, base, arguments[6:])
        return context.get_dummy_value()

    arrays = (sums, left_weight, right_weight, left, right, base)
    return types.void(*arrays, types.intp, types.intp, types.intp), generate


def _structs(context, builder, signature, values):
    """The arrays among the first arguments of an intrinsic."""
    kinds = signature.args[: len(values)]
    return [
        cgutils.create_struct_proxy(kind)(context, builder, value)
        for kind, value in zip(kinds, values, strict=True)
    ]


def _write_lanes(builder, arrays, base, span):
    """Build the loop over the pairs of a span, and the writing of their sums."""
    start, stop, first = span
    n_resamples = builder.extract_value(arrays[0].shape, 0)
    sums, *weights, left, right = (array.data for array in arrays)
    lanes = LANES if base is None else FLOAT_LANES
    products = ir.VectorType(ir.IntType(16), lanes)
    kind = products if base is None else ir.VectorType(ir.DoubleType(), lanes)
    bytes_ = ir.VectorType(ir.IntType(8), lanes)
    total = cgutils.alloca_once_value(builder, ir.Constant(kind, None))
    step = ir.Constant(_INDEX, 1)
    with cgutils.for_range_slice(builder, start, stop, step, _INDEX) as (pair, _):
        factors = []
        for weight, units in zip(weights, (left, right), strict=True):
            unit = builder.sext(builder.load(builder.gep(units, [pair])), _INDEX)
            place = builder.add(builder.mul(unit, n_resamples), first)
            row = builder.bitcast(builder.gep(weight, [place]), bytes_.as_pointer())
            factors.append(builder.zext(builder.load(row, align=1), products))
        product, add = builder.mul(*factors), builder.add
        if base is not None:
            # 255 * 255 fits into 16 bits; signed 32-bit integers are the ones that
            # processors turn to floats.
            wide = builder.zext(product, ir.VectorType(ir.IntType(32), lanes))
            weight = builder.load(builder.gep(base.data, [pair]))
            weight = _repeated(builder, weight, lanes)
            product = builder.fmul(weight, builder.sitofp(wide, kind))
            add = builder.fadd
        builder.store(add(builder.load(total), product), total)
    out = builder.bitcast(builder.gep(sums, [first]), kind.as_pointer())
    builder.store(builder.load(total), out, align=2 if base is None else 8)


def _repeated(builder, value, lanes):
    """A vector of one value."""
    kind = ir.VectorType(value.type, lanes)
    place = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, place)
    same = ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
    return builder.shuffle_vector(one, one, same)
