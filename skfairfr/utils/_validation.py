"""Domain rules of arguments. Each error names the argument, the value, the remedy."""

import math
import numbers
import os
import re
import sys
import warnings
from contextlib import contextmanager, suppress

import numpy as np
import sklearn.base
from scipy.sparse import issparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from skfairfr.utils._errors import (
    ABOUT_FAILURES,
    DECIDING,
    invalid,
    kind_of_value,
    plain,
    shown,
)

# Of things that are counted. More would overflow where they are multiplied, or allocated.
MOST = 2**31 - 1
# Images of a matrix of scores from which on its diagonal is no chance.
FEWEST_IMAGES = 5
# Number of different scores close to each other that shows that a distant one is a code.
FEWEST_SCORES = 20
# Number of values checked at once: a memory-mapped file is never copied whole.
BLOCK_VALUES = 2**22
# Code that no warning is about: ours, and the wrapper that scikit-learn puts about fit.
_INSIDE = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    os.path.abspath(sklearn.base.__file__),
)


class FewErrorsWarning(UserWarning):
    """A score of a search, or of an epoch, rests on fewer than 30 errors in a group.

    Candidates or epochs whose scores do may differ by chance alone. Issued by the scorers
    of :mod:`skfairfr.metrics`, once a scorer, and by a projector with a ``monitor``.
    """


class NeedsIdentities:
    """Says to scikit-learn that ``fit`` requires y."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_level(far, name="far"):
    """FAR levels as a float64 array of any shape, each inside (0, 1)."""
    levels = to_array(far, name)
    is_number = levels.dtype.kind in "fiu" and levels.size > 0
    if not is_number or not ((levels > 0) & (levels < 1)).all():
        problem = f"must lie in (0, 1), as 1e-3 does, got {plain(far)!r}."
        raise invalid(name, far, problem)
    return levels.astype(np.float64)


def check_threshold(threshold, name="threshold"):
    """Thresholds as a float64 array of any shape. Infinite ones are allowed, NaN not."""
    thresholds = to_array(threshold, name)
    is_number = thresholds.dtype.kind in "fiu" and thresholds.size > 0
    if not is_number or np.isnan(thresholds).any():
        problem = (
            f"must be a similarity, or several, and not NaN, got {plain(threshold)!r}."
        )
        raise invalid(name, threshold, problem)
    return thresholds.astype(np.float64)


def check_option(value, name, options):
    """Raise unless ``value`` is one of ``options``."""
    if not isinstance(value, str) or value not in options:
        choices = ", ".join(repr(o) for o in options)
        raise invalid(name, value, f"must be one of {choices}, got {plain(value)!r}.")


def check_group(group, groups, name="group"):
    """Index of ``group`` in the groups of the data."""
    known = list(groups)
    if not is_among(group, known):
        listed = ", ".join(map(repr, plain(known))) or "none"
        problem = f"{shown(group)} is not a group of the data. Its groups: {listed}."
        raise invalid(name, group, problem)
    return known.index(group)


def validate_rows(estimator, X, **options):
    """X as scikit-learn's ``validate_data`` gives it to an estimator."""
    with _named(X, "X"):
        return validate_data(estimator, X, **options)


def check_rows(X, *, input_name="X", **options):
    """X as scikit-learn's ``check_array`` gives it."""
    with _named(X, input_name):
        return check_array(X, input_name=input_name, **options)


@contextmanager
def _named(X, name):
    """Name argument and remedy where scikit-learn's own errors about X would not."""
    if not (issparse(X) or hasattr(type(X), "columns")):
        to_array(X, name)
    try:
        yield
    except ValueError as error:
        # Scikit-learn recommends other estimators, which take what is missing.
        found = str(error).partition("\n")[0]
        if name[0] == "X" and found.startswith(f"Input {name} contains "):
            problem = f"has nan or infinite values ({found.rstrip('.')});"
            raise invalid(name, None, problem, ABOUT_FAILURES) from None
        # So numpy, and the library of a frame, speak of text and of what is no number yet.
        if not str(error).startswith(("could not convert", "setting an array")):
            raise
        remedy = "Leave columns of text out, and collect() a lazy frame."
        found = re.sub(r"np\.str_\((.*)\)", r"\1", str(error))
        raise invalid(name, None, f"must be numbers ({found}).", remedy) from None


