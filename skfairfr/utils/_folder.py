"""Files and folders that are written whole: readers see the old one or the new one."""

import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from glob import escape
from pathlib import Path
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # not on Windows, where leftovers of killed writers stay
    fcntl = None

# Errors of a place that takes no more.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
# Of the system call renameat2.
AT_FDCWD, RENAME_EXCHANGE = -100, 2


class Contents(NamedTuple):
    """Names of what a writer leaves in its folder; all else there belongs to others.

    Attributes
    ----------
    records : tuple of str
        One of them is in every folder that this kind of writer has written.
    others : tuple of str
        Patterns.
    """

    records: tuple
    others: tuple


REPORT = Contents(
    records=("audit.json", "comparison.json"),
    others=(
        *("report.html", "rates.csv", "disparities.csv", "figures"),
        *("comparison.txt", "changes.csv"),
    ),
)


def check_replaceable(folder, replace=False):
    """Raise where a folder holds a report that is not to be replaced."""
    # It needs numpy, which the command loads late.
    from skfairfr.utils._errors import Argument, ArgumentError

    held = [name for name in REPORT.records if (Path(folder) / name).exists()]
    if held and not replace:
        raise ArgumentError(
            Argument("folder"),
            f" {str(folder)!r} holds an older report ({held[0]});",
            remedy=("name another, or give ", Argument("replace", True), "."),
            value=folder,
        )


@contextmanager
def replaced(folder, contents, kept=()):
    """A new folder, which takes the place of another once it is complete.

    What is written to the new folder appears at once, by one exchange of names, and what
    an earlier writer left goes; where the writer is killed, the other folder is as it was.
    A folder that also holds files of others keeps them: there, every file is replaced on
    its own. So it is where the folder cannot be renamed, as the root of a mounted volume
    cannot.

    Parameters
    ----------
    folder : path-like
        Made if it does not exist.
    contents : Contents
        What this writer and earlier ones of its kind leave there.
    kept : sequence of str, default=()
        Folders of earlier writers that stay unless new ones of their names are written.

    Yields
    ------
    staged : Path
        Empty, on the same file system.
    """
    target = Path(os.path.realpath(folder))
    with staging(target) as staged:
        yield staged
        _put(staged, target, contents, kept)


@contextmanager
def whole_file(path):
    """A path to write to, whose file takes the place of another once it is complete.

    Parameters
    ----------
    path : path-like
        Its folder exists.

    Yields
    ------
    staged : Path
        On the same file system.
    """
    target = Path(os.path.realpath(path))
    with staging(target) as folder:
        yield folder / target.name
        os.replace(folder / target.name, target)


@contextmanager
def staging(place):
    """An empty folder beside a file or folder, which is removed at the end.

    The folders of earlier writers that were killed are removed too. A lock distinguishes them from
    those of writers that are at work; the system releases it with the process.

    Parameters
    ----------
    place : path-like
        The folder is inside it where none can be made beside.

    Yields
    ------
    staged : Path

    Raises
    ------
    OSError
        If there is no more room: the error names the place.
    """
    target = Path(os.path.realpath(place))
    _clear(target)
    staged, lock = _stage(target)
    try:
        yield staged
    except OSError as error:
        # The error names the staged file or none; the caller gave another path.
        if error.errno in FULL and _is_inside(error.filename, staged):
            error.filename = str(place)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        _unlock(lock)


def _is_inside(name, folder):
    """Whether the file of an error is in a folder, or is not known."""
    return name is None or Path(os.fsdecode(name)).is_relative_to(folder)


def _stage(target):
    """An empty folder, and its lock."""
    target.parent.mkdir(parents=True, exist_ok=True)
    while True:
        name = f".{target.name}.{secrets.token_hex(4)}.part"
        staged = target.parent / name
        try:
            staged.mkdir()
        except OSError:
            if not target.is_dir():
                raise
            staged = target / name
            staged.mkdir()
        try:
            lock = _locked(staged)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process took it for a leftover
        if staged.exists():
            return staged, lock
        _unlock(lock)


def _locked(folder):
    """A lock on a folder; None where the system has none. Raises where another holds it."""
    if fcntl is None:
        return None
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return lock


def _unlock(lock):
    if lock is not None:
        os.close(lock)


def _clear(target):
    """Remove what killed writers left beside a target, and inside it."""
    pattern = f".{escape(target.name)}.*.part"
    for folder in (target.parent, target):
        for aside in folder.glob(f"{pattern}.old"):
            _clear_aside(aside, target)
        for left in folder.glob(pattern):
            with suppress(OSError):
                lock = _locked(left)
                if lock is not None:
                    shutil.rmtree(left, ignore_errors=True)
                    _unlock(lock)


def _clear_aside(aside, target):
    """Bring a folder back that a killed writer had put aside, or remove it."""
    if aside.with_suffix("").exists():
        return  # its writer is at work, or its own folder goes first
    with suppress(OSError):
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            os.rename(aside, target)


def _put(staged, target, contents, kept):
    """Move what was staged to its place."""
    if not target.exists():
        try:
            os.rename(staged, target)
            return
        except OSError:
            if not target.exists():  # else another process has just made it
                raise
    with _in_turn(target):
        _put_in_place(staged, target, contents, kept)


@contextmanager
def _in_turn(target):
    """Inside, no other writer changes a folder: file by file, two would mix their results."""
    locked = None
    while fcntl is not None:
        locked = os.open(target, os.O_RDONLY)
        try:
            fcntl.flock(locked, fcntl.LOCK_EX)
        except OSError:  # the file system has no locks
            break
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(locked), os.stat(target)):
                break
        _unlock(locked)  # of a folder whose place another has taken meanwhile
    try:
        yield
    finally:
        _unlock(locked)


def _put_in_place(staged, target, contents, kept):
    """As _put, where there is a folder."""
    there = {entry.name for entry in target.iterdir() if entry != staged}
    # Without a record it is no earlier result, whatever its files are called.
    written = not there or bool(there & set(contents.records))
    names = (*contents.records, *contents.others)
    alone = all(any(fnmatch(name, known) for known in names) for name in there)
    beside = staged.parent == target.parent
    if written and alone and beside and not _is_held(target):
        for name in kept:
            _link(target / name, staged / name)
        _take_access(target, staged)
        _exchange(staged, target)
        return
    for entry in sorted(staged.iterdir()):
        place = target / entry.name
        if not (entry.is_dir() and place.is_dir()):
            os.replace(entry, place)
        elif written:
            _exchange(entry, place)
        else:
            _merge(entry, place)


def _is_held(folder):
    """Whether a folder must keep its place: a volume's root, or where a process works."""
    try:
        working = Path.cwd()
    except FileNotFoundError:
        working = None
    return os.path.ismount(folder) or (
        working is not None and folder in (working, *working.parents)
    )


def _link(old, new):
    """Give a folder's files a second name, unless there is a new folder."""
    if new.exists() or not old.is_dir():
        return

    def link(source, place):
        try:
            os.link(source, place)
        except OSError:  # the file system has no second names
            shutil.copy2(source, place)

    unfinished = shutil.ignore_patterns(".*.part")
    shutil.copytree(old, new, symlinks=True, ignore=unfinished, copy_function=link)


def _take_access(old, new):
    """A new folder is open to those that the old one was open to."""
    about = old.stat()
    with suppress(OSError, AttributeError):  # another user's, or not on Windows
        os.chown(new, about.st_uid, about.st_gid)
    new.chmod(stat.S_IMODE(about.st_mode))


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
    with suppress(FileNotFoundError):  # another process took it for a leftover
        os.rename(aside, one)
