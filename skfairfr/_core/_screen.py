"""A screen of all pairs: low-precision products that no pair at its floor falls below.

A tile of products is fast and slightly wrong. A pair is dismissed only where its product
lies below the floor by more than the largest possible error; whatever remains is scored
exactly. So the precision of the screen changes the time, and no pair and no bit of a score.

Integers of 8 bits have a bound of their own, in ``_integer_screen``.

The bound. Rows x, y are screened as a, b: the rows themselves, or their roundings to
bfloat16. With the lengths X = |x|, Y = |y| and the distances p = |x - a|, q = |y - b|:

1. Rounded rows: |ab - xy| = |(a - x)y + x(b - y) + (a - x)(b - y)| <= pY + Xq + pq.
2. The float32 sum of d products in any order, each product and sum rounded in any
   direction, hence by a factor of at most 1 + 2**-23: every product goes through at most d
   roundings, so that the error is at most ((1 + 2**-23)**d - 1) sum |a_k b_k|, and
   sum |a_k b_k| <= |a||b| <= (X + p)(Y + q). Products of two bfloat16 are exact in float32;
   the bound does not use it.
3. Underflow: an operand, product or sum below 2**-126 may be replaced by zero. The loss is
   at most 2**-126 for each of the 2d operations and the output, and 2**-126 (|a_k| + |b_k|
   + 2**-126) for the operands of each product: less than 2**-123 d (1 + X + p + Y + q) in all.
4. The exact score is itself a float64 sum, off by at most ((1 + 2**-53)**d - 1) XY, and is
   rounded to float32: it reaches a floor t from at most 2**-24 |t| + 2**-150 below. Two
   more roundings in 2, a term 2**-23 |t|, and the slack in 3 cover both.
5. A bfloat16 output needs no term: rounding is monotone, so that what is at least a
   bfloat16 number stays so. The limit is rounded down to one. Adjusted scores are no such
   comparison: ``widen`` says how far the rounding to the nearest bfloat16 moves a product.

If XY is so large that a sum could overflow, every pair is scored.
"""

import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from skfairfr._core import _integer_screen
from skfairfr._core._compiled import njit
from skfairfr._core._parallel import n_threads, one_blas_thread
from skfairfr._core._reaching import write_reaching

# Multiply-adds of a pass from which fewer bits pay, once torch is loaded: more than a second
# of float32 products, beside less than half a second that the trial takes once.
PAYS = 2**36
# Features of the trial at most; more would only make it longer.
TRIAL_FEATURES = 512
# The same for each thread if torch must be loaded first. Measured on 2 cores: the import
# took 1.2 s, a core did 5e10 multiply-adds a second, and bfloat16 saved half of them.
PAYS_TO_IMPORT = 1.2e11
# bfloat16 is chosen if its products take less than this multiple of the float32 time.
GAIN = 0.8

# How Linux names the units of a precision.
FLAGS = {
    "bfloat16": ("amx_bf16", "avx512_bf16", "bf16"),
    "int8": ("amx_int8", "avx512_vnni", "avx_vnni"),
}

# Relative error of one operation in float32, whatever its rounding.
STEP = 2.0**-23
TINY = 2.0**-123
# Lengths whose product exceeds this may overflow float32 in a partial sum.
LARGEST = 2.0**126

# A length is rounded up by more than a float64 sum of squares may lose.
UP = 1 + 2.0**-20
# The code that all products reach.
EVERYTHING = -1


@dataclass(frozen=True)
class ScreenedRows:
    """Rows in the precision of the screen, and how far they are from the true ones.

    Attributes
    ----------
    values : ndarray of float32, uint16 (the bits of bfloat16) or int8, shape (n, n_features)
    lengths : ndarray of float64, shape (n,)
        Length of every true row, rounded up.
    distances : ndarray of float64, shape (n,)
        Distance between the true and the rounded row, rounded up.
    scales : ndarray of float32, shape (n,)
        What the integers of a row are multiplied by; of other rows, shape (0,).
    """

    values: np.ndarray
    lengths: np.ndarray
    distances: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, vectors, precision):
        """Screened rows of float32 vectors; ``precision`` is that of ``choose``."""
        lengths = np.empty(len(vectors))
        distances = np.zeros(len(vectors))
        scales = np.empty(0, dtype=np.float32)
        values = vectors
        if precision == "bfloat16":
            values = np.empty(vectors.shape, dtype=np.uint16)
            _round(vectors, values, lengths, distances)
        else:
            _measure(vectors, lengths)
        if precision == "int8":
            values = _integer_screen.empty_codes(vectors)
            scales = np.empty(len(vectors), dtype=np.float32)
            _integer_screen.encode(vectors, UP, values, scales, distances)
        return cls(values, lengths, distances, scales)

    def __getitem__(self, rows):
        return ScreenedRows(*(part[rows] for part in vars(self).values()))


