"""numba.njit for places where compiled code cannot be kept: it is compiled anew there."""

from contextlib import suppress

import numba


def njit(**options):
    """Compile a function, and keep what is compiled if some folder can be written to.

    numba raises an error instead where no folder can, as under a read-only home, and where
    its file system is full.

    Parameters
    ----------
    **options : dict
        As of ``numba.njit``.

    Returns
    -------
    decorator : callable
    """

    def decorate(function):
        try:
            compiled = numba.njit(**options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return numba.njit(**options | {"cache": False})(function)
        _ignore_full_disk(compiled)
        return compiled

    return decorate


def _ignore_full_disk(compiled):
    """What was compiled is not kept where it cannot be written, and runs all the same."""
    cache = getattr(compiled, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is None:  # NUMBA_DISABLE_JIT leaves the function as it is
        return

    def save_if_possible(signature, data):
        with suppress(OSError):
            save(signature, data)

    cache.save_overload = save_if_possible
