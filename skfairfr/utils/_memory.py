"""The check, before the work, that it fits into the memory."""

from skfairfr._core import _memory
from skfairfr.utils._errors import ArgumentError

# What needs less is done without a look at what may be used.
SMALL = 2**27


def check_memory(size, far_max):
    """How much a comparison works on at a time, so that it fits into the memory.

    Parameters
    ----------
    size : Size
        As ``_core._memory`` defines it.
    far_max : Argument
        The largest FAR that is answered from all pairs, as the caller names it.

    Returns
    -------
    blocks : Blocks

    Raises
    ------
    ArgumentError
        With what is needed, what there is, and what would fit.
    """
    try:
        return _memory.check(size, far_max.value)
    except _memory.TooLittleMemoryError as error:
        fitting = []
        if error.far_max is not None:
            fitting += ["give ", far_max._replace(value=error.far_max), " or less, "]
        if error.n_images is not None:
            fitting += [f"compare at most {error.n_images:,} images, "]
        raise ArgumentError(
            far_max,
            f" means to hold {size.n_held(far_max.value):,.0f} pairs of "
            f"{size.n_images:,} images: about {_memory.in_units(error.needed)} of memory, "
            f"while {_memory.in_units(error.limit.n_bytes)} may be used, {error.limit.source}:",
            remedy=(*fitting, f"{'or ' if fitting else ''}{error.limit.remedy}."),
        ) from None


def check_space(argument, n_bytes, remedy):
    """Raise where a number that was asked for means more memory than may be used.

    Parameters
    ----------
    argument : Argument
        The number.
    n_bytes : float
        What it means at least.
    remedy : str or tuple
        What to do, as ArgumentError takes it.

    Raises
    ------
    ArgumentError
        With what is needed and what there is.
    """
    if n_bytes < SMALL:
        return
    limit = _memory.limit()
    if n_bytes > limit.n_bytes:
        raise ArgumentError(
            argument,
            f" needs about {_memory.in_units(n_bytes)} of memory, while "
            f"{_memory.in_units(limit.n_bytes)} may be used, {limit.source};",
            remedy=remedy,
        )
