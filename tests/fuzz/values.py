"""Values that a docstring's types allow, and values that they only just do not."""

import datetime
import decimal
import fractions
import pathlib
import struct

import numpy as np

from skfairfr.utils._extras import missing

SURROGATE = "a\ud800b"
TEXTS = (
    *("", " ", "\0", "\n", "é", SURROGATE, "<b>", "a" * 5000, "../x", "{0}", "%s"),
    *("x", "nan", "None", "max_min", "far", "gini", "cuda", "auto", "pandas"),
)
NUMBERS = (
    *(True, None, "3", "1e-3", 0, 1, -1, 2.5, float("nan"), float("inf"), -0.0, 1 + 0j),
    *(np.int8(3), np.uint8(3), np.int64(3), np.float16(0.1), np.float32(0.1)),
    *(np.bool_(1), np.array(0.1), np.array([0.1]), [0.1], (0.1, 0.2), [], {0.1}),
    *({"a": 0.1}, b"1", decimal.Decimal("0.1"), fractions.Fraction(1, 10)),
    *(np.datetime64("2020"), [0.1, None], [[0.1], [0.1, 0.2]], ["a"], np.ma.masked),
    *(np.str_("0.1"), range(2)),
)
# Beyond what a computer holds, or counts with.
INTEGERS = (
    *(2**31, 2**63 - 1, 2**63, 10**30, -(10**30), 10**400),
    *(np.int8(-1), np.uint64(2**64 - 1)),
)
COUNTS = tuple(v for v in NUMBERS if v != float("inf"))


# What in a docstring's type speaks of a kind of DRAWN.
SPEAKS_OF = {
    "number": ("float",),
    "count": ("int",),
    "choice": ("{",),
    "flag": ("bool",),
    "path": ("path",),
    "text": ("str",),
    "array": ("array", "frame", "sequence", "tensor"),
    "mapping": ("dict", "mapping"),
    "callable": ("callable",),
}


def kinds_of(text):
    """What a docstring's type may be, as keys of DRAWN; none of an object of a class."""
    first = text.lower().split("default")[0].replace("instance", "")
    return [kind for kind, words in SPEAKS_OF.items() if any(w in first for w in words)]


def odd_value(text, rng, is_work=False):
    """What is shown, and a function of the valid value, for a parameter of this type.

    Of work no large number is drawn, which would mean as much of it.
    """
    kind = rng.choice((*kinds_of(text), "none"))
    return DRAWN["work" if is_work and kind == "count" else kind](rng)


def odd_float(rng):
    """Any bits, or a number in [0, 1], or one of few digits."""
    chance = rng.random()
    if chance < 1 / 3:
        return struct.unpack("<d", rng.randbytes(8))[0]
    if chance < 2 / 3:
        return rng.random()
    return rng.randrange(-99, 100) * 10.0 ** rng.randrange(-9, 10)


def odd_text(rng, longest):
    """Characters of every kind; half of them are those that parsers know."""
    known = "\0\t\n\r \"'#%,-./:;<=[]\\_{}019aé\u202e\ud800\U0001f600"
    return "".join(
        rng.choice(known) if rng.random() < 0.5 else chr(rng.randrange(0x110000))
        for _ in range(rng.randint(0, longest))
    )


def _constant(value):
    return _shown(value)[:80], lambda valid: value


def _shown(value):
    """As repr, but the same in every process."""
    if callable(value):
        return f"<function {FUNCTIONS.index(value)}>"
    return repr(value)


def _one_of(values):
    return lambda rng: _constant(rng.choice(values))


def _any_of(*draw):
    return lambda rng: rng.choice(draw)(rng)


SPELLINGS = {
    "upper": lambda valid: str(valid).upper(),
    "as a list": lambda valid: [valid],
    "as numpy's": lambda valid: np.str_(valid),
    "bytes": lambda valid: str(valid).encode(),
    "without its end": lambda valid: str(valid)[:-1],
}


def _named(changes):
    """One of these changes, with its name."""
    return lambda rng: rng.choice(sorted(changes.items()))


