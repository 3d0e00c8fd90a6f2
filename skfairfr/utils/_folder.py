"""Files and folders of results that are written whole, and then renamed."""

from __future__ import annotations

import os
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple


class Contents(NamedTuple):
    """Files of a writer in a folder: names, one of which is always there, and patterns."""

    records: tuple
    others: tuple


REPORT = Contents(
    ("audit.json", "comparison.json", "threshold.json", "monitor.json")
    + ("explain.json",),
    (
        *("report.html", "rates.csv", "disparities.csv", "figures"),
        *("comparison.txt", "changes.csv", "threshold.txt", "monitor.txt"),
        "explain.txt",
    ),
)


def check_replaceable(folder, replace=False, contents=REPORT):
    """Raise where a folder contains a result that is not to be replaced."""
    # It needs numpy, which the command loads late.
    from skfairfr.utils._errors import invalid

    held = [name for name in contents.records if (Path(folder) / name).exists()]
    if held and not replace:
        problem = f"{str(folder)!r} contains an older report ({held[0]})."
        remedy = "Name another folder, or use replace=True (--replace)."
        raise invalid("folder", folder, problem, remedy)


@contextmanager
def replaced(folder, contents):
    """A new folder, whose files take the place of an earlier result once all are written.

    Files of others stay. An error or an interrupt leaves the folder as it was.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with temporary(target) as new, temporary(target) as old:
        yield new
        there, earlier = set(os.listdir(target)), set()
        if there.intersection(contents.records):
            known = (*contents.records, *contents.others, *os.listdir(new))
            earlier = {name for name in there if any(fnmatch(name, k) for k in known)}
        moves = [(target / name, old / name) for name in earlier]
        moves += _moves(new, target, earlier)
        try:
            for source, place in moves:
                os.replace(source, place)
        except BaseException:
            for source, place in reversed(moves):
                if place.exists() and not source.exists():
                    os.replace(place, source)
            raise


def _moves(new, target, leaving=()):
    """New files and folders with their places. A folder of others is filled up."""
    for path in new.iterdir():
        place = target / path.name
        if path.is_dir() and place.is_dir() and path.name not in leaving:
            yield from _moves(path, place)
        else:
            yield path, place


@contextmanager
def whole_file(path):
    """A path to write to, whose file takes the place of another once it is written."""
    target = Path(os.path.realpath(path))
    with temporary(target.parent) as folder:
        yield folder / target.name
        os.replace(folder / target.name, target)


@contextmanager
def temporary(folder):
    """An empty folder inside another, removed at the end with what is left in it."""
    with TemporaryDirectory(prefix=".", suffix=".part", dir=folder) as name:
        yield Path(name)
