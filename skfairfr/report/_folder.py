"""A folder of results that is replaced as a whole: readers see the old one or the new one."""

import ctypes
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

# Of the system call renameat2.
AT_FDCWD, RENAME_EXCHANGE = -100, 2
# What reports leave in a folder; anything else there belongs to somebody else and stays.
NAMES = {
    *("audit.json", "report.html", "rates.csv", "disparities.csv", "figures"),
    *("comparison.json", "comparison.txt", "changes.csv"),
}


# One of them is in every report.
RECORDS = {"audit.json", "comparison.json"}


@contextmanager
def replaced(folder):
    """A new folder, which takes the place of another once it is complete.

    What is written to the new folder appears at once, by one exchange of names, and what
    an earlier report left goes; where the writer is killed, the other folder is as it was.
    A folder that also holds files of others keeps them: there, every file of the report is
    replaced on its own. So it is where the folder cannot be renamed, as the root of a
    mounted volume cannot.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist.

    Yields
    ------
    staged : Path
        Empty, on the same file system.
    """
    target = Path(os.path.realpath(folder))
    staged = _stage(target)
    try:
        yield staged
        _put(staged, target)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _stage(target):
    """An empty folder beside another, or inside it where none can be made beside."""
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{target.name}."
    try:
        made = tempfile.mkdtemp(".part", prefix, target.parent)
    except OSError:
        made = tempfile.mkdtemp(".part", prefix, target)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(made, 0o777 & ~mask)
    return Path(made)


def _put(staged, target):
    """Move what was staged to its place."""
    if not target.exists():
        os.rename(staged, target)
        return
    there = {entry.name for entry in target.iterdir() if entry != staged}
    # Without a record it is no earlier report, whatever its files are called.
    reported = not there or bool(there & RECORDS)
    ours = reported and there <= NAMES and staged.parent == target.parent
    if ours and Path.cwd() != target and not os.path.ismount(target):
        _exchange(staged, target)
        return
    for entry in sorted(staged.iterdir()):
        place = target / entry.name
        if not (entry.is_dir() and place.is_dir()):
            os.replace(entry, place)
        elif reported:
            _exchange(entry, place)
        else:
            _merge(entry, place)


def _merge(staged, target):
    """Move files to their places in a folder of others, of which all others stay."""
    for entry in sorted(staged.iterdir()):
        place = target / entry.name
        if entry.is_dir() and place.is_dir():
            _merge(entry, place)
        else:
            os.replace(entry, place)


def _exchange(one, other):
    """Exchange the names of two folders, at once where the system can."""
    if sys.platform == "linux":
        rename = getattr(ctypes.CDLL(None), "renameat2", None)
        names = os.fsencode(one), os.fsencode(other)
        if rename and not rename(
            AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE
        ):
            return
    # Between the two names nothing is lost, though for a moment one is missing.
    aside = one.with_name(f"{one.name}.old")
    os.rename(other, aside)
    os.rename(one, other)
    os.rename(aside, one)