# ---- arrays ----------------------------------------------------------------------------


def _changed(change):
    """A change of an array's copy."""
    return lambda valid: change(np.array(valid, copy=True))


def _put(value, kind=None):
    def put(array):
        array = array.astype(kind or array.dtype)
        if array.size:
            array.flat[0] = value
        return array

    return _changed(put)


def _masked(array):
    mask = np.zeros(array.shape, bool)
    if mask.size:
        mask.flat[0] = True
    return np.ma.array(array, mask=mask)


def _structured(array):
    rows = [tuple(np.ravel(row)) for row in array]
    width = len(rows[0]) if rows else 1
    kind = array.dtype if array.dtype.kind != "O" else "U8"
    return np.array(rows, dtype=[(f"f{k}", kind) for k in range(width)])


def _sparse(array):
    from scipy import sparse

    return sparse.csr_array(np.atleast_2d(array.astype(float)))


def _ragged(array):
    rows = array.tolist()
    return (
        [[rows[0]], [rows[0], rows[-1]], *rows[2:]] if len(rows) > 1 else [[1], [1, 2]]
    )


def _read_only(array):
    array.flags.writeable = False
    return array


ARRAYS = {
    "list": _changed(lambda a: a.tolist()),
    "tuple": _changed(lambda a: tuple(a.tolist())),
    "Fortran": _changed(np.asfortranarray),
    "every second of twice": _changed(lambda a: np.repeat(a, 2, axis=0)[::2]),
    "read-only": _changed(_read_only),
    "big-endian": _changed(lambda a: a.astype(a.dtype.newbyteorder())),
    "objects": _changed(lambda a: a.astype(object)),
    "text": _changed(lambda a: a.astype(str)),
    "bytes": _changed(lambda a: a.astype(str).astype(bytes)),
    "booleans": _changed(lambda a: a.astype(str) == a.astype(str).flat[0]),
    "dates": _changed(lambda a: np.arange(a.size).reshape(a.shape).astype("M8[D]")),
    "date objects": lambda v: [datetime.date(2020, 1, 1)] * len(v),
    "complex": _changed(lambda a: np.arange(a.size).reshape(a.shape) * 1j),
    "masked": _changed(_masked),
    "structured": _changed(_structured),
    "matrix": _changed(lambda a: np.asmatrix(a)),
    "sparse": _changed(_sparse),
    "reversed": _changed(lambda a: a[::-1]),
    "one shorter": _changed(lambda a: a[:-1]),
    "one longer": _changed(lambda a: np.concatenate([a, a[:1]])),
    "none": _changed(lambda a: a[:0]),
    "one": _changed(lambda a: a[:1]),
    "two": _changed(lambda a: a[:2]),
    "all alike": _changed(lambda a: a[np.zeros(len(a), int)]),
    "a column": _changed(lambda a: a.reshape(len(a), -1)[:, :1]),
    "a row": _changed(lambda a: a[None]),
    "3-dimensional": _changed(lambda a: a.reshape(len(a), -1, 1)),
    "no columns": _changed(lambda a: np.zeros((len(a), 0))),
    "0-dimensional": _changed(lambda a: a.flat[0]),
    "ragged": _changed(_ragged),
    "iterator": lambda v: iter(np.asarray(v).tolist()),
    "set": lambda v: {str(x) for x in np.asarray(v).tolist()},
    "dict": lambda v: {"a": v},
    "string": lambda v: "abc",
    "None inside": _put(None, object),
    "nan inside": _put(float("nan"), object),
    "a list inside": lambda v: [[1], *np.asarray(v).tolist()[1:]],
    "mixed": _put("x", object),
    "surrogate": _put(SURROGATE, object),
    "empty text": _put("", object),
    "unhashable": lambda v: [{"a": 1}] * len(v),
    "tuples": lambda v: [(1, 2)] * len(v),
    "range": lambda v: range(len(v)),
    "all different": lambda v: np.arange(len(v)),
    "float16": _changed(lambda a: a.astype(np.float16)),
    "float32": _changed(lambda a: a.astype(np.float32)),
    "long double": _changed(lambda a: a.astype(np.longdouble)),
    "int8": _changed(lambda a: a.astype(np.int8)),
    "nan": _put(float("nan"), float),
    "inf": _put(float("inf"), float),
    "huge": _changed(lambda a: a.astype(float) * 1e308),
    "tiny": _changed(lambda a: a.astype(float) * 1e-320),
    "norm 1e30": _changed(lambda a: a.astype(float) * 1e30),
    "zeros": _changed(lambda a: a.astype(float) * 0),
    "negative": _changed(lambda a: -a.astype(float)),
    "doubled": _changed(lambda a: a.astype(float) * 2),
}


