"""Errors about arguments: the name, the problem and its value, and the remedy."""

from __future__ import annotations

import difflib

import numpy as np

# Advice about images without an embedding and comparisons without a score. Commands without
# --failures leave the first part out.
IN_AN_AUDIT = (
    "choose how an audit counts failures (failures, --failures): reject counts them as rejections, "
    "report leaves them out of the rates and counts them by group, error stops here. Or "
)
EMPTY_CELLS = "leave these cells empty, and "
ABOUT_FAILURES = f"{IN_AN_AUDIT}leave those rows out. Rates without failures hide whom the system fails."
# Advice about pairs that are accepted at every threshold.
DECIDING = "give the score that your system decides by."


class ArgumentError(ValueError):
    """An argument cannot be used.

    Attributes
    ----------
    argument : str or None
        Its name, with which the message begins. The command puts its flag there.
    value : object
        Value that was passed, or None if it is not known.
    remedy : str
        Advice at the end of the message. May be empty.

    Examples
    --------
    >>> from skfairfr import SimilarityROC, make_face_embeddings
    >>> from skfairfr.utils import ArgumentError
    >>> data = make_face_embeddings(n_identities=50, random_state=0)
    >>> roc = SimilarityROC(n_resamples=5).fit(data.X, data.y)
    >>> try:
    ...     roc.estimate(2)
    ... except ArgumentError as error:
    ...     print(error.argument, error.value)
    far 2
    """

    def __init__(
        self,
        message: str,
        argument: str | None = None,
        value: object = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.argument, self.value, self.remedy = argument, value, remedy


class LackingError(ArgumentError):
    """A file lacks a column that an argument names."""


def invalid(name, value, problem, remedy="", kind=ArgumentError):
    """Error about an invalid value of an argument. ``problem`` follows its name.

    The name may include a part: an error about ``columns['age']`` has the argument
    ``columns``, and one about ``y or y_gallery`` has the first, ``y``.
    """
    message = " ".join(filter(None, (name, problem, remedy)))
    argument = name.partition("[")[0].partition(" or ")[0]
    return kind(message, argument, value, remedy)


def suggestion(name, known):
    """``Did you mean 'far'? `` if a name is similar to a known one, otherwise nothing."""
    near = difflib.get_close_matches(str(name), known, 1)
    return f"Did you mean {near[0]!r}? " if near else ""


def kind_of_value(value):
    """Type and size of a value, which may be too long to be shown."""
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    if getattr(value, "shape", None):
        return f"{kind} of shape {tuple(value.shape)}"
    size = size_of(value)
    return kind if size is None else f"{kind} of length {size}"


def shown(value):
    """A value as Python writes it, or its kind if it may be too long for a message."""
    is_short = isinstance(value, str | bytes) or size_of(value) is None
    return repr(plain(value))[:80] if is_short else kind_of_value(value)


def size_of(value):
    """Number of elements, or None if a value has no length."""
    try:
        return len(value)
    except TypeError:
        return None


def plain(value):
    """A value for a message: numpy's numbers and strings, also in a list, become Python's.

    Their repr names their type, as in ``np.str_('a')``, which does not help a caller.
    """
    if isinstance(value, np.generic):
        return str(value) if value.dtype.kind in "mM" else value.item()
    if type(value) in (list, tuple):
        return type(value)(plain(v) for v in value)
    return value
