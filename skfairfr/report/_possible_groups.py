"""Columns of files that may name the groups of people, for who has not named any."""

from contextlib import suppress

import numpy as np

from skfairfr.datasets._embeddings import IDENTITY_NAMES
from skfairfr.datasets._files import kind_of, open_npz
from skfairfr.datasets._scored_pairs import PEOPLE, SIDES
from skfairfr.utils._labels import encode, join_columns

# More labels than this are names or numbers.
MOST_LABELS = 20
# A million rows would take seconds.
MOST_ROWS = 50_000
# What names people: in a table of images or attempts, and in one of pairs.
OF_ONE = (*IDENTITY_NAMES, "person")


def candidate_columns(files, options, tables):
    """Columns of 2 to 20 labels, each person with one. For pairs those of both images.

    Parameters
    ----------
    files : list of str
        Data and tables that were read with them.
    options : dict
        Of :func:`read_data`, which name what is no group.
    tables : dict of str -> Table
        Those of the files that are tables.

    Returns
    -------
    names : tuple of str
        What ``attributes`` takes.
    """
    found = {}
    for path in files:
        # This is a hint, and errors of reading were raised before.
        with suppress(ValueError, ImportError):
            if path in tables:
                found |= dict.fromkeys(_of_source(tables[path], options))
            elif kind_of(path) == "npz":
                with open_npz(path) as archive:
                    found |= dict.fromkeys(_of_source(archive, options))
    return tuple(found)


def _of_source(source, options):
    """The same of an Archive or a Table, a list."""
    present = source.names
    both = [options[name] or name for name in PEOPLE]
    one = [options["identity"], options["on"], *OF_ONE]
    one = next((name for name in one if name in present), None)
    used = {*map(str, options.values()), one, *both}
    whose, columns = [one], {name: [name] for name in present}
    if one is None:  # of pairs, whose people may not be known
        whose = both if {*both} <= {*present} else []
        columns = dict(filter(None, (_sides(name, present) for name in present)))
    people, n_rows = None, None
    if whose:
        sides = [source.labels(name) for name in whose]
        people, n_rows = encode(_some(sides), "people").codes, len(sides[0])
    plain = {*source.plain_columns(n_rows)}
    return [
        name
        for name, own in columns.items()
        if not used & {name, *own}
        and {*own} <= plain
        and _is_of_people(_some([source.values(n) for n in own]), people)
    ]


def _some(columns):
    """Columns of one or both images joined, of at most so many rows that are equally far apart."""
    step = -(-len(columns[0]) // MOST_ROWS)
    return join_columns([column[::step] for column in columns])


def _sides(name, present):
    """The name that two columns share, and both, if this is the first, else None."""
    for first, second in SIDES:
        start, end = first.split("*")
        shared = name.removeprefix(start).removesuffix(end)
        other = second.replace("*", shared)
        if shared and first.replace("*", shared) == name != other and other in present:
            return shared, [name, other]
    return None


def _is_of_people(labels, people):
    """Whether labels are 2 to 20, fewer than people, if these are known, and one for each."""
    found = encode(labels, "labels", allow_unknown=True)
    most = MOST_LABELS if people is None else min(MOST_LABELS, people.max())
    if not 2 <= found.values.size <= most or people is None:
        return 2 <= found.values.size <= most
    known = found.codes >= 0
    both = np.unique(np.stack([people, found.codes])[:, known], axis=1)
    return both.shape[1] == np.unique(both[0]).size