def _frames():
    """Other libraries' arrays, where they are installed."""
    if not missing(["pandas"]):
        import pandas

        yield "pandas", lambda v: _pandas(pandas, v)
        yield "pandas with gaps in its index", lambda v: _pandas(pandas, v).iloc[::-1]
        yield "pandas nullable", lambda v: _pandas(pandas, v).convert_dtypes()
        yield "categories", lambda v: pandas.Categorical([str(x) for x in np.ravel(v)])
    if not missing(["polars"]):
        import polars

        yield "polars", lambda v: _polars(polars, v)
        yield "lazy polars", lambda v: polars.LazyFrame({"a": np.ravel(v)})
    if not missing(["pyarrow"]):
        import pyarrow

        yield "arrow", lambda v: pyarrow.array(np.ravel(v))
    if not missing(["torch"]):
        import torch

        yield "tensor", _changed(lambda a: torch.as_tensor(a.astype(float)))
        yield (
            "tensor with gradient",
            _changed(lambda a: torch.tensor(a.astype(float), requires_grad=True)),
        )


def _pandas(pandas, valid):
    array = np.asarray(valid)
    return pandas.Series(array) if array.ndim == 1 else pandas.DataFrame(array)


def _polars(polars, valid):
    array = np.asarray(valid)
    if array.ndim == 1:
        return polars.Series("a", array.tolist(), strict=False)
    return polars.DataFrame({f"c{k}": column for k, column in enumerate(array.T)})


ARRAYS |= dict(_frames())


MAPPINGS = (
    *({}, {"a": 1.0}, {"f": 0.5, "m": 0.5}, {"f": None}, {"f": "x"}, {1: 2}, {None: 1}),
    *({"f": float("nan"), "m": 1}, {("a",): 1}, [], [("f", 1)], {"f": -1, "m": 2}),
    *({"f": [1, 2]}, {"max_fmr": 0.1}, {"max_bfar": float("inf")}, {"f": {"x": 1}}),
)


FUNCTIONS = (
    # Those that take other arguments would raise errors of their own.
    *((lambda *a, **k: 1), (lambda *a, **k: None), (lambda *a, **k: "x")),
    *((lambda *a, **k: float("nan")), (lambda *a, **k: np.arange(3.0))),
)
PATHS = (
    *("", "missing", ".", "/", "/dev/null", SURROGATE, "a" * 5000, "x/y", "~", "-"),
    *(pathlib.Path("missing"), "file:///x", "missing.npz", "missing.csv.gz"),
)


def _small(rng):
    return _constant(rng.randint(-2, 12))


DRAWN = {
    "number": _any_of(_one_of(NUMBERS), lambda rng: _constant(odd_float(rng))),
    "count": _any_of(_one_of((*COUNTS, *INTEGERS)), _small),
    "work": _any_of(_one_of(COUNTS), _small),
    "choice": _any_of(_named(SPELLINGS), _one_of(TEXTS)),
    "flag": _one_of((True, False, None, 0, 1, "yes", np.True_, [], np.array([True]))),
    "path": _one_of(PATHS),
    "text": _any_of(_one_of(TEXTS), lambda rng: _constant(odd_text(rng, 20))),
    "array": _named(ARRAYS),
    "mapping": _one_of(MAPPINGS),
    "callable": _one_of(FUNCTIONS),
    "none": lambda rng: _constant(None),
}
