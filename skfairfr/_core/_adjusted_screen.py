"""The screen of adjusted scores: which columns of a row may reach the floor, 64 at a time.

A low-precision product v is too low by at most e = A + B q + r |v|: A and B belong to the
row, q is the distance of the column from its screened row, and r is what the output of the
screen is rounded by. A column passes where the score of v + e reaches the floor; for the two
kinds of scores see ``_adjustments``. All of it is float64, in vectors, as LLVM makes none
of a loop that collects comparisons.

Roundings to float64 lose no column. With the lengths and distances of ``_screen``, its bound
leaves more than 2**-23 (X + p)(Y + q) between v + e and the score of the pair; |v| is at most
(X + p)(Y + q), and the operations on it err by 2**-50 of that. An affine score is compared with
the offset of the row on the side of the floor: both sides are rounded once, and rounding is
monotone. The sum of both offsets, as ``_adjustments`` rounds it, is off by at most 2**-53 of
itself, hence of the adjusted product and the floor together: the room above covers the one, the
term 2**-23 |floor| the other.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from skfairfr._core._adjustments import AFFINE
from skfairfr._core._compiled import njit
from skfairfr._core._reaching import WIDTH, write_bits

# Columns of one vector of float64; as many bits are one part of a word of WIDTH.
LANES = 8

_DOUBLE, _WORD = ir.DoubleType(), ir.IntType(WIDTH)


@njit(nogil=True, cache=True)
def passing(kind, products, span, error, floor, row, columns, found):
    """Write the columns of a span whose score may reach the floor; return how many.

    Parameters
    ----------
    kind : int
        That of the adjustment.
    products : ndarray of float32 or int32, shape (n_columns,)
        Of one row: numbers, or integers that are multiplied by two scales.
    span : tuple of two ints
        First column and the end.
    error : tuple of three floats
        A, B and r.
    floor : float32
    row : tuple of four floats
        Scale, gain and offset of the row, and its limit at the floor.
    columns : tuple of five ndarrays of float64, shape (n_columns,)
        Scales, distances, gains, offsets and limits of the columns: gains and offsets are
        read for an affine score, limits for the other.
    found : ndarray of int32

    Returns
    -------
    n : int
    """
    first, stop = span
    scale, gain, offset, limit = row
    scales, distances, gains, offsets, limits = columns
    low = floor - 2.0**-23 * abs(np.float64(floor)) - 2.0**-149
    affine = (scale, error[0], error[1], error[2], gain, low + offset)
    limited = (scale, error[0], error[1], error[2], limit, 0.0)
    n = 0
    start = first
    while start < stop and stop >= WIDTH:
        # The last columns a second time, without those that were compared already.
        place = min(start, stop - WIDTH)
        # A function between would count references to the arrays, which takes longer.
        if kind == AFFINE:
            bits = _affine(products, scales, distances, gains, offsets, place, *affine)
        else:
            bits = _limited(
                products, scales, distances, limits, limits, place, *limited
            )
        n = write_bits(bits & (-1 << (start - place)), place, found, n)
        start += WIDTH
    for k in range(start, stop):
        value = scale * (scales[k] * np.float64(products[k]))
        value += error[0] + error[1] * distances[k] + error[2] * abs(value)
        if kind == AFFINE:
            reaches = value * (gain + gains[k]) - offsets[k] >= low + offset
        else:
            reaches = value >= min(limit, limits[k])
        found[n] = k
        n += reaches
    return n


def _comparison(compare):
    """An intrinsic that gives a bit for each of WIDTH columns.

    ``compare(builder, value, arrays, first, second)`` compares vectors: the largest values
    that the products may stand for, the two arrays of the columns, and two numbers of the row.
    """

    def typed(typing_context, products, scales, distances, one, other, *numbers):
        start, *rest = numbers
        arrays = (products, scales, distances, one, other)
        kinds = [array.dtype for array in arrays[1:]]
        if any(array.layout != "C" for array in arrays) or set(kinds) != {
            types.float64
        }:
            return None
        if products.dtype not in (types.float32, types.int32):
            return None

        def generate(context, builder, signature, arguments):
            data = [
                cgutils.create_struct_proxy(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:5], arguments[:5], strict=True)
            ]
            start, *numbers = arguments[5:]
            scale, a, b, r, first, second = (_repeat(builder, x) for x in numbers)
            of_one = ir.FunctionType(_vector(_DOUBLE), [_vector(_DOUBLE)])
            name = f"llvm.fabs.v{LANES}f64"
            fabs = cgutils.get_or_insert_function(builder.module, of_one, name)
            bits = ir.Constant(_WORD, 0)
            for lane in range(0, WIDTH, LANES):
                place = builder.add(start, ir.Constant(start.type, lane))
                parts = [_load(builder, part, place) for part in data]
                if products.dtype == types.int32:
                    value = builder.sitofp(parts[0], _vector(_DOUBLE))
                else:
                    value = builder.fpext(parts[0], _vector(_DOUBLE))
                value = builder.fmul(scale, builder.fmul(parts[1], value))
                size = builder.call(fabs, [value])
                for factor, term in ((b, parts[2]), (r, size)):
                    term = builder.fmul(factor, term, flags=("contract",))
                    value = builder.fadd(value, term, flags=("contract",))
                value = builder.fadd(value, a)
                reaches = compare(builder, value, parts[3:], first, second)
                word = builder.zext(builder.bitcast(reaches, ir.IntType(LANES)), _WORD)
                bits = builder.or_(bits, builder.shl(word, ir.Constant(_WORD, lane)))
            return bits

        return types.int64(*arrays, start, *rest), generate

    def signature(
        typing_context,
        products,
        scales,
        distances,
        one,
        other,
        start,
        scale,
        a,
        b,
        r,
        first,
        second,
    ):
        numbers = (start, scale, a, b, r, first, second)
        return typed(typing_context, products, scales, distances, one, other, *numbers)

    return intrinsic(signature)


def _vector(kind):
    return ir.VectorType(kind, LANES)


def _repeat(builder, number):
    """A vector of one number."""
    place = ir.Constant(ir.IntType(32), 0)
    one = builder.insert_element(
        ir.Constant(_vector(_DOUBLE), ir.Undefined), number, place
    )
    same = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(one, one, same)


def _load(builder, data, place):
    kind = data.type.pointee
    vector = builder.bitcast(builder.gep(data, [place]), _vector(kind).as_pointer())
    return builder.load(vector, align=4 if kind != _DOUBLE else 8)


def _affine_reaches(builder, value, arrays, gain, low):
    gains, offsets = arrays
    score = builder.fmul(value, builder.fadd(gain, gains))
    return builder.fcmp_ordered(">=", builder.fsub(score, offsets), low)


def _limit_is_reached(builder, value, arrays, limit, _):
    lower = builder.fcmp_ordered("<", limit, arrays[0])
    return builder.fcmp_ordered(">=", value, builder.select(lower, limit, arrays[0]))


_affine, _limited = _comparison(_affine_reaches), _comparison(_limit_is_reached)