def to_array(values, name):
    """An array-like as numpy reads it.

    Raises
    ------
    ArgumentError
        If numpy cannot, or if values are masked.
    """
    if np.ma.is_masked(values):
        problem = f"has masked values ({np.ma.count_masked(values)});"
        raise invalid(name, values, problem, "leave their rows out, or fill them.")
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        problem = f"is a {kind_of_value(values)}, which numpy cannot read ({reason})."
        remedy = (
            "Pass rows of one length, or detach().cpu().float().numpy() of a tensor."
        )
        raise invalid(name, values, problem, remedy) from None


def to_numbers(values, name, dtype=np.float64):
    """An array-like of numbers as an array of a type."""
    array = to_array(values, name)
    is_whole = np.issubdtype(dtype, np.integer)
    if array.dtype.kind not in ("iub" if is_whole else "fiub"):
        what = "integers" if is_whole else "numbers"
        remedy = f"Give {what} that numpy's types can store."
        raise invalid(name, values, f"must be {what}, got {array.dtype}.", remedy)
    return array.astype(dtype)


def float_type(dtype):
    """The type in which scores of a type are compared: float64 of integers and objects."""
    return f"f{min(dtype.itemsize, 8)}" if dtype.kind == "f" else "f8"


def to_scores(scores, name):
    """Scores as a one-dimensional float array, nan where there is none.

    float16 and float32 stay, others are float64.
    """
    array = to_array(scores, name)
    if array.ndim != 1:
        problem = f"must be one-dimensional, (n_pairs,), got shape {array.shape}."
        raise invalid(name, scores, problem)
    if array.dtype.kind == "O":
        array = np.array([np.nan if score is None else score for score in array])
    return to_numbers(array, name, float_type(array.dtype))


def check_scores(scores, name):
    """As to_scores, or an error if one is missing or infinite."""
    array = to_scores(scores, name)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        first = array[bad[0]]
        problem = f"must be finite, but pair {bad[0]} has {first} ({bad.size} pairs);"
        remedy = DECIDING if np.isposinf(first) else ABOUT_FAILURES
        raise invalid(name, scores, problem, remedy)
    return array


