"""Which of many integers reach a limit: comparisons of whole vectors, as bits.

LLVM turns a loop over comparisons into no vectors where their outcomes are collected; here
they are written as vectors. A loop over the bits that are set then costs only as much as
integers reach the limit.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from skfairfr._core._compiled import njit

# Integers that are compared at once.
WIDTH = 64

_BITS = ir.IntType(WIDTH)


@njit(nogil=True, cache=True)
def write_reaching(values, first, stop, limit, found):
    """Write the places in [first, stop) of floats that reach a limit; return how many.

    Parameters
    ----------
    values : ndarray of int16 or int32, shape (n,)
        Bits of floats: read as integers they are in order where positive, in reverse order
        where negative, and below the positive ones.
    first, stop : int
    limit : int
        Bits of the limit, sign included.
    found : ndarray of int32
    """
    n = 0
    start = first
    while start + WIDTH <= stop:
        n = write_bits(_reaching(values, start, limit), start, found, n)
        start += WIDTH
    if start < stop and stop >= WIDTH:
        # The last integers once more, without those that were compared already.
        last = stop - WIDTH
        bits = _reaching(values, last, limit) & (-1 << (start - last))
        return write_bits(bits, last, found, n)
    for k in range(start, stop):
        reaches = values[k] >= limit
        if limit < 0:
            reaches = (values[k] >= 0) | (values[k] <= limit)
        found[n] = k
        n += reaches
    return n


@njit(nogil=True, cache=True, inline="always")
def write_bits(bits, start, found, n):
    """Write the places of the bits that are set, from ``start`` and ``found[n]`` on."""
    while bits != 0:
        found[n] = start + _lowest_bit(bits)
        bits &= bits - 1
        n += 1
    return n


@intrinsic
def _reaching(typing_context, values, start, limit):
    """One bit for each of WIDTH values from ``start`` on; a contiguous array."""
    if values.layout != "C" or values.dtype not in (types.int16, types.int32):
        return None

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        array = cgutils.create_struct_proxy(kind)(context, builder, arguments[0])
        one = ir.IntType(kind.dtype.bitwidth)
        many = ir.VectorType(one, WIDTH)
        place = builder.gep(array.data, [arguments[1]])
        values = builder.load(
            builder.bitcast(place, many.as_pointer()), align=one.width // 8
        )
        limit = builder.trunc(arguments[2], one)
        first = builder.insert_element(
            ir.Constant(many, ir.Undefined), limit, ir.Constant(ir.IntType(32), 0)
        )
        same = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
        limits = builder.shuffle_vector(first, first, same)
        # Without their sign, all positive numbers are below the negative ones.
        bits = [
            builder.bitcast(compared, _BITS)
            for compared in (
                builder.icmp_signed(">=", values, limits),
                builder.icmp_unsigned("<=", values, limits),
            )
        ]
        negative = builder.icmp_signed("<", limit, ir.Constant(one, 0))
        return builder.select(negative, bits[1], bits[0])

    return types.int64(values, types.intp, types.int64), generate


@intrinsic
def _lowest_bit(typing_context, bits):
    """Place of the lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate
