"""What differs between two records."""

import difflib

import numpy as np

from tests.recorded.record import decoded, read


def compare(old_path, new_path):
    """Print every key that differs and a summary; whether none does."""
    old, new = read(old_path), read(new_path)
    n_equal = n_different = n_missing = n_added = 0
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in new:
            n_missing += 1
            print(f"MISSING {key}\n  {short(old[key])}")
        elif key not in old:
            n_added += 1
            print(f"ADDED {key}\n  {short(new[key])}")
        elif old[key] == new[key]:
            n_equal += 1
        else:
            n_different += 1
            print(f"DIFFERENT {key}\n{indented(difference(old[key], new[key]))}")
    counts = f"{n_equal} equal, {n_different} different, {n_missing} missing"
    print(f"{counts}, {n_added} added")
    return n_different + n_missing + n_added == 0


def difference(old, new):
    """How two unequal leaves differ, in words."""
    if isinstance(old, str) and isinstance(new, str):
        lines = (text.splitlines() for text in (old, new))
        return "\n".join(
            [*difflib.unified_diff(*lines, "old", "new", lineterm="", n=1)]
        )
    arrays = decoded(old), decoded(new)
    if any(array is None for array in arrays):
        return f"{short(old)}\n-> {short(new)}"
    if arrays[0].shape != arrays[1].shape:
        return f"shape {arrays[0].shape} -> {arrays[1].shape}"
    return difference_of_numbers(*arrays)


def difference_of_numbers(old, new):
    """Largest absolute and relative difference, and changes of type."""
    kinds = "" if old.dtype == new.dtype else f"type {old.dtype} -> {new.dtype}; "
    if old.size <= 1:
        kinds += f"{old.ravel().tolist()} -> {new.ravel().tolist()}; "
    old, new = old.astype(float), new.astype(float)
    if np.array_equal(old, new, equal_nan=True):
        return f"{kinds}equal in value, different in bits or type"
    n_undefined = int((np.isnan(old) != np.isnan(new)).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.abs(old - new)
        gap[(old == new) | np.isnan(gap)] = 0.0
        relative = gap / np.maximum(np.abs(old), np.abs(new))
    return (
        f"{kinds}{int((gap > 0).sum())} of {old.size} values differ, by {gap.max():.3g} at "
        f"most, relative {np.nanmax(relative, initial=0):.3g}; nan in one alone: "
        f"{n_undefined}"
    )


def short(leaf):
    """A leaf in one line of a screen's width."""
    text = repr(leaf)
    return text if len(text) <= 160 else f"{text[:157]}..."


def indented(text):
    return "\n".join(f"  {line}" for line in text.splitlines())