def check_no_diagonal(is_genuine, scores):
    """Raise if scores are a matrix of images with each other whose diagonal is there.

    Parameters
    ----------
    is_genuine : ndarray of bool, shape (n_pairs,)
    scores : ndarray, shape (n_pairs,)
        Row after row of a matrix, all of it or one triangle: its diagonal is genuine, and it
        is symmetric, or the diagonal has one score that is the largest.
    """
    n_pairs = scores.size
    n, n_half = math.isqrt(n_pairs), (math.isqrt(8 * n_pairs + 1) - 1) // 2
    k = np.arange(max(n, n_half) if n >= FEWEST_IMAGES and not is_genuine.all() else 0)
    for size, diagonal, is_all in (
        (n * n, k[:n] * (n + 1), True),
        (n_half * (n_half + 1) // 2, k * (2 * n_half - k + 1) // 2, False),
        (n_half * (n_half + 1) // 2, k * (k + 3) // 2, False),
    ):
        if size != n_pairs or not diagonal.size or not is_genuine[diagonal].all():
            continue
        own, near = scores[diagonal], 1e-6 * (1 + np.abs(scores).max())
        is_largest = np.ptp(own) <= near and own[0] >= scores.max() - near
        matrix = scores.reshape(n, n) if is_all else None
        if (is_largest and own[0] > np.median(scores)) or (
            is_all and np.allclose(matrix, matrix.T, rtol=0, atol=near)
        ):
            problem = f"contains a matrix of {diagonal.size:,} images with each other, whose diagonal "
            problem += "compares images with themselves and would count as genuine;"
            remedy = "leave it out, and one half: score[numpy.triu_indices(n, 1)]."
            raise invalid("y_score", None, problem, remedy)


def code_of_failure(scores):
    """A similarity, and of how many pairs, that seems to be a code and no score, else None.

    It is an end of the scores, of several pairs, and farther from the others than these are
    from each other, or it is alone above zero, as the code -1 among minus distances.
    """
    scores = scores[np.isfinite(scores)]
    for end_of in (np.min, np.max) if scores.size else ():
        end = end_of(scores)
        others = scores[scores != end]
        if scores.size - others.size < FEWEST_IMAGES or not others.size:
            continue
        is_far = abs(float(end) - end_of(others)) > float(others.max()) - others.min()
        is_below = end_of is np.max and others.max() <= 0 < end
        if (is_far or is_below) and np.unique(others).size >= FEWEST_SCORES:
            return end, scores.size - others.size
    return None


def is_failure(scores):
    """Whether each similarity is of a comparison that failed: nan, or below every threshold."""
    return ~(scores > -np.inf)


def failed_rows(X, zeros=True):
    """Whether each row is of an image that failed: with nan or infinity, or zeros alone."""
    X = X if hasattr(X, "dtype") else np.asarray(X)
    if X.dtype.kind not in "fiu" or issparse(X):
        return np.zeros(X.shape[0], dtype=bool)
    step = max(BLOCK_VALUES // X.shape[1], 1)
    blocks = [X[row : row + step] for row in range(0, len(X), step)]
    return np.concatenate(
        [~np.isfinite(b).all(axis=1) | (zeros & ~b.any(axis=1)) for b in blocks]
    )


def check_no_zero_row(X):
    """Raise if a row has no direction."""
    zero = np.flatnonzero(~X.any(axis=1))
    if zero.size:
        rows = f"a zero row ({zero[0]}, {zero.size} in all)"
        problem = f"has {rows}, which has no direction;"
        raise invalid("X", None, problem, ABOUT_FAILURES)


def check_count(value, name, minimum, maximum=MOST):
    """An integer from ``minimum`` to ``maximum``."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_integer or not minimum <= value <= maximum:
        wanted = f"must be an integer from {minimum} to {maximum}"
        raise invalid(name, value, f"{wanted}, got {plain(value)!r}.")
    return int(value)


def to_float(value):
    """A number as a float: arithmetic with a float16 is rounded to its type.

    Nan of what is no real number, and of an integer beyond the range of floats.
    """
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            return float(value)
    return math.nan


# What `check_number` asks of a rate.
RATE = (lambda x: 0 < x < 1, "must be a number in (0, 1)")


def check_number(value, name, holds, wanted):
    """A float.

    Parameters
    ----------
    value : object
    name : str
    holds : callable
        Whether a float is in range. False of nan.
    wanted : str
        The range, after the argument's name.
    """
    number = to_float(value)
    if not holds(number):
        raise invalid(name, value, f"{wanted}, got {shown(value)}.")
    return number


def random_state_of(random_state):
    """The RandomState of an argument, as in scikit-learn."""
    try:
        return check_random_state(random_state)
    except ValueError:
        wanted = "must be an integer in [0, 2**32), a RandomState or None"
        problem = f"{wanted}, got {plain(random_state)!r}."
        raise invalid("random_state", random_state, problem) from None


def check_sequence(values, name, what, kind=object):
    """The values of a sequence, as a tuple.

    Parameters
    ----------
    values : object
    name : str
        Of the argument.
    what : str
        What each value is, for the message: ``"names of columns"``.
    kind : type, default=object
        Of each value.
    """
    try:
        found = None if isinstance(values, str | bytes) else tuple(values)
    except TypeError:
        found = None
    if found is None or not all(isinstance(value, kind) for value in found):
        problem = f"must be a sequence of {what}, got {shown(values)}."
        raise invalid(name, values, problem)
    return found


def is_among(value, known):
    """Whether a value is one of some labels. A value without a hash, as an array, is none."""
    try:
        return value in set(known)
    except TypeError:
        return False


def check_line(text, name):
    """Raise unless this is None, or a text that can be written to a file and drawn."""
    if text is not None and not (isinstance(text, str) and is_written(text)):
        problem = f"must be a text of whole characters, got {plain(text)!r}."
        raise invalid(name, text, problem, "Give another.")


def is_written(text):
    """Whether a text can be written: half a character cannot."""
    return re.search("[\ud800-\udfff]", text) is None


def check_path(path, name):
    """A path as text."""
    try:
        return os.fsdecode(path)
    except TypeError:
        problem = f"must be a path, a text or a pathlib.Path, got {plain(path)!r}."
        raise invalid(name, path, problem) from None


def warn_undefined(message, code=None, **values):
    """Warn the caller that a value is undefined or cannot be resolved."""
    warn_caller(message, UndefinedMetricWarning, code, **values)


def warn_caller(message, category, code=None, **values):
    """Warn, pointing at the first caller outside skfairfr and scikit-learn's wrappers.

    A fixed ``stacklevel`` would name one of our own files wherever one public function
    calls another.

    Parameters
    ----------
    message : str
    category : type
        A subclass of Warning.
    code : str, default=None
        Attribute ``code`` of the warning: a name for what it is about.
    **values
        Attribute ``values`` of the warning, a dict: the numbers and names in its message.
    """
    warning = category(message)
    warning.code, warning.values = code, values
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)
