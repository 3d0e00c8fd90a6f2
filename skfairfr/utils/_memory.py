"""The check, before the work, that a comparison of all pairs fits into the memory."""

from skfairfr._core import _memory
from skfairfr.utils._errors import ArgumentError


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