def choose(n_products, n_features, n_jobs=None, seconds=None):
    """Precision of the screen: "float32", or "bfloat16" or "int8" where that is faster.

    Parameters
    ----------
    n_products : int
        Number of pairs to be compared.
    n_features : int
    n_jobs : int or None
        Where there are several workers, each may have to import torch.
    seconds : callable, default=None
        Time that a part of the pass takes in a precision: what integers save depends on how
        many pairs they pass. None: they are not chosen.
    """
    if not may_round(n_products, n_features, n_jobs) or _torch() is None:
        return "float32"
    faster = "bfloat16" in _units() and _is_faster(min(n_features, TRIAL_FEATURES))
    chosen = "bfloat16" if faster else "float32"
    if seconds is None or "int8" not in _units() or not _multiplies_codes(n_features):
        return chosen
    return min([chosen, "int8"], key=seconds)


def may_round(n_products, n_features, n_jobs=None):
    """Whether another precision may be chosen: ``choose`` then tries how fast it is."""
    workers = effective_n_jobs(n_jobs)
    loaded = has_torch() and workers == 1
    pays = PAYS if loaded else PAYS_TO_IMPORT * max(workers, n_threads())
    return n_products * n_features >= pays and bool(_units())


def has_torch():
    """Whether torch is loaded already."""
    return "torch" in sys.modules


