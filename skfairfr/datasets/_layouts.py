"""Layouts of text lists, whose lines have no names of columns: one table, and how it is used.

A new layout is one more entry of PAIR_LISTS. Which of them a file has is decided by its content:
the number of columns, and which of them have only numbers or only words for genuine pairs.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from skfairfr.datasets import _files
from skfairfr.utils._errors import invalid

# Words for genuine pairs and for others, those first that are about pairs in any column.
YES, NO = (
    "genuine, gen, mated, mate, target, tar, tgt, 1, true, t, yes, y, positive, same, match",
    "impostor, imposter, imp, nonmated, non mated, nonmate, nontarget, non target, "
    "0, -1, false, f, no, n, negative, different, diff, nonmatch, non match, no match",
)
GENUINE = dict.fromkeys(YES.split(", "), 1) | dict.fromkeys(NO.split(", "), 0)
OF_PAIRS = {*YES.split(", ")[:7], *NO.split(", ")[:8]}
PEOPLE, IMAGES = ("identity_1", "identity_2"), ("image_1", "image_2")
# Usual names of the column that shows which pairs are genuine.
Y_TRUE = "y_true genuine is_genuine label target is_target same is_same same_person "
Y_TRUE += "same_identity mated is_mated match is_match truth ground_truth gt"
Y_TRUE = tuple(Y_TRUE.split())
# Names of columns, by one of which a line is known to consist of names.
USUAL_NAMES = (
    "score scores distance similarity identity identities person image accepted "
)
USUAL_NAMES += "gender sex age label enrol enroll enrolment test probe reference"
USUAL_NAMES = {*USUAL_NAMES.split(), *PEOPLE, *IMAGES, *({*Y_TRUE} - {*GENUINE})}
# How many digits the number of an image has in the name of its file, in LFW and RFW.
DIGITS = 4
IMAGE_NUMBER = re.compile(r"0*[1-9]\d*", re.ASCII)
# A line of theirs about one person, and lines about two.
ONE_PERSON = re.compile(rb"^(\S+) (\d+) (\d+)\n", re.MULTILINE)
TWO_PEOPLE = re.compile(rb"(?:\S+ \d+ \S+ \d+\n)*")


class Layout(NamedTuple):
    """Columns of a list.

    Attributes
    ----------
    name : str
        As ``--layout`` takes it.
    columns : tuple of str
    """

    name: str
    columns: tuple

    def fits(self, columns, doubt=0):
        """Whether text columns can be these, with a degree of doubt."""
        return not self.misfits(columns, doubt)

    def misfits(self, columns, doubt=2):
        """Names of the columns that cannot be these, a list."""
        if len(columns) != len(self.columns):
            return [*self.columns]
        found = zip(self.columns, columns, strict=True)
        return [name for name, cells in found if not _can_be(name, cells, doubt)]

    def __str__(self):
        return f"{self.name} ({' '.join(self.columns)})"


# Whose lists these are: IJB's (next to scores), any, VoxCeleb's and Kaldi's (also template pairs
# of IJB), scores of Kaldi and others, WeSpeaker's, SpeechBrain's, VoxCeleb's with scores, bob's.
PAIR_LISTS = (
    Layout("labels", ("y_true",)),
    Layout("pairs", IMAGES),
    Layout("voxceleb", ("y_true", *IMAGES)),
    Layout("kaldi", (*IMAGES, "y_true")),
    Layout("scores", (*IMAGES, "score")),
    Layout("wespeaker", (*IMAGES, "score", "y_true")),
    Layout("speechbrain", (*IMAGES, "y_true", "score")),
    Layout("voxceleb-scores", ("y_true", *IMAGES, "score")),
    Layout("bob4", (*PEOPLE, "probe_label", "score")),
    Layout("bob5", ("identity_1", "image_1", "identity_2", "image_2", "score")),
)
# pairs.txt of LFW and RFW, whose lines have three or four words.
LFW = Layout("lfw", (*PEOPLE, *IMAGES, "y_true", "fold"))
# The first line names the columns.
TABLE = Layout("table", ())
NAMES = tuple(one.name for one in (TABLE, *PAIR_LISTS, LFW))


def _can_be(name, cells, doubt):
    """Whether a column can be scores, words for genuine pairs, or names.

    Without doubt, only words for genuine pairs are nothing else. With a doubt of 2, images may
    be called by numbers such as 1.50.
    """
    is_label = cells.every(_is_genuine_word)
    if name == "y_true":
        return is_label
    if not doubt and is_label:
        return False
    if name == "score":
        return cells.every(_files.is_score)
    if name == "rank":
        return cells.every(_files.INTEGER.fullmatch)
    if name in (*PEOPLE, "probe_label") or (name in IMAGES and doubt < 2):
        is_number = cells.every(_files.is_score)
        return not is_number or cells.every(_files.INTEGER.fullmatch)
    return True


def _is_genuine_word(cell):
    return _files.in_words(cell) in GENUINE


def recognised(columns, layouts, stated, argument, path, first):
    """The layout of a list.

    Parameters
    ----------
    columns : list of cells
    layouts : tuple of Layout
        Those that may be.
    stated : str or None
        The name of the layout, if the caller gave it.
    argument, path : str
        For messages.
    first : str
        The first line of the list.

    Raises
    ------
    ArgumentError
        If no layout fits, several do, or the stated one does not.
    """
    if stated is not None:
        (layout,) = (one for one in (*PAIR_LISTS, LFW) if one.name == stated)
        if wrong := layout.misfits(columns):
            problem = f"{stated!r} needs the columns {layout}, and {path!r} has {len(columns)} "
            problem += f"({first!r}), in which {wrong[0]} is not found;"
            raise invalid("layout", stated, problem, "name another.")
        return layout
    found = ([one for one in layouts if one.fits(columns, k)] for k in range(2))
    fitting = next(filter(None, found), [])
    lax = [] if fitting else [one for one in layouts if one.fits(columns, 2)]
    if any("score" in one.columns for one in lax):  # names of images may be scores too
        raise several(argument, path, first, lax)
    fitting += lax
    if LFW in layouts and len(columns) in (3, 4) and _are_numbered(columns):
        fitting.append(LFW)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise several(argument, path, first, fitting)
    known = ", ".join(map(str, layouts))
    problem = f" has {len(columns)} columns without names ({first!r}), in none of the forms of "
    remedy = "lists; give a table (.csv, .tsv, .parquet), whose first line names its columns. "
    raise _files.file_error(argument, path, problem + remedy, f"Known are: {known}.")


def _are_numbered(columns):
    """Whether columns are a name and two numbers of its images, or a name and a number, twice."""
    numbers = columns[1::2] if len(columns) == 4 else columns[1:]
    names = [cells for cells in columns if cells not in numbers]
    is_name = not any(cells.every(_files.is_score) for cells in names)
    return is_name and all(cells.every(IMAGE_NUMBER.fullmatch) for cells in numbers)


def several(argument, path, first, fitting):
    """The error that a file can be read in several ways."""
    problem = f" may be {' or '.join(map(str, fitting))}; its first line is {first!r};"
    return _files.file_error(
        argument, path, problem, "state which it is (layout, --layout)."
    )


def read_folds(text, argument, path, required=False):
    """Fold of each pair of a text in the layout of LFW, or None if it is not in that layout.

    Each line has a name and two numbers of its images, a pair of one person, or a name and a
    number, twice. The first may be the number of folds and of the genuine pairs of each, or
    that of pairs alone.

    Parameters
    ----------
    text : Text
        Its content becomes the four words of every pair.
    argument, path : str
        For messages.
    required : bool, default=False
        Whether another layout is an error.
    """
    head = re.match(rb"(\d+)(?: (\d+))?\n", text.content)
    body = text.content[head.end() if head else 0 :].rstrip(b"\n") + b"\n"
    body = re.sub(rb"\n\n+", b"\n", body)
    text.content, text.first = ONE_PERSON.sub(rb"\1 \2 \1 \3\n", body), [""] * 4
    if not TWO_PEOPLE.fullmatch(text.content):
        if not required:
            return None
        row, line = next(
            (row, line)
            for row, line in enumerate(body.splitlines(), 1 + bool(head))
            if not (
                ONE_PERSON.fullmatch(line + b"\n") or TWO_PEOPLE.fullmatch(line + b"\n")
            )
        )
        problem = f": line {row} ({line.decode()!r}) has no name with two numbers, "
        problem += "and no name with a number, twice;"
        raise _files.file_error(argument, path, problem, "correct it, or the layout.")
    bytes_of = np.frombuffer(body, dtype=np.uint8)
    starts = np.append(0, np.flatnonzero(bytes_of == ord("\n"))[:-1] + 1)
    n_words = np.add.reduceat(bytes_of == ord(" "), starts, dtype=np.intp) + 1
    folds = np.cumsum(np.diff(n_words, prepend=3) < 0)
    if head:
        n_folds, n_each = map(int, head.groups() if head[2] else (b"1", head[1]))
        if starts.size != 2 * n_folds * n_each:
            problem = f": its first line announces {2 * n_folds * n_each:,} pairs, and there are "
            problem += f"{starts.size:,};"
            raise _files.file_error(argument, path, problem, "copy it again.")
        folds = np.arange(starts.size) // (2 * n_each)
    return folds


def image_name(person, number):
    """Name of an image in the data set."""
    return f"{person}_{number:0>{DIGITS}}"


def features_of(names, stem=None):
    """Columns numbered from 0 or 1, as 'e_0', 'e_1' and 'e_2', a list. The longest such run.

    Parameters
    ----------
    names : list of str
    stem : str, default=None
        Common part of the names. If None: runs of three columns or more.
    """
    numbered = {}
    for name in names:
        if (found := re.fullmatch(r"(.*?)[\[(]?(0|[1-9]\d*)[\])]?", name)) is not None:
            numbered.setdefault(found[1], {})[int(found[2])] = name
    runs = [
        [of[k] for k in sorted(of)]
        for start, of in numbered.items()
        if sorted(of) in ([*range(len(of))], [*range(1, len(of) + 1)])
        and (len(of) > 2 if stem is None else start == stem)
    ]
    return max(runs, key=len, default=[])