def multiply(rows, columns, memory=None):
    """Low-precision products of all rows and columns, as ordered integers.

    Parameters
    ----------
    rows, columns : ndarrays, shapes (n_rows, n_features) and (n_columns, n_features)
        Values of ScreenedRows.
    memory : ndarray of uint8, default=None
        What the tile is written to, at least 4 bytes for each product; None allocates.

    Returns
    -------
    tile : ndarray of int32 or int16, shape (n_rows, n_columns)
        The bits of float32 or bfloat16 numbers.
    """
    size = 4 * len(rows) * len(columns)
    memory = np.empty(size, dtype=np.uint8) if memory is None else memory[:size]
    if rows.dtype == np.float32:
        tile = memory.view(np.float32).reshape(len(rows), -1)
        with np.errstate(over="ignore", invalid="ignore"):  # then every pair is scored
            np.matmul(rows, columns.T, out=tile)
        return tile.view(np.int32)
    if rows.dtype == np.int8:
        tile = memory.view(np.int32).reshape(len(rows), -1)
        with _one_openmp_thread():
            _integer_screen.multiply(
                _writable(rows), _writable(columns), _torch(), tile
            )
        return tile
    torch = _torch()
    if torch is None:  # on another machine than the one that chose
        return multiply(_as_float32(rows), _as_float32(columns), memory)
    tile = memory[: size // 2].view(np.int16).reshape(len(rows), -1)
    a, b, out = (
        torch.from_numpy(_writable(values).view(np.int16)).view(torch.bfloat16)
        for values in (rows, columns, tile)
    )
    with _one_openmp_thread():
        torch.mm(a, b.T, out=out)
    return tile


def _one_openmp_thread():
    """Limit the products of torch to this thread."""
    if _torch() is not None:
        _torch().get_num_threads()  # sets the threads of a new thread at first use
    return _openmp().limit(limits=1)


# ---- the comparison ------------------------------------------------------------------


@njit(nogil=True, cache=True)
def lowest(floor, row, columns, n_features, shift):
    """Code of the lowest product that a pair at or above its floor may have.

    Parameters
    ----------
    floor : float32
    row, columns : tuples of two floats
        Length and distance of a row; the largest ones of the columns.
    n_features : int
    shift : int
        0 for float32 products, 16 for bfloat16.

    Returns
    -------
    code : int
        For ``passing``; ``EVERYTHING`` if every pair must be scored.
    """
    error = largest_error(row, columns, n_features)
    if floor == -np.inf or not error < np.inf:
        return EVERYTHING
    error += STEP * min(abs(floor), 2 * LARGEST)
    limit = floor - error * (1 + 2.0**-20)
    # A little lower, so that rounding to float32 cannot raise it.
    limit = np.float32(limit - STEP * min(abs(limit), 2 * LARGEST) - TINY)
    code = np.int64(limit.view(np.int32))
    if limit > 0:
        return code >> shift
    magnitude = (code & 0x7FFFFFFF) + (1 << shift) - 1
    return (magnitude >> shift) - (0x80000000 >> shift)


@njit(nogil=True, cache=True)
def largest_error(row, columns, n_features):
    """Bound on what a product is too low by, whatever the floor; inf if it may overflow.

    ``row`` and ``columns`` are those of ``lowest``.
    """
    product = (row[0] + row[1]) * (columns[0] + columns[1])
    if not product < LARGEST:
        return np.inf
    error = row[1] * columns[0] + row[0] * columns[1] + row[1] * columns[1]
    error += np.expm1((n_features + 2) * STEP) * product
    return error + TINY * n_features * (1 + row[0] + row[1] + columns[0] + columns[1])


@njit(nogil=True, cache=True)
def widen(products, out):
    """Write bfloat16 products as float32; return how much of itself each may lack.

    Parameters
    ----------
    products : ndarray of int16, shape (n_columns,)
        Bits, of a row of a tile.
    out : ndarray of float32, at least n_columns

    Returns
    -------
    slack : float
        What the output was rounded by, to nearest, which the trial of bfloat16 checks.
    """
    bits = out.view(np.int32)
    for c in range(products.size):
        bits[c] = np.int32(products[c]) << 16
    return 2.0**-8


@njit(nogil=True, cache=True)
def passing(products, first, stop, code, found):
    """Write the columns in [first, stop) that reach the code; return how many."""
    if code == EVERYTHING:
        for n in range(stop - first):
            found[n] = first + n
        return max(stop - first, 0)
    return write_reaching(products, first, stop, code, found)


@njit(nogil=True, cache=True)
def select(products, span, floor, row, columns, largest, n_features, found):
    """Write the columns of a span that may be at the floor; return how many.

    Parameters
    ----------
    products : ndarray, shape (n_columns,)
        A row of a tile.
    span : tuple of two ints
    floor : float32
    row : tuple of three floats
        Length, distance and scale of the row.
    columns : tuple of two ndarrays of float32
        Scales and distances of all columns, where the screen is of integers.
    largest : tuple of two floats
        Largest length and distance of the columns in the span.
    n_features : int
    found : ndarray of int32

    Returns
    -------
    n : int
    """
    first, stop = span
    if columns[0].size == 0:
        shift = 16 if products.itemsize == 2 else 0
        code = lowest(floor, row[:2], largest, n_features, shift)
        return passing(products, first, stop, code, found)
    gain, limit = lowest_of_integers(floor, row, largest, n_features)
    if limit == -np.inf:
        return passing(products, first, stop, EVERYTHING, found)
    return _integer_screen.passing(products, first, stop, *columns, gain, limit, found)


@njit(nogil=True, cache=True)
def lowest_of_integers(floor, row, columns, n_features):
    """The numbers g and (f - pY) / s of ``_integer_screen``, with all errors.

    Parameters
    ----------
    floor, row, columns, n_features
        As of ``lowest``; the third of ``row`` is its scale.

    Returns
    -------
    gain, limit : float32
        A limit of -inf: every pair must be scored.
    """
    length, distance, scale = row
    gain = np.float32((length + distance) / scale * UP)
    product = (length + distance) * (columns[0] + columns[1])
    sums = gain * (columns[0] + 2 * columns[1])
    if not (product < LARGEST and sums < LARGEST):
        return gain, np.float32(-np.inf)
    error = distance * columns[0] + np.expm1(n_features * 2.0**-53) * product
    error += STEP * min(abs(floor), 2 * LARGEST) + TINY
    limit = (floor - error * UP) / scale - 5 * STEP * sums - TINY
    return gain, np.float32(limit - STEP * min(abs(limit), 2 * LARGEST) - TINY)


# ---- rows of low precision -----------------------------------------------------------


@njit(nogil=True, cache=True)
def _measure(vectors, lengths):
    for i in range(vectors.shape[0]):
        square = 0.0
        for k in range(vectors.shape[1]):
            square += np.float64(vectors[i, k]) ** 2
        lengths[i] = np.sqrt(square) * UP


@njit(nogil=True, cache=True)
def _round(vectors, values, lengths, distances):
    """Round to the nearest bfloat16: the upper 16 bits of a float32, halves to even."""
    _measure(vectors, lengths)
    bits = vectors.view(np.uint32)
    rounded = np.empty(vectors.shape[1], dtype=np.uint32)
    wide = rounded.view(np.float32)
    for i in range(vectors.shape[0]):
        for k in range(rounded.size):
            half = np.uint32(0x7FFF) + ((bits[i, k] >> np.uint32(16)) & np.uint32(1))
            upper = (bits[i, k] + half) >> np.uint32(16)
            values[i, k] = upper
            rounded[k] = upper << np.uint32(16)
        square = 0.0
        for k in range(rounded.size):
            square += (np.float64(vectors[i, k]) - np.float64(wide[k])) ** 2
        distances[i] = np.sqrt(square) * UP


def _as_float32(values):
    """The float32 numbers of bfloat16 bits."""
    return (values.astype(np.uint32) << 16).view(np.float32)


def _writable(values):
    """Torch takes no array that may not be written, such as joblib's memory maps."""
    return values if values.flags.writeable else values.copy()


# ---- the choice ----------------------------------------------------------------------


@cache
def _units(path="/proc/cpuinfo"):
    """The precisions that the processor has units for, as Linux tells."""
    try:
        words = set(Path(path).read_text().split())
    except OSError:
        return ()
    return tuple(name for name, flags in FLAGS.items() if not words.isdisjoint(flags))


@cache
def _multiplies_codes(n_features):
    with _one_openmp_thread():
        return _integer_screen.multiplies(_torch(), n_features)


@cache
def _torch():
    """The library, or None where it is missing or broken.

    Whatever a broken one raises, float32 gives the same result: an old torch, for example,
    imports beside a new numpy and takes no array of it.
    """
    try:
        import torch

        torch.from_numpy(np.zeros(1, dtype=np.float32))
    except Exception:
        return None
    return torch


@cache
def _openmp():
    return ThreadpoolController().select(user_api="openmp")


@cache
def _is_faster(n_features):
    """Whether a small tile of bfloat16 is faster and, as it should be, within its bound."""
    rows = np.random.default_rng(0).normal(size=(2, 1024, n_features))
    rows = (rows / np.sqrt(n_features)).astype(np.float32)
    pairs = {
        precision: [ScreenedRows.of(side, precision).values for side in rows]
        for precision in ("float32", "bfloat16")
    }
    seconds = dict.fromkeys(pairs, np.inf)
    with one_blas_thread():
        for precision in (*pairs, *pairs, *pairs):
            start = time.perf_counter()
            tile = multiply(*pairs[precision])
            took = time.perf_counter() - start
            seconds[precision] = min(took, seconds[precision])
    right = _is_right(*pairs["bfloat16"], tile)
    return right and seconds["bfloat16"] < GAIN * seconds["float32"]


def _is_right(a, b, tile):
    """Whether bfloat16 products are those of their rows, accumulated in float32."""
    a, b = (_as_float32(values).astype(np.float64) for values in (a[:64], b))
    found = _as_float32(tile[:64].view(np.uint16))
    growth = np.expm1((a.shape[1] + 2) * STEP)
    bound = growth * np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    exact = a @ b.T
    # The output is rounded to nearest; cut off, it would lie twice as far.
    bound = bound * (1 + 2.0**-8) + 2.0**-8 * np.abs(exact)
    return bool((np.abs(found - exact) <= bound).all())
